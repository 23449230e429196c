"""Who wins: of every two things that may happen to a task in a state, by the first (row) and the second (column).

``1``: the first one wins, and the second changes nothing at all.  ``2``: it is as if only the second had happened.
``=``: both come to the same.  ``+``: both count.  A task that ended is as it ended, whatever was before; so 2 below
``complete``, ``cancel`` and ``expire`` says that nothing keeps a task from its end, and 1 beside them that nothing
follows on it.  2 beside ``recover`` says that a run whose lease ended may go on until another has begun.
"""

TABLES = {
    "queued": """
        queued         claim cancel expire
        claim          =     2      2
        cancel         1     =      2
        expire         1     1      =
    """,
    "running": """
        running        complete retry hand_back leave recover take_over cancel expire ask remember sleep report
        complete       =        1     1         1     1       1         1      2      1   1        1     1
        retry          1        =     1         1     1       +         2      2      1   1        1     1
        hand_back      1        1     =         1     1       1         2      2      1   1        1     1
        leave          1        1     1         =     1       +         2      2      1   1        1     1
        recover        2        2     2         1     =       2         2      2      +   +        +     +
        take_over      1        1     1         1     +       +         2      2      1   1        1     1
        cancel         1        1     1         1     1       1         =      2      1   1        1     1
        expire         1        1     1         1     1       1         1      =      1   1        1     1
        ask            2        +     +         +     +       +         2      2      =   +        +     +
        remember       2        +     +         +     +       +         2      2      +   =        +     +
        sleep          2        +     +         +     +       +         2      2      +   +        =     +
        report         +        +     +         +     +       +         2      2      +   +        +     =
    """,
    "lost": """
        lost           beat claim complete retry hand_back cancel expire ask remember report
        beat           =    1     2        2     2         2      2      +   +        +
        claim          1    =     1        1     1         2      2      1   1        1
        complete       1    1     =        1     1         1      2      1   1        1
        retry          1    +     1        =     1         2      2      1   1        1
        hand_back      1    1     1        1     =         2      2      1   1        1
        cancel         1    1     1        1     1         =      2      1   1        1
        expire         1    1     1        1     1         1      =      1   1        1
        ask            +    +     2        +     +         2      2      =   +        +
        remember       +    +     2        +     +         2      2      +   =        +
        report         +    +     +        +     +         2      2      +   +        =
    """,
    "asleep": """
        asleep         doze complete retry recover take_over cancel expire leave
        doze           =    1        1     1       1         2      2      1
        complete       1    =        1     1       1         1      2      1
        retry          1    1        =     1       +         2      2      1
        recover        2    2        2     =       2         2      2      1
        take_over      1    1        1     +       +         2      2      1
        cancel         1    1        1     1       1         =      2      1
        expire         1    1        1     1       1         1      =      1
        leave          1    1        1     1       +         2      2      =
    """,
    "dozing": """
        dozing         wake beat complete retry cancel expire report
        wake           =    1    1        1     2      2      1
        beat           2    =    =        =     2      2      =
        complete       2    =    =        =     2      2      =
        retry          2    =    =        =     2      2      =
        cancel         1    1    1        1     =      2      1
        expire         1    1    1        1     1      =      1
        report         2    =    =        =     2      2      =
    """,
    "asked": """
        asked          answer accept withdraw decide park ask_more complete retry recover take_over leave cancel expire
        answer         =      1      1        1      1    +        2        +     +       +         +     2      2
        accept         1      =      +        +      1    +        2        +     +       +         +     2      2
        withdraw       1      1      =        1      1    +        2        +     +       +         +     2      2
        decide         1      1      1        =      1    +        2        +     +       +         +     2      2
        park           +      +      1        1      =    1        1        1     1       1         1     2      2
        ask_more       +      +      +        +      +    =        2        +     +       +         +     2      2
        complete       1      1      1        1      1    1        =        1     1       1         1     1      2
        retry          +      +      1        1      1    1        1        =     1       +         1     2      2
        recover        +      +      +        +      2    +        2        2     =       2         1     2      2
        take_over      +      +      1        1      1    1        1        1     +       +         1     2      2
        leave          +      +      1        1      1    1        1        1     1       +         =     2      2
        cancel         1      1      1        1      1    1        1        1     1       1         1     =      2
        expire         1      1      1        1      1    1        1        1     1       1         1     1      =
    """,
    "parked": """
        parked         answer accept withdraw complete retry beat recover cancel expire
        answer         =      1      1        1        1     1    1       2      2
        accept         1      =      1        1        1     1    1       2      2
        withdraw       2      2      =        =        =     =    =       2      2
        complete       2      2      =        =        =     =    =       2      2
        retry          2      2      =        =        =     =    =       2      2
        beat           2      2      =        =        =     =    =       2      2
        recover        2      2      =        =        =     =    =       2      2
        cancel         1      1      1        1        1     1    1       =      2
        expire         1      1      1        1        1     1    1       1      =
    """,
    "accepted": """
        accepted       poll answer withdraw decide park complete retry recover take_over leave cancel expire
        poll           =    1      2        2      1    2        +     +       +         +     2      2
        answer         2    =      2        2      =    2        2     2       2         2     2      2
        withdraw       1    1      =        1      1    2        +     +       +         +     2      2
        decide         1    1      1        =      1    2        +     +       +         +     2      2
        park           2    =      2        2      =    2        2     2       2         2     2      2
        complete       1    1      1        1      1    =        1     1       1         1     1      2
        retry          1    1      1        1      1    1        =     1       +         1     2      2
        recover        +    1      +        +      1    2        2     =       2         1     2      2
        take_over      1    1      1        1      1    1        1     +       +         1     2      2
        leave          1    1      1        1      1    1        1     1       +         =     2      2
        cancel         1    1      1        1      1    1        1     1       1         1     =      2
        expire         1    1      1        1      1    1        1     1       1         1     1      =
    """,
    "polling": """
        polling        answer_poll bring_result poll answer withdraw decide complete retry take_over cancel expire
        answer_poll    =           2            2    1      2        2      2        +     +         2      2
        bring_result   1           =            1    1      1        1      2        +     +         2      2
        poll           2           2            =    =      2        2      2        2     2         2      2
        answer         2           2            =    =      2        2      2        2     2         2      2
        withdraw       1           1            1    1      =        1      2        +     +         2      2
        decide         1           1            1    1      1        =      2        +     +         2      2
        complete       1           1            1    1      1        1      =        1     1         1      2
        retry          +           +            1    1      1        1      1        =     +         2      2
        take_over      +           +            1    1      1        1      1        1     +         2      2
        cancel         1           1            1    1      1        1      1        1     1         =      2
        expire         1           1            1    1      1        1      1        1     1         1      =
    """,
    "called": """
        called         complete retry recover take_over cancel_request cancel close_stream end_session expire
        complete       =        1     1       1         1              1      1            1           2
        retry          1        =     1       +         2              1      1            1           2
        recover        2        2     =       2         2              1      1            1           2
        take_over      1        1     +       +         2              1      1            1           2
        cancel_request 1        1     1       1         =              1      1            1           2
        cancel         2        2     2       2         2              =      =            =           2
        close_stream   2        2     2       2         2              =      =            =           2
        end_session    2        2     2       2         1              =      =            =           2
        expire         1        1     1       1         1              1      1            1           =
    """,
}


def read(table: str) -> dict[str, dict[str, str]]:
    """A table as row -> column -> who wins."""
    (_, *columns), *rows = [line.split() for line in table.strip().splitlines()]
    return {row: dict(zip(columns, cells, strict=True)) for row, *cells in rows}

from receiver import Receiver
from receiver.store.runs import QueueShare
from workers.queues import Queues

CAPS = {"plain": None, "default": None, "plain:scan": 2, "default:scan": 2, "heavy": None}


def names(queues: list[QueueShare]) -> list[str]:
    return [queue.name for queue in queues]


def test_shares_are_made_of_names_and_caps() -> None:
    assert list(Queues({"plain:scan": 2, "heavy": None})) == [
        QueueShare("plain:scan", 2, True),
        QueueShare("heavy", None, False),
    ]


def test_plain_calls_come_first_and_all_others_in_turn() -> None:
    turns = [names(Queues(CAPS).in_turn(number)) for number in range(len(CAPS))]
    assert all(sorted(turn) == sorted(CAPS) for turn in turns)
    assert all({"plain", "plain:scan"} == set(turn[:2]) for turn in turns)
    assert {turn[2] for turn in turns} == {"default", "default:scan", "heavy"}


def test_a_claim_sent_again_names_the_queues_in_the_same_order() -> None:
    queues = Queues(CAPS)
    assert queues.in_turn(7) == queues.in_turn(7)


def test_only_some_workers_serve_plain_calls() -> None:
    app = Receiver("app")
    app.tool(name="work")(lambda: "done")
    assert Queues(app.tools.queues()).have_plain
    assert not Queues(app.tools.queues(["default"])).have_plain
    assert not Queues({}).have_plain


def test_without_queues_there_is_nothing_to_claim() -> None:
    assert Queues({}).in_turn(1) == []

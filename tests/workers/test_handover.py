from tests.workers.claims import ID, new_claim
from workers.handover import Handover


async def test_the_claim_answers_what_run_job_asks() -> None:
    handover = Handover(new_claim(run=7, attempt=2))
    async with handover.pipeline(transaction=True) as pipe:
        pipe.get("arq:job:x")
        pipe.incr("arq:retry:x")
        pipe.expire("arq:retry:x", 88400)
        job, tries, _ = await pipe.execute()
    assert ID.encode() in job
    assert tries == 2

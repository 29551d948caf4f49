"""What a lane keeps and asks has a limit; what is beyond it is not kept, and nobody waits."""

from __future__ import annotations

import trio
from tests.support.repositories import queue_of

from risala.engine.delivery.notes import Notes
from risala.engine.delivery.worker.awaited import ASK_AFTER_S, WAITING_MAX, Awaited
from risala.engine.delivery.worker.calls import OPEN_MAX, QUESTION_S, Questions


async def test_receipts_that_are_waited_for(autojump_clock):
    awaited = Awaited(is_asked=True)
    for number in range(WAITING_MAX + 5):
        awaited.expect(f"sms_{number}", 1, f"c-{number}")
    awaited.expect("sms_none", 1, "")  # a carrier that gave no id cannot be asked by one
    await trio.sleep(ASK_AFTER_S[0])
    asked = [one.message_id for _, one in awaited.due()]
    assert len(asked) == WAITING_MAX
    assert asked[-1] == f"sms_{WAITING_MAX - 1}"


async def test_a_driver_that_cannot_be_asked_is_waited_for_in_vain(autojump_clock):
    awaited = Awaited(is_asked=False)
    awaited.expect("sms_1", 1, "c-1")
    await trio.sleep(ASK_AFTER_S[0])
    assert list(awaited.due()) == []


async def test_questions_that_a_driver_does_not_answer(autojump_clock):
    questions, asked = Questions(), []

    async def silent() -> object:
        asked.append(trio.current_time())
        await trio.sleep_forever()

    async def quick() -> object:
        return "here"

    async with trio.open_nursery() as nursery:
        for _ in range(OPEN_MAX):
            nursery.start_soon(questions.ask, nursery, silent)
        await trio.testing.wait_all_tasks_blocked()
        assert await questions.ask(nursery, quick) is None
        assert len(asked) == OPEN_MAX
        await trio.sleep(QUESTION_S + 1)
        assert await questions.ask(nursery, quick) == "here"


async def test_a_message_on_a_route_that_is_none_any_more_is_looked_after(book, autojump_clock):
    organization = book.organization()
    message_id = book.accept(organization)
    notes = Notes(queue_of(book.conn), 10, lambda route: route == "+2223")
    row = book.begin(message_id)
    assert row is not None
    (change,) = row.changes
    async with trio.open_nursery() as nursery:
        nursery.start_soon(notes.strays.wait)
        nursery.start_soon(notes.wait_change)
        await trio.testing.wait_all_tasks_blocked()
        notes.pending(change)

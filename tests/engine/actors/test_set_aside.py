"""Items that loops set aside: what is swallowed, what never is, and when it comes again."""

from __future__ import annotations

import errno
import math

import pytest
import trio
from structlog.testing import capture_logs

from risala.engine.actors.actor import ActorDown
from risala.engine.actors.set_aside import (
    AGAIN_FIRST_S,
    AGAIN_MAX_S,
    ITEMS_MAX,
    SETTLED_S,
    SetAsideItems,
    concerns_all,
)
from risala.engine.model.errors import (
    Conflict,
    Draining,
    LogSilent,
    OutcomeUnknown,
    Overloaded,
    SecretLost,
    StorageFailed,
)

ITS_OWN = [
    OverflowError("Python int too large to convert to SQLite INTEGER"),
    UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"),
    ValueError("year 10000 is out of range"),
    KeyError("row"),
    Conflict("It has ended."),
    SecretLost("webhook_secret", "whk_1"),
    ActorDown("sessions"),
    OSError(errno.ENOENT, "no such file"),
    ExceptionGroup("two", [ValueError("one"), StorageFailed()]),
    StopIteration(),
]
EVERYBODYS = [
    Draining(),
    StorageFailed(),
    OutcomeUnknown(),
    LogSilent(),
    Overloaded(),
    MemoryError(),
    OSError(errno.EMFILE, "too many open files"),
    OSError(errno.ENOSPC, "no space left on device"),
    RuntimeError("can't start new thread"),
    ExceptionGroup("two", [StorageFailed(), ExceptionGroup("one", [Draining()])]),
]


def named(fault):
    return type(fault).__name__


@pytest.fixture
def items():
    return SetAsideItems().loop("rows")


@pytest.mark.parametrize("fault", ITS_OWN, ids=named)
async def test_what_is_an_items_own_sets_it_aside(items, fault):
    with capture_logs() as logs, items.item("mlg_1", endpoint="whk_1"):
        raise fault
    assert not concerns_all(fault)
    assert not items.is_free("mlg_1")
    assert items.is_free("mlg_2")
    assert items.held() == {"mlg_1"}
    (line,) = logs
    assert (line["event"], line["log_level"]) == ("item.set_aside", "error")
    assert (line["loop"], line["item"], line["endpoint"]) == ("rows", "mlg_1", "whk_1")
    assert line["kind"] == type(fault).__name__
    assert "test_set_aside.py" in line["at"]


@pytest.mark.parametrize("fault", EVERYBODYS, ids=named)
async def test_what_is_everybodys_is_raised(items, fault):
    with pytest.raises(type(fault)), items.item("mlg_1"):
        raise fault
    assert items.is_free("mlg_1")
    assert items.status().total == 0


async def test_what_is_made_of_an_item_or_nothing(items):

    def half(number, *, of_what):
        if isinstance(of_what, Exception):
            raise of_what
        return number / of_what

    assert items.made("msg_1", half, 3, of_what=2) == 1.5
    assert items.made("msg_1", half, 3, of_what=ITS_OWN[0]) is None
    assert items.held() == {"msg_1"}
    with pytest.raises(type(EVERYBODYS[0])):
        items.made("msg_2", half, 3, of_what=EVERYBODYS[0])
    assert items.made("msg_1", half, 3, of_what=2) == 1.5
    assert not items.held(), "it was done after all"


async def test_a_cancellation_is_raised(items):
    with trio.CancelScope() as scope, items.item("mlg_1"):
        scope.cancel()
        await trio.sleep(1)
    assert scope.cancelled_caught
    with pytest.raises(BaseExceptionGroup), items.item("mlg_1"):
        raise BaseExceptionGroup("both", [ValueError("one"), KeyboardInterrupt()])
    assert not items


async def test_the_log_quotes_no_words(items):
    with capture_logs() as logs, items.item("mlg_1"):
        raise ValueError("Bring 500 to the house of Fatou")
    assert "Fatou" not in str(logs)


async def test_it_comes_again_ever_later(items, autojump_clock):
    waits = []
    while not waits or waits[-1] < AGAIN_MAX_S:
        with items.item("mlg_1"):
            raise KeyError("row")
        waits.append(items.again_s - trio.current_time())
        await trio.sleep_until(items.again_s)
        assert items.is_free("mlg_1")
        assert items.again_s == math.inf
        assert len(items) == 1, "it is told of until it is done, or gone for good"
    assert waits[:3] == [AGAIN_FIRST_S, 2 * AGAIN_FIRST_S, 4 * AGAIN_FIRST_S]
    with capture_logs() as logs, items.item("mlg_1"):
        pass
    assert [line["event"] for line in logs] == ["item.done_after_all"]
    assert not items
    assert items.status().total == len(waits)


async def test_what_never_comes_again_is_forgotten(items, autojump_clock):
    with items.item("mlg_1"):
        raise KeyError("row")
    await trio.sleep(AGAIN_FIRST_S + SETTLED_S + 1)
    assert items.status().items == ()


async def test_the_next_in_turn_makes_room(items, autojump_clock):
    for number in range(ITEMS_MAX + 1):
        with items.item(number):
            raise KeyError("row")
        await trio.sleep(0.01)
    assert len(items) == ITEMS_MAX
    assert items.is_free(0)
    assert not items.is_free(1)


async def test_together_or_each_alone(items):
    done, calls = [], []

    async def work(some):
        calls.append([*some])
        if 3 in some:
            raise OverflowError
        done.extend(some)

    await items.together([1, 2], str, work)
    assert calls == [[1, 2]]
    await items.together([2, 3, 4], str, work)
    assert done == [1, 2, 2, 4]
    assert items.held() == {"3"}
    assert items.free([2, 3, 4], str) == [2, 4]

    async def full(_):
        raise StorageFailed

    with pytest.raises(StorageFailed):
        await items.together([5, 6], str, full)


async def test_a_loop_is_asked_for_by_name():
    found = SetAsideItems()
    with found.loop("rows").item(7):
        raise KeyError("row")
    assert found.loop("rows").held() == {"7"}
    found.loop("mails")
    assert [(each.loop, each.items, each.total) for each in found.statuses()] == [
        ("mails", (), 0),
        ("rows", ("7",), 1),
    ]
    assert found.loop("rows").again_ms(1_000) == pytest.approx(
        1_000 + 1000 * AGAIN_FIRST_S, abs=500
    )
    assert found.loop("mails").again_ms(1_000) is None


async def test_a_loop_that_waits_for_an_item_finds_it_free(items, autojump_clock):
    """It would look again and again in the same instant otherwise, without an end."""
    with items.item(7):
        raise KeyError("row")
    await trio.sleep(AGAIN_FIRST_S - 0.0001)
    assert items.again_ms(1_000) == 1_001
    await trio.sleep((items.again_ms(1_000) - 1_000) / 1000)
    assert items.is_free(7)

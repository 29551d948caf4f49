"""Items that a loop for everybody sets aside, so that one that breaks it ends nobody else's turn.

Many loops serve all organizations in one task: rows of mailings, erasures, mails. Each handles an
item inside :meth:`ItemLoop.item`. An exception that is the item's alone sets the item aside: the
log names it, a metric counts it, an alert tells of it, and the loop goes on with the next one. It
is tried again after ten minutes, then after twice as long each time; after a restart at once. What
concerns everybody is raised as ever: a cancellation, a stop, a failure of the storage.
"""

from __future__ import annotations

import errno
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, ParamSpec, TypeVar

import structlog
import trio

from risala.dataclass import dataclass
from risala.engine.actors.actor import ActorDown
from risala.engine.model.errors import SecretLost, Unavailable, machine_lacks
from risala.plugins.loading import raised_at

I = TypeVar("I")  # noqa: E741 -- an item of a loop
P = ParamSpec("P")
R = TypeVar("R")

log = structlog.get_logger(__name__)

AGAIN_FIRST_S: Final = 600.0
"""Until an item that was set aside is tried again. What broke it may be over by then."""
AGAIN_MAX_S: Final = 86_400.0
"""Each wait is twice the one before, up to this."""
SETTLED_S: Final = 3600.0
"""An item that has not come for so long after its time is gone: somebody ended or deleted it. One
whose row cannot be read is remembered until it can be, or until a restart: some loops read each row
once."""
ITEMS_MAX: Final = 1000
"""Items of one loop that are known at a time; beyond them the next in turn is tried early."""
CALLS_SHOWN: Final = 4
"""The innermost calls that the log shows of an exception."""
_DISK: Final = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS)


def concerns_all(fault: Exception) -> bool:
    """Whether a fault concerns everybody, and not the item over which it was raised.

    A crash of an actor, and a secret that cannot be opened, are an item's: they come again with it.
    """
    if isinstance(fault, ExceptionGroup):
        return all(map(concerns_all, fault.exceptions))
    if isinstance(fault, Unavailable):
        return not isinstance(fault, ActorDown | SecretLost)
    if isinstance(fault, OSError) and fault.errno in _DISK:
        return True
    return machine_lacks(fault) is not None


@dataclass(slots=True)
class _Aside:
    """An item that is set aside."""

    again_s: float
    """When it is tried again, on Trio's clock."""
    wait_s: float
    is_kept: bool
    """The item is remembered though it does not come again."""


@dataclass(frozen=True, slots=True)
class ItemLoopStatus:
    """What a loop has set aside."""

    loop: str
    items: tuple[str, ...]
    """The ids of those that are set aside now, the oldest first."""
    total: int
    """How often an item was set aside since the start."""


class ItemTurn:
    """The block in which one item is handled."""

    __slots__ = ("_key", "_loop", "_named")

    def __init__(self, loop: ItemLoop, key: str, named: Mapping[str, str]) -> None:
        self._loop = loop
        self._key = key
        self._named = named

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, fault: BaseException | None, __: object) -> bool:
        if fault is None:
            self._loop.done(self._key)
            return False
        if not isinstance(fault, Exception) or concerns_all(fault):
            return False
        self._loop.set_aside(self._key, fault, self._named)
        return True


class ItemLoop:
    """The items of one loop. An id says to an operator which item it is; it has no secrets.

    Args:
        at_start: it runs once, at the start: what it has set aside comes again at the next one.
    """

    def __init__(self, name: str, *, at_start: bool = False) -> None:
        self.name = name
        self._at_start = at_start
        self._aside: dict[str, _Aside] = {}
        self._total = 0

    def item(self, item_id: object, **named: str) -> ItemTurn:
        """Handle one item: an exception that is its own sets it aside, and is not raised.

        Args:
            named: whose it is, for the log.
        """
        return ItemTurn(self, str(item_id), named)

    def made(
        self, item_id: str, make: Callable[P, R | None], *values: P.args, **named: P.kwargs
    ) -> R | None:
        """What ``make`` makes of an item, as in the item's block; None: that set it aside. It costs
        a fifth of a block, for items that pass thousands of times a second."""
        try:
            made = make(*values, **named)
        except Exception as fault:
            if concerns_all(fault):
                raise
            self.set_aside(item_id, fault, {})
            return None
        if self._aside:
            self.done(item_id)
        return made

    def is_free(self, item_id: object) -> bool:
        """Whether an item may be handled now: it is not set aside, or its time has come again."""
        aside = self._aside.get(str(item_id))
        return aside is None or aside.again_s <= trio.current_time()

    def broken_row(self, item_id: str, fault: Exception) -> None:
        """The row of an item cannot be read: it is set aside, as one that breaks in its block."""
        if concerns_all(fault):
            raise fault
        if self.is_free(item_id):
            self.set_aside(item_id, fault, {}, is_row=True)

    def free(self, items: Sequence[I], id_of: Callable[[I], object]) -> list[I]:
        """The items that may be handled now."""
        return [each for each in items if self.is_free(id_of(each))] if self._aside else [*items]

    async def together(
        self,
        items: Sequence[I],
        id_of: Callable[[I], object],
        work: Callable[[Sequence[I]], Awaitable[None]],
    ) -> None:
        """Handle items by one call. If one of them breaks it, each by a call of its own."""
        try:
            await work(items)
        except Exception as fault:
            if concerns_all(fault):
                raise
            for each in items:
                with self.item(id_of(each)):
                    await work([each])

    def held(self) -> frozenset[str]:
        """The ids of the items that may not be handled now."""
        return frozenset(key for key in self._aside if not self.is_free(key))

    @property
    def again_s(self) -> float:
        """When the next item is to be tried again, on Trio's clock; infinite: none is set aside."""
        now_s = trio.current_time()
        times = [each.again_s for each in self._aside.values() if each.again_s > now_s]
        return min(times, default=math.inf)

    def again_ms(self, now_ms: int) -> int | None:
        """When the next item is to be tried again, UTC epoch milliseconds, always later than
        ``now_ms``; None: none is set aside."""
        again_s = self.again_s
        wait_s = again_s - trio.current_time()
        return None if again_s == math.inf else now_ms + math.ceil(wait_s * 1000)

    def __len__(self) -> int:
        """How many items are set aside: so many more have to be read to find one that is not."""
        self._forget_gone()
        return len(self._aside)

    def status(self) -> ItemLoopStatus:
        self._forget_gone()
        return ItemLoopStatus(self.name, tuple(self._aside), self._total)

    def done(self, key: str) -> None:
        """An item was handled."""
        if self._aside and self._aside.pop(key, None) is not None:
            log.info("item.done_after_all", loop=self.name, item=key)

    def set_aside(
        self, key: str, fault: Exception, named: Mapping[str, str], *, is_row: bool = False
    ) -> None:
        """An item broke with a fault of its own: leave it aside for a while."""
        known = self._aside.get(key)
        wait_s = AGAIN_FIRST_S if known is None else min(2 * known.wait_s, AGAIN_MAX_S)
        if known is None and len(self._aside) >= ITEMS_MAX:
            del self._aside[min(self._aside, key=lambda each: self._aside[each].again_s)]
        self._aside[key] = _Aside(trio.current_time() + wait_s, wait_s, is_row or self._at_start)
        self._total += 1
        # Without the exception's words: they may quote a text or a code.
        at = raised_at(fault, CALLS_SHOWN)
        facts = {"again_in_s": wait_s, "kind": type(fault).__name__, "at": at, **named}
        log.error("item.set_aside", loop=self.name, item=key, **facts)

    def _forget_gone(self) -> None:
        before_s = trio.current_time() - SETTLED_S
        gone = [
            key for key, each in self._aside.items() if each.again_s < before_s and not each.is_kept
        ]
        for key in gone:
            del self._aside[key]


class SetAsideItems:
    """What all loops have set aside. It is kept in memory: a restart tries each item once more."""

    def __init__(self) -> None:
        self._loops: dict[str, ItemLoop] = {}

    def loop(self, name: str, *, at_start: bool = False) -> ItemLoop:
        """A loop by its permanent name; made if nobody asked for it before."""
        return self._loops.setdefault(name, ItemLoop(name, at_start=at_start))

    def statuses(self) -> list[ItemLoopStatus]:
        """The status of each loop, by their names."""
        return [self._loops[name].status() for name in sorted(self._loops)]

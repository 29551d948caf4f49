"""What a vendor says later of a code, for the task that waits for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Generic, TypeVar

import trio

Word = TypeVar("Word")
EARLY_MAX: Final = 1000
"""Words that are kept because they came before the answer that they are about."""


class AwaitedWord(Generic[Word]):
    """A code whose word has not come."""

    def __init__(self) -> None:
        self.word: Word | None = None
        self._came = trio.Event()

    def tell(self, word: Word) -> None:
        """This is what the vendor says."""
        self.word = word
        self._came.set()

    @property
    def has_come(self) -> bool:
        return self._came.is_set()

    async def wait(self) -> None:
        """Until it comes."""
        await self._came.wait()


class LaterWords(Generic[Word]):
    """The words of one channel, by the vendor's ids.

    Args:
        says_little: whether a word says nothing that another one would not; it takes no other's
            place.
    """

    def __init__(self, says_little: Callable[[Word], bool] | None = None) -> None:
        self._says_little = says_little
        self._waiting: dict[str, AwaitedWord[Word]] = {}
        self._early: OrderedDict[str, Word] = OrderedDict()

    @contextmanager
    def awaited(self, vendor_id: str) -> Iterator[AwaitedWord[Word]]:
        """Wait for the word on a code within the block; what came early is there at once."""
        awaited = self._waiting[vendor_id] = AwaitedWord()
        early = self._early.pop(vendor_id, None)
        if early is not None:
            awaited.tell(early)
        try:
            yield awaited
        finally:
            del self._waiting[vendor_id]

    def tell(self, vendor_id: str, word: Word) -> bool:
        """Whether somebody waits for it. If nobody does, it is kept for who asks soon."""
        awaited = self._waiting.get(vendor_id)
        if awaited is not None:
            awaited.tell(word)
            return True
        is_little = self._says_little is not None and self._says_little(word)
        if not (is_little and vendor_id in self._early):
            self._early[vendor_id] = word
        while len(self._early) > EARLY_MAX:
            self._early.popitem(last=False)
        return False

    def __len__(self) -> int:
        """For how many somebody waits."""
        return len(self._waiting)

"""Parts of concatenated messages: joined when the last one comes, in any order, twice, or never.

Pure: the time is an argument. No added part is ever dropped: it comes back in a :class:`Whole`,
which may lack parts, or whose parts may all be repeated.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import field
from itertools import groupby
from typing import Any, Final, NamedTuple
from zlib import crc32

from risala.dataclass import dataclass
from risala.sms.message import Concatenation
from risala.sms.segment import join

ASSEMBLIES_MAX: Final = 4096
"""The most messages that wait for parts; the one unchanged for longest is given up."""
REPEATS_S: Final = 600.0
"""A part that comes again this long after its message was whole belongs to that message: the
carrier missed our answer. References are used again much later than that."""
MISSING: Final = "[…]"
"""Replaces parts that never came."""

Key = tuple[Any, ...]
"""Reference, its bits, number of parts, and both ends."""


class Part(NamedTuple):
    """One part of a concatenated message."""

    number: int
    text: str
    token: Any
    """The token of :meth:`Assembler.add` for this part; for a repeated part, the last one."""

    def __repr__(self) -> str:
        return f"Part({self.number}, {len(self.text)} characters)"

    @property
    def mark(self) -> int:
        """A checksum of the text, the same in every run: shows whether a repeated part is the same
        as before."""
        return crc32(self.text.encode("utf-8", "surrogatepass"))


@dataclass(slots=True)
class _Assembly:
    total: int
    began_at_s: float
    touched_at_s: float
    parts: dict[int, Part] = field(default_factory=dict)
    repeats: bool = True
    """Every part so far belongs to a message that was completed recently: the carrier sends that
    message again."""


@dataclass(frozen=True, slots=True)
class _Finished:
    at_s: float
    marks: tuple[int, ...]
    """The marks of the message's parts, in their order."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A message whose parts were joined: complete, or given up with some parts missing."""

    text: str = field(repr=False)
    segments: int
    """The number of parts of the message."""
    parts: tuple[Part, ...] = ()
    """The parts that came, in their order."""
    key: Key = ()
    repeats: bool = False
    """True if the carrier sent a whole message again: nothing is new in it."""

    @property
    def is_complete(self) -> bool:
        """Whether every part came."""
        return len(self.parts) == self.segments

    @property
    def marks(self) -> tuple[int, ...]:
        """The marks of the parts that came: they are recognised by these when they come again."""
        return tuple(part.mark for part in self.parts)


class Assembler:
    """Holds parts until their message is whole.

    Args:
        assemblies_max: messages that may wait for parts before :meth:`give_way` gives one up.
        finished_max: whole messages whose repeated parts are still recognised; 0 if the caller
            recognises repeated parts itself.
    """

    def __init__(
        self, assemblies_max: int = ASSEMBLIES_MAX, finished_max: int = ASSEMBLIES_MAX
    ) -> None:
        self._assemblies_max = assemblies_max
        self._finished_max = finished_max
        self._assemblies: OrderedDict[Key, _Assembly] = OrderedDict()
        self._finished: OrderedDict[Key, _Finished] = OrderedDict()

    def add(
        self,
        text: str,
        place: Concatenation | None,
        *ends: object,
        token: object = None,
        now_s: float = 0.0,
    ) -> Whole | None:
        """Take a part; the whole message once its last part is here, else None.

        Args:
            place: the message and the number of the part; None for a message of one part.
            ends: sender and recipient; the reference is unique between these two only.
            token: returned with the part (:attr:`Part.token`).
            now_s: seconds of a clock that only goes forward.
        """
        if place is None or place.total == 1:
            return Whole(join([text]), 1, (Part(1, text, token),))
        key: Key = (place.reference, place.bits, place.total, *ends)
        assembly = self._assemblies.get(key)
        if assembly is None:
            assembly = self._assemblies[key] = _Assembly(place.total, now_s, now_s)
        self._assemblies.move_to_end(key)
        assembly.touched_at_s = now_s
        part = assembly.parts[place.number] = Part(place.number, text, token)
        assembly.repeats = assembly.repeats and self._was_there(key, part, now_s)
        if len(assembly.parts) < place.total:
            return None
        return self._finish(key, now_s)

    def held(self, key: Key, number: int) -> Part | None:
        """The part with this number of an unfinished message; None if it has not come."""
        assembly = self._assemblies.get(key)
        return assembly.parts.get(number) if assembly else None

    def displaced(self, key: Key, number: int, text: str) -> Whole | None:
        """Give up the unfinished message that has another text in this part's place; None if no
        such message exists.

        The sender uses that message's reference for a new one: no other part of it will come.
        """
        part = self.held(key, number)
        return self._take(key) if part is not None and part.text != text else None

    def take_back(self, key: Key, number: int, token: object, before: Part | None) -> None:
        """Undo an :meth:`add` with this token.

        Args:
            before: the result of :meth:`held` before that :meth:`add`.
        """
        part = self.held(key, number)
        if part is None or part.token is not token:
            return
        parts = self._assemblies[key].parts
        if before is not None:
            parts[number] = before
            return
        del parts[number]
        if not parts:
            del self._assemblies[key]

    def put_back(self, whole: Whole, numbers: Iterable[int], touched_at_s: float) -> None:
        """Hold parts of a message again, which could not be handed on.

        Args:
            numbers: the parts to hold; the others will be sent again, or never came.
        """
        kept = set(numbers)
        if not whole.repeats:
            self._finished.pop(whole.key, None)
        assembly = self._assemblies.get(whole.key)
        if assembly is None:
            if not kept:
                return
            assembly = self._assemblies[whole.key] = _Assembly(
                whole.segments, touched_at_s, touched_at_s
            )
        assembly.repeats = assembly.repeats and whole.repeats
        for part in whole.parts:
            if part.number in kept:
                assembly.parts.setdefault(part.number, part)

    def give_way(self, *, at_once: bool = False) -> Whole | None:
        """Give up the message that is unchanged for longest, if too many wait, or ``at_once``."""
        if not self._assemblies or (not at_once and len(self._assemblies) <= self._assemblies_max):
            return None
        return self._take(next(iter(self._assemblies)))

    def take_older(self, before_s: float = math.inf) -> list[Whole]:
        """Give up the messages whose latest part came before ``before_s``: no other will come."""
        keys = [key for key, one in self._assemblies.items() if one.touched_at_s < before_s]
        return [self._take(key) for key in keys]

    def take_repeated(self, before_s: float) -> list[Whole]:
        """Give up the messages with only repeated parts, the last before ``before_s``. Longer than
        :data:`REPEATS_S` they would wait for a message that has their reference by chance."""
        one_by_one = self._assemblies.items()
        keys = [key for key, one in one_by_one if one.repeats and one.touched_at_s < before_s]
        return [self._take(key) for key in keys]

    def take_begun(self, before_s: float) -> list[Whole]:
        """Give up the messages whose first part came before ``before_s``, however new the others
        are."""
        keys = [key for key, one in self._assemblies.items() if one.began_at_s < before_s]
        return [self._take(key) for key in keys]

    def take_first_begun(self) -> Whole:
        """Give up the message that waits longest since its first part.

        Raises:
            ValueError: no message waits.
        """
        return self._take(min(self._assemblies, key=lambda key: self._assemblies[key].began_at_s))

    def __len__(self) -> int:
        """Messages that wait for parts."""
        return len(self._assemblies)

    def oldest_s(self) -> float | None:
        """When the message that is unchanged for longest got its last part; None: none waits."""
        return next((one.touched_at_s for one in self._assemblies.values()), None)

    def oldest_repeated_s(self) -> float | None:
        """When the message of which only repeated parts came, and that is unchanged for longest,
        got its last part; None: none waits."""
        return next((one.touched_at_s for one in self._assemblies.values() if one.repeats), None)

    def recall_finished(self, key: Key, marks: tuple[int, ...], at_s: float) -> None:
        """Recognise the parts of a message that was whole at ``at_s``, before a restart."""
        self._finished[key] = _Finished(at_s, marks)

    def forget_finished(self, now_s: float) -> list[Key]:
        """Forget the whole messages that are older than :data:`REPEATS_S` or one too many; their
        keys."""
        old: list[Key] = []
        while self._finished:
            key, one = next(iter(self._finished.items()))
            if len(self._finished) <= self._finished_max and now_s - one.at_s <= REPEATS_S:
                break
            del self._finished[key]
            old.append(key)
        return old

    def _was_there(self, key: Key, part: Part, now_s: float) -> bool:
        finished = self._finished.get(key)
        return (
            finished is not None
            and now_s - finished.at_s <= REPEATS_S
            and finished.marks[part.number - 1] == part.mark
        )

    def _finish(self, key: Key, now_s: float) -> Whole:
        whole = self._take(key)
        if not whole.repeats and self._finished_max:
            self._finished[key] = _Finished(now_s, whole.marks)
            self._finished.move_to_end(key)
        return whole

    def _take(self, key: Key) -> Whole:
        assembly = self._assemblies.pop(key)
        parts_or_gaps = [assembly.parts.get(number) for number in range(1, assembly.total + 1)]
        runs = groupby(parts_or_gaps, key=lambda part: part is None)
        text = join(
            piece
            for lacks, run in runs
            for piece in ((MISSING,) if lacks else (part.text for part in run if part))
        )
        parts = tuple(part for part in parts_or_gaps if part)
        return Whole(text, assembly.total, parts, key, assembly.repeats)

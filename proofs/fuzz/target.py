"""What a target of the fuzzer is, and what targets share: choices out of octets, counted work."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Final, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FuzzTarget:
    """One door that hostile octets come in by, with what must hold whatever they are."""

    name: str
    oracle: str
    """What is asked of each input, in words: a column of the evidence."""
    run_once: Callable[[bytes], object]
    """Takes an input; whatever it raises is a finding."""
    seeds: Callable[[], Iterable[bytes]]
    """Good inputs, from which the search sets out."""
    octets_max: int = 2048
    """Octets of an input; a longer one of the fuzzer's would find nothing else."""
    words: tuple[bytes, ...] = ()
    """What inputs of this kind are made of, for whoever mutates them."""

    def run(self, octets: bytes) -> None:
        """Take an input. Whatever is loaded with the first one of its kind, such as the numbers of
        a country, is no work of that input: one that takes too much is taken again."""
        try:
            self.run_once(octets)
        except TooMuchWork:
            self.run_once(octets)


class Script:
    """Octets as a row of choices, then the rest of them."""

    def __init__(self, octets: bytes) -> None:
        self._octets = octets
        self._at = 0

    def number(self) -> int:
        """0 to 255; 0 once there are no more."""
        self._at += 1
        return self._octets[self._at - 1] if self._at <= len(self._octets) else 0

    def of(self, choices: Sequence[T]) -> T:
        return choices[self.number() % len(choices)]

    def flag(self) -> bool:
        return bool(self.number() & 1)

    def some(self) -> bytes:
        """A run of octets, whose length is the octet before it."""
        count = self.number()
        found = self._octets[self._at : self._at + count]
        self._at += count
        return found

    def text(self) -> str:
        """As :meth:`some`, as text."""
        return text_of(self.some())

    def rest(self) -> bytes:
        found = self._octets[self._at :]
        self._at = len(self._octets)
        return found

    @property
    def is_over(self) -> bool:
        return self._at >= len(self._octets)


def text_of(octets: bytes) -> str:
    """Text of any octets, half surrogates among it: what JSON's escapes can bring."""
    return octets.decode("utf-8", "surrogatepass") if _is_wtf8(octets) else octets.decode("latin-1")


def _is_wtf8(octets: bytes) -> bool:
    try:
        octets.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def is_unicode(text: str) -> bool:
    """Whether a text can be stored and sent: no half of a surrogate pair is in it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def pieces(octets: bytes, size: int) -> Iterator[bytes]:
    return (octets[at : at + size] for at in range(0, len(octets), size))


CUTS_MAX: Final = 10
"""Places at which one input is cut in two; a short one is cut everywhere."""


def cuts(octets: bytes) -> Iterator[list[bytes]]:
    """The same octets in other pieces: one by one, by threes, and in two at many places. Which ones
    follows from the octets, so that all of them have their turn."""
    yield list(pieces(octets, 1))
    yield list(pieces(octets, 3))
    step = max(1, len(octets) // CUTS_MAX)
    for at in range(1 + sum(octets) % step, len(octets), step):
        yield [octets[:at], octets[at:]]


def _is_fuzzers(function: object) -> bool:
    """Whether a function tells the fuzzer of a branch or a comparison: it is no work of the
    target."""
    return (getattr(function, "__module__", None) or "").startswith("atheris.")


@contextmanager
def work_within(limit: float) -> Iterator[None]:
    """Fails where more calls than ``limit`` are made, of Python's functions and of C's.

    Work is counted and not timed, so that a loaded machine does not matter. What one call in C does
    (a regular expression above all) is not seen: for that the fuzzer has a limit of time.
    """
    count = 0

    def note(frame: FrameType, what: str, of: object) -> None:
        nonlocal count
        if what == "call" or (what == "c_call" and not _is_fuzzers(of)):
            count += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(before)
    if count > limit:
        raise TooMuchWork(f"{count} calls, and {limit:.0f} are the limit")


class TooMuchWork(AssertionError):
    """An input made more calls than its limit."""


def refusal_of(call: Callable[[], T], *allowed: type[Exception]) -> T | Exception:
    """What a call gives, or the exception of an allowed kind; any other is a finding."""
    try:
        return call()
    except allowed as refusal:
        return refusal

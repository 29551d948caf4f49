"""A wire between two sans-IO sessions, and every way in which a network may cut what it carries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

_Event = TypeVar("_Event")
_Event_co = TypeVar("_Event_co", covariant=True)


class Receives(Protocol[_Event_co]):
    """A protocol state machine: octets in, events out."""

    def receive(self, octets: bytes, /) -> Sequence[_Event_co]:
        """The events of these octets."""


def cuts(octets: bytes) -> Iterator[tuple[bytes, ...]]:
    """The octets whole, one by one, and in two pieces at every position."""
    yield (octets,)
    yield tuple(octets[at : at + 1] for at in range(len(octets)))
    for at in range(1, len(octets)):
        yield octets[:at], octets[at:]


def carry(receiver: Receives[_Event], pieces: tuple[bytes, ...]) -> list[_Event]:
    """All events that the receiver makes of the pieces."""
    return [event for piece in pieces for event in receiver.receive(piece)]


def same_however_cut(new_receiver: Callable[[], Receives[_Event]], octets: bytes) -> list[_Event]:
    """The events of ``octets``, after proving that they do not depend on how they are cut.

    Args:
        new_receiver: gives a state machine in the same state each time.
    """
    expected = carry(new_receiver(), (octets,))
    for pieces in cuts(octets):
        events = carry(new_receiver(), pieces)
        assert events == expected, f"cut into {[len(piece) for piece in pieces]} octets"
    return expected


class WirePair:
    """Two sessions with a wire between them that carries one octet at a time.

    ``pair.to_b(octets)`` is what ``b`` makes of what ``a`` sent.
    """

    def __init__(self, a: Receives[object], b: Receives[object]) -> None:
        self.a = a
        self.b = b

    def to_a(self, octets: bytes) -> list[object]:
        """The events that ``a`` makes of octets that ``b`` sent."""
        return carry(self.a, tuple(octets[at : at + 1] for at in range(len(octets))))

    def to_b(self, octets: bytes) -> list[object]:
        """The events that ``b`` makes of octets that ``a`` sent."""
        return carry(self.b, tuple(octets[at : at + 1] for at in range(len(octets))))

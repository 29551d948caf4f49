"""Units of work that somebody answers for: who did it stands in the same transaction."""

from __future__ import annotations

from typing import Protocol, TypeVar

from risala.engine.journal.store.transaction import Unit

T = TypeVar("T")


class Signature(Protocol):
    """Somebody's hand. A unit that it signs leaves a line in the audit trail, or nothing at all."""

    def under(self, unit: Unit[T], /) -> Unit[T]:
        """The unit, and the line, in one: both hold or neither."""


def signed(by: Signature | None, unit: Unit[T]) -> Unit[T]:
    """The unit under a signature; None: the engine does it of its own accord."""
    return unit if by is None else by.under(unit)

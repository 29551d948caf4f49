"""What operations tell, in the shapes of the API's answers (contract §8)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from risala.engine.model.records.message_lists import Listed
from risala.engine.model.wire import lean, message_wire
from risala.http.api.management.cursors import ListName, written

Json = dict[str, Any]
T = TypeVar("T")


def lean_message(found: Listed) -> Json:
    """For an organization that wants seven fields and four states."""
    return lean(message_wire(found))


def page(
    of: ListName,
    items: Sequence[T],
    shape: Callable[[T], Json],
    next_: str | int | None,
    previous: str | int | None,
) -> Json:
    """One page of a list, and the cursors of the pages beside it."""
    return {
        "items": [shape(each) for each in items],
        "next": written(of, next_),
        "previous": written(of, previous),
    }

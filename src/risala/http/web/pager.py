"""Lists by key-set: newer and older from where one stands, never a number of pages or a total."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode


@dataclass(frozen=True, slots=True)
class Pager:
    """Where the two buttons of a list lead; None: there is nothing more."""

    newer: str | None
    older: str | None


def pager_of(path: str, query: Mapping[str, str], *, newer: str | None, older: str | None) -> Pager:
    """The pager of a list at ``path`` with the filters ``query``; cursors as reads tell them."""
    kept = {name: value for name, value in query.items() if name not in ("before", "after")}

    def address(name: str, cursor: str | None) -> str | None:
        return None if cursor is None else f"{path}?{urlencode({**kept, name: cursor})}"

    return Pager(newer=address("after", newer), older=address("before", older))

"""A part of an account's data, as it is read for its owner's file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from risala.dataclass import dataclass

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AccountPart:
    rows: Sequence[Json]
    last: str | None
    """The place where the next part begins; None: no further part."""


Read = Callable[[sqlite3.Connection, str, str, int], AccountPart]
"""Reads rows of an organization, after a place, up to a number."""

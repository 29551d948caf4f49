"""Persistent notes of a modem: the part of :class:`DriverContext` that keeps notes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final, Protocol

_NAME_DIGITS: Final = 16


class ModemNotes(Protocol):
    """The part of :class:`risala.plugins.contract.DriverContext` that keeps notes, whose methods
    are explained there."""

    async def remember(self, notes: Mapping[str, str | None]) -> None: ...

    def recall(self, prefix: str = "") -> dict[str, str]: ...


def short_name(number: str) -> str:
    """A unique name for an IMSI, ICCID or IMEI that does not reveal it; empty without a number."""
    return hashlib.sha256(number.encode()).hexdigest()[:_NAME_DIGITS] if number else ""

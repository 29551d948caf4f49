"""What a modem must not forget: the part of :class:`DriverContext` that keeps notes."""

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
    """A name for an IMSI, ICCID or IMEI that tells it from others without giving it away; empty
    where there is no number."""
    return hashlib.sha256(number.encode()).hexdigest()[:_NAME_DIGITS] if number else ""

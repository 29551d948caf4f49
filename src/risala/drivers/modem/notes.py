"""What a modem must not forget: the part of :class:`DriverContext` that keeps notes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final, Protocol

_NAME_DIGITS: Final = 16


class ModemNotes(Protocol):
    """See :class:`risala.plugins.contract.DriverContext`."""

    async def remember(self, notes: Mapping[str, str | None]) -> None: ...

    def recall(self, prefix: str = "") -> dict[str, str]: ...


def short_name(number: str) -> str:
    """Tells an IMSI, ICCID or IMEI from others without telling it; empty where there is none."""
    return hashlib.sha256(number.encode()).hexdigest()[:_NAME_DIGITS] if number else ""

"""Messages that a restore holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HeldMessage:
    id: str
    organization_id: str
    recipient: str
    send_at: int

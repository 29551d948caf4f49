"""What the app keeps on a simulated phone: its messages and their states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any


def written(at_ms: int) -> str:
    """A time as the app writes it."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")


def read_ms(word: object) -> int | None:
    """A time as the service writes it; None: it gave none."""
    if not isinstance(word, str):
        return None
    return round(datetime.fromisoformat(word).timestamp() * 1000)


@dataclass(slots=True)
class StoredText:
    """A message that the app is to send, or has sent."""

    id: str
    recipient: str
    text: str = field(repr=False)
    sim: int | None
    valid_until_ms: int | None
    priority: int
    reports: bool
    """Whether a delivery report is asked for."""
    has_left: bool = False
    """The text left the phone, whatever state is told: Android sends nothing twice."""
    state: str = "Pending"
    error: str | None = None
    states: dict[str, str] = field(default_factory=dict)

    def become(self, state: str, now_ms: int, error: str | None = None) -> None:
        """Take on a state. What failed stays failed, as in the app."""
        self.states.setdefault(state, written(now_ms))
        if self.state != "Failed":
            self.state, self.error = state, error

    @property
    def report(self) -> dict[str, Any]:
        """What the app tells the service of it."""
        recipient = {"phoneNumber": self.recipient, "state": self.state, "error": self.error}
        return {
            "id": self.id,
            "state": self.state,
            "recipients": [recipient],
            "states": dict(self.states),
        }


class AppStore:
    """The app's messages.

    Args:
        now_ms: the phone's own clock.
    """

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self.texts: dict[str, StoredText] = {}

    def add(self, fields: dict[str, Any]) -> StoredText:
        """Keep a message that came with a fetch."""
        text = StoredText(
            id=fields["id"],
            recipient=fields["phoneNumbers"][0],
            text=fields["textMessage"]["text"],
            sim=fields.get("simNumber"),
            valid_until_ms=read_ms(fields.get("validUntil")),
            priority=fields.get("priority") or 0,
            reports=fields.get("withDeliveryReport", True),
        )
        text.become("Pending", self._now_ms())
        self.texts[text.id] = text
        return text

    def next_pending(self) -> StoredText | None:
        """The message that is sent next: the most urgent one, then the oldest."""
        pending = [each for each in self.texts.values() if each.state == "Pending"]
        return max(pending, key=lambda each: each.priority, default=None)

    def cancel(self, text_id: str) -> StoredText | None:
        """Give back a message that was not sent yet; None: it is unknown, or was sent."""
        text = self.texts.get(text_id)
        if text is None or text.state != "Pending":
            return None
        text.become("Cancelled", self._now_ms())
        return text

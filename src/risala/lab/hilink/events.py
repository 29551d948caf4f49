"""What happens at a simulated stick."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class StickRequest:
    """A request was answered."""

    path: str
    code: int
    """0: done; otherwise an error of the stick."""


@dataclass(frozen=True)
class StickSignedIn:
    """Somebody tried to sign in."""

    is_in: bool


@dataclass(frozen=True)
class StickSent:
    """The network took a text, or did not."""

    recipient: str
    text: str = field(repr=False)
    is_sent: bool


@dataclass(frozen=True)
class StickReceived:
    """A text or a report came in; it is lost where the stick is full."""

    sender: str
    text: str = field(repr=False)
    is_kept: bool


@dataclass(frozen=True)
class StickDeleted:
    """A message was deleted."""

    index: str


@dataclass(frozen=True)
class StickChanged:
    """Something was done to the stick."""

    text: str


StickHappening = (
    StickRequest | StickSignedIn | StickSent | StickReceived | StickDeleted | StickChanged
)

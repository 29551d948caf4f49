"""What happens at a simulated phone, for whoever watches it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class PhoneRegistered:
    """The service took the phone's private token."""

    phone_id: str


@dataclass(frozen=True, slots=True)
class PhoneRefused:
    """The service answered a call with an error."""

    call: str
    status: int


@dataclass(frozen=True, slots=True)
class NetworkLost:
    """A call had no answer."""

    call: str


@dataclass(frozen=True, slots=True)
class StreamChanged:
    """The stream of events opened or ended."""

    is_open: bool


@dataclass(frozen=True, slots=True)
class MessageFetched:
    """A message that the app did not know came with a fetch."""

    id: str


@dataclass(frozen=True, slots=True)
class TextSent:
    """A text left the phone: its recipient has it."""

    id: str
    recipient: str
    sim: int
    text: str = field(repr=False)
    valid_until_ms: int | None = None


@dataclass(frozen=True, slots=True)
class StateReported:
    """The service took the report of a state."""

    id: str
    state: str
    error: str


@dataclass(frozen=True, slots=True)
class TextUploaded:
    """The service took a text that somebody had sent to the phone."""

    sender: str
    tries: int


@dataclass(frozen=True, slots=True)
class PhoneChanged:
    """What somebody did to the phone."""

    text: str


PhoneHappening = (
    PhoneRegistered
    | PhoneRefused
    | NetworkLost
    | StreamChanged
    | MessageFetched
    | TextSent
    | StateReported
    | TextUploaded
    | PhoneChanged
)

"""What a simulated stick is, and how it behaves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

Login = Literal["none", "base64", "sha256", "scram"]
PASSWORD_TYPES: Final = {"none": "4", "base64": "3", "sha256": "4", "scram": "4"}
SIM_READY: Final = 257
SIM_WANTS_PIN: Final = 260
SIM_WANTS_PUK: Final = 261
NO_SIM: Final = 255
PIN_TRIES: Final = 3


@dataclass(frozen=True)
class HilinkConfig:
    """One stick with its SIM."""

    host: str = "127.0.0.1"
    port: int = 8088
    """0: any free one."""
    model: str = "E3372h-320"
    imei: str = "861234050000017"
    number: str = "+22236000017"
    operator: str = "Mauritel"
    login: Login = "none"
    """How the stick wants its password; ``none``: it wants no login."""
    user: str = "admin"
    password: str = ""
    rotates_tokens: bool = False
    """Whether each answer to an order has the next token, also where nobody signs in. With a login
    it is always so."""
    lists_tokens: bool = False
    """Whether a login gives a list of tokens in place of two."""
    pin: str = ""
    """Empty: the SIM wants none."""
    storage_max: int = 500
    sent_after_s: float = 0.3
    """How long the network needs to take a text."""
    reported_after_s: float = 0.5
    """When its delivery report comes after that."""
    has_reports: bool = True


@dataclass
class StickBehaviour:
    """Bad days: what is set here holds until it is changed."""

    is_mute: bool = False
    """The stick takes requests, and answers nothing."""
    slow_s: float = 0.0
    """How much later it answers."""
    fails_sends: bool = False
    """The network takes no text."""
    keeps_sent: bool = True
    """Whether sent texts are in the outbox."""
    has_service: bool = True
    stuck: bool = False
    """Texts stay on their way."""
    errors: dict[str, list[int]] = field(default_factory=dict)
    """Codes that the next requests of a path are answered with, instead of being done."""
    lose_answers: list[str] = field(default_factory=list)
    """Paths whose next request is done, and its connection is dropped before the answer."""
    outbox_state: int = 3
    """The state (``Smstat``) of a text that was sent."""

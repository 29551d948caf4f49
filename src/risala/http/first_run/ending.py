"""The end of the first run, stage by stage, as the terminal and the page show it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Final

from risala.dataclass import dataclass
from risala.engine.model.cause_sentences import cause_text
from risala.http.web.languages import N_

WRITTEN: Final = N_("The settings are in {path}.")
UNCHANGED: Final = N_("The settings in {path} stay as they are.")
STARTING: Final = N_("The service starts.")
RUNNING: Final = N_("The service runs at {url}.")
REREAD: Final = N_("The service that runs uses the new settings.")
RESTART: Final = N_("Restart the service: only then it uses {keys}.")
OPERATOR: Final = N_("{email} runs the service.")
BALANCE: Final = N_(
    "{name} has {amount}, enough for {parts} parts. Your customers' money is added like this:"
    " {command}"
)
NOBODY_PAYS: Final = N_("Nobody pays: {name} may send {parts} parts a day.")
NO_PHONE: Final = N_("No number was given, so no SMS is sent.")
SENDING: Final = N_("An SMS to {number} leaves by {carrier}.")
WAITING: Final = N_("The SMS waits until the carrier is ready.")
SENT: Final = N_("The carrier has the SMS. Its receipt comes in a moment.")
DELIVERED: Final = N_("Your phone has the SMS.")
DELIVERED_TRIAL: Final = N_("Delivered on trial: no phone rings until you name a real carrier.")
OTHER_CARRIER: Final = N_("The routes chose another carrier for it: {carrier}.")
NO_RECEIPT: Final = N_(
    "The carrier has the SMS, but no receipt came. Look at your phone: if it shows the SMS, all is"
    " well."
)
STILL_WAITING: Final = N_("The SMS still waits. It leaves as soon as the carrier is ready.")
SENDER_REFUSED: Final = N_(
    "The carrier does not know the sender {sender}. Begin again, and answer with the one of your"
    " contract."
)
NOT_ARRIVED: Final = N_("The SMS did not arrive.")
EXPORT_KEY: Final = N_(
    "Keep a copy of the key that opens the stored secrets, apart from the backups:"
    " risala secrets export-key FILE."
)
FAILED: Final = N_("It did not work.")


class StageKind(StrEnum):
    """How a stage went."""

    NOW = "now"
    DONE = "done"
    ODD = "odd"
    """It may be well; its reader should look."""
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Stage:
    """A line about the end."""

    kind: StageKind
    sentence: str
    holes: Mapping[str, object] = field(default_factory=dict)
    said: str = ""
    """What a carrier or the service said; it stands behind the sentence."""
    cause: str | None = None
    """The error code of the message."""

    @property
    def english(self) -> str:
        """The line for the terminal."""
        parts = (self.sentence.format(**self.holes), cause_text(self.cause), self.said)
        return " ".join(filter(None, parts))


Report = Callable[[Stage], None]


@dataclass(frozen=True, slots=True)
class FirstRunEnd:
    """How the first run ended."""

    url: str = field(repr=False)
    """Signs the operator in, once."""
    local_url: str = field(repr=False)
    """The same on this machine itself."""
    organization_id: str
    message_id: str | None
    """None: no message was sent."""
    status: str | None
    is_well: bool
    """False: the message failed."""
    key: str | None = field(default=None, repr=False)
    """The value of a new key; None: the organization has one already."""
    curl: str = field(default="", repr=False)
    """The command that sends by it."""
    start: str = ""
    """What starts the service the next time; empty: systemd does."""

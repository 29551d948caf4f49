"""Verifications without a code, in which the user sends a text or calls: what their starter says,
and is answered."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import Moment, OneOf
from risala.engine.model.states import SessionState


class Method(StrEnum):
    """What the user does."""

    INBOUND_SMS = "inbound_sms"
    MISSED_CALL = "missed_call"


@dataclass(frozen=True, slots=True)
class StartedReverse:
    """What the user has to do, and where the program shows it."""

    verification_id: str
    status: SessionState
    method: Annotated[str, OneOf(tuple(Method))]
    send_to: str
    """The number of the service that the user texts or calls."""
    text: str | None = field(repr=False)
    """What the user sends: the organization's name and a word that counts once. None: a call."""
    link: str = field(repr=False)
    """Opens the application for texts, or for calls, of a phone with all of it filled in."""
    qr_svg: str = field(repr=False)
    """The same for a phone's camera, as an SVG drawing."""
    page: str = field(repr=False)
    """The address of a page that shows all this and how it stands. Who has it may open it."""
    expires_at: Moment


START: Final = Ask("verify.start", StartedReverse)

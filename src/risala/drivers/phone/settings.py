"""The settings of ``[carriers.phone]``. Units are in the names; unknown keys are faults."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

TOKEN_CHARACTERS_MIN: Final = 16
"""With fewer, somebody could guess the token in the time that a phone is in use."""


class PhoneSettings(BaseModel):
    """One Android phone with the SMSGate app, and which of its SIMs sends."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )

    token: SecretStr | None = None
    """What the app calls *Private token*: at least 16 letters and digits, given as ``token_env``.
    Without it the service makes one, keeps it sealed, and pairing shows it."""
    shares: str | None = None
    """The carrier whose phone this is too: another SIM of it. The phone calls that carrier; this
    one names its SIM, and needs no token."""
    sim: Literal[1, 2, "any"] = "any"
    """The SIM that sends, and whose messages are received: 1, 2, or ``any``, which leaves it to the
    phone."""
    number: Annotated[str, Field(pattern=r"^\+[0-9]{6,15}$")] | None = None
    """The SIM's own number, which timelines show as the sender, and which received messages are
    for; the app knows it of few SIMs."""
    per_minute: Annotated[float, Field(gt=0, le=60)] = 1.0
    """Segments a minute on average over half an hour, in which they may also go at once: 1 is 30 in
    half an hour. Beyond that Android asks on the screen before it sends, unless it was changed."""
    per_day_max: Annotated[int, Field(ge=1, le=100_000)] | None = 200
    """Segments a day (UTC): operators disconnect SIMs that send many."""
    silent_after_s: Annotated[float, Field(ge=120, le=86400)] = 900.0
    """Seconds without a call of the phone after which it counts as ill; operators are alerted."""
    fetch_s: Annotated[float, Field(ge=1, le=1200)] = 120.0
    """Seconds in which the phone must fetch a message; then it goes elsewhere or waits."""
    sent_s: Annotated[float, Field(ge=1, le=1200)] = 180.0
    """Seconds from the fetch in which the phone must report that the network took the message."""

    @model_validator(mode="after")
    def _names_its_sim(self) -> Self:
        if self.shares is not None and self.sim == "any":
            raise ValueError("a carrier that shares a phone names its SIM: sim = 2")
        return self

    @field_validator("token")
    @classmethod
    def _is_long(cls, token: SecretStr | None) -> SecretStr | None:
        if token is None:
            return None
        text = token.get_secret_value()
        if not re.fullmatch(rf"[A-Za-z0-9_-]{{{TOKEN_CHARACTERS_MIN},200}}", text):
            raise ValueError(
                f"must have at least {TOKEN_CHARACTERS_MIN} letters and digits (- and _ too), as "
                "`openssl rand -hex 16` prints them"
            )
        return token

"""The settings of ``[carriers.hilink]``. Units are in the names; unknown keys are faults."""

from __future__ import annotations

import re
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

DEFAULT_URL: Final = "http://192.168.8.1"
"""Where a stick is that nobody has configured."""


class HilinkSettings(BaseModel):
    """One HiLink stick with one SIM."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )

    url: str = DEFAULT_URL
    """The stick's address. Each stick needs one of its own: give the second one
    ``http://192.168.9.1`` on its own page."""
    user: Annotated[str, Field(min_length=1, max_length=64)] = "admin"
    """Who signs in, where the stick wants that."""
    password: SecretStr | None = None
    """The password of the stick's page, given as ``password_env``, where the stick wants one. A
    wrong one is never tried twice."""
    pin: SecretStr | None = None
    """The SIM's PIN, given as ``pin_env``. A wrong one is never typed twice."""
    number: Annotated[str, Field(pattern=r"^\+[0-9]{6,15}$")] | None = None
    """The SIM's own number, which timelines show as the sender, and which received messages are
    for. If it is not set, it is what the stick says, which few SIMs know."""
    inbound: bool = True
    """Hand over received messages, and delete each from the stick once it is stored; False leaves
    them where they are."""
    reports: bool = True
    """Ask for delivery reports, where the stick has them."""
    segments_per_day_max: Annotated[int, Field(ge=1)] | None = None
    """Parts of messages that the SIM sends in a day (UTC); not set: no limit."""
    answer_s: Annotated[float, Field(ge=0.05, le=120)] = 15.0
    """Seconds in which the stick answers a request."""
    send_timeout_s: Annotated[float, Field(ge=0.05, le=600)] = 90.0
    """Seconds in which the stick says what became of a message; below the network's own 45 s good
    sends become uncertain."""
    poll_s: Annotated[float, Field(ge=0.01, le=3600)] = 5.0
    """Seconds between two looks for received messages and reports."""
    check_every_s: Annotated[float, Field(ge=0.01, le=3600)] = 30.0
    """Seconds between two looks at signal, network, SIM and storage."""

    @field_validator("url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        parts = urlsplit(url)
        try:
            good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            good = False
        if not good or parts.username is not None or parts.path.strip("/") or parts.query:
            raise ValueError(f"must be an address without a path, such as {DEFAULT_URL}")
        return f"{parts.scheme}://{parts.netloc}"

    @field_validator("pin")
    @classmethod
    def _is_pin(cls, pin: SecretStr | None) -> SecretStr | None:
        if pin is not None and not re.fullmatch(r"[0-9]{4,8}", pin.get_secret_value()):
            raise ValueError("must have 4 to 8 digits")
        return pin

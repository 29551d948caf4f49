"""The settings of ``[carriers.modem]``. Units are in the names; unknown keys are faults."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    field_validator,
    model_validator,
)

from risala.sms.evident import InboundCoding

Seconds = Annotated[float, Field(gt=0, le=86400)]
Storage = Literal["auto", "ME", "SM", "MT"]

_INIT_MAX: Final = 20
"""Commands of ``init``: each may take as long as a command without an answer, and more of them
would be a script."""
_INIT_LINE_MAX: Final = 200
"""Modems take lines of 256 characters and more (V.250 has no limit)."""
_NOT_IN_INIT: Final = {
    "+CPIN": "has a PIN: set pin_env, which types it once and never again",
    "+CLCK": "has a PIN: do that once, by hand",
    "+CPWD": "has a PIN: do that once, by hand",
    "+CMGS": "sends a message",
    "+CMSS": "sends a message",
    "+CMGW": "waits for a text",
    "+CMGC": "sends a message",
    "+CNMA": "may wait for a text",
}
_dials: Final = re.compile(r"[^&+^*$%#]*(?:&.[^&+^*$%#]*)*?(?<!&)([DA])").match
"""Finds ATD or ATA, which dial and answer calls, among the basic commands at the head of a line;
AT&D is another command (V.250 §5.4)."""


def _is_init_command(text: str) -> str:
    if not re.fullmatch(rf"AT[ -~]{{1,{_INIT_LINE_MAX - 2}}}", text, re.IGNORECASE):
        raise ValueError(
            f"must be AT and a command in ASCII, at most {_INIT_LINE_MAX} characters: AT^CURC=0"
        )
    command = text[2:].upper()
    for name, reason in _NOT_IN_INIT.items():
        if re.search(rf"{re.escape(name)}(?![A-Z0-9])", command):
            raise ValueError(f"must not have AT{name}, which {reason}")
    if _dials(command):
        raise ValueError("must not dial or answer a call")
    return text


InitCommand = Annotated[str, AfterValidator(_is_init_command)]

_STRICT = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True)


class UssdBalance(BaseModel):
    """How to ask the SIM's network for the balance, and to read it from the answer."""

    model_config = _STRICT

    code: Annotated[str, Field(pattern=r"^[*#0-9]{2,40}$")]
    """What a person would dial: ``*124#``."""
    pattern: str = r"(-?[0-9]+(?:[.,][0-9]+)?)"
    """A regular expression whose first group is the amount: ``'solde: ([0-9.,]+)'``. The first
    number unless given."""
    every_s: Annotated[float, Field(ge=60, le=30 * 86400)] = 6 * 3600.0
    """Seconds from one question to the next."""
    low: float | None = None
    """Below this amount the balance is told as low."""

    @field_validator("pattern")
    @classmethod
    def _has_a_group(cls, pattern: str) -> str:
        try:
            groups = re.compile(pattern).groups
        except re.error as error:
            raise ValueError(f"is no regular expression: {error}") from error
        if groups < 1:
            raise ValueError("needs a group (in brackets) that is the amount")
        return pattern


class ModemSettings(BaseModel):
    """One modem with one SIM."""

    model_config = _STRICT

    port: Annotated[str, Field(min_length=1, max_length=4096)]
    """``/dev/serial/by-id/…``, whose name survives a replug, or ``socket://host:port`` for a modem
    behind ser2net."""
    baud: Annotated[int, Field(ge=300, le=4_000_000)] = 115200
    """The speed of the port. It has no meaning on USB."""
    pin: SecretStr | None = None
    """The SIM's PIN, given as ``pin_env``, the name of a variable. A wrong one is never typed
    twice."""
    smsc_number: Annotated[str, Field(pattern=r"^\+?[0-9]{3,20}$")] | None = None
    """The operator's service centre, where the SIM does not know it."""
    init: Annotated[tuple[InitCommand, ...], Field(max_length=_INIT_MAX)] = ()
    """Commands that this modem needs besides, at each start: ``["AT^CURC=0"]``. They are given
    before Risala's own, so that those count. One that is not taken stands in the trace; none may
    type a PIN, send or call."""

    send_timeout_s: Annotated[float, Field(ge=5, le=600)] = 60.0
    """Seconds after which a send is uncertain. The network's own timer is about 45 s."""
    prompt_timeout_s: Seconds = 10.0
    """Seconds after which nothing was sent, and the modem is brought back."""
    check_every_s: Annotated[float, Field(ge=1, le=3600)] = 30.0
    """Seconds between two looks at signal, registration and storage, which also find a modem that
    hangs."""
    reopen_first_s: Seconds = 1.0
    """Seconds between the first two tries to open the port; then twice as long each time."""
    reopen_max_s: Seconds = 30.0
    """The longest of these waits."""
    sick_wait_s: Seconds = 60.0
    """Seconds between two looks at a modem in a state that only an operator can mend."""

    storage: Storage = "auto"
    """Where received messages wait: ``ME`` the modem, ``SM`` the SIM, ``MT`` both; ``auto``: the
    first that has room."""
    reports: bool = True
    """Ask for status reports."""
    inbound: bool = True
    """Hand over received messages and delete them from the modem; false: they are left alone."""
    calls: bool = False
    """Report calls that come in, and hang each up before it is answered, so that people prove their
    number by a missed call: ``AT+CLIP=1``, then ``AT+CHUP``, else ``ATH``. False: calls ring as
    they would without Risala."""
    inbound_coding: InboundCoding = InboundCoding.AUTO
    """How received texts and the network's answers (USSD) are read: ``auto`` believes the declared
    coding unless the content is evidently something else; ``declared`` believes it always; a form
    (``gsm7``, ``utf8``, ``latin1``, ``ucs2``, ``ucs2_le``) is used for every text of octets."""
    assembly_timeout_s: Annotated[float, Field(ge=60, le=7 * 86400)] = 6 * 3600.0
    """Seconds after its first part at which a long message that is still incomplete is handed over
    as it is."""

    ussd_balance: UssdBalance | None = None
    """How to ask for the SIM's balance: see ``[carriers.modem.ussd_balance]``."""
    segments_per_day_max: Annotated[int, Field(ge=1)] | None = None
    """Segments that the SIM sends in a day (UTC); not set: no limit."""
    recipients_per_month_max: Annotated[int, Field(ge=1, le=200_000)] | None = None
    """Distinct numbers that the SIM may send to in a month; not set: no limit, and none are
    kept."""

    @field_validator("port")
    @classmethod
    def _is_path_or_socket(cls, port: str) -> str:
        if port.startswith("/"):
            return port
        url = urlsplit(port)
        try:
            good = url.scheme == "socket" and bool(url.hostname) and bool(url.port)
        except ValueError:
            good = False
        if not good:
            raise ValueError("must be an absolute path or socket://host:port")
        return port

    @field_validator("pin")
    @classmethod
    def _is_pin(cls, pin: SecretStr | None) -> SecretStr | None:
        # Checked here, because whatever the setting holds is put into an AT command.
        if pin is not None and not re.fullmatch(r"[0-9]{4,8}", pin.get_secret_value()):
            raise ValueError("must have 4 to 8 digits")
        return pin

    @model_validator(mode="after")
    def _waits_in_order(self) -> Self:
        if self.reopen_first_s > self.reopen_max_s:
            raise ValueError("reopen_first_s must not be above reopen_max_s")
        return self

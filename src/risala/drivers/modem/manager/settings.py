"""The settings of ``[carriers.modemmanager]``. Units are in the names; unknown keys are faults."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator


class ModemManagerSettings(BaseModel):
    """One modem with one SIM, which ModemManager holds."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )

    modem: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    """Which of ModemManager's modems: its IMEI, its device as ``mmcli -m any`` shows it
    (``/sys/devices/…`` or a name of udev), or one of its ports (``ttyUSB2``,
    ``/dev/serial/by-id/…``). Not needed where there is one modem."""
    pin: SecretStr | None = None
    """The SIM's PIN, given as ``pin_env``. A wrong one is never typed twice."""
    bus: Annotated[str, Field(pattern=r"^(?:system|unix:(?:path|abstract)=.+)$")] = "system"
    """The D-Bus that ModemManager is on: ``system``, or an address, as ``unix:path=/run/bus``."""
    send_timeout_s: Annotated[float, Field(ge=5, le=1800)] = 300.0
    """Seconds in which all parts of a text must have left; then the message is uncertain. A part
    takes up to two minutes where the network is slow."""
    check_every_s: Annotated[float, Field(ge=1, le=3600)] = 60.0
    """Seconds between two looks where ModemManager tells no news."""
    reopen_s: Annotated[float, Field(gt=0, le=3600)] = 5.0
    """Seconds between two tries to reach D-Bus."""
    segments_per_day_max: Annotated[int, Field(ge=1)] | None = None
    """Parts of messages that the SIM sends in a day (UTC); not set: no limit."""
    recipients_per_month_max: Annotated[int, Field(ge=1, le=200_000)] | None = None
    """Distinct numbers that the SIM may send to in a month; not set: no limit, and none are
    kept."""
    reports: bool = True
    """Ask for delivery reports."""
    inbound: bool = True
    """Hand over received messages, and delete them from the modem; False leaves them there."""

    @field_validator("pin")
    @classmethod
    def _is_pin(cls, pin: SecretStr | None) -> SecretStr | None:
        if pin is not None and not re.fullmatch(r"[0-9]{4,8}", pin.get_secret_value()):
            raise ValueError("must have 4 to 8 digits")
        return pin

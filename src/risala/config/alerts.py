"""Settings of alerts: what operators are told of, and from when on."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from risala.config.kinds import Section

AlertName = Literal[
    "lane_down",
    "queue_old",
    "receipts_missing",
    "delivery_low",
    "approval_low",
    "codes_abused",
    "balance_low",
    "sim_balance_low",
    "quota_low",
    "disk_low",
    "backup_old",
    "numbers_unserved",
    "inbound_unserved",
    "sign_in_failing",
    "errors",
    "clock_jumped",
    "sink_behind",
    "standby_behind",
]
"""As :class:`risala.engine.rules.alerts.alert.AlertKind` has them."""
Share = Annotated[float, Field(gt=0, le=1)]
Seconds = Annotated[int, Field(ge=1, le=7 * 86_400)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]


def _as_url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError('is no address such as "https://ops.example.com/risala"')
    return text


AlertUrl = Annotated[
    str,
    Field(json_schema_extra={"words": 'an address such as "https://ops.example.com/risala"'}),
    AfterValidator(_as_url),
]


class AlertsSection(Section):
    """What operators are told of by themselves: by mail, by webhook and on the console. Each alert
    is told once when it is raised, and once when it is over."""

    off: tuple[AlertName, ...] = ()
    """Alerts that are never raised."""
    page_only: tuple[AlertName, ...] = ("balance_low",)
    """Alerts that are shown, and neither mailed nor sent to ``webhook_url``. Owners get a mail
    about a low balance anyway."""
    mail: bool = True
    """Mail alerts to every operator, and to ``mail.operator``."""
    webhook_url: tuple[AlertUrl, ...] = ()
    """Where alerts are sent to, signed like webhooks; ``webhooks.allow_networks`` opens a network
    of your own."""
    webhook_secret_env: str | None = None
    """Name of the environment variable with the secret that signs them: ``whsec_`` and 32 bytes in
    base64."""
    hold_s: Seconds = 300
    """So long all must be well before an alert is over; longer each time that it comes back within
    a day."""
    lane_down_s: Seconds = 300
    """A carrier may be down for so long: links are lost and come back."""
    queue_age_s: Seconds = 600
    """A message that is due may wait for so long, while it is not its organization that is held."""
    receipts_missing_s: Seconds = 1800
    """A carrier that gave receipts may give none for so long."""
    receipts_missing_count: Count = 50
    """Fewer segments than this without a receipt are no reason."""
    rate_hours: Annotated[int, Field(ge=1, le=24)] = 2
    """Whole hours that a network's delivery and approval rates are taken over."""
    rate_count_min: Count = 50
    """Messages, or codes, of these hours below which no rate is judged."""
    rate_drop: Share = 0.2
    """So much a rate may be below its usual one: with 0.2, 75 % instead of 95 %."""
    rate_usual_days: Annotated[int, Field(ge=1, le=60)] = 14
    """Days that the usual rate, a median, is taken over."""
    prefix_minutes: Annotated[int, Field(ge=5, le=1440)] = 60
    """Minutes that the codes to numbers of one beginning are looked at for."""
    prefix_digits: Annotated[int, Field(ge=1, le=7)] = 4
    """How many of a number's eight digits its beginning is."""
    prefix_codes_min: Count = 30
    """Codes to one beginning, of sessions that have ended, below which nothing is judged."""
    prefix_approval_min: Share = 0.15
    """Where fewer of them than this were entered, somebody may ask for codes for money's sake."""
    quota_share: Share = 0.9
    """A SIM's quota of which so much is used is low."""
    disk_free_bytes: Annotated[int, Field(ge=1_000_000)] = 1_000_000_000
    """Less free disk than this, where the data lies, is low."""
    backup_age_h: Annotated[int, Field(ge=0, le=8760)] = 36
    """Hours after which the last ``risala backup`` is old; 0 where backups are made otherwise."""
    error_share: Share = 0.02
    """So many of five minutes' answers may be errors of ours (5xx)."""
    errors_min: Count = 20
    """Fewer errors than this are no reason."""
    sign_in_failures_min: Count = 20
    """Wrong codes in an hour at the console's sign-in that are worth an alert; at the dashboard's
    ten times as many."""
    clock_jump_s: Seconds = 60
    """A step of the machine's clock that is worth an alert."""
    sink_behind_s: Seconds = 900
    """An event may wait for its sink for so long."""
    standby_behind_s: Seconds = 300
    """So long nothing may reach the standby's directory."""
    history_days: Annotated[int, Field(ge=1, le=3650)] = 90
    """Days that alerts which are over are kept; at most 2000 of them."""

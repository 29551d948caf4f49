"""Settings of alerts: which ones operators get, and their limits."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from risala.config.kinds import Section

AlertName = Literal[
    "carrier_down",
    "queue_old",
    "receipts_missing",
    "ends_missing",
    "delivery_low",
    "approval_low",
    "codes_abused",
    "codes_unentered",
    "codes_pumped",
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
    "item_set_aside",
    "storage_full",
    "standby_behind",
    "standby_copy",
    "standby_silent",
    "standby_async",
    "trail_broken",
]
"""As :class:`risala.engine.features.alerts.records.AlertKind` has them."""
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
    """Alerts to operators: by mail, by webhook and on the console. Each alert is sent once when it
    is raised, and once when it is over."""

    off: tuple[AlertName, ...] = ()
    """Alerts that are never raised."""
    page_only: tuple[AlertName, ...] = ("balance_low",)
    """Alerts that are only shown, and neither mailed nor sent to ``webhook_url``. Owners get a
    mail about a low balance anyway."""
    mail: bool = True
    """Mail alerts to every operator, and to ``mail.operator``."""
    webhook_url: tuple[AlertUrl, ...] = ()
    """The address that gets alerts, signed like webhooks; ``webhooks.allow_networks`` opens a
    network of your own."""
    webhook_secret_env: str | None = None
    """Name of the environment variable with the secret that signs them: ``whsec_`` and 32 bytes in
    base64."""
    hold_s: Seconds = 300
    """How long all must be well before an alert is over; longer each time that the alert comes
    back within a day."""
    carrier_down_s: Seconds = 300
    """How long a carrier may be down: links are lost and come back."""
    queue_age_s: Seconds = 600
    """How long a due message may wait, unless its organization is held."""
    receipts_missing_s: Seconds = 1800
    """How long a carrier that gave receipts may give none."""
    receipts_missing_count: Count = 50
    """The fewest segments without a receipt that raise it."""
    rate_hours: Annotated[int, Field(ge=1, le=24)] = 2
    """The whole hours of a network's delivery and approval rates."""
    rate_count_min: Count = 50
    """The fewest messages, or codes, of these hours for a rate to count."""
    rate_drop: Share = 0.2
    """How far a rate may be below its usual one: with 0.2, 75 % instead of 95 %."""
    rate_usual_days: Annotated[int, Field(ge=1, le=60)] = 14
    """The days of the usual rate, a median."""
    prefix_minutes: Annotated[int, Field(ge=5, le=1440)] = 60
    """The minutes over which codes to one prefix are counted."""
    prefix_digits: Annotated[int, Field(ge=1, le=7)] = 4
    """How many of a number's digits behind the country's code are its prefix."""
    prefix_codes_min: Count = 30
    """The fewest codes to one prefix, of ended sessions, for their share to count."""
    prefix_approval_min: Share = 0.15
    """If a smaller share of them was entered, somebody may be requesting codes to earn money."""
    quota_share: Share = 0.9
    """A SIM's quota is low once this share of it is used."""
    disk_free_bytes: Annotated[int, Field(ge=1_000_000)] = 1_000_000_000
    """Less free space than this on the data's disk is low."""
    backup_age_h: Annotated[int, Field(ge=0, le=8760)] = 36
    """Hours after which the last ``risala backup`` is old; 0 if you make backups otherwise."""
    error_share: Share = 0.02
    """The share of five minutes' answers that may be errors of ours (5xx)."""
    errors_min: Count = 20
    """The fewest errors that raise it."""
    sign_in_failures_min: Count = 20
    """Wrong codes and second factors in an hour at the console's sign-in that are
    worth an alert; at the dashboard's ten times as many."""
    clock_jump_s: Seconds = 60
    """A step of the machine's clock that is worth an alert."""
    sink_behind_s: Seconds = 900
    """How long an event may wait for its sink."""
    standby_behind_s: Seconds = 300
    """How long nothing may reach the standby's directory."""
    history_days: Annotated[int, Field(ge=1, le=3650)] = 90
    """How many days past alerts are kept; at most 2000 of them."""

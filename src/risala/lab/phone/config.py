"""What a simulated phone is, and how it misbehaves."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class PhoneConfig:
    """What a phone is, and how fast its app is. Seconds throughout."""

    url: str
    """The app's API URL: ``https://…/carriers/NAME/mobile/v1``."""
    token: str = field(repr=False)
    """The private token."""
    name: str = "samsung/a14"
    sims: tuple[str, ...] = ("Mauritel",)
    """The operators of its SIMs: the first is SIM 1."""
    sent_after_s: float = 0.5
    delivered_after_s: float = 1.0
    reconnect_s: float = 5.0
    retry_s: float = 10.0
    pull_s: float = 900.0
    """How often it looks without being told."""


@dataclass(slots=True)
class PhoneBehaviour:
    """How the phone misbehaves; may be changed at any time."""

    is_dozing: bool = False
    """Android lets it neither hear events nor call, until it wakes."""
    is_mute: bool = False
    """The phone fetches and sends, and reports nothing."""
    late_s: float = 0.0
    """Seconds before each report of a state."""
    is_out_of_order: bool = False
    """Android's words overtake each other: ``Processed`` comes after ``Sent``."""
    reports_twice: bool = False
    clock_off_s: float = 0.0
    """By how much its clock is ahead."""
    half_hour_max: int | None = None
    """Android refuses more texts in half an hour; None: it does not count."""
    fails_with: str = ""
    """The error of each send; empty: all go well."""
    gives_receipts: bool = True

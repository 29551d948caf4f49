"""How a phone is, in words for the operator. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from risala.dataclass import dataclass
from risala.drivers.phone.devices import RegisteredPhone, called
from risala.plugins.contract import Health, HealthState

CLOCK_OFF_S: Final = 120
"""A clock that is off by more is told to the operator: times of messages are wrong then, and beyond
some hours certificates too."""
THE_PHONE: Final = "The phone"
"""A phone without a name, where it is the subject of a sentence."""
_MINUTE_S: Final = 60


@dataclass(frozen=True, slots=True)
class PhoneFacts:
    """What is known of a phone now."""

    carrier: str
    phone: RegisteredPhone | None
    candidate: RegisteredPhone | None
    sim: int | None
    """The SIM that is to send; None: any."""
    number: str | None
    is_listening: bool
    """Whether a stream is open, or ended a moment ago."""
    has_called: bool
    """Whether a call has come since the start."""
    silent_s: float
    """Seconds since it called last, or since the start."""
    silent_after_s: float
    is_stalled: bool
    """Whether the phone let the time for fetching a message pass."""
    last_seen_ms: int | None
    clock_off_s: float
    """By how much the phone's clock is ahead of ours; negative: behind."""
    in_hand: int
    today: int
    strangers: int
    """Calls with a wrong token since the start."""


def health_of(facts: PhoneFacts) -> Health:
    """The health of a carrier that is a phone."""
    state, text = _state(facts)
    details: dict[str, str | int | float | None] = {"in hand": facts.in_hand, "today": facts.today}
    if facts.number is not None:
        details["number"] = facts.number
    if facts.phone is not None:
        details["phone"] = facts.phone.name or "?"
        details["SIMs"] = ", ".join(each.line for each in facts.phone.sims) or None
    if facts.last_seen_ms is not None:
        seen = datetime.fromtimestamp(facts.last_seen_ms / 1000, UTC)
        details["last seen"] = f"{seen:%Y-%m-%d %H:%M} UTC"
    if attention := " ".join(_attention(facts)):
        details["attention"] = attention
    return Health(state, text, details)


def _state(facts: PhoneFacts) -> tuple[HealthState, str]:
    if (phone := facts.phone) is None:
        text = f"No phone is registered yet: risala phone pair {facts.carrier} says how."
        if facts.strangers:
            text += " A phone called with another private token than this carrier's."
        return HealthState.SICK, text
    name = phone.name or THE_PHONE
    if facts.silent_s >= facts.silent_after_s:
        return HealthState.SICK, (
            f"{name} has not called for {_minutes(facts.silent_s)} minutes. See whether it has "
            "power and network, whether SMSGate is on, and whether Android may stop the app to "
            "save battery."
        )
    if not facts.has_called:
        return HealthState.DOWN, f"{name} has not called since this service started."
    if not facts.is_listening:
        return HealthState.DOWN, (
            f"{name} has lost its connection, and connects again by itself. If it never listens, "
            "set the app's notification channel to SSE Only, and restart the app."
        )
    if facts.is_stalled:
        return HealthState.DOWN, (
            f"{name} is connected, but does not fetch its messages. Open SMSGate on it once."
        )
    return HealthState.UP, f"{name} is connected."


def _attention(facts: PhoneFacts) -> Iterator[str]:
    if facts.candidate is not None:
        yield (
            f"Another phone ({called(facts.candidate)}) has registered with the private token. If "
            f"it is to replace this one: risala carriers ask {facts.carrier} replace."
        )
    sims = () if facts.phone is None else facts.phone.sims
    if facts.sim is not None and sims and facts.sim not in [each.number for each in sims]:
        yield f"The phone has no SIM {facts.sim}, which the settings name."
    if abs(facts.clock_off_s) > CLOCK_OFF_S:
        way = "ahead" if facts.clock_off_s > 0 else "behind"
        yield (
            f"The phone's clock is {_minutes(abs(facts.clock_off_s))} minutes {way}. Let it take "
            "the time from the network."
        )


def _minutes(seconds: float) -> int:
    """Two or more: what is told is told from two minutes on."""
    return round(seconds / _MINUTE_S)

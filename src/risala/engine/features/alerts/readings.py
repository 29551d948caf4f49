"""The measurements, and whether they are bad: one function for each kind of alert. Pure.

Each is bad from its limit on. If a value wavers around its limit, an alert that is already raised
stays until the value is clearly on the good side: ``is_raised`` moves the limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from risala.config.alerts import AlertsSection
from risala.dataclass import dataclass
from risala.engine.features.alerts.records import AlertKind, Facts
from risala.engine.features.alerts.rules import Rate, Reading, Verdict
from risala.engine.model.records.people.organizations import FullOrganization
from risala.engine.rules.people.names import name_fault

BACK: Final = 1.2
"""A value that was too low must be a fifth above the limit to be enough again."""
HALF: Final = 0.5
"""A value that was too high must be half the limit to be low again."""
HOUR_MS: Final = 3_600_000
JUMP_STANDS_MS: Final = HOUR_MS
"""An alert about a step of the clock ends an hour later, unless there was another."""
LOST_STANDS_MS: Final = HOUR_MS
"""Events that a sink lost to retention are reported for this long, unless more are lost."""
ENDLESS_S: Final = 86_400
"""A carrier that ends no message for this long, in seconds, is named."""
CONSOLE: Final = "console"
CUSTOMERS: Final = 10
"""How many times as many wrong codes are usual where all customers sign in as at the console."""
ITEMS_SHOWN_MAX: Final = 5
"""Items that are set aside, by their ids; the log has all of them."""
STORED_SHARE: Final = 0.8
"""An organization that stores this share of what it may is named."""
SUBJECT_MAX: Final = 100
"""Characters of a subject that others can choose."""


def _reading(kind: AlertKind, subject: str, is_bad: bool, facts: Facts) -> Reading:
    return Reading(kind, subject, Verdict.BAD if is_bad else Verdict.GOOD, facts)


@dataclass(frozen=True, slots=True)
class CarrierFacts:
    """The facts about a carrier's worker."""

    name: str
    state: str
    """``up``, ``down`` or ``sick``."""
    text: str
    sim_balance: float | None = None
    sim_balance_is_low: bool | None = None
    """None: it is not queried, or no low limit is set."""
    quotas: Sequence[tuple[str, float, float]] = ()
    """The unit that is counted, how much is used, and how much there is."""


def carrier_down(lane: CarrierFacts) -> Reading:
    facts: Facts = {"state": lane.state, "text": lane.text}
    return _reading(AlertKind.CARRIER_DOWN, lane.name, lane.state != "up", facts)


def sim_balance_low(lane: CarrierFacts) -> Reading | None:
    """None: its balance is not queried."""
    if lane.sim_balance_is_low is None:
        return None
    facts: Facts = {"balance": lane.sim_balance}
    return _reading(AlertKind.SIM_BALANCE_LOW, lane.name, lane.sim_balance_is_low, facts)


def quota_low(lane: CarrierFacts, limits: AlertsSection) -> Reading | None:
    """None: it has no quota."""
    shares = [(used / most, name, used, most) for name, used, most in lane.quotas if most > 0]
    if not shares:
        return None
    share, name, used, most = max(shares)
    facts: Facts = {"of": name, "used": used, "most": most, "share": round(share, 3)}
    return _reading(AlertKind.QUOTA_LOW, lane.name, share >= limits.quota_share, facts)


def queue_old(route: str, age_s: float, limits: AlertsSection, *, is_raised: bool) -> Reading:
    """The age of the oldest due message on a route; 0: none waits."""
    limit_s = limits.queue_age_s * (HALF if is_raised else 1)
    facts: Facts = {"age_s": round(age_s)}
    return _reading(AlertKind.QUEUE_OLD, route, age_s > limit_s, facts)


@dataclass(frozen=True, slots=True)
class SilenceFacts:
    """How long a carrier that gave receipts has given none."""

    name: str
    silent_s: float
    accepted: int
    """Segments that it accepted meanwhile."""
    is_after_one: bool
    """Whether the silence began with a receipt, and not with the start of the service."""


def receipts_missing(silence: SilenceFacts, limits: AlertsSection, *, is_raised: bool) -> Reading:
    facts: Facts = {"silent_s": round(silence.silent_s), "accepted": silence.accepted}
    kind, name = AlertKind.RECEIPTS_MISSING, silence.name
    is_long = silence.silent_s >= limits.receipts_missing_s
    if is_long and silence.accepted >= limits.receipts_missing_count:
        return Reading(kind, name, Verdict.BAD, facts)
    # Only a receipt proves that they come again: a restart does not.
    is_unproved = is_raised and not silence.is_after_one
    return Reading(kind, name, Verdict.UNKNOWN if is_unproved else Verdict.GOOD, facts)


@dataclass(frozen=True, slots=True)
class EndlessFacts:
    """How long a carrier that ended messages has ended none."""

    name: str
    endless_s: float
    """While its line was up and it was open, since it had accepted enough to be judged."""
    accepted: int
    """Segments that it accepted since the last end."""
    receipts: int
    """Receipts that it gave since, none of which says how a message ended."""
    is_after_one: bool
    """Whether the time began with an end, and not with the start of the service."""


def ends_missing(endless: EndlessFacts, *, is_raised: bool) -> Reading:
    """Without any receipt it is no such case: :func:`receipts_missing` tells of that."""
    facts: Facts = {
        "endless_s": round(endless.endless_s),
        "accepted": endless.accepted,
        "count": endless.receipts,
    }
    kind, name = AlertKind.ENDS_MISSING, endless.name
    if endless.endless_s >= ENDLESS_S and endless.receipts:
        return Reading(kind, name, Verdict.BAD, facts)
    # Only an end proves that they come again: a restart does not.
    is_unproved = is_raised and not endless.is_after_one
    return Reading(kind, name, Verdict.UNKNOWN if is_unproved else Verdict.GOOD, facts)


def rate_low(
    kind: AlertKind,
    network: str,
    rate: Rate,
    usual: float | None,
    limits: AlertsSection,
    *,
    is_raised: bool,
) -> Reading:
    """A network's delivery or approval rate against its usual one."""
    facts: Facts = {
        "share": round(rate.share, 3),
        "usual_share": None if usual is None else round(usual, 3),
        "count": rate.whole,
        "hours": limits.rate_hours,
    }
    if usual is None or rate.whole < limits.rate_count_min:
        return Reading(kind, network, Verdict.UNKNOWN, facts)
    drop = limits.rate_drop / 2 if is_raised else limits.rate_drop
    return _reading(kind, network, rate.share < usual - drop, facts)


def codes_abused(prefix: str, rate: Rate, limits: AlertsSection, *, is_raised: bool) -> Reading:
    """Codes to numbers with one prefix; few codes are no abuse, entered or not."""
    facts: Facts = {
        "share": round(rate.share, 3),
        "count": rate.whole,
        "minutes": limits.prefix_minutes,
    }
    count_min = limits.prefix_codes_min * (HALF if is_raised else 1)
    share_min = limits.prefix_approval_min * (BACK if is_raised else 1)
    is_bad = rate.whole >= count_min and rate.share < share_min
    return _reading(AlertKind.CODES_ABUSED, prefix, is_bad, facts)


def balance_low(organization_id: str, name: str, balance: str, currency: str) -> Reading:
    """The reading of an organization that is below its limit."""
    # A name from before names were checked may contain a link.
    shown = organization_id if name_fault(name) else name[:SUBJECT_MAX]
    facts: Facts = {"name": shown, "balance": balance, "currency": currency}
    return Reading(AlertKind.BALANCE_LOW, organization_id, Verdict.BAD, facts)


def disk_low(free_bytes: int, limits: AlertsSection, *, is_raised: bool) -> Reading:
    limit = limits.disk_free_bytes * (BACK if is_raised else 1)
    return _reading(AlertKind.DISK_LOW, "", free_bytes < limit, {"free_bytes": free_bytes})


def backup_old(
    last_ms: int | None, first_ms: int | None, now_ms: int, limits: AlertsSection
) -> Reading | None:
    """None: no limit is set, or there is nothing to back up.

    Args:
        last_ms: when the last backup was made; None: never.
        first_ms: since when there is something to lose.
    """
    since_ms = first_ms if last_ms is None else last_ms
    if not limits.backup_age_h or since_ms is None:
        return None
    age_ms = max(0, now_ms - since_ms)
    facts: Facts = {"age_s": age_ms // 1000, "ever": "no" if last_ms is None else "yes"}
    is_bad = age_ms > limits.backup_age_h * HOUR_MS
    return _reading(AlertKind.BACKUP_OLD, "", is_bad, facts)


def numbers_unserved(count: int, beginnings: Sequence[str]) -> Reading:
    facts: Facts = {"count": count, "numbers": ", ".join(beginnings)}
    return _reading(AlertKind.NUMBERS_UNSERVED, "", count > 0, facts)


def inbound_unserved(number: str, count: int) -> Reading:
    facts: Facts = {"count": count}
    return _reading(AlertKind.INBOUND_UNSERVED, number[:SUBJECT_MAX], count > 0, facts)


def errors(whole: int, failed: int, limits: AlertsSection, *, is_raised: bool) -> Reading:
    """The share of our own errors among the answers of the last minutes."""
    factor = HALF if is_raised else 1
    share = failed / whole if whole else 0.0
    facts: Facts = {"share": round(share, 4), "count": failed, "answers": whole}
    is_bad = failed >= limits.errors_min * factor and share >= limits.error_share * factor
    return _reading(AlertKind.ERRORS, "", is_bad, facts)


def storage_full(organization: FullOrganization, bytes_max: int) -> Reading:
    """The reading of an organization that stores nearly as much as it may.

    Args:
        bytes_max: what it may store.
    """
    shown = (
        organization.organization_id
        if name_fault(organization.name)
        else organization.name[:SUBJECT_MAX]
    )
    facts: Facts = {
        "name": shown,
        "used_bytes": organization.bytes,
        "most_bytes": bytes_max,
    }
    is_bad = organization.bytes >= bytes_max * STORED_SHARE
    return _reading(AlertKind.STORAGE_FULL, organization.organization_id, is_bad, facts)


def item_set_aside(loop: str, items: Sequence[str]) -> Reading:
    """What a task for everybody has set aside: the ids, the oldest first."""
    facts: Facts = {"count": len(items), "items": ", ".join(items[:ITEMS_SHOWN_MAX])}
    return _reading(AlertKind.ITEM_SET_ASIDE, loop, bool(items), facts)


def sign_in_failing(
    site: str, wrong: int, limited: int, limits: AlertsSection, *, is_raised: bool
) -> Reading:
    """The last hour's sign-ins: wrong codes, and limits that were used up."""
    many = limits.sign_in_failures_min * (1 if site == CONSOLE else CUSTOMERS)
    facts: Facts = {"count": wrong, "limited": limited}
    is_bad = limited > 0 or wrong >= many * (HALF if is_raised else 1)
    return _reading(AlertKind.SIGN_IN_FAILING, site, is_bad, facts)


def clock_jumped(at_ms: int | None, by_ms: int, now_ms: int, limits: AlertsSection) -> Reading:
    """The last step of the clock; ``by_ms`` is less than 0 if it was set back.

    Args:
        at_ms: when it was, by the clock as set since; None: there was none.
    """
    facts: Facts = {"by_s": round(by_ms / 1000), "direction": "back" if by_ms < 0 else "ahead"}
    is_step = abs(by_ms) >= limits.clock_jump_s * 1000
    is_bad = is_step and at_ms is not None and abs(now_ms - at_ms) < JUMP_STANDS_MS
    return _reading(AlertKind.CLOCK_JUMPED, "", is_bad, facts)


@dataclass(frozen=True, slots=True)
class SinkFacts:
    """The state of an event sink."""

    name: str
    is_stuck: bool
    behind: int
    age_s: float
    """The age of the oldest event that it has not accepted; 0: no such event."""
    missed: int
    """Events that it will never get."""
    missed_at: int | None


def sink_behind(sink: SinkFacts, now_ms: int, limits: AlertsSection, *, is_raised: bool) -> Reading:
    """Events that it lost are reported for an hour."""
    limit_s = limits.sink_behind_s * (HALF if is_raised else 1)
    lost = sink.missed_at is not None and now_ms - sink.missed_at < LOST_STANDS_MS
    facts: Facts = {
        "count": sink.behind,
        "age_s": round(sink.age_s),
        "missed": sink.missed if lost else 0,
    }
    is_bad = sink.is_stuck or sink.age_s > limit_s or lost
    return _reading(AlertKind.SINK_BEHIND, sink.name, is_bad, facts)


def standby_silent(late: int, *, refuses: bool) -> Reading:
    """The log that answers wait for has not answered in time, three times in a row."""
    return _reading(AlertKind.STANDBY_SILENT, "", refuses, {"count": late})


def standby_async(is_async: bool, pieces_behind: int) -> Reading:
    """Answers do not wait for the log, by an operator's order."""
    return _reading(AlertKind.STANDBY_ASYNC, "", is_async, {"count": pieces_behind})


def standby_behind(age_s: float, limits: AlertsSection, *, is_raised: bool) -> Reading:
    """What was written for this long is on this machine alone."""
    limit_s = limits.standby_behind_s * (HALF if is_raised else 1)
    return _reading(AlertKind.STANDBY_BEHIND, "", age_s > limit_s, {"age_s": round(age_s)})


def standby_copy(age_s: float, *, has_failed: bool) -> Reading:
    """The standby's copy could not be restored when that was tried last."""
    return _reading(AlertKind.STANDBY_COPY, "", has_failed, {"age_s": round(age_s)})


def trail_broken(faults: Sequence[str]) -> Reading:
    """The audit trail was changed by something else than the service."""
    facts: Facts = {"count": len(faults), "first": faults[0]} if faults else {}
    return _reading(AlertKind.TRAIL_BROKEN, "", bool(faults), facts)

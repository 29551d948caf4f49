"""What each reading tells: of what, of whom, whether it is bad, and the facts; at each limit."""

from __future__ import annotations

import pytest

from risala.config.alerts import AlertsSection
from risala.engine.features.alerts import readings
from risala.engine.features.alerts.readings import HOUR_MS, CarrierFacts, SilenceFacts, SinkFacts
from risala.engine.features.alerts.records import AlertKind
from risala.engine.features.alerts.rules import Rate, Reading, Verdict

LIMITS = AlertsSection(
    quota_share=0.75,
    rate_hours=3,
    rate_drop=0.25,
    prefix_minutes=90,
    prefix_approval_min=0.5,
    disk_free_bytes=1_000_000,
)
BAD, GOOD, UNKNOWN = Verdict.BAD, Verdict.GOOD, Verdict.UNKNOWN
LONG_NAME = "n" * 101
MADE_AT = 5 * HOUR_MS


def test_a_lane_is_down_unless_it_is_up():
    def told(state):
        return readings.carrier_down(CarrierFacts("sim", state, "no signal"))

    facts = {"text": "no signal"}
    assert [told(state) for state in ("up", "down", "sick")] == [
        Reading(AlertKind.CARRIER_DOWN, "sim", GOOD, {"state": "up", **facts}),
        Reading(AlertKind.CARRIER_DOWN, "sim", BAD, {"state": "down", **facts}),
        Reading(AlertKind.CARRIER_DOWN, "sim", BAD, {"state": "sick", **facts}),
    ]


def test_a_sims_balance_is_told_where_somebody_says_what_is_low():
    def told(is_low):
        return readings.sim_balance_low(CarrierFacts("sim", "up", "", 3.5, is_low))

    kind, facts = AlertKind.SIM_BALANCE_LOW, {"balance": 3.5}
    assert told(None) is None
    assert told(True) == Reading(kind, "sim", BAD, facts)
    assert told(False) == Reading(kind, "sim", GOOD, facts)


@pytest.mark.parametrize(
    ("quotas", "verdict", "facts"),
    [
        ([("a day", 2.0, 3.0)], GOOD, {"of": "a day", "used": 2.0, "most": 3.0, "share": 0.667}),
        ([("a day", 3.0, 4.0)], BAD, {"of": "a day", "used": 3.0, "most": 4.0, "share": 0.75}),
        # the one that is nearest to its end, not the biggest
        (
            [("a day", 50.0, 100.0), ("a month", 4.0, 5.0), ("an hour", 1.0, 5.0)],
            BAD,
            {"of": "a month", "used": 4.0, "most": 5.0, "share": 0.8},
        ),
        # a quota of one is a quota, a quota of none is none
        ([("a day", 0.0, 1.0)], GOOD, {"of": "a day", "used": 0.0, "most": 1.0, "share": 0.0}),
        ([("a day", 9.0, 0.0)], None, None),
        ([], None, None),
    ],
)
def test_a_quota_is_low_from_its_share_on(quotas, verdict, facts):
    found = readings.quota_low(CarrierFacts("sim", "up", "", quotas=quotas), LIMITS)
    wanted = verdict and Reading(AlertKind.QUOTA_LOW, "sim", verdict, facts)
    assert found == wanted


def test_the_age_of_a_queue_is_told_in_whole_seconds():
    found = readings.queue_old("+2223", 600.4, LIMITS, is_raised=False)
    assert found == Reading(AlertKind.QUEUE_OLD, "+2223", BAD, {"age_s": 600})


@pytest.mark.parametrize(
    ("silent_s", "is_after_one", "is_raised", "verdict"),
    [
        (1800.4, True, False, BAD),
        (1799.6, False, True, UNKNOWN),  # a restart, and no receipt since
        (1799.6, False, False, GOOD),
        (1799.6, True, True, GOOD),
    ],
)
def test_how_long_there_was_no_receipt_is_told(silent_s, is_after_one, is_raised, verdict):
    silence = SilenceFacts("sim", silent_s, 50, is_after_one)
    found = readings.receipts_missing(silence, LIMITS, is_raised=is_raised)
    facts = {"silent_s": 1800, "accepted": 50}
    assert found == Reading(AlertKind.RECEIPTS_MISSING, "sim", verdict, facts)


@pytest.mark.parametrize(
    ("good", "usual", "is_raised", "verdict"),
    [
        (32, 0.75, False, GOOD),  # 0.5, which is just the drop
        (31, 0.75, False, BAD),
        (40, 0.75, True, GOOD),  # 0.625, which is half the drop
        (39, 0.75, True, BAD),
        (21, 0.43219, False, GOOD),
        (21, None, False, UNKNOWN),
    ],
)
def test_a_rate_is_told_beside_its_usual_one(good, usual, is_raised, verdict):
    kind = AlertKind.APPROVAL_LOW
    found = readings.rate_low(kind, "mattel", Rate(64, good), usual, LIMITS, is_raised=is_raised)
    assert found == Reading(
        kind,
        "mattel",
        verdict,
        {
            "share": round(good / 64, 3),
            "usual_share": None if usual is None else {0.75: 0.75, 0.43219: 0.432}[usual],
            "count": 64,
            "hours": 3,
        },
    )


@pytest.mark.parametrize(("count", "verdict"), [(49, UNKNOWN), (50, BAD)])
def test_few_messages_make_no_rate(count, verdict):
    rate = Rate(count, 0)
    found = readings.rate_low(AlertKind.DELIVERY_LOW, "x", rate, 0.9, LIMITS, is_raised=False)
    assert found.verdict is verdict


@pytest.mark.parametrize(
    ("whole", "good", "is_raised", "verdict", "share"),
    [
        (30, 15, False, GOOD, 0.5),
        (30, 14, False, BAD, 0.467),
        (29, 0, False, GOOD, 0.0),
        (15, 9, True, GOOD, 0.6),  # a fifth more than the limit
        (15, 8, True, BAD, 0.533),
        (14, 0, True, GOOD, 0.0),
    ],
)
def test_codes_to_one_beginning_are_told(whole, good, is_raised, verdict, share):
    found = readings.codes_abused("+2223612", Rate(whole, good), LIMITS, is_raised=is_raised)
    facts = {"share": share, "count": whole, "minutes": 90}
    assert found == Reading(AlertKind.CODES_ABUSED, "+2223612", verdict, facts)


def test_a_low_balance_is_told_with_the_beginning_of_a_name():
    found = readings.balance_low("org_1", LONG_NAME, "3.50", "MRU")
    facts = {"name": LONG_NAME[:100], "balance": "3.50", "currency": "MRU"}
    assert found == Reading(AlertKind.BALANCE_LOW, "org_1", BAD, facts)


def test_an_old_name_with_a_link_is_told_by_the_organization_s_id():
    found = readings.balance_low("org_1", "Win: https://evil.example", "3.50", "MRU")
    assert found.facts["name"] == "org_1"


@pytest.mark.parametrize(
    ("free", "is_raised", "verdict"),
    [
        (999_999, False, BAD),
        (1_000_000, False, GOOD),
        (1_199_999, True, BAD),
        (1_200_000, True, GOOD),
    ],
)
def test_how_much_disk_is_free_is_told(free, is_raised, verdict):
    found = readings.disk_low(free, LIMITS, is_raised=is_raised)
    assert found == Reading(AlertKind.DISK_LOW, "", verdict, {"free_bytes": free})


@pytest.mark.parametrize(
    ("last_ms", "first_ms", "age_ms", "verdict", "ever"),
    [
        (MADE_AT, MADE_AT - 1, 36 * HOUR_MS, GOOD, "yes"),
        (MADE_AT, MADE_AT - 1, 36 * HOUR_MS + 1, BAD, "yes"),
        (None, MADE_AT, 36 * HOUR_MS + 1, BAD, "no"),
        (None, MADE_AT, 1999, GOOD, "no"),
    ],
)
def test_the_age_of_a_backup_is_told(last_ms, first_ms, age_ms, verdict, ever):
    found = readings.backup_old(last_ms, first_ms, MADE_AT + age_ms, LIMITS)
    facts = {"age_s": age_ms // 1000, "ever": ever}
    assert found == Reading(AlertKind.BACKUP_OLD, "", verdict, facts)


def test_a_backup_from_the_future_is_new():
    found = readings.backup_old(MADE_AT, None, MADE_AT - 9 * HOUR_MS, LIMITS)
    assert found == Reading(AlertKind.BACKUP_OLD, "", GOOD, {"age_s": 0, "ever": "yes"})


def test_numbers_without_a_carrier_are_told():
    def told(count, beginnings):
        return readings.numbers_unserved(count, beginnings)

    kind = AlertKind.NUMBERS_UNSERVED
    assert told(0, []) == Reading(kind, "", GOOD, {"count": 0, "numbers": ""})
    assert told(1, ["+22", "+33"]) == Reading(kind, "", BAD, {"count": 1, "numbers": "+22, +33"})


def test_what_comes_in_for_nobody_is_told_with_the_beginning_of_a_number():
    kind = AlertKind.INBOUND_UNSERVED
    assert readings.inbound_unserved("1234", 0) == Reading(kind, "1234", GOOD, {"count": 0})
    found = readings.inbound_unserved(LONG_NAME, 1)
    assert found == Reading(kind, LONG_NAME[:100], BAD, {"count": 1})


@pytest.mark.parametrize(
    ("whole", "failed", "is_raised", "verdict", "share"),
    [
        (1000, 20, False, BAD, 0.02),
        (1001, 20, False, GOOD, 0.02),
        (19, 19, False, GOOD, 1.0),
        (1000, 10, True, BAD, 0.01),
        (1001, 10, True, GOOD, 0.01),
        (9, 9, True, GOOD, 1.0),
        (6000, 1, False, GOOD, 0.0002),
        (1, 1, False, GOOD, 1.0),
        (0, 0, False, GOOD, 0.0),
    ],
)
def test_errors_are_told_by_their_number_and_share(whole, failed, is_raised, verdict, share):
    found = readings.errors(whole, failed, LIMITS, is_raised=is_raised)
    facts = {"share": share, "count": failed, "answers": whole}
    assert found == Reading(AlertKind.ERRORS, "", verdict, facts)


@pytest.mark.parametrize(
    ("at_ms", "by_ms", "now_ms", "verdict", "by_s", "direction"),
    [
        (MADE_AT, 60_000, MADE_AT, BAD, 60, "ahead"),
        (MADE_AT, -7_200_000, MADE_AT, BAD, -7200, "back"),
        (MADE_AT, 59_999, MADE_AT, GOOD, 60, "ahead"),
        (MADE_AT, 60_000, MADE_AT + HOUR_MS - 1, BAD, 60, "ahead"),
        (MADE_AT, 60_000, MADE_AT + HOUR_MS, GOOD, 60, "ahead"),
        (MADE_AT, 60_000, MADE_AT - HOUR_MS, GOOD, 60, "ahead"),
        (None, 90_400, MADE_AT, GOOD, 90, "ahead"),
        (None, 0, MADE_AT, GOOD, 0, "ahead"),
    ],
)
def test_a_step_of_the_clock_is_told(at_ms, by_ms, now_ms, verdict, by_s, direction):
    found = readings.clock_jumped(at_ms, by_ms, now_ms, LIMITS)
    facts = {"by_s": by_s, "direction": direction}
    assert found == Reading(AlertKind.CLOCK_JUMPED, "", verdict, facts)


@pytest.mark.parametrize(
    ("missed_at", "verdict", "missed"),
    [
        (None, GOOD, 0),
        (MADE_AT, BAD, 7),
        (MADE_AT - HOUR_MS + 1, BAD, 7),
        (MADE_AT - HOUR_MS, GOOD, 0),
    ],
)
def test_what_a_sink_lost_is_told_for_an_hour(missed_at, verdict, missed):
    sink = SinkFacts("archive", False, 3, 1.4, 7, missed_at)
    found = readings.sink_behind(sink, MADE_AT, LIMITS, is_raised=False)
    facts = {"count": 3, "age_s": 1, "missed": missed}
    assert found == Reading(AlertKind.SINK_BEHIND, "archive", verdict, facts)

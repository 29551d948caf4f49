"""The rate buckets' actor: exact waits, nothing taken by a refusal, nothing lost by a crash."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.config.model import LimitsSection
from risala.engine.limits.claims import (
    CodeSlot,
    DoubtCode,
    GiveBackSms,
    ReleaseCode,
    ReserveCode,
    SetCodeGuards,
    SetGeneralRate,
    TakeAddress,
    TakeSms,
)
from risala.engine.limits.limits import (
    BUCKETS_MAX,
    HISTORIES_MAX,
    HOUR_MS,
    NETWORK_AGAIN_S,
    Limits,
    LimitsMemory,
    guards_of,
)
from risala.engine.model.commands import AddressUse
from risala.engine.model.errors import RateLimited

NOW_MS = 1_800_000_000_000


class Past:
    """A journal that knows when codes were accepted."""

    def __init__(self) -> None:
        self.accepted: list[CodeSlot] = []
        self.asked = 0

    def __call__(self, organization_id: str, recipient: str | None, since_ms: int) -> Sequence[int]:
        self.asked += 1
        return [
            slot.at_ms
            for slot in self.accepted
            if slot.organization_id == organization_id
            and recipient in (None, slot.recipient)
            and slot.at_ms > since_ms
        ]


class World:
    """An actor on a clock of our own, which may crash."""

    def __init__(self, **limits: float) -> None:
        self.now_s = 0.0
        self.past = Past()
        self.memory = LimitsMemory(LimitsSection.model_validate(limits))
        self.crash()

    def crash(self) -> None:
        self.actor = Limits(self.memory, self.past, lambda: self.now_s)

    def take_sms(self, tokens: int = 1, rate_per_s: float | None = None) -> int:
        """0, or the seconds to wait."""
        return self._wait(TakeSms("org_1", rate_per_s, tokens))

    def take_address(self, bucket: str, use: AddressUse = AddressUse.CODE_SEND) -> int:
        return self._wait(TakeAddress(use, bucket))

    def reserve(self, recipient: str, at_ms: int, phone: int = 5, organization: int = 100) -> int:
        slot = CodeSlot("org_1", recipient, at_ms)
        return self._wait(ReserveCode(slot, phone, organization))

    def _wait(self, message: TakeSms | TakeAddress | ReserveCode) -> int:
        try:
            self.actor.decide(message)
        except RateLimited as refused:
            self.limit = refused.limit
            return refused.retry_after_s
        return 0


def test_a_bucket_lets_a_second_through_and_says_how_long_to_wait():
    world = World(sms_per_s=2)
    assert [world.take_sms() for _ in range(3)] == [0, 0, 1]
    assert world.limit == "sms"
    world.now_s = 0.5
    assert world.take_sms() == 0


def test_an_organizations_own_rate_goes_before_the_general_one():
    world = World(sms_per_s=1)
    assert [world.take_sms(rate_per_s=3) for _ in range(4)] == [0, 0, 0, 1]


def test_without_a_rate_there_is_no_limit_until_one_is_set():
    world = World()
    assert world.take_sms(1000) == 0
    world.actor.decide(SetGeneralRate(1))
    assert [world.take_sms(), world.take_sms()] == [0, 1]


def test_tokens_come_back():
    world = World(sms_per_s=1)
    assert world.take_sms() == 0
    world.actor.decide(GiveBackSms("org_1"))
    assert world.take_sms() == 0


def test_a_crash_of_the_actor_fills_no_bucket_and_opens_no_window():
    world = World(sms_per_s=1, verify_ip_sends_per_minute=1)
    assert (world.take_sms(), world.take_address("a")) == (0, 0)
    world.crash()
    assert (world.take_sms(), world.take_address("a")) == (1, 60)


def test_addresses_and_uses_are_counted_apart():
    world = World(verify_ip_sends_per_minute=1, verify_ip_checks_per_minute=1)
    assert world.take_address("a") == 0
    assert world.take_address("b") == 0
    assert world.take_address("a", AddressUse.CODE_CHECK) == 0
    assert world.take_address("a") == 60
    assert world.limit == "ip"


def test_the_defaults_of_addresses_are_the_contracts():
    world = World()
    assert {world.take_address("a") for _ in range(30)} == {0}
    assert world.take_address("a") == 60
    world.now_s = 59.001
    assert world.take_address("a") == 1
    world.now_s = 60.0
    assert {world.take_address("a") for _ in range(30)} == {0}
    world.now_s = 120.0
    assert world.take_address("a") == 3480
    checks = {world.take_address("a", AddressUse.CODE_CHECK) for _ in range(120)}
    assert checks == {0}
    assert world.take_address("a", AddressUse.CODE_CHECK) == 60
    assert world.take_address("b") == 0


def test_an_hour_that_the_journal_found_full_is_read_again():
    world = World()
    slot = CodeSlot("org_1", "+22236000001", NOW_MS)
    assert world.reserve(slot.recipient, NOW_MS, phone=2) == 0
    world.past.accepted = [slot, slot]  # one of them by an actor that crashed meanwhile
    world.actor.decide(DoubtCode(slot))
    assert world.reserve(slot.recipient, NOW_MS, phone=2) == 3600


def test_hours_say_which_is_full_and_how_long():
    world = World()
    assert world.reserve("+22236000001", NOW_MS, phone=1) == 0
    assert world.reserve("+22236000001", NOW_MS + 1, phone=1) == 3600
    assert world.limit == "phone"
    assert world.reserve("+22236000002", NOW_MS + 1, organization=1) == 3600
    assert world.limit == "organization"
    assert world.reserve("+22236000001", NOW_MS + HOUR_MS, phone=1) == 0


def test_the_past_is_read_once_when_a_number_is_first_asked_about():
    world = World()
    world.past.accepted = [CodeSlot("org_1", "+22236000001", NOW_MS - 1000)] * 5
    assert world.reserve("+22236000001", NOW_MS) == 3599
    assert world.reserve("+22236000001", NOW_MS) == 3599
    assert world.past.asked == 2  # the number's, and its organization's


def test_a_refusal_takes_nothing_and_a_release_gives_back():
    world = World()
    slot = CodeSlot("org_1", "+22236000001", NOW_MS)
    assert world.reserve(slot.recipient, NOW_MS, phone=1) == 0
    for _ in range(10):
        world.reserve(slot.recipient, NOW_MS, phone=1, organization=2)
    world.actor.decide(ReleaseCode(slot))
    assert world.reserve("+22236000002", NOW_MS, organization=1) == 0


steps = st.lists(
    st.tuples(
        st.integers(0, 2), st.integers(0, HOUR_MS // 2), st.sampled_from(["ok", "fail", "crash"])
    ),
    max_size=60,
)


@given(steps)
def test_no_hour_ever_holds_more_than_it_may(plan: list[tuple[int, int, str]]) -> None:
    """Commits, failures and crashes between them, in any order."""
    world, now_ms = World(), NOW_MS
    for phone, wait_ms, end in plan:
        now_ms += wait_ms
        slot = CodeSlot("org_1", f"+2223600000{phone}", now_ms)
        if world.reserve(slot.recipient, now_ms, phone=2, organization=4) == 0:
            if end == "fail":
                world.actor.decide(ReleaseCode(slot))
            else:
                world.past.accepted.append(slot)
        if end == "crash":
            world.crash()
    accepted = world.past.accepted
    for slot in accepted:
        hour = [each for each in accepted if 0 <= slot.at_ms - each.at_ms < HOUR_MS]
        assert len(hour) <= 4
        assert len([each for each in hour if each.recipient == slot.recipient]) <= 2


@pytest.mark.parametrize("rate_per_s", [1, 7])
@given(waits=st.lists(st.integers(0, 2000), max_size=80), crashes=st.sets(st.integers(0, 80)))
def test_no_bucket_ever_lets_more_through(rate_per_s, waits, crashes):
    world = World(sms_per_s=rate_per_s)
    taken: list[float] = []
    for n, wait_ms in enumerate(waits):
        world.now_s += wait_ms / 1000
        if n in crashes:
            world.crash()
        if world.take_sms() == 0:
            taken.append(world.now_s)
    for at in taken:
        # A second's worth at once, and what flows in during the span.
        for span_s in (1, 3):
            assert sum(at <= each < at + span_s for each in taken) <= rate_per_s * (span_s + 1)


def test_codes_cool_down_and_a_refusal_counts_for_nothing():
    world = World(verify_cooldown_s=30, verify_cooldown_max_s=50)
    assert world.reserve("+22236000001", NOW_MS) == 0
    assert (world.reserve("+22236000001", NOW_MS + 1), world.limit) == (30, "cooldown")
    assert world.reserve("+22236000002", NOW_MS + 1) == 0
    assert world.reserve("+22236000001", NOW_MS + 30_000) == 0
    assert world.reserve("+22236000001", NOW_MS + 30_000) == 50
    assert world.reserve("+22236000001", NOW_MS + 79_999) == 1
    assert world.reserve("+22236000001", NOW_MS + 80_000) == 0


def test_a_place_that_is_given_back_cools_nothing_down():
    world = World(verify_cooldown_s=30)
    slot = CodeSlot("org_1", "+22236000001", NOW_MS)
    world.actor.decide(ReserveCode(slot, 5, 100))
    world.actor.decide(ReleaseCode(slot))
    assert world.reserve("+22236000001", NOW_MS + 1) == 0


def test_the_cooldown_outlives_a_crash_and_a_restart():
    world = World(verify_cooldown_s=30)
    world.past.accepted.append(CodeSlot("org_1", "+22236000001", NOW_MS))
    assert world.reserve("+22236000001", NOW_MS + 10_000) == 20
    world.crash()
    assert world.reserve("+22236000001", NOW_MS + 10_000) == 20


def test_numbers_that_get_no_codes_are_refused_before_all_else():
    world = World(verify_networks=["mattel"], verify_prefixes=["+22245"])
    assert world.reserve("+22236000001", NOW_MS, phone=1) == 0
    assert (world.reserve("+22246000001", NOW_MS), world.limit) == (NETWORK_AGAIN_S, "network")
    assert world.reserve("+22245000001", NOW_MS) == 0
    assert (world.reserve("+22236000001", NOW_MS, phone=1), world.limit) == (3600, "phone")


def test_the_guards_are_switched_on_while_it_runs_and_off_again():
    world = World()
    assert world.reserve("+22246000001", NOW_MS) == 0
    section = LimitsSection(verify_networks=("mattel",), verify_cooldown_s=60)
    world.actor.decide(SetCodeGuards(guards_of(section)))
    assert world.reserve("+22246000001", NOW_MS + 1) == NETWORK_AGAIN_S
    world.crash()
    assert world.reserve("+22246000001", NOW_MS + 1) == NETWORK_AGAIN_S
    world.actor.decide(SetCodeGuards(guards_of(LimitsSection())))
    assert world.reserve("+22246000001", NOW_MS + 1) == 0


def test_what_is_given_back_for_a_number_that_is_forgotten_changes_nothing():
    world = World(sms_per_s=1)
    slot = CodeSlot("org_1", "+22236000001", NOW_MS)
    world.actor.decide(ReserveCode(slot, 5, 100))
    world.actor.decide(DoubtCode(slot))
    world.actor.decide(ReleaseCode(slot))
    world.actor.decide(GiveBackSms("org_nobody", 1))
    assert world.reserve("+22236000001", NOW_MS + 1) == 0
    assert [world.take_sms() for _ in range(2)] == [0, 1]


def test_buckets_that_have_filled_up_again_are_forgotten_when_there_are_many():
    world = World(sms_per_s=1)
    for number in range(BUCKETS_MAX):
        world.actor.decide(TakeSms(f"org_{number:06}", None, 1))
    world.now_s = 60
    world.actor.decide(TakeSms("org_0", None, 1))
    world.actor.decide(TakeSms("org_1", None, 1))
    assert len(world.memory.buckets) == 2
    assert world._wait(TakeSms("org_0", None, 1)) == 1


@pytest.mark.slow
def test_the_hour_that_was_asked_for_longest_ago_is_forgotten_and_read_again():
    world = World()
    first, there = "+22236000000", HISTORIES_MAX - 1  # the organization's own hour is one of them
    for number in range(there):
        assert world.reserve(f"+2223{6_000_000 + number}", NOW_MS, organization=there + 1) == 0
    asked = world.past.asked
    assert asked == HISTORIES_MAX
    world.past.accepted.append(CodeSlot("org_1", first, NOW_MS))
    assert world.reserve("+22237000000", NOW_MS, organization=there + 2) == 0
    assert world.reserve(first, NOW_MS + 1, phone=1, organization=there + 3) == 3600
    assert (world.limit, world.past.asked) == ("phone", asked + 2)

"""What one operator may not do alone: asked, confirmed once, with what is there by then."""

from __future__ import annotations

import pytest
import trio

from risala.config.people import PeopleSection
from risala.engine.features.approvals.operations import CHANGED, NOT_YOURS
from risala.engine.features.approvals.rules import (
    APPROVAL_MS,
    DAY_MS,
    PENDING_EACH_MAX,
    needs_second,
)
from risala.engine.features.approvals.stored import ASKED_BEFORE, DECIDED
from risala.engine.gateway.table import OPERATIONS
from risala.engine.journal.store import audit_log
from risala.engine.kernel.operation import Weight
from risala.engine.model import features as declarations
from risala.engine.model.callers import Caller, CallerKind, OperatorRole, Role
from risala.engine.model.errors import ApprovalNeeded, Conflict, Forbidden, Refusal

LIMIT = "1000"


def operator(name, role=OperatorRole.ADMINISTRATOR, face=CallerKind.CONSOLE):
    return Caller(f"{name}@risala.example", face, Role.OPERATOR, None, f"usr_{name}", role)


AMINA, SIDI = operator("amina"), operator("sidi")
ROOT = Caller("root", CallerKind.CLI, Role.OPERATOR)


class Counter:
    """A house in which four eyes watch, and what its operators do."""

    def __init__(self, house):
        self.house, self.gateway = house, house.gateway
        self.organization_id = house.principal.organization_id

    async def do(self, name, caller, /, **arguments):
        return await self.gateway.perform(name, arguments, caller)

    async def topup(self, caller, amount, **more):
        return await self.do(
            "topup", caller, organization_id=self.organization_id, amount=amount, **more
        )

    async def asked(self, caller, name="topup", **arguments):
        """The id of what is asked for."""
        if name == "topup":
            arguments.setdefault("amount", LIMIT)
        with pytest.raises(ApprovalNeeded) as found:
            await self.do(name, caller, organization_id=self.organization_id, **arguments)
        return found.value.approval_id

    async def confirm(self, caller, approval_id, **more):
        return await self.do("approval.confirm", caller, approval_id=approval_id, **more)

    def balance(self):
        return self.gateway.services.accounts.fresh_organization(self.organization_id).balance

    def line(self):
        """The last one of the audit trail."""
        reader = self.gateway.services.repositories._store.reader
        return audit_log.lines(reader, 1)[0]


@pytest.fixture
async def counter(open_house, autojump_clock):
    async with open_house(people=PeopleSection(four_eyes_from=LIMIT)) as house:
        yield Counter(house)


def test_what_needs_a_second_operator():
    assert not needs_second(100, 0, 99)
    assert needs_second(100, 0, 100)
    assert not needs_second(100, 50, 49)
    assert needs_second(100, 50, 50)
    assert needs_second(100, 0, None)
    weight = Weight(None)
    assert not weight.is_watched(None, AMINA)
    assert Weight(None, is_always=True).is_watched(None, AMINA)
    assert weight.is_watched(100, AMINA)
    assert weight.is_watched(100, ROOT)
    assert not weight.is_watched(100, Caller("risala", CallerKind.SYSTEM, Role.SYSTEM))


def test_what_moves_money_or_lets_somebody_do_so_may_wait():
    weighed = {name for name, each in OPERATIONS.items() if each.four_eyes is not None}
    assert {"topup", "adjust", "payment.confirm", "org.set", "price.set", "sender.waive"} <= weighed


async def test_without_the_feature_nothing_that_needs_two_is_done(
    counter, autojump_clock, monkeypatch
):
    approval_id = await counter.asked(AMINA, "org.set", price_per_segment="3")
    before = counter.balance()
    shown = await counter.do("org.show", ROOT, organization_id=counter.organization_id)
    others = tuple(each for each in declarations.features() if each.name != "approvals")
    monkeypatch.setattr(declarations, "features", lambda: others)
    with pytest.raises(LookupError):
        await counter.topup(AMINA, LIMIT, reference="T-2")
    with pytest.raises(LookupError):
        await counter.topup(AMINA, "0.01", reference="T-3")
    with pytest.raises(LookupError):
        await counter.confirm(SIDI, approval_id)
    assert counter.balance() == before
    again = await counter.do("org.show", ROOT, organization_id=counter.organization_id)
    assert again == shown


async def test_without_a_limit_one_operator_does_all(open_house, autojump_clock):
    async with open_house() as house:
        await Counter(house).topup(AMINA, "100000")


async def test_it_is_asked_then_confirmed_by_another_and_both_are_in_the_trail(
    counter, autojump_clock
):
    before = counter.balance()
    approval_id = await counter.asked(AMINA, reference="T-1")
    assert counter.balance() == before
    line = counter.line()
    assert (line.action, line.who, line.subject) == ("approval.ask", AMINA.who, approval_id)
    done = await counter.confirm(SIDI, approval_id)
    assert (done["state"], done["decidedBy"]) == ("confirmed", SIDI.who)
    assert counter.balance() == before + 100_000
    line = counter.line()
    assert (line.action, line.who) == ("topup", SIDI.who)
    assert line.after["asked_by"] == AMINA.who
    assert line.after["approval"] == approval_id


async def test_who_asked_does_not_confirm_by_whatever_session_or_name(counter, autojump_clock):
    approval_id = await counter.asked(AMINA)
    renamed = Caller("new@risala.example", CallerKind.CONSOLE, Role.OPERATOR, None, "usr_amina")
    other_face = Caller(AMINA.who, CallerKind.CLI, Role.OPERATOR)
    for same in (AMINA, renamed, other_face):
        with pytest.raises(Conflict, match=NOT_YOURS):
            await counter.confirm(same, approval_id)
    with pytest.raises(Forbidden):
        await counter.confirm(SIDI, approval_id, alone="in a hurry")
    assert (await counter.confirm(SIDI, approval_id))["state"] == "confirmed"


async def test_ten_small_sums_count_together_for_an_operator_and_a_day(
    counter, autojump_clock, monkeypatch
):
    for _ in range(9):
        await counter.topup(AMINA, "110")
    with pytest.raises(ApprovalNeeded):
        await counter.topup(AMINA, "10")
    with pytest.raises(ApprovalNeeded):
        await counter.do(
            "adjust", AMINA, organization_id=counter.organization_id, amount="-10", reason="a slip"
        )
    await counter.topup(AMINA, "9.99")
    await counter.topup(SIDI, "999")
    clock = counter.gateway.services.recorder.clock
    later = clock.now_ms() + DAY_MS
    monkeypatch.setattr(type(clock), "now_ms", lambda _: later)
    await counter.topup(AMINA, "999")


async def test_sums_count_exactly_when_asked_at_once(counter, autojump_clock):
    results = []

    async def one(number):
        try:
            await counter.topup(AMINA, "300", reference=f"R-{number}")
            results.append("done")
        except ApprovalNeeded:
            results.append("asked")

    async with trio.open_nursery() as nursery:
        for number in range(8):
            nursery.start_soon(one, number)
    assert sorted(results) == ["asked"] * 5 + ["done"] * 3


async def test_what_was_refused_does_not_count(counter, autojump_clock):
    await counter.topup(AMINA, "10", reference="ONCE")
    for _ in range(3):
        with pytest.raises(Refusal):
            await counter.topup(SIDI, "900", reference="ONCE")
    await counter.topup(SIDI, "900")


async def test_two_who_confirm_at_once_do_it_once(counter, autojump_clock):
    approval_id, before = await counter.asked(AMINA), counter.balance()
    results = []

    async def one(caller):
        try:
            results.append((await counter.confirm(caller, approval_id))["state"])
        except Conflict as error:
            results.append(str(error))

    async with trio.open_nursery() as nursery:
        for name in ("sidi", "fatou", "zeina"):
            nursery.start_soon(one, operator(name))
    assert sorted(results) == sorted([DECIDED, DECIDED, "confirmed"])
    assert counter.balance() == before + 100_000


async def test_a_price_that_changed_meanwhile_is_not_overwritten(counter, autojump_clock):
    approval_id = await counter.asked(AMINA, "org.set", price_per_segment="3")
    other = await counter.asked(SIDI, "org.set", price_per_segment="4")
    await counter.confirm(SIDI, approval_id)
    with pytest.raises(Conflict, match=CHANGED):
        await counter.confirm(AMINA, other)
    shown = await counter.do("org.show", ROOT, organization_id=counter.organization_id)
    assert shown["pricePerSegment"] == "3.00"


async def test_a_deleted_or_settled_thing_is_not_changed_by_a_late_confirmation(
    counter, autojump_clock
):
    approval_id = await counter.asked(AMINA, reference="LATE")
    name = counter.gateway.services.accounts.organization(counter.organization_id).name
    await counter.do("org.delete", ROOT, organization_id=counter.organization_id, name=name)
    with pytest.raises(Conflict):
        await counter.confirm(SIDI, approval_id)


async def test_a_role_confirms_only_what_it_may_do_itself(counter, autojump_clock):
    approval_id = await counter.asked(AMINA)
    with pytest.raises(Forbidden):
        await counter.confirm(operator("vera", OperatorRole.VIEWER), approval_id)
    with pytest.raises(Forbidden):
        await counter.confirm(operator("sami", OperatorRole.SUPPORT), approval_id)
    with pytest.raises(Forbidden):
        await counter.do(
            "approval.refuse", operator("sami", OperatorRole.SUPPORT), approval_id=approval_id
        )
    await counter.confirm(operator("fadel", OperatorRole.FINANCE), approval_id)


async def test_a_request_is_refused_withdrawn_or_expires(counter, quick, leap):
    first, second = await counter.asked(AMINA), await counter.asked(AMINA, amount="2000")
    refused = await counter.do("approval.refuse", SIDI, approval_id=first, why="not ours")
    assert (refused["state"], refused["why"]) == ("refused", "not ours")
    await counter.do("approval.refuse", AMINA, approval_id=second)
    third = await counter.asked(AMINA, amount="3000")
    await leap(APPROVAL_MS / 1000 + 1)
    for approval_id in (first, second, third):
        with pytest.raises(Conflict, match=DECIDED):
            await counter.confirm(SIDI, approval_id)
    await counter.asked(AMINA, amount="3000")


async def test_the_same_is_not_asked_twice_and_one_operator_takes_not_all_places(
    counter, autojump_clock
):
    await counter.asked(AMINA)
    with pytest.raises(Conflict, match=ASKED_BEFORE):
        await counter.topup(SIDI, LIMIT)
    for number in range(1, PENDING_EACH_MAX):
        await counter.asked(AMINA, amount=f"{2000 + number}")
    with pytest.raises(Conflict, match="Too many"):
        await counter.topup(AMINA, "9000")
    await counter.asked(SIDI, amount="9000")


async def test_at_the_machine_it_is_asked_too_and_root_may_confirm_alone(counter, autojump_clock):
    approval_id, before = await counter.asked(ROOT), counter.balance()
    with pytest.raises(Conflict, match=NOT_YOURS):
        await counter.confirm(ROOT, approval_id)
    await counter.confirm(ROOT, approval_id, alone="The other one is on leave.")
    assert counter.balance() == before + 100_000
    line = counter.line()
    assert line.after["alone"] == "The other one is on leave."


async def test_another_role_that_a_page_asked_for_is_confirmed_at_the_machine(
    counter, autojump_clock
):
    till = "till@risala.example"
    await counter.do("user.create", ROOT, email=till, operator_role="finance", language="en")
    with pytest.raises(ApprovalNeeded) as found:
        await counter.do("user.set", AMINA, email=till, operator_role="administrator")
    shown = await counter.do("user.show", ROOT, email=till)
    assert shown["user"]["operatorRole"] == "finance"
    await counter.confirm(ROOT, found.value.approval_id)
    shown = await counter.do("user.show", ROOT, email=till)
    assert shown["user"]["operatorRole"] == "administrator"


async def test_others_who_may_confirm_get_a_mail(counter, autojump_clock):
    for name, role in (("till", "finance"), ("help", "support"), ("boss", "administrator")):
        await counter.do(
            "user.create", ROOT, email=f"{name}@risala.example", operator_role=role, language="en"
        )
    boss = await counter.do("user.show", ROOT, email="boss@risala.example")
    caller = Caller(
        "boss@risala.example", CallerKind.CONSOLE, Role.OPERATOR, None, boss["user"]["id"]
    )
    await counter.asked(caller)
    reader = counter.gateway.services.repositories._store.reader
    rows = reader.execute("SELECT recipient FROM mails WHERE kind = 'approval_asked'").fetchall()
    assert rows == [("till@risala.example",)]

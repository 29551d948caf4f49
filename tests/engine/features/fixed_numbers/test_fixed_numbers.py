"""Fixed codes of reviewers: no SMS, no charge, all else as of any code; and they end."""

from __future__ import annotations

import json

import pytest

from risala.engine.features.channels.service import ChannelSending
from risala.engine.features.fixed_numbers.feature import NUMBERS_MAX
from risala.engine.features.fixed_numbers.upkeep import LOOK_EVERY_S, care
from risala.engine.features.own_data.stored.account_export import settings
from risala.engine.model.callers import Caller, CallerKind, Freshness, Role
from risala.engine.model.commands import Principal, SendCode
from risala.engine.model.errors import (
    Conflict,
    Forbidden,
    Invalid,
    NoChannelLeft,
    NotFound,
    NotFresh,
    RateLimited,
)
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode

TO, OTHER = "+22236123456", "+22236123401"
CODE = "80416273"
DAY_S = 86_400
OWNER = "owner@example.com"
CODES = "org_06DQDPN802K4H3CJM4VX2Q0Z66H2PHNX"


async def fix(house, to: str = TO, code: str = CODE, days: int = 30, **more) -> dict:
    whose = {"organization_id": house.principal.organization_id, **more}
    return await house.gateway.perform(
        "fixed_number.set", {**whose, "number": to, "code": code, "days": days}
    )


async def unfix(house, to: str = TO) -> dict:
    whose = {"organization_id": house.principal.organization_id}
    return await house.gateway.perform("fixed_number.remove", {**whose, "number": to})


async def listed(house) -> list[str]:
    whose = {"organization_id": house.principal.organization_id}
    answer = await house.gateway.perform("fixed_number.list", whose)
    return [each["number"] for each in answer["numbers"]]


async def send(house, to: str = TO, principal: Principal | None = None) -> str:
    return await house.gateway.send_code(principal or house.principal, SendCode(to))


async def check(house, verification_id: str, code: str) -> bool:
    return await house.gateway.check_code(house.principal, verification_id, code)


def view(house, verification_id: str):
    return house.gateway.get_verification(house.principal, verification_id)


async def kinds(house) -> list[str]:
    return [event["type"] for event in await house.events()]


@pytest.mark.parametrize("to", [TO, OTHER])
async def test_a_reviewer_enters_the_code_and_nothing_leaves(open_house, quick, to):
    """Also where the number ends in 01, which test keys' carrier refuses."""
    async with open_house(balance="0") as house:
        await fix(house, to)
        verification_id = await send(house, to)
        assert await kinds(house) == ["verify.sent"]
        assert not await check(house, verification_id, "80416274")
        shown = view(house, verification_id)
        assert (shown.status, shown.attempts) == ("pending", 1)
        assert await check(house, verification_id, " 8041-6273 ")
        assert not await check(house, verification_id, CODE)
        shown = view(house, verification_id)
        assert (shown.status, shown.message_id) == ("approved", None)
        assert await kinds(house) == ["verify.sent", "verify.approved"]
        assert await house.balance() == "0.00"
        assert house.driver.submitted == []
        counted = house.gateway.services.repositories._store.reader.execute(
            "SELECT (SELECT count(*) FROM message), (SELECT count(*) FROM entry)"
        ).fetchone()
        assert counted == (0, 0)


async def test_limits_and_attempts_are_as_of_any_code(open_house, quick):
    async with open_house() as house:
        await fix(house)
        ids = [await send(house) for _ in range(5)]
        with pytest.raises(RateLimited) as refused:
            await send(house)
        assert refused.value.limit == "phone"
        for _ in range(5):
            assert not await check(house, ids[0], "00000000")
        shown = view(house, ids[0])
        assert (shown.status, shown.reason) == ("canceled", "max_attempts")
        assert not await check(house, ids[0], CODE)
        house.pass_s(601)
        assert not await check(house, ids[1], CODE)
        assert view(house, ids[1]).status == "expired"


async def test_other_numbers_and_test_keys_get_codes_as_ever(open_house, quick):
    async with open_house() as house:
        await fix(house)
        whose = house.principal.organization_id
        test = Principal(whose, "key", KeyType.SECRET, Mode.TEST)
        verification_id = await send(house, TO, test)
        assert not await house.gateway.check_code(test, verification_id, CODE)
        assert await house.gateway.check_code(test, verification_id, "000000")
        other = await send(house, "+22236123457")
        await house.driver.wait_submitted(1)
        assert not await check(house, other, CODE)
        stranger = await house.organization()
        of_stranger = await send(house, TO, stranger)
        assert not await house.gateway.check_code(stranger, of_stranger, CODE)
        await house.driver.wait_submitted(2)


async def test_what_is_removed_or_over_opens_nothing_any_more(open_house, quick):
    async with open_house() as house:
        await fix(house, days=1)
        open_one = await send(house)
        await unfix(house)
        assert not await check(house, open_one, CODE)
        await send(house)
        await house.driver.wait_submitted(1)
        with pytest.raises(NotFound):
            await unfix(house)
        await fix(house, OTHER, days=1)
        house.pass_s(DAY_S - 60)
        late = await send(house, OTHER)
        house.pass_s(61)
        assert not await check(house, late, CODE)
        assert await listed(house) == []
        await send(house, OTHER)
        await house.driver.wait_submitted(2)


async def test_a_session_by_sms_stays_one_and_a_new_code_is_for_all(open_house, quick):
    async with open_house() as house:
        before = await send(house)
        await house.driver.wait_submitted(1)
        await fix(house)
        assert not await check(house, before, CODE)
        after = await send(house)
        await fix(house, code="112358", days=90)
        assert not await check(house, after, CODE)
        assert await check(house, after, "112358")


async def test_a_number_that_is_somebody_s_account_is_refused(open_house, quick):
    async with open_house() as house:
        await fix(house)
        assert await check(house, await send(house), CODE)
        await fix(house, code="112358")  # entered by its fixed code alone: it proves nothing
        await unfix(house)
        verification_id = await send(house)
        await house.driver.wait_submitted(1)
        code = house.driver.submitted[0].text.split()[4].rstrip(".")
        assert await check(house, verification_id, code)
        with pytest.raises(Conflict, match="somebody's account"):
            await fix(house)
        assert await listed(house) == []


async def test_an_organization_has_ten_at_most(open_house, quick):
    async with open_house() as house:
        for each in range(NUMBERS_MAX):
            await fix(house, f"+2223600000{each}", days=2)
        await fix(house, "+22236000000", days=3)  # one that is there is only changed
        with pytest.raises(Conflict, match="at most 10"):
            await fix(house)
        house.pass_s(2 * DAY_S + 1)
        await fix(house)
        assert len(await listed(house)) == 2


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"code": "12345"}, "invalid_fixed_code"),
        ({"code": "123456789"}, "invalid_fixed_code"),
        ({"code": "12345a"}, "invalid_fixed_code"),
        ({"days": 0}, "invalid_fixed_days"),
        ({"days": 91}, "invalid_fixed_days"),
        ({"to": "12"}, "invalid_phone_number"),
    ],
)
async def test_what_cannot_be_set_is_told(house, quick, given, code):
    with pytest.raises(Invalid) as refused:
        await fix(house, **given)
    (fault,) = refused.value.faults
    assert fault.code == code
    assert given.get("code", CODE) not in fault.message


async def test_who_proves_payers_has_none(open_house, quick):
    async with open_house(payments={"codes_organization": CODES}) as house:
        with pytest.raises(Conflict, match="prove who pays"):
            await fix(house, organization_id=CODES)


async def test_it_is_set_by_a_fresh_owner(house, quick):
    whose = house.principal.organization_id

    def member(role: Role, freshness: Freshness) -> Caller:
        return Caller("a@b.c", CallerKind.DASHBOARD, role, whose, "usr_1", freshness=freshness)

    asked = {"organization_id": whose, "number": TO, "code": CODE, "days": 1}
    for role in (Role.DEVELOPER, Role.VIEWER):
        with pytest.raises(Forbidden):
            await house.gateway.perform("fixed_number.set", asked, member(role, Freshness.FRESH))
    for freshness in (Freshness.STALE, Freshness.EXEMPT):
        with pytest.raises(NotFresh):
            await house.gateway.perform("fixed_number.set", asked, member(Role.OWNER, freshness))
    owner = member(Role.OWNER, Freshness.FRESH)
    assert (await house.gateway.perform("fixed_number.set", asked, owner))["number"] == TO


async def test_the_code_is_nowhere(open_house, quick, tmp_path, capfd):
    async with open_house() as house:
        made = await fix(house)
        assert await check(house, await send(house), CODE)
        assert CODE not in json.dumps([made, *await house.events()])
        await unfix(house)
        reader = house.gateway.services.repositories._store.reader
        lines = reader.execute(
            "SELECT action, subject, coalesce(before, '') || coalesce(after, '') FROM audit_log"
            " WHERE action LIKE 'fixed_number.%' ORDER BY seq"
        ).fetchall()
    assert [action for action, _, _ in lines] == ["fixed_number.set", "fixed_number.remove"]
    assert {subject for _, subject, _ in lines} == {made["id"]}
    assert ["3456" in values for _, _, values in lines] == [True, True]
    assert [TO in values for _, _, values in lines] == [False, False]
    octets = b"".join(each.read_bytes() for each in tmp_path.rglob("*") if each.is_file())
    assert TO.encode() in octets
    assert CODE.encode() not in octets
    assert CODE not in "".join(capfd.readouterr())


async def test_owners_are_told_before_and_it_ends_with_a_line(town, autojump_clock, leap):
    organization = await town.do("org.create", name="Shop")
    await town.do("user.create", email=OWNER, language="en")
    of_it = {"organization_id": organization["id"]}
    await town.do("member.add", **of_it, email=OWNER, role="owner")
    for number, days in ((TO, 30), (OTHER, 2)):
        await town.do("fixed_number.set", **of_it, number=number, code=CODE, days=days)

    async def told() -> list[str]:
        await leap(LOOK_EVERY_S + 60)
        await town.posted()
        return [mail.text for mail in town.mails.to(OWNER) if "fixed code" in mail.subject]

    assert await told() == []
    town.pass_s(DAY_S)
    (first,) = await told()
    assert "…3401" in first
    assert CODE not in first
    town.pass_s(DAY_S)
    assert len(await told()) == 1
    assert town.rows("SELECT number FROM fixed_numbers") == [(TO,)]
    (line,) = town.rows("SELECT who, after FROM audit_log WHERE action = 'fixed_number.ended'")
    assert "3401" in line[1]
    assert OTHER not in line[1]
    town.pass_s(20 * DAY_S)
    assert len(await told()) == 1
    town.pass_s(2 * DAY_S)
    assert len(await told()) == 2
    town.pass_s(7 * DAY_S)
    await told()
    assert town.rows("SELECT count(*) FROM fixed_numbers") == [(0,)]


async def test_one_that_was_removed_is_no_news(town, autojump_clock, leap):
    organization = await town.do("org.create", name="Shop")
    await town.do("user.create", email=OWNER, language="en")
    of_it = {"organization_id": organization["id"]}
    await town.do("member.add", **of_it, email=OWNER, role="owner")
    await town.do("fixed_number.set", **of_it, number=TO, code=CODE, days=2)
    await town.posted()
    town.pass_s(DAY_S + 60)
    town.mails.failures = 1
    await care(town.gateway.services)
    await town.do("fixed_number.remove", **of_it, number=TO)
    await leap(LOOK_EVERY_S)
    await town.posted()
    assert [mail for mail in town.mails.to(OWNER) if "fixed code" in mail.subject] == []


async def test_an_export_has_the_number_and_an_erasure_takes_it(open_house, quick, leap):
    async with open_house() as house:
        made = await fix(house)
        whose = {"organization_id": house.principal.organization_id}
        reader = house.gateway.services.repositories._store.reader
        (exported,) = settings(reader, whose["organization_id"])["fixedNumbers"]
        assert (exported["number"], exported["endsAt"]) == (TO, made["endsAt"])
        assert CODE not in json.dumps(exported)
        await house.gateway.perform("number.forget", {**whose, "number": TO})
        await leap(3600)
        assert await listed(house) == []


async def test_no_other_channel_brings_a_code_either(open_house, quick):
    async with open_house() as house:
        await fix(house)
        verification_id = await send(house)
        resend = house.gateway.services.part(ChannelSending).resend
        for channel in (None, "sms"):
            with pytest.raises(NoChannelLeft, match="has a fixed code"):
                await resend(house.principal, verification_id, channel)
        assert house.driver.submitted == []
        assert await check(house, verification_id, CODE)

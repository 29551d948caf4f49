"""The guard in a running engine: codes are judged, settled, refused, let pass, and remembered."""

from __future__ import annotations

from dataclasses import replace

import pytest
import trio

from risala.engine.features.pumping.guarding import Guarding
from risala.engine.features.pumping.joining import LOOK_S, guarding_of
from risala.engine.features.pumping.records import KEPT_MS, NAME
from risala.engine.features.pumping.settling import LOST_MS, SETTLED_MS, Settling
from risala.engine.model.commands import Principal, SendCode
from risala.engine.model.errors import ChallengeRequired, Invalid, NotFound, RateLimited
from risala.engine.model.records.keys import KeyChallenge, KeyType
from risala.engine.model.states import Mode

BLOCK = "+22237100"


def key_of(house, *, secret: bool = False) -> Principal:
    kind = KeyType.SECRET if secret else KeyType.PUBLISHABLE
    return Principal(house.principal.organization_id, "key_1", kind, Mode.LIVE)


async def make_key(house) -> Principal:
    whose = house.principal.organization_id
    made = await house.gateway.perform(
        "key.create", {"organization_id": whose, "type": "publishable", "name": "Shop"}
    )
    return Principal(whose, made["key"]["id"], KeyType.PUBLISHABLE, Mode.LIVE)


async def ask(house, to: str, principal: Principal, client: str | None = None) -> str:
    return await house.gateway.send_code(principal, SendCode(to, client=client))


def settling(house) -> Settling:
    return house.gateway.services.part(Settling)


def guarding(house) -> Guarding:
    made = guarding_of(house.gateway.services)
    assert isinstance(made, Guarding)
    return made


async def pump(house, principal: Principal, count: int = 25, block: str = BLOCK) -> None:
    """Ask for codes of one block that nobody enters, and let them settle."""
    for number in range(count):
        await ask(house, f"{block}{number:03}", principal)
    house.pass_s(SETTLED_MS / 1000)
    settling(house).settle()


async def guard(house, **changes) -> dict:
    whose = {"organization_id": house.principal.organization_id}
    return await house.gateway.perform("verify.guard", {**whose, **changes})


async def test_suspicious_codes_leave_and_are_shown(open_house, quick):
    async with open_house() as house:
        key = await make_key(house)
        await pump(house, key)
        await ask(house, f"{BLOCK}900", key)
        shown = await guard(house)
        (each,) = shown["suspicious"]
        assert (each["kind"], each["name"]) == ("block", BLOCK)
        assert (each["missed"], each["entered"], each["watched"]) == (25, 0, 1)
        assert each["factor"] > 10_000
        assert each["cost"] == "0.50" or each["cost"] > 0
        assert each["isHeld"]
        assert guarding(house).decided["watch"] == 1


async def test_a_key_that_refuses_answers_until_one_may_pass(open_house, quick):
    async with open_house() as house:
        key = await make_key(house)
        await guard(house, key_id=key.key_id, reaction="refuse")
        await pump(house, key)
        before = len(house.driver.submitted)
        await ask(house, f"{BLOCK}900", key)  # to see whether it is entered
        with pytest.raises(RateLimited) as refused:
            await ask(house, f"{BLOCK}901", key)
        assert refused.value.limit == NAME
        assert refused.value.retry_after_s == 300
        await house.driver.wait_submitted(before + 1)
        house.pass_s(300)
        await ask(house, f"{BLOCK}901", key)
        shown = await guard(house)
        assert shown["suspicious"][0]["refused"] == 1
        assert shown["keys"][0]["reaction"] == "refuse"


async def test_a_key_that_asks_challenges_asks_who_is_suspicious(open_house, quick):
    async with open_house() as house:
        key = replace(await make_key(house), challenge=KeyChallenge.WHEN_SUSPICIOUS)
        first = SendCode(f"{BLOCK}899", beside={"challenge": {}})
        await house.gateway.send_code(key, first)
        await pump(house, key)
        with pytest.raises(ChallengeRequired):
            await house.gateway.send_code(key, SendCode(f"{BLOCK}900", beside={"challenge": {}}))
        assert (await guard(house))["suspicious"][0]["challenged"] == 1


async def test_a_challenge_that_nobody_answers_counts_against_nobody(open_house, quick):
    """And takes back nothing: the code before it is missed still."""
    async with open_house() as house:
        key = replace(await make_key(house), challenge=KeyChallenge.WHEN_SUSPICIOUS)
        await pump(house, key)
        before = await ask(house, f"{BLOCK}899", replace(key, challenge=KeyChallenge.NEVER))
        whose = guarding(house).organizations[house.principal.organization_id]
        block = next(group for group in whose.windows.groups if group.name == BLOCK)
        known = [*guarding(house).pending]
        for number in (*range(900, 910), 899):
            unanswered = SendCode(f"{BLOCK}{number}", beside={"challenge": {}})
            with pytest.raises(ChallengeRequired):
                await house.gateway.send_code(key, unanswered)
        missed = sum(whose.windows.groups[block].missed)
        house.pass_s(LOST_MS / 1000)
        settling(house).settle()
        assert sum(whose.windows.groups[block].missed) == missed
        assert [*guarding(house).pending] == known
        house.pass_s(SETTLED_MS / 1000)
        settling(house).settle()
        assert guarding(house).pending[before].is_missed


async def test_credentials_of_other_software_have_one_reaction(open_house, quick):
    async with open_house() as house:
        key = await make_key(house)
        face = Principal(key.organization_id, "cred_1", KeyType.SECRET, Mode.LIVE, face="twilio")
        assert (await guard(house, key_id="faces", reaction="refuse"))["keys"][-1] == {
            "id": "faces",
            "name": None,
            "type": "secret",
            "last4": "",
            "reaction": "refuse",
        }
        await pump(house, key)
        await ask(house, f"{BLOCK}900", face)
        with pytest.raises(RateLimited):
            await ask(house, f"{BLOCK}901", face)
        await ask(house, f"{BLOCK}901", key)
        other = await house.organization()
        shown = await house.gateway.perform(
            "verify.guard", {"organization_id": other.organization_id}
        )
        assert shown["keys"][-1]["reaction"] == "watch"


async def test_one_that_is_entered_lets_the_next_one_pass(open_house, quick):
    async with open_house() as house:
        key = await make_key(house)
        await guard(house, key_id=key.key_id, reaction="refuse")
        await pump(house, key)
        probe = await ask(house, f"{BLOCK}900", key)
        await approve(house, key, probe)
        settling(house).settle()
        await ask(house, f"{BLOCK}901", key)


async def approve(house, principal: Principal, verification_id: str) -> None:
    """Enter a session's code, as the phone reads it."""
    await house.driver.wait_submitted(1)
    row = house.gateway.services.repositories.verifications.session(verification_id)
    while True:
        texts = [each.text for each in house.driver.submitted if each.recipient == row.recipient]
        if texts:
            break
        await trio.sleep(0.1)
    code = next(word.strip(".") for word in texts[-1].split() if word.strip(".").isdigit())
    assert await house.gateway.check_code(principal, verification_id, code)


async def test_a_number_that_was_verified_passes_always(open_house, quick):
    async with open_house() as house:
        key = await make_key(house)
        known = f"{BLOCK}999"
        await approve(house, key, await ask(house, known, key))
        house.pass_s(3600)
        await guard(house, key_id=key.key_id, reaction="refuse")
        await pump(house, key, 50)
        await ask(house, f"{BLOCK}900", key)
        with pytest.raises(RateLimited):
            await ask(house, f"{BLOCK}901", key)
        await ask(house, known, key)


async def test_a_block_is_let_pass_and_held_back_again(open_house, quick):
    async with open_house() as house:
        key = await make_key(house)
        await guard(house, key_id=key.key_id, reaction="refuse")
        await pump(house, key)
        await ask(house, f"{BLOCK}900", key)
        with pytest.raises(RateLimited):
            await ask(house, f"{BLOCK}901", key)
        shown = await guard(house, group=f"block:{BLOCK}")
        assert shown["suspicious"][0]["passesUntil"] is not None
        await ask(house, f"{BLOCK}901", key)
        lines = await house.gateway.perform("audit.list", {"operation": "verify.guard"})
        assert "passes" in str(lines["lines"][0])
        await guard(house, group=f"block:{BLOCK}", passes=False)
        with pytest.raises(RateLimited):
            await ask(house, f"{BLOCK}902", key)
        with pytest.raises(NotFound):
            await guard(house, group="block:+22241234")
        with pytest.raises(Invalid):
            await guard(house, group="+22241234")


async def test_counts_are_there_after_a_restart_and_go_after_thirty_days(open_house, quick):
    async with open_house() as house:
        key = await make_key(house)
        await pump(house, key)
        organization = house.principal.organization_id
    async with open_house() as house:
        again = Principal(organization, key.key_id, key.type, Mode.LIVE)
        await ask(house, f"{BLOCK}900", again)
        assert guarding(house).decided["watch"] == 1
        stored = guarding(house).stored
        now_ms = house.clock.now_ms()
        assert await stored.forget_old(now_ms) == 0
        assert await stored.forget_old(now_ms + KEPT_MS + 1) > 0


async def test_codes_made_needless_or_refused_count_against_nobody(open_house, quick):
    async with open_house() as house:
        key = await make_key(house)
        for _ in range(3):  # who asks again did not need the code before
            last = await ask(house, f"{BLOCK}001", key)
        assert list(guarding(house).pending) == [last]
        gone = await ask(house, f"{BLOCK}002", key)
        await house.gateway.perform("verify.cancel", {"verification_id": gone})
        settling(house).settle()
        assert gone not in guarding(house).pending
        await guard(house, secret_share=90)
        for number in range(10, 20):
            try:
                await ask(house, f"{BLOCK}0{number}", key)
            except RateLimited:
                break
        house.pass_s(LOST_MS / 1000)
        settling(house).settle()
        whose = guarding(house).organizations[house.principal.organization_id]
        assert all(sum(each.missed) == 0 for each in whose.windows.groups.values())


@pytest.mark.parametrize("is_entered", [False, True])
async def test_each_code_of_a_number_counts_as_it_was_paid_for(open_house, quick, is_entered):
    async with open_house() as house:
        key = await make_key(house)
        for _ in range(3):
            last = await ask(house, f"{BLOCK}001", key)
        house.pass_s(SETTLED_MS / 1000)
        settling(house).settle()
        whose = guarding(house).organizations[house.principal.organization_id]
        counts = next(iter(whose.windows.groups.values()))
        assert counts.missed == [3, 3, 3]
        await ask(house, f"{BLOCK}001", key)  # what is counted is not counted again
        assert [each.codes for each in guarding(house).pending.values()] == [1]
        last = await ask(house, f"{BLOCK}001", key)
        if is_entered:
            await house.driver.wait_submitted(5)
            await approve(house, key, last)
        house.pass_s(SETTLED_MS / 1000)
        settling(house).settle()
        assert sum(map(round, counts.seen(house.clock.now_ms())[2])) == (4 if is_entered else 5)


async def test_one_that_is_refused_does_not_stand_for_the_one_before(open_house, quick):
    async with open_house() as house:
        key = replace(await make_key(house), challenge=KeyChallenge.ALWAYS)
        whose = {"organization_id": house.principal.organization_id}
        await house.gateway.perform("verify.config", {**whose, "per_phone_per_hour": 1})
        for number in range(3):
            to = f"{BLOCK}{number:03}"
            await ask(house, to, replace(key, challenge=KeyChallenge.NEVER))
            with pytest.raises(RateLimited):
                await ask(house, to, replace(key, challenge=KeyChallenge.NEVER))
            with pytest.raises(ChallengeRequired):
                await house.gateway.send_code(key, SendCode(to, beside={"challenge": {}}))
        house.pass_s(SETTLED_MS / 1000)
        settling(house).settle()
        counts = next(iter(guarding(house).organizations.values())).windows.groups
        assert next(iter(counts.values())).missed == [3, 3, 3]


async def test_one_that_is_entered_late_is_taken_back(open_house, quick):
    async with open_house() as house:
        key = await make_key(house)
        late = await ask(house, f"{BLOCK}001", key)
        house.pass_s(SETTLED_MS / 1000)
        settling(house).settle()
        whose = guarding(house).organizations[house.principal.organization_id]
        counts = next(iter(whose.windows.groups.values()))
        assert counts.missed == [1, 1, 1]
        await approve(house, key, late)
        settling(house).settle()
        assert (max(counts.missed) < 0.01, counts.entered) == (True, [1, 1, 1])


async def test_a_share_is_left_to_secret_keys(open_house, quick):
    async with open_house() as house:
        key = await make_key(house)
        whose = house.principal.organization_id
        await house.gateway.perform(
            "verify.config", {"organization_id": whose, "per_organization_per_hour": 10}
        )
        assert (await guard(house, secret_share=30))["reserved"] == 3
        for number in range(7):
            await ask(house, f"{BLOCK}{number:03}", key)
        with pytest.raises(RateLimited) as refused:
            await ask(house, f"{BLOCK}007", key)
        assert refused.value.limit == "organization"
        for number in range(8, 11):
            await ask(house, f"{BLOCK}{number:03}", key_of(house, secret=True))
        with pytest.raises(RateLimited):
            await ask(house, f"{BLOCK}011", key_of(house, secret=True))


async def test_tests_people_and_mails_are_not_judged(open_house, quick):
    async with open_house() as house:
        whose = house.principal.organization_id
        test = Principal(whose, "key_1", KeyType.SECRET, Mode.TEST)
        await ask(house, f"{BLOCK}001", test)
        await house.gateway.perform(
            "verify.send", {"organization_id": whose, "to": f"{BLOCK}002", "mode": "live"}
        )
        assert not guarding(house).pending


async def test_an_address_is_a_mark_and_counts(open_house, quick):
    async with open_house() as house:
        key = await make_key(house)
        for number in range(25):
            await ask(house, f"+2223{number:03}1234", key, client="198.51.100.7")
        house.pass_s(SETTLED_MS / 1000)
        settling(house).settle()
        await ask(house, "+22239991234", key, client="198.51.100.7")
        (each,) = (await guard(house))["suspicious"]
        assert each["kind"] == "address"
        assert "198.51" not in each["name"]


async def test_an_operator_is_alerted_until_it_is_quiet(open_house, quick):
    async with open_house() as house:
        key = await make_key(house)
        await pump(house, key)
        await ask(house, f"{BLOCK}900", key)
        await trio.sleep(400)
        shown = await house.gateway.perform("alert.list", {"kind": "codes_pumped"})
        assert [each["subject"] for each in shown["alerts"]] == [house.principal.organization_id]


async def test_it_settles_and_writes_by_itself(open_house, quick):
    async with open_house() as house:
        key = await make_key(house)
        await ask(house, f"{BLOCK}001", key)
        house.pass_s(SETTLED_MS / 1000)
        await trio.sleep(8 * LOOK_S)
        rows = house.gateway.services.repositories._store.reader.execute(
            "SELECT count(*) FROM pumping_groups WHERE missed_week > 0.9"
        ).fetchone()
        assert rows[0] >= 4

"""Verification sessions: exact under attack, on time after a crash, and no code anywhere."""

from __future__ import annotations

import re
from functools import partial

import pytest
import trio

from cases import sweep
from risala.engine.journal.messages import verifications
from risala.engine.model.commands import Principal, SendCode
from risala.engine.model.errors import Invalid, NotFound, RateLimited
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode
from risala.engine.model.times import iso
from risala.engine.operations.money import SPENT_DAYS
from risala.engine.rules.keyring import Codes, KeyRing
from risala.engine.verify.sessions import Withdraw
from risala.plugins.contract import HealthState, Refused, Scope, Uncertain
from risala.plugins.testing.fake_driver import FakeDriver

TO = "+22236123456"
WRONG = "xxxxxx"


class Phone:
    """Reads the code that arrived, as its owner would."""

    def __init__(self, house):
        self._house = house

    def code(self, index: int = -1) -> str:
        found = re.search(r"\d{4,8}", self._house.driver.submitted[index].text)
        assert found
        return found.group()


async def send(house, to: str = TO, principal=None, **fields) -> str:
    return await house.gateway.send_code(principal or house.principal, SendCode(to, **fields))


async def check(house, verification_id: str, code: str, principal=None) -> bool:
    return await house.gateway.check_code(principal or house.principal, verification_id, code)


def state(house, verification_id: str) -> tuple[str, int]:
    view = house.gateway.get_verification(house.principal, verification_id)
    return view.status, view.attempts


async def configure(house, **values):
    arguments = {"organization_id": house.principal.organization_id, **values}
    return await house.gateway.perform("verify.config", arguments)


async def kinds(house) -> list[tuple[str, str | None]]:
    return [(event["type"], event.get("reason")) for event in await house.events()]


async def test_a_code_arrives_and_is_approved_once(open_house, quick):
    async with open_house() as house:
        verification_id = await send(house)
        await house.driver.wait_submitted(1)
        segment = house.driver.submitted[0]
        assert segment.urgent
        assert segment.text.startswith("Your verification code is ")
        assert segment.text.endswith("Expires in 10 minutes.")
        code = Phone(house).code()
        assert len(code) == 6
        assert not await check(house, verification_id, WRONG)
        assert state(house, verification_id) == ("pending", 1)
        assert await check(house, verification_id, f" {code} ")
        assert state(house, verification_id) == ("approved", 1)
        assert not await check(house, verification_id, code)
        assert state(house, verification_id) == ("approved", 1)
        assert await kinds(house) == [("verify.sent", None), ("verify.approved", None)]
        assert await house.balance() == "999.50"
        view = house.gateway.get_verification(house.principal, verification_id)
        with pytest.raises(NotFound):
            house.gateway.get_message(house.principal, view.message_id)


async def test_figures_have_what_was_approved_and_spent_by_time(open_house, quick):
    async with open_house() as house:
        now_ms = house.gateway.services.recorder.clock.now_ms()
        approved, denied = [await send(house, f"+2223612345{n}") for n in (6, 7)]
        await house.driver.wait_submitted(2)
        assert await check(house, approved, Phone(house).code(0))
        assert not await check(house, denied, WRONG)
        hour = 3_600_000
        span = {"since": iso(now_ms - hour), "until": iso(now_ms + hour)}
        asked = {"organization_id": house.principal.organization_id, **span}
        told = await house.gateway.perform("overview.show", asked)
        assert told["approvedHours"] == [{"at": iso(now_ms // hour * hour), "count": 1}]
        by_day = told["spentByDay"]
        assert len(by_day) == SPENT_DAYS
        assert (told["spent"], by_day[-1], {*by_day[:-1]}) == ("1.00", "1.00", {"0.00"})


async def test_arabic_indic_digits_are_digits(open_house, quick):
    async with open_house() as house:
        verification_id = await send(house)
        await house.driver.wait_submitted(1)
        code = Phone(house).code().translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩"))
        assert await check(house, verification_id, code)


async def test_the_last_wrong_attempt_cancels(open_house, quick):
    async with open_house() as house:
        verification_id = await send(house)
        await house.driver.wait_submitted(1)
        for _ in range(5):
            assert not await check(house, verification_id, WRONG)
        assert state(house, verification_id) == ("canceled", 5)
        assert not await check(house, verification_id, Phone(house).code())
        assert state(house, verification_id) == ("canceled", 5)
        assert ("verify.failed", "max_attempts") in await kinds(house)


async def test_expiry_is_on_time_and_told_once(open_house, quick):
    async with open_house() as house:
        verification_id = await send(house)
        await house.driver.wait_submitted(1)
        started = trio.current_time()
        await trio.sleep(599.5)
        assert state(house, verification_id)[0] == "pending"
        await trio.sleep(1)
        assert state(house, verification_id)[0] == "expired"
        assert not await check(house, verification_id, Phone(house).code())
        await trio.sleep(1000)
        failed = [e for e in await house.events() if e["type"] == "verify.failed"]
        assert [event["reason"] for event in failed] == ["expired"]
        assert trio.current_time() - started > 600


@pytest.mark.parametrize("asked", ["api", "operation", "list"])
async def test_what_was_told_as_expired_stays_so_when_the_clock_goes_back(open_house, quick, asked):
    async with open_house() as house:
        verification_id = await send(house)
        await house.driver.wait_submitted(1)
        code = Phone(house).code()
        house.clock.ahead_ms += 3_600_000
        if asked == "api":
            view = await house.gateway.show_verification(house.principal, verification_id)
            told = view.status
        elif asked == "operation":
            found = await house.gateway.perform("verify.get", {"verification_id": verification_id})
            told = found["status"]
        else:
            mine = {"organization_id": house.principal.organization_id, "mode": "live"}
            (found,) = (await house.gateway.perform("verify.list", mine))["sessions"]
            told = found["status"]
        assert told == "expired"
        house.clock.ahead_ms -= 3_600_000
        assert not await check(house, verification_id, code)
        assert state(house, verification_id)[0] == "expired"


async def test_get_never_shows_pending_when_the_time_is_over(open_house, quick):
    async with open_house() as house:
        verification_id = await send(house)
        row = verifications.find(house.gateway.services.repositories._store.reader, verification_id)
        from risala.engine.verify.sessions import view_of

        assert view_of(row, row.expires_at - 1).status == "pending"
        assert view_of(row, row.expires_at).status == "expired"


async def test_five_hundred_guesses_at_once_count_five(open_house):
    async with open_house(inline=False) as house:
        verification_id = await send(house)
        answers: list[bool] = []

        async def guess() -> None:
            answers.append(await check(house, verification_id, WRONG))

        async with trio.open_nursery() as nursery:
            for _ in range(500):
                nursery.start_soon(guess)
        assert answers == [False] * 500
        assert state(house, verification_id) == ("canceled", 5)
        assert (await kinds(house)).count(("verify.failed", "max_attempts")) == 1


async def test_a_hundred_right_checks_at_once_approve_one(open_house):
    async with open_house(inline=False) as house:
        verification_id = await send(house)
        await house.driver.wait_submitted(1)
        code = Phone(house).code()
        answers: list[bool] = []

        async def guess() -> None:
            answers.append(await check(house, verification_id, code))

        async with trio.open_nursery() as nursery:
            for _ in range(100):
                nursery.start_soon(guess)
        assert answers.count(True) == 1
        assert (await kinds(house)).count(("verify.approved", None)) == 1


async def test_sessions_of_one_number_coexist_with_codes_of_their_own(open_house, quick):
    async with open_house() as house:
        first = await send(house)
        await house.driver.wait_submitted(1)
        second = await send(house)
        await house.driver.wait_submitted(2)
        codes = [Phone(house).code(0), Phone(house).code(1)]
        assert codes[0] != codes[1]
        assert await check(house, first, codes[0])
        assert not await check(house, second, codes[0])
        assert await check(house, second, codes[1])


async def test_a_code_that_cannot_be_sent_ends_its_session(open_house, quick):
    driver = FakeDriver(always=Refused(Scope.FINAL, "ESME_RINVDSTADR", "No such number."))
    async with open_house(drivers={"fake": driver}) as house:
        verification_id = await send(house)
        await driver.wait_submitted(1)
        await trio.testing.wait_all_tasks_blocked()
        assert state(house, verification_id)[0] == "canceled"
        assert await kinds(house) == [("verify.failed", "delivery_failed")]
        assert await house.balance() == "1000.00"
        assert (await house.gateway.perform("audit", {}))["clean"]


async def test_a_code_is_dropped_and_refunded_when_its_session_ends_first(open_house, quick):
    async with open_house() as house:
        house.driver.set_health(HealthState.DOWN)
        withdrawn, expired = await send(house), await send(house)
        await house.gateway.services.sessions.ask(Withdraw(withdrawn))
        assert state(house, withdrawn)[0] == "canceled"
        await trio.sleep(601)
        assert state(house, expired)[0] == "expired"
        assert await house.balance() == "1000.00"
        house.driver.set_health(HealthState.UP)
        await trio.sleep(60)
        assert house.driver.submitted == []
        assert sorted(reason for _, reason in await kinds(house)) == ["canceled", "expired"]
        assert (await house.gateway.perform("audit", {}))["clean"]


async def test_an_uncertain_code_is_resent_unless_its_session_ended(open_house, quick):
    driver = FakeDriver(answers=[Uncertain("TIMEOUT"), Uncertain("TIMEOUT")])
    async with open_house(drivers={"fake": driver}) as house:
        resent, ended = await send(house), await send(house, to="+22246123456")
        await driver.wait_submitted(2)
        await house.gateway.services.sessions.ask(Withdraw(ended))
        started = trio.current_time()
        await driver.wait_submitted(3)
        assert trio.current_time() - started == pytest.approx(15, abs=0.5)
        await trio.sleep(300)
        assert [segment.recipient for segment in driver.submitted[2:]] == [TO]
        assert state(house, resent)[0] == "pending"
        assert await house.balance() == "999.50"
        assert (await house.gateway.perform("audit", {}))["clean"]


async def test_hour_limits_are_exact_and_say_when(open_house, quick):
    async with open_house() as house:
        for _ in range(5):
            await send(house)
            await trio.sleep(60)
        with pytest.raises(RateLimited) as refused:
            await send(house)
        assert (refused.value.limit, refused.value.retry_after_s) == ("phone", 3300)
        await send(house, to="+22246123456")
        other = await house.organization()
        await send(house, principal=other)
        await trio.sleep(3299.9)
        with pytest.raises(RateLimited) as refused:
            await send(house)
        assert refused.value.retry_after_s == 1
        await trio.sleep(0.2)
        await send(house)
        with pytest.raises(RateLimited):
            await send(house)
        assert (await house.gateway.perform("audit", {}))["clean"]


async def test_the_organizations_limit_holds_across_a_restart(open_house, quick):
    async with open_house() as house:
        await configure(house, per_organization_per_hour=2)
        principal = house.principal
        await send(house)
        await send(house, to="+22246123456")
    async with open_house() as house:
        with pytest.raises(RateLimited) as refused:
            await send(house, to="+22226123456", principal=principal)
        assert refused.value.limit == "organization"


async def test_limits_are_exact_for_many_at_once(open_house):
    async with open_house(inline=False) as house:
        accepted: list[str] = []
        refused: list[str] = []

        async def one() -> None:
            try:
                accepted.append(await send(house))
            except RateLimited as error:
                refused.append(error.limit)

        async with trio.open_nursery() as nursery:
            for _ in range(100):
                nursery.start_soon(one)
        assert len(accepted) == 5
        assert refused == ["phone"] * 95
        assert await house.balance() == "997.50"


async def test_what_expired_while_the_service_was_down_is_settled_once(open_house, quick, leap):
    async with open_house() as house:
        verification_id = await send(house)
        await house.driver.wait_submitted(1)
        await trio.testing.wait_all_tasks_blocked()
        principal = house.principal
    await leap(3600)
    for _ in range(2):
        async with open_house() as house:
            view = house.gateway.get_verification(principal, verification_id)
            assert view.status == "expired"
            failed = [e for e in await house.events() if e["type"] == "verify.failed"]
            assert len(failed) == 1


async def test_a_session_freezes_its_settings(open_house, quick):
    async with open_house() as house:
        await configure(house, code_length=8, expiry_minutes=2, attempts_max=1)
        verification_id = await send(house)
        await house.driver.wait_submitted(1)
        code = Phone(house).code()
        assert len(code) == 8
        assert "Expires in 2 minutes" in house.driver.submitted[0].text
        await configure(house, code_length=4, attempts_max=9)
        assert await check(house, verification_id, code)
        other = await send(house)
        await house.driver.wait_submitted(2)
        assert len(Phone(house).code()) == 4
        assert not await check(house, other, WRONG)
        assert state(house, other) == ("pending", 1)


async def test_languages_autofill_and_what_is_not_registered(open_house, quick):
    async with open_house() as house:
        await configure(
            house,
            templates={"fr": "Code Acme : {{code}}"},
            app_hashes=["FA+9qCX9VSu"],
            origins=["example.com"],
        )
        await send(house, locale="fr", app_hash="FA+9qCX9VSu", origin="example.com")
        await house.driver.wait_submitted(1)
        text = house.driver.submitted[0].text
        assert re.fullmatch(r"Code Acme : (\d{6})\nFA\+9qCX9VSu\n@example\.com #\1", text)
        await send(house, locale="ar")
        await house.driver.wait_submitted(2)
        assert house.driver.submitted[1].text.startswith("رمز التحقق")
        await configure(house, language="fr", template="Acme: {{code}}")
        for number, locale in enumerate((None, "en"), 3):
            await send(house, locale=locale)
            await house.driver.wait_submitted(number)
        texts = [each.text[:9] for each in house.driver.submitted[2:]]
        assert texts == [
            "Code Acme",
            "Your veri",
        ]  # ours, unless one is asked for
        for fields in ({"locale": "de"}, {"app_hash": "AAAAAAAAAAA"}, {"origin": "evil.test"}):
            with pytest.raises(Invalid):
                await send(house, **fields)


@sweep(
    ("values", "path"),
    [
        ({"code_length": 3}, "code_length"),
        ({"code_length": 9}, "code_length"),
        ({"expiry_minutes": 0}, "expiry_minutes"),
        ({"expiry_minutes": 61}, "expiry_minutes"),
        ({"expiry_minutes": 1.5}, "expiry_minutes"),
        ({"expiry_s": 90}, "expiry_s"),
        ({"attempts_max": 0}, "attempts_max"),
        ({"language": "de"}, "language"),
        ({"template": "no code"}, "template"),
        ({"template": "{{code}} {{name}}"}, "template"),
        ({"templates": {"de": "{{code}}"}}, "templates"),
        ({"templates": {"fr": "rien"}}, "templates.fr"),
        ({"app_hashes": ["short"]}, "app_hashes"),
        ({"origins": ["https://example.com"]}, "origins"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
async def test_settings_that_are_refused_name_the_fault(house, quick, values, path):
    before = await configure(house)
    with pytest.raises(Invalid) as refused:
        await configure(house, **values)
    assert refused.value.path.startswith(path)
    assert await configure(house) == before


async def test_settings_that_are_refused_name_all_their_faults(open_house, quick):
    async with open_house() as house:
        with pytest.raises(Invalid) as refused:
            await configure(house, code_length=3, attempts_max=0, template="no code")
        faults = {fault.path for fault in refused.value.faults}
        assert faults == {"code_length", "attempts_max", "template"}
        assert str(refused.value) == (
            "`code_length`: must be at least 4. `attempts_max`: must be at least 1."
            " `template`: The template must contain {{code}}."
        )


async def test_a_long_template_is_warned_about_with_its_price(open_house, quick):
    async with open_house() as house:
        shown = await configure(house, template="رمز طويل " * 10 + "{{code}}")
        assert shown["sizes"]["default"] == {"segments": 2, "encoding": "ucs2", "price": "1.00"}
        assert any("2 segments" in warning for warning in shown["warnings"])


async def test_test_keys_know_the_code_and_meet_no_limit(open_house, quick, carrier):
    from risala.drivers.testmode import TestModeDriver

    drivers = {"fake": FakeDriver(), "test": TestModeDriver()}
    async with open_house(carrier(), carrier("test", prefixes=()), drivers=drivers) as house:
        test = Principal(house.principal.organization_id, "key", KeyType.PUBLISHABLE, Mode.TEST)
        ids = [await send(house, principal=test) for _ in range(7)]
        assert await check(house, ids[0], "000000", principal=test)
        with pytest.raises(NotFound):
            await check(house, ids[1], "000000")
        assert await house.balance() == "1000.00"
        assert all(event["test"] for event in await house.events())


async def test_codes_leave_by_an_approved_sender_alone(open_house, quick):
    async with open_house() as house:
        of = {"organization_id": house.principal.organization_id}
        asked = await house.gateway.perform(
            "sender.request", {**of, "name": "ACME", "description": "codes"}
        )
        await house.gateway.perform("sender.waive", {"sender_id": asked["id"]})
        await configure(house, sender="ACME")
        await send(house)
        denied = {"sender_id": asked["id"], "reason": "misleading"}
        await house.gateway.perform("sender.deny", denied)
        await send(house, to="+22246123456")
        await house.driver.wait_submitted(2)
        assert [each.sender for each in house.driver.submitted] == ["ACME", "RISALA"]


async def test_unknown_and_foreign_are_the_same(open_house, quick):
    async with open_house() as house:
        verification_id = await send(house)
        other = await house.organization()
        texts = set()
        for principal, wanted in ((other, verification_id), (house.principal, "ver_nothing")):
            for call in (
                house.gateway.check_code(principal, wanted, "1"),
                _get(house, principal, wanted),
            ):
                with pytest.raises(NotFound) as refused:
                    await call
                texts.add(str(refused.value))
        assert len(texts) == 1


async def _get(house, principal, wanted):
    return house.gateway.get_verification(principal, wanted)


async def test_the_code_is_in_no_row_and_no_timeline(open_house, quick, tmp_path):
    async with open_house() as house:
        codes = []
        for n in range(5):
            await send(house, to=f"+2223612345{n}")
            await house.driver.wait_submitted(n + 1)
            codes.append(Phone(house).code())
        await trio.testing.wait_all_tasks_blocked()
        files = [path for path in tmp_path.iterdir() if path.name.startswith("risala.db")]
        everything = b"".join(path.read_bytes() for path in files)
        assert len(files) >= 2
        assert b"{{code}}" in everything
        for code in codes:
            assert code.encode() not in everything


@pytest.mark.slow
@pytest.mark.long
async def test_ten_thousand_that_end_in_one_second_are_told_within_one(open_house, quick):
    async with open_house() as house:
        # Test keys meet no hour limit; no carrier of theirs is here, so that the codes wait.
        test = Principal(house.principal.organization_id, "key", KeyType.SECRET, Mode.TEST)
        for _ in range(10_000):
            await send(house, principal=test)
        await trio.sleep(600.9)
        failed = [e for e in await house.events() if e["type"] == "verify.failed"]
        assert len(failed) == 10_000
        assert (await house.gateway.perform("audit", {}))["clean"]


def test_codes_are_derived_and_differ_by_key_and_session():
    codes, others = (Codes(partial(KeyRing.of, key * 32)) for key in (b"k", b"j"))
    assert codes.code("ver_a", 6, test=False) == codes.code("ver_a", 6, test=False)
    assert codes.code("ver_a", 8, test=False) != codes.code("ver_b", 8, test=False)
    assert others.code("ver_a", 8, test=False) != codes.code("ver_a", 8, test=False)
    assert codes.code("ver_a", 4, test=True) == "0000"
    assert "k" not in repr(codes)
    spread = {codes.code(f"ver_{n}", 4, test=False) for n in range(2000)}
    assert len(spread) > 1500

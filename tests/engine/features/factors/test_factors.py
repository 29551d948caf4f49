"""Second factors: set up fresh, demanded before a session, each proof once, few guesses, told."""

from __future__ import annotations

from dataclasses import replace

import pyotp
import pytest

from risala.config.alerts import AlertsSection
from risala.engine.features.alerts.measure import Measuring
from risala.engine.features.factors.records import ACCESS, ShownFactor
from risala.engine.features.factors.service import STEP_MS, hash_of, matching_step, new_codes
from risala.engine.model import features as declarations
from risala.engine.model.callers import Caller, CallerKind, Freshness, Role
from risala.engine.model.errors import (
    ApprovalNeeded,
    Conflict,
    FactorNeeded,
    Invalid,
    NotFresh,
    RateLimited,
)
from risala.engine.model.people import Denied, FactorAwaited, SessionKind, SignedIn
from risala.engine.rules.people.lifetimes import FACTOR_TRIES_PER_DAY, FRESH_MS

FATIMA, OMAR = "fatima@example.com", "omar@example.com"
SEED = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


@pytest.mark.parametrize(
    ("off", "fits"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)]
)
def test_a_code_counts_in_its_step_and_one_beside(off, fits):
    now_ms = 60_000_000 * STEP_MS
    code = pyotp.TOTP(SEED).generate_otp(60_000_000 + off)
    assert matching_step(SEED, code, now_ms) == (60_000_000 + off if fits else None)
    arabic = code.translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩"))
    assert matching_step(SEED, arabic, now_ms) == (60_000_000 + off if fits else None)


def test_recovery_codes_are_read_however_they_are_typed():
    codes = new_codes()
    assert len(set(codes)) == 10
    typed = codes[0].upper().replace("-", " ")
    assert hash_of("usr_1", typed) == hash_of("usr_1", codes[0]) != hash_of("usr_2", codes[0])


class App:
    """A person's authenticator app."""

    def __init__(self, town, secret: str) -> None:
        self.town, self.totp = town, pyotp.TOTP(secret)

    def code(self, off: int = 0) -> str:
        return self.totp.generate_otp(self.town.clock.now_ms() // STEP_MS + off)


def me(town, found: SignedIn) -> Caller:
    """The caller that the session's pages act as."""
    session = town.people.sessions.find(found.token, found.session.kind)
    return town.people.sessions.user_caller(session)


async def set_up(town, found: SignedIn) -> tuple[App, list[str]]:
    """An app for who is signed in, and the recovery codes."""
    begun = await town.do("factor.begin_app", me(town, found))
    app = App(town, begun["secret"])
    added = await town.do(
        "factor.add_app",
        me(town, found),
        nonce=begun["nonce"],
        code=app.code(),
        but=found.session.id,
    )
    town.pass_s(60)
    return app, added["recoveryCodes"]


async def code_shown(town, email: str, kind: SessionKind = SessionKind.CUSTOMER, browser=None):
    """A browser after the right code by e-mail, which waits for the factor."""
    browser = browser or town.browser()
    await town.people.sign_in.begin(browser, email, kind)
    assert isinstance(
        await town.people.sign_in.finish(browser, await town.mailed(email), kind), FactorAwaited
    )
    return browser


async def shown(town, browser, typed: str, kind: SessionKind = SessionKind.CUSTOMER):
    return await town.gateway.access(ACCESS).finish(browser, ShownFactor(typed=typed), kind)


async def test_the_factor_is_demanded_before_the_session_and_each_code_works_once(
    town, autojump_clock
):
    first, other = await town.sign_in(FATIMA), await town.sign_in(FATIMA)
    app, codes = await set_up(town, first)
    assert len(codes) == 10
    assert town.people.sessions.find(first.token, SessionKind.CUSTOMER).has_factor
    assert town.people.sessions.find(other.token, SessionKind.CUSTOMER) is None  # it has shown none
    browser = await code_shown(town, FATIMA)
    assert town.people.sign_in.pending(browser.token).user_id == first.session.user.id
    assert await shown(town, browser, "000000") == Denied(4)
    code = app.code()
    assert isinstance(await shown(town, browser, code), SignedIn)
    assert town.people.sign_in.pending(browser.token) is None
    again = await code_shown(town, FATIMA)
    assert isinstance(await shown(town, again, code), Denied)  # replayed
    assert isinstance(await shown(town, again, app.code(-1)), Denied)  # of a step before
    assert isinstance(await shown(town, again, app.code(1)), SignedIn)
    assert town.rows("SELECT count(*) FROM audit_log WHERE action = 'factor.add_app'")[0][0] == 1


async def test_without_the_feature_nobody_signs_in(town, autojump_clock, monkeypatch):
    """Not who has a factor, nor who has none: nothing could say which of them this is."""
    first = await town.sign_in(FATIMA)
    await set_up(town, first)
    await town.sign_in("ali@baraka.example")
    before = town.rows("SELECT count(*) FROM web_sessions")
    link = await town.do("user.sign_in", email=FATIMA)
    others = tuple(each for each in declarations.features() if each.name != "factors")
    for email in (FATIMA, "ali@baraka.example"):
        browser = town.browser()
        await town.posted()
        await town.people.sign_in.begin(browser, email)
        code = await town.mailed(email)
        with monkeypatch.context() as patch:
            patch.setattr(declarations, "features", lambda: others)
            with pytest.raises(LookupError):
                await town.people.sign_in.finish(browser, code)
    with monkeypatch.context() as patch:
        patch.setattr(declarations, "features", lambda: others)
        with pytest.raises(LookupError):
            await town.people.sign_in.use_link(link["token"], town.browser())
        town.people.sessions.forget(first.session.user.id)
        with pytest.raises(LookupError):
            town.people.sessions.find(first.token, SessionKind.CUSTOMER)
    assert town.rows("SELECT count(*) FROM web_sessions") == before


async def test_the_code_by_e_mail_alone_opens_nothing_and_is_used_up(town, autojump_clock):
    app, _ = await set_up(town, await town.sign_in(FATIMA))
    browser = await code_shown(town, FATIMA)
    assert await town.people.sign_in.finish(browser, await town.mailed(FATIMA)) == Denied(0)
    for left in (4, 3, 2, 1, 0):
        assert await shown(town, browser, "000000") == Denied(left)
    assert await shown(town, browser, app.code()) == Denied(0)
    assert town.people.sign_in.pending(browser.token) is None


async def test_a_recovery_code_works_once_and_its_owner_is_told(town, autojump_clock):
    _, codes = await set_up(town, await town.sign_in(FATIMA))
    assert isinstance(await shown(town, await code_shown(town, FATIMA), codes[3]), SignedIn)
    again = await code_shown(town, FATIMA)
    assert isinstance(await shown(town, again, codes[3]), Denied)
    assert isinstance(await shown(town, again, codes[4].upper()), SignedIn)
    await town.posted()
    told = [mail.subject for mail in town.mails.to(FATIMA)]
    assert sum("recovery code was used" in each for each in told) == 2
    stored = [row[0] for row in town.rows("SELECT hash FROM recovery_codes")]
    assert not any(code.encode() in each for code in codes for each in stored)


async def test_a_seed_does_not_lie_readable_in_the_database(town, autojump_clock):
    app, _ = await set_up(town, await town.sign_in(FATIMA))
    (sealed,) = town.rows("SELECT seed FROM factors")[0]
    assert sealed.startswith("sealed1.")
    assert app.totp.secret not in sealed


async def test_guesses_of_an_app_are_few_in_any_day_but_a_recovery_code_still_works(
    open_town, autojump_clock
):
    async with open_town(codes_per_address_per_hour=100) as town:
        app, codes = await set_up(town, await town.sign_in(FATIMA))
        for _ in range(FACTOR_TRIES_PER_DAY // 5):
            browser = await code_shown(town, FATIMA)
            for _ in range(5):
                await shown(town, browser, "000000")
        browser = await code_shown(town, FATIMA)
        with pytest.raises(RateLimited):
            await shown(town, browser, app.code())
        assert isinstance(await shown(town, browser, codes[0]), SignedIn)


async def test_wrong_factors_count_for_the_alert_of_guesses(town, autojump_clock):
    await set_up(town, await town.sign_in(FATIMA))
    browser = await code_shown(town, FATIMA)
    services = town.gateway.services
    measuring = Measuring(services, AlertsSection(sign_in_failures_min=1))
    for _ in range(3):
        await shown(town, browser, "000000")
    counted = {each.subject: each.facts["count"] for each in measuring.sign_ins({})}
    assert counted == {"dashboard": 3, "console": 0}


async def test_setting_up_wants_a_fresh_sign_in_which_e_mail_alone_does_not_renew(
    town, autojump_clock
):
    found = await town.sign_in(FATIMA)
    town.pass_s(FRESH_MS // 1000)
    assert me(town, found).freshness is Freshness.EXEMPT
    with pytest.raises(NotFresh):
        await town.do("factor.begin_app", me(town, found))
    access, browser = town.gateway.access(ACCESS), town.browser(found.token)
    session = town.people.sessions.find(found.token, SessionKind.CUSTOMER)
    await town.people.sign_in.begin(browser, session.user.email, session.kind)
    assert await town.people.sign_in.freshen_by_code(session, browser, "000000") == Denied(4)
    assert (
        await town.people.sign_in.freshen_by_code(session, browser, await town.mailed(FATIMA))
        is True
    )
    app, _ = await set_up(town, found)
    town.pass_s(FRESH_MS // 1000)
    assert me(town, found).freshness is Freshness.STALE
    session = town.people.sessions.find(found.token, SessionKind.CUSTOMER)
    await town.people.sign_in.begin(browser, session.user.email, session.kind)
    mailed = await town.mailed(FATIMA)
    assert await town.people.sign_in.freshen_by_code(session, browser, mailed) == Denied(0)
    assert me(town, found).freshness is Freshness.STALE
    code = app.code()
    assert await access.freshen(session, browser, ShownFactor(typed=code)) is True
    assert me(town, found).freshness is Freshness.FRESH
    assert isinstance(await access.freshen(session, browser, ShownFactor(typed=code)), Denied)


async def test_a_wrong_first_code_sets_nothing_up(town, autojump_clock):
    found = await town.sign_in(FATIMA)
    begun = await town.do("factor.begin_app", me(town, found))
    with pytest.raises(Invalid):
        await town.do(
            "factor.add_app",
            me(town, found),
            nonce=begun["nonce"],
            code="000000",
            but=found.session.id,
        )
    assert not town.rows("SELECT 1 FROM factors")
    again = await town.do("factor.begin_app", me(town, found), nonce=begun["nonce"])
    assert again["secret"] == begun["secret"]


async def test_money_and_keys_want_a_fresh_sign_in_of_who_has_a_factor(town, autojump_clock):
    found = await town.sign_in(FATIMA)
    org = (await town.do("org.found", me(town, found), name="Shop"))["id"]
    session = town.people.sessions.find(found.token, SessionKind.CUSTOMER)
    town.pass_s(FRESH_MS // 1000)
    key = {"organization_id": org, "type": "secret"}
    await town.do(
        "key.create", town.people.sessions.caller(session, org), **key
    )  # no factor: no need
    session = replace(session, has_factor=True)
    with pytest.raises(NotFresh):
        await town.do("key.create", town.people.sessions.caller(session, org), **key)
    program = Caller("key_1", CallerKind.API, Role.DEVELOPER, org)
    assert program.freshness is Freshness.FRESH


async def test_an_organization_may_demand_a_factor_of_its_members(town, autojump_clock):
    found = await town.sign_in(FATIMA)
    org = (await town.do("org.found", me(town, found), name="Shop"))["id"]
    await town.do("org.set", organization_id=org, factor_required=True)
    session = town.people.sessions.find(found.token, SessionKind.CUSTOMER)
    with pytest.raises(FactorNeeded):
        town.people.sessions.caller(session, org)
    await set_up(town, found)
    session = town.people.sessions.find(found.token, SessionKind.CUSTOMER)
    assert town.people.sessions.caller(session, org).role is Role.OWNER


async def test_operators_need_a_factor_once_one_of_them_has_one(town, autojump_clock):
    for email in (FATIMA, OMAR):
        await town.do("user.create", email=email, operator=True)
    first = await town.sign_in(FATIMA, SessionKind.OPERATOR)
    second = await town.sign_in(OMAR, SessionKind.OPERATOR)
    session = town.people.sessions.find(second.token, SessionKind.OPERATOR)
    assert town.people.sessions.operator_caller(session).freshness is Freshness.FRESH
    await set_up(town, first)
    with pytest.raises(FactorNeeded):
        town.people.sessions.operator_caller(session)
    await town.posted()
    assert any("second factor was set up" in mail.subject for mail in town.mails.to(OMAR))


async def test_by_a_page_a_reset_always_needs_another_operator(town, autojump_clock):
    found = await town.sign_in(FATIMA)
    await set_up(town, found)
    for name in ("amina", "sidi"):
        await town.do("user.create", email=f"{name}@example.com", operator=True)
    amina, sidi = (
        Caller(f"{name}@example.com", CallerKind.CONSOLE, Role.OPERATOR, None, f"usr_{name}")
        for name in ("amina", "sidi")
    )
    with pytest.raises(ApprovalNeeded) as asked:
        await town.do("user.reset_factors", amina, email=FATIMA)
    request = {"approval_id": asked.value.approval_id}
    with pytest.raises(Conflict, match="Somebody else"):
        await town.do("approval.confirm", amina, **request)
    own = replace(sidi, user_id=found.session.user.id, who=FATIMA)
    with pytest.raises(Conflict, match="their own"):
        await town.do("approval.confirm", own, **request)
    with pytest.raises(Conflict, match="their own"):
        await town.do("user.reset_factors", own, email=FATIMA)
    assert town.people.sessions.find(found.token, SessionKind.CUSTOMER) is not None
    await town.do("approval.confirm", sidi, **request)
    assert town.people.sessions.find(found.token, SessionKind.CUSTOMER) is None
    await town.posted()
    assert any("were reset" in mail.subject for mail in town.mails.to(FATIMA))
    lines = town.rows(
        "SELECT who, action FROM audit_log WHERE action IN ('approval.ask', 'user.reset_factors')"
        " ORDER BY seq"
    )
    assert lines == [(amina.who, "approval.ask"), (sidi.who, "user.reset_factors")]


async def test_a_reset_on_the_machine_is_told_and_ends_all_sessions(town, autojump_clock):
    found = await town.sign_in(FATIMA)
    await set_up(town, found)
    assert (await town.do("user.reset_factors", email=FATIMA)) == {"removed": 1}
    assert town.people.sessions.find(found.token, SessionKind.CUSTOMER) is None
    assert (await town.do("user.reset_factors", email=FATIMA)) == {"removed": 0}
    await town.posted()
    assert any("were reset" in mail.subject for mail in town.mails.to(FATIMA))
    assert isinstance(await town.sign_in(FATIMA), SignedIn)
    told = "SELECT count(*) FROM audit_log WHERE action = 'user.reset_factors'"
    assert town.rows(told)[0][0] == 1


async def test_a_link_of_the_operator_opens_nothing_without_the_factor(town, autojump_clock):
    app, _ = await set_up(town, await town.sign_in(FATIMA))
    made = await town.do("user.sign_in", email=FATIMA)
    browser = town.browser()
    assert isinstance(await town.people.sign_in.use_link(made["token"], browser), FactorAwaited)
    assert isinstance(await shown(town, browser, app.code()), SignedIn)

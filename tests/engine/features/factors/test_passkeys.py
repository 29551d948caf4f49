"""Passkeys, by an authenticator in software: what is accepted, once, from whom."""

from __future__ import annotations

from dataclasses import replace

import pytest

from authenticator import PRESENT, Authenticator
from risala.engine.features.factors.records import ACCESS, PasskeySite, ShownFactor
from risala.engine.features.factors.service import Factors
from risala.engine.model.errors import Conflict, Invalid
from risala.engine.model.people import Denied, SessionKind, SignedIn
from risala.engine.rules.people.lifetimes import CODE_MS

FATIMA = "fatima@example.com"
SITE = PasskeySite("sms.example", "https://sms.example")
CUSTOMER = SessionKind.CUSTOMER


async def made(town, found: SignedIn, device: Authenticator, cookie: str | None = None):
    session = town.people.sessions.find(found.token, CUSTOMER)
    caller = town.people.sessions.user_caller(session)
    site = {"host": SITE.host, "origin": SITE.origin, "cookie": found.token}
    question = (await town.do("factor.begin_passkey", caller, **site))["question"]
    site["cookie"] = cookie or found.token
    answer = device.make(question)
    return await town.do("factor.add_passkey", caller, **site, answer=answer, but=session.id)


def stored_factor(town):
    ((user_id,),) = town.rows("SELECT user_id FROM factors")
    return town.gateway.services.part(Factors).of_user(user_id)[0]


async def shown(town, device: Authenticator, browser=None, site: PasskeySite | None = SITE):
    browser = browser or town.browser()
    question = town.gateway.access(ACCESS).question(SITE, browser.token)
    given = ShownFactor(answer=device.show(question), site=site)
    return await town.gateway.access(ACCESS).by_passkey(browser, given, CUSTOMER)


@pytest.fixture
async def device(town, autojump_clock) -> Authenticator:
    """Fatima's."""
    device = Authenticator()
    added = await made(town, await town.sign_in(FATIMA), device)
    assert len(added["recoveryCodes"]) == 10
    return device


async def test_a_passkey_alone_lets_in(town, device, autojump_clock):
    found = await shown(town, device)
    assert isinstance(found, SignedIn)
    assert found.session.user.email == FATIMA
    assert found.session.has_factor
    assert town.rows("SELECT counter FROM factors") == [(1,)]


async def test_an_answer_works_once_and_for_the_browser_that_was_asked(
    town, device, autojump_clock
):
    browser, access = town.browser(), town.gateway.access(ACCESS)
    question = access.question(SITE, browser.token)
    given = ShownFactor(answer=device.show(question), site=SITE)
    assert isinstance(await access.by_passkey(town.browser(), given, CUSTOMER), Denied)
    assert isinstance(await access.by_passkey(browser, given, CUSTOMER), SignedIn)
    again = ShownFactor(answer=device.show(question), site=SITE)
    assert isinstance(await access.by_passkey(browser, again, CUSTOMER), Denied)
    late = access.question(SITE, browser.token)
    town.pass_s(CODE_MS // 1000)
    given = ShownFactor(answer=device.show(late), site=SITE)
    assert isinstance(await access.by_passkey(browser, given, CUSTOMER), Denied)


async def test_a_copy_whose_count_goes_back_is_refused(town, device, autojump_clock):
    for _ in range(3):
        assert isinstance(await shown(town, device), SignedIn)
    device.counter = 1
    assert isinstance(await shown(town, device), Denied)
    town.rows("SELECT 1")
    proof = stored_factor(town)
    assert proof.counter == 3


async def test_the_unit_itself_refuses_a_count_that_goes_back(town, device, autojump_clock):
    from risala.engine.features.factors import stored as factors
    from risala.engine.features.factors.records import FactorProof, ProofKind

    found = stored_factor(town)
    commit = town.gateway.services.recorder.journal.commit

    async def use(count: int) -> bool:
        proof = FactorProof(ProofKind.PASSKEY, found.id, count)
        return await commit(lambda conn: factors.use(conn, found.user_id, proof, 1))

    assert [await use(each) for each in (0, 0, 2, 2, 1, 0, 3)] == [
        *(True, True, True, False, False, False, True)
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"origin": "https://sms.example.evil.example"},
        {"flags": PRESENT},
        {"handle": b"usr_somebody"},
        {"credential": b"another"},
    ],
    ids=["another origin", "not unlocked", "another user", "an unknown passkey"],
)
async def test_what_is_not_right_lets_nobody_in(town, device, autojump_clock, change):
    assert isinstance(await shown(town, replace(device, **change)), Denied)
    other = PasskeySite("other.example", "https://other.example")
    assert isinstance(await shown(town, device, site=other), Denied)
    assert isinstance(await shown(town, device, site=None), Denied)
    access, browser = town.gateway.access(ACCESS), town.browser()
    for answer in ("", "{", "[]", '{"rawId": 5}', '{"rawId": "AA"}', "[" * 9_000):
        given = ShownFactor(answer=answer, site=SITE)
        assert isinstance(await access.by_passkey(browser, given, CUSTOMER), Denied)


async def test_a_passkey_is_made_by_the_browser_that_was_asked_and_unlocked(
    town, device, autojump_clock
):
    found = await shown(town, device)
    with pytest.raises(Invalid):
        await made(town, found, Authenticator(), cookie="another")
    with pytest.raises(Invalid):
        await made(town, found, Authenticator(flags=PRESENT))
    with pytest.raises(Invalid):
        await made(town, found, Authenticator(origin="https://evil.example"))
    with pytest.raises(Conflict):
        await made(town, found, device)
    assert (await made(town, found, Authenticator()))["recoveryCodes"] == []

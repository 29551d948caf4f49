"""Strangers at the sign-in: they guess nothing, shut nobody out, and are seen."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
import trio

from cases import first
from risala.engine.journal.people import sign_in_failures, signing_in
from risala.engine.journal.people.sign_in_failures import AUDITED_PER_HOUR
from risala.engine.journal.store import audit_log
from risala.engine.limits.people import GUESSES_PER_KNOWN_BROWSER
from risala.engine.model.errors import RateLimited
from risala.engine.model.people import Denied, SessionKind, SignedIn
from risala.engine.model.people_records import FailureReason, SignInFailure
from risala.engine.rules.people.lifetimes import (
    ATTEMPTS_MAX,
    CODE_MS,
    FAILURES_KEPT_MS,
    FAILURES_PER_DAY,
    FAILURES_PER_MONTH,
    KNOWN_BROWSER_MS,
)
from risala.http.common.client_address import (
    NETWORK_PREFIX_V6,
    PROVIDER_PREFIX_V6,
    bucket_of,
    network_of,
)

OPERATOR, CUSTOMER = "amina@example.com", "fatima@example.com"
CONSOLE = SessionKind.OPERATOR
HOUR_S, DAY_S = 3600, 86_400
SHARE = pytest.mark.parametrize("share", first(1, [10, 1]))
"""The part of the usual limits; all of them are the defaults."""


def at_address(town, text, **fields):
    """A browser of an IPv6 address, in the buckets that pages put it in."""
    address = ip_address(text)
    return town.browser(
        bucket=bucket_of(address),
        network=network_of(address, NETWORK_PREFIX_V6),
        provider=network_of(address, PROVIDER_PREFIX_V6),
        address=text,
        **fields,
    )


def known(town, signed_in):
    return town.browser(known_as=signed_in.known_as)


async def make_operator(town):
    await town.do("user.create", email=OPERATOR, operator=True)


async def asked_for(town, browsers, emails, kind=SessionKind.CUSTOMER):
    """How many codes strangers may ask for before they are refused for good."""
    taken = 0
    for browser, email in zip(browsers, emails, strict=True):
        try:
            await town.people.sign_in.begin(browser, email, kind)
        except RateLimited:
            continue
        taken += 1
    return taken


async def guess(town, email, kind, tries, by=None):
    """Wrong guesses that were judged, five a code, from a browser of its own for each code."""
    judged = 0
    while judged < tries:
        browser = by or town.browser()
        try:
            await town.people.sign_in.begin(browser, email, kind)
            for _ in range(5):
                assert isinstance(await town.people.sign_in.finish(browser, "0", kind), Denied)
                judged += 1
        except RateLimited:
            return judged
    return judged


async def test_the_codes_of_operators_have_eight_digits(town, autojump_clock):
    await make_operator(town)
    browser = town.browser()
    await town.people.sign_in.begin(browser, OPERATOR, CONSOLE)
    assert len(await town.mailed(OPERATOR)) == 8
    await town.people.sign_in.begin(browser, CUSTOMER)
    assert len(await town.mailed(CUSTOMER)) == 6


async def test_guesses_at_an_operator_s_address_end_for_days(town, autojump_clock):
    """Month after month the same 100 guesses at 100,000,000 codes: never a thousandth of 1 % a
    year, where it was 26 %."""
    await make_operator(town)
    judged = []
    for _ in range(3 * 24):
        judged.append(await guess(town, OPERATOR, CONSOLE, 100))
        town.pass_s(HOUR_S)
    assert sum(judged[:24]) == FAILURES_PER_DAY
    assert sum(judged) <= FAILURES_PER_MONTH


async def test_a_stranger_s_right_code_is_not_judged_after_too_many_wrong_ones(
    town, autojump_clock, leap
):
    await make_operator(town)
    assert await guess(town, OPERATOR, CONSOLE, 100) == FAILURES_PER_DAY
    await leap(HOUR_S)
    browser = town.browser()
    await town.people.sign_in.begin(browser, OPERATOR, CONSOLE)
    code = await town.mailed(OPERATOR)
    with pytest.raises(RateLimited, match="risala user sign-in"):
        await town.people.sign_in.finish(browser, code, CONSOLE)


async def test_a_known_browser_signs_in_whatever_strangers_do(town, autojump_clock):
    await make_operator(town)
    mine = await town.sign_in(OPERATOR, CONSOLE)
    assert await guess(town, OPERATOR, CONSOLE, 100) == 25  # one of six codes was mine
    with pytest.raises(RateLimited):
        await town.people.sign_in.begin(town.browser(), OPERATOR, CONSOLE)
    again = await town.sign_in(OPERATOR, CONSOLE, known(town, mine))
    assert isinstance(again, SignedIn)


@pytest.mark.parametrize("spoil", ["another", "console", "changed", "old", "none", "odd"])
async def test_only_its_own_browser_is_known(town, autojump_clock, spoil):
    await make_operator(town)
    who, kind = (CUSTOMER, SessionKind.CUSTOMER) if spoil == "another" else (OPERATOR, CONSOLE)
    kind = SessionKind.CUSTOMER if spoil == "console" else kind
    cookie = (await town.sign_in(who, kind)).known_as
    number, until, mark = cookie.split(".")
    if spoil == "old":
        town.pass_s(KNOWN_BROWSER_MS // 1000 + 1)
    cookie = {
        "changed": f"{number}.{int(until) + 1}.{mark}",
        "none": "",
        "odd": "²" * 50 + ".1.é",
    }.get(spoil, cookie)
    await guess(town, OPERATOR, CONSOLE, 100)
    with pytest.raises(RateLimited):
        await town.people.sign_in.begin(town.browser(known_as=cookie), OPERATOR, CONSOLE)


async def test_a_known_browser_guesses_no_more_than_its_share(town, autojump_clock, leap):
    await make_operator(town)
    mine = known(town, await town.sign_in(OPERATOR, CONSOLE))
    judged = 0
    for _ in range(10):
        judged += await guess(town, OPERATOR, CONSOLE, 5, mine)
        await leap(HOUR_S)
    assert judged == GUESSES_PER_KNOWN_BROWSER


@SHARE
async def test_one_network_does_not_shut_the_sign_in(open_town, autojump_clock, share):
    """2,100 requests from /64s of one /32 used up the whole hour for every customer."""
    limits = {"codes_per_hour": 2000 // share, "codes_per_ip_per_hour": 60 // share}
    async with open_town(**limits) as town:
        await make_operator(town)
        await town.sign_in(CUSTOMER)
        flood = [at_address(town, f"2001:db8:{n:x}::1") for n in range(2100 // share)]
        emails = [f"x{n}@example.org" for n in range(2100 // share)]
        assert await asked_for(town, flood, emails) == 500 // share
        one_site = [at_address(town, f"2001:dbf:1:{n:x}::1") for n in range(300 // share)]
        assert await asked_for(town, one_site, emails[: 300 // share]) == 240 // share
        assert isinstance(await town.sign_in(CUSTOMER), SignedIn)
        assert isinstance(await town.sign_in(OPERATOR, CONSOLE), SignedIn)


@SHARE
async def test_the_console_and_the_dashboard_have_pools_of_their_own(
    open_town, autojump_clock, share
):
    async with open_town(codes_per_hour=2000 // share) as town:
        await make_operator(town)
        browsers = [town.browser() for _ in range(2100 // share)]
        emails = [f"x{n}@example.org" for n in range(2100 // share)]
        assert await asked_for(town, browsers, emails) == 2000 // share
        with pytest.raises(RateLimited) as full:
            await town.people.sign_in.begin(town.browser(), CUSTOMER)
        assert full.value.limit == "all"
        assert isinstance(await town.sign_in(OPERATOR, CONSOLE), SignedIn)


@SHARE
async def test_mails_to_addresses_without_a_user_are_capped_and_nobody_is_told(
    open_town, autojump_clock, share
):
    async with open_town(strangers_codes_per_hour=300 // share) as town:
        await town.do("user.create", email=CUSTOMER)
        browsers = [town.browser() for _ in range(350 // share)]
        emails = [f"x{n}@example.org" for n in range(350 // share)]
        assert await asked_for(town, browsers, emails) == 350 // share
        await trio.testing.wait_all_tasks_blocked()
        assert sum(len(town.mails.to(email)) for email in emails) == 300 // share
        assert isinstance(await town.sign_in(CUSTOMER), SignedIn)


def rows(town, count=1000):
    return sign_in_failures.newest(town.gateway.services.repositories._store.reader, count)


def trail(town):
    found = audit_log.lines(town.gateway.services.repositories._store.reader, 100)
    return [each for each in found if each.action == "sign_in.failed"]


async def test_each_failure_is_written_down_and_one_an_hour_in_the_trail(town, autojump_clock):
    await make_operator(town)
    await guess(town, OPERATOR, CONSOLE, 10)
    found = rows(town)
    assert [each.reason for each in found] == [FailureReason.WRONG_CODE] * 10
    assert {(each.kind, each.email, each.known_browser) for each in found} == {
        (CONSOLE, OPERATOR, False)
    }
    assert all(each.address.startswith("192.0.2.") for each in found)
    assert len(trail(town)) == 1
    await guess(town, CUSTOMER, SessionKind.CUSTOMER, 5)
    assert len(trail(town)) == 2
    assert CUSTOMER not in str(trail(town))


async def test_an_address_that_no_user_has_is_written_down_nowhere(town, autojump_clock):
    await guess(town, CUSTOMER, SessionKind.CUSTOMER, 5)
    (hashed,) = {each.email for each in rows(town)}
    assert hashed.startswith("#")
    for table in ("sign_in_failures", "audit_log"):
        assert CUSTOMER not in str(town.rows(f"SELECT * FROM {table}"))


async def test_failures_go_along_with_an_address_that_is_changed(town, autojump_clock):
    await town.do("user.create", email=CUSTOMER)
    await guess(town, CUSTOMER, SessionKind.CUSTOMER, 1)
    await town.do("user.set", email=CUSTOMER, new_email="new@example.com")
    assert {each.email for each in rows(town)} == {"new@example.com"}


async def test_what_else_is_refused_is_written_down_too(town, autojump_clock, leap):
    await make_operator(town)
    await guess(town, OPERATOR, CONSOLE, 100)
    await leap(HOUR_S)
    browser = town.browser()
    await town.people.sign_in.begin(browser, OPERATOR, CONSOLE)
    for _ in range(ATTEMPTS_MAX):
        with pytest.raises(RateLimited):
            await town.people.sign_in.finish(browser, "0", CONSOLE)
    assert await town.people.sign_in.finish(browser, "0", CONSOLE) == Denied(0)
    late = town.browser()
    await town.people.sign_in.begin(late, CUSTOMER)
    code = await town.mailed(CUSTOMER)
    town.pass_s(CODE_MS // 1000)
    for _ in range(2):
        assert await town.people.sign_in.finish(late, code) == Denied(0)
    for _ in range(3):  # once a minute
        assert await town.people.sign_in.use_link("x" * 43, town.browser(), CONSOLE) is None
    emails = [f"x{n}@example.org" for n in range(200)]
    assert await asked_for(town, [town.browser()] * 200, emails) < 200
    reasons = [each.reason for each in rows(town)]
    assert reasons.count(FailureReason.HELD_UP) == ATTEMPTS_MAX
    assert reasons.count(FailureReason.EXPIRED) == 2
    assert reasons.count(FailureReason.LINK) == 1
    assert reasons.count(FailureReason.SLOWED) == 1


async def test_who_writes_the_table_full_begins_no_window_anew(
    town, autojump_clock, monkeypatch, leap
):
    """Strangers can write 100,000 rows within hours; what an operator's windows count stays."""
    monkeypatch.setattr(sign_in_failures, "FAILURES_MAX", 50)
    monkeypatch.setattr(sign_in_failures, "SLOW_MAX", 40)
    await make_operator(town)
    assert await guess(town, OPERATOR, CONSOLE, 100) == FAILURES_PER_DAY
    await leap(HOUR_S)
    await guess(town, CUSTOMER, SessionKind.CUSTOMER, 30)
    assert len(rows(town)) == FAILURES_PER_DAY + 10
    assert await guess(town, OPERATOR, CONSOLE, 5) == 0


async def test_the_trail_and_the_table_are_bounded(town, autojump_clock, monkeypatch):
    journal = town.gateway.services.recorder.journal
    rules = town.people.sign_in.rules

    def unit(conn, at):
        for n in range(300):
            new = SignInFailure(
                at, CONSOLE, f"x{n}@example.org", "192.0.2.1", FailureReason.WRONG_CODE
            )
            signing_in.note_failure(conn, new, rules)

    at = town.clock.now_ms()
    await journal.commit(lambda conn: unit(conn, at))
    reader = town.gateway.services.repositories._store.reader
    audited = "SELECT count(*) FROM audit_log WHERE action = 'sign_in.failed'"
    assert reader.execute(audited).fetchone() == (AUDITED_PER_HOUR,)
    monkeypatch.setattr(sign_in_failures, "FAILURES_MAX", 250 + sign_in_failures.SLOW_MAX)
    await journal.commit(lambda conn: unit(conn, at))
    assert len(rows(town)) == 250
    later = at + FAILURES_KEPT_MS + 1
    await journal.commit(lambda conn: unit(conn, later))
    assert {each.at for each in rows(town)} == {later}


async def test_a_limit_that_strangers_use_up_is_seen(town, autojump_clock):
    await make_operator(town)
    browsers = [town.browser() for _ in range(10)]
    assert await asked_for(town, browsers, [OPERATOR] * 10, CONSOLE) == 6
    found = rows(town)
    assert [(each.reason, each.email) for each in found] == [(FailureReason.LIMITED, OPERATOR)]
    (line,) = trail(town)
    assert line.subject is not None  # it says whose sign-in is shut
    counted = sign_in_failures.counted(town.gateway.services.repositories._store.reader, 0)
    assert counted == {(CONSOLE, FailureReason.LIMITED): 1}

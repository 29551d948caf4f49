"""What attacks on sign-in and invitations come to, with the limits of before and those of now.

*Before* is today's code without the guard in question. The figures stand in a table of
docs/reference/found.md.
"""

from __future__ import annotations

from ipaddress import ip_address

import pytest
import trio

from cases import first
from risala.engine.journal.people import signing_in
from risala.engine.limits import people as limits
from risala.engine.model.errors import Invalid, RateLimited
from risala.engine.model.people import Denied, SessionKind, SignedIn
from risala.engine.people import sign_in, sign_in_limits
from risala.engine.people.tokens import Derived
from risala.http.common.client_address import (
    NETWORK_PREFIX_V6,
    PROVIDER_PREFIX_V6,
    bucket_of,
    network_of,
)

OPERATOR, CUSTOMER = "amina@example.com", "fatima@example.com"
CONSOLE = SessionKind.OPERATOR
HOUR_S = 3600
NO_LIMIT = 1_000_000
ERA = pytest.mark.parametrize("era", first(1, ["now", "before"]))


@ERA
async def test_guesses_at_an_operator_s_code_in_a_year(open_town, monkeypatch, autojump_clock, era):
    """Of all codes that there are, the part that one stranger may try."""
    digits = sign_in.SIGN_IN_DIGITS[CONSOLE]
    if era == "before":
        digits = 6
        monkeypatch.setattr(signing_in, "SLOW", ())
        monkeypatch.setattr(limits, "CODES_PER_DAY", NO_LIMIT)
        monkeypatch.setattr(limits, "CODES_PER_MONTH", NO_LIMIT)
    hours = 1 if era == "before" else 30
    async with open_town() as town:
        await town.do("user.create", email=OPERATOR, operator=True)
        judged = 0
        for _ in range(hours):
            judged += await _guesses_of_an_hour(town)
            town.pass_s(HOUR_S)
    a_year = judged * 365 * 24 if era == "before" else 12 * limits.CODES_PER_MONTH
    if era == "before":
        assert judged == 30
    else:
        assert judged <= 60  # in 30 hours, of which two days have a part
    share = a_year / 10**digits
    assert f"{share:.5%}" == {"before": "26.28000%", "now": "0.00120%"}[era]


async def _guesses_of_an_hour(town):
    judged = 0
    try:
        while True:
            browser = town.browser()
            await town.people.sign_in.begin(browser, OPERATOR, CONSOLE)
            for _ in range(5):
                assert isinstance(await town.people.sign_in.finish(browser, "0", CONSOLE), Denied)
                judged += 1
    except RateLimited:
        return judged


@pytest.mark.long
@ERA
async def test_codes_of_an_hour_that_one_provider_s_addresses_take(
    open_town, monkeypatch, autojump_clock, era
):
    """2,100 requests from /64s of one /32; then a customer signs in, or cannot."""
    if era == "before":
        monkeypatch.setattr(sign_in_limits, "_networks", lambda *_: ())
    async with open_town() as town:
        await town.do("user.create", email=CUSTOMER)
        taken = 0
        for number in range(2100):
            address = ip_address(f"2001:db8:{number:x}::1")
            browser = town.browser(
                bucket=bucket_of(address),
                network=network_of(address, NETWORK_PREFIX_V6),
                provider=network_of(address, PROVIDER_PREFIX_V6),
                address=str(address),
            )
            try:
                await town.people.sign_in.begin(browser, f"x{number}@example.org")
            except RateLimited:
                continue
            taken += 1
        assert (taken, await _comes_in(town, CUSTOMER, SessionKind.CUSTOMER)) == {
            "before": (2000, False),
            "now": (500, True),
        }[era]


@ERA
async def test_six_requests_an_hour_at_an_operator_s_address(
    open_town, monkeypatch, autojump_clock, era, leap
):
    """Whether the operator comes in on a browser that they signed in on before."""
    if era == "before":
        monkeypatch.setattr(Derived, "browser_number", lambda *_: None)
    async with open_town() as town:
        await town.do("user.create", email=OPERATOR, operator=True)
        mine = await town.sign_in(OPERATOR, CONSOLE)
        await leap(HOUR_S)
        for _ in range(6):
            await town.people.sign_in.begin(town.browser(), OPERATOR, CONSOLE)
        browser = town.browser(known_as=mine.known_as)
        assert await _comes_in(town, OPERATOR, CONSOLE, browser) is (era == "now")


async def _comes_in(town, email, kind, browser=None):
    try:
        return isinstance(await town.sign_in(email, kind, browser), SignedIn)
    except RateLimited:
        return False


@ERA
async def test_mails_with_a_stranger_s_sentence(open_town, monkeypatch, autojump_clock, era):
    """Invitations that an organization has sent at once, and those with its link in them."""
    link = "https://evil.example"
    if era == "before":
        monkeypatch.setattr(limits, "INVITATIONS_PER_HOUR", 50)
        monkeypatch.setattr(limits, "ALL_INVITATIONS_PER_HOUR", NO_LIMIT)
        for module in ("rules.people.names", "people.letters"):
            monkeypatch.setattr(f"risala.engine.{module}.name_fault", lambda _: None)
    async with open_town() as town:
        try:
            made = await town.do("org.create", name=f"You won: {link}")
        except Invalid:
            made = await town.do("org.create", name="You won")
        sent = 0
        for number in range(60):
            given = {"email": f"person{number}@b.example", "role": "viewer"}
            try:
                await town.do("member.invite", organization_id=made["id"], **given)
            except RateLimited:
                break
            sent += 1
        await trio.testing.wait_all_tasks_blocked()
        with_link = [each for each in town.mails.sent if link in each.subject + each.text]
        assert len(town.mails.sent) == sent
        assert (sent, len(with_link)) == {"before": (50, 50), "now": (20, 0)}[era]

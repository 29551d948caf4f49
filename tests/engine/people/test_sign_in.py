"""Signing in: one answer for all, codes of one browser, guesses counted, nobody locked out."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from cases import sweep
from risala.engine.limits.people import SIGN_UP_NETWORK
from risala.engine.model.errors import Forbidden, Invalid, RateLimited
from risala.engine.model.people import Denied, Language, SessionKind, SignedIn
from risala.engine.people.tokens import Derived, new_token
from risala.engine.rules.keyring import KeyRing

KNOWN, STRANGER = "fatima@example.com", "stranger@example.com"


async def test_a_code_signs_in_and_makes_the_user_who_has_none(town, autojump_clock):
    browser = town.browser()
    asked = await town.people.sign_in.begin(browser, "  Fatima@Example.COM ")
    assert (asked.email, asked.attempts_left) == (KNOWN, 5)
    assert town.people.sign_in.pending(browser.token) == asked
    found = await town.people.sign_in.finish(browser, await town.mailed(KNOWN))
    assert isinstance(found, SignedIn)
    assert found.is_new
    assert found.session.user.email == KNOWN
    assert town.people.sessions.find(found.token, SessionKind.CUSTOMER).user == found.session.user
    again = await town.sign_in(KNOWN)
    assert not again.is_new
    assert again.session.user.id == found.session.user.id
    assert again.token != found.token
    assert town.people.sign_in.pending(browser.token) is None


async def test_whom_the_operator_made_reads_the_language_of_the_page_they_first_came_by(
    town, autojump_clock
):
    await town.do("user.create", email=KNOWN, language="fr")
    first = town.browser(language=Language.ARABIC)
    assert (await town.sign_in(KNOWN, browser=first)).session.user.language is Language.ARABIC
    later = town.browser(language=Language.ENGLISH)
    assert (await town.sign_in(KNOWN, browser=later)).session.user.language is Language.ARABIC


@pytest.mark.parametrize(
    "typed", ["{0}", " {0}\n", "{1} {2}", "{3}"], ids=["plain", "around", "parted", "arabic"]
)
async def test_a_code_may_be_typed_as_people_type(town, autojump_clock, typed):
    browser = town.browser()
    await town.people.sign_in.begin(browser, KNOWN)
    code = await town.mailed(KNOWN)
    arabic = code.translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩"))
    guess = typed.format(code, code[:3], code[3:], arabic)
    assert isinstance(await town.people.sign_in.finish(browser, guess), SignedIn)


@sweep(
    "email",
    [
        *("", "x", "a@b", "a b@example.com", "a@example.com\nBcc: b@example.com", "a@exa mple.com"),
        *("a,b@example.com", "<a@example.com>", "a@[192.0.2.1]", '"a"@example.com'),
        *("a@ex_ample.com", "é@example.com", "a@example.com.", f"{'a' * 65}@example.com"),
    ],
)
async def test_what_is_no_address_is_refused(town, autojump_clock, email):
    with pytest.raises(Invalid) as refused:
        await town.people.sign_in.begin(town.browser(), email)
    assert refused.value.path == "email"


async def test_a_code_works_in_its_own_browser_alone(town, autojump_clock):
    mine, other = town.browser(), town.browser()
    await town.people.sign_in.begin(mine, KNOWN)
    code = await town.mailed(KNOWN)
    assert await town.people.sign_in.finish(other, code) == Denied(0)
    await town.people.sign_in.begin(other, KNOWN)
    other_code = await town.mailed(KNOWN)
    assert other_code != code
    assert await town.people.sign_in.finish(other, code) == Denied(4)
    assert isinstance(await town.people.sign_in.finish(mine, code), SignedIn)
    assert await town.people.sign_in.finish(mine, code) == Denied(0)


@given(st.binary(min_size=1, max_size=8), st.integers(2, 50))
def test_browsers_have_codes_and_form_tokens_of_their_own(key, browsers):
    derived, other = (Derived(partial(KeyRing.of, each), lambda: 0) for each in (key, key + b"x"))
    tokens = [new_token() for _ in range(browsers)]
    forms = [derived.form_token(token) for token in tokens]
    assert len(set(forms)) == browsers
    for token in tokens:
        fitting = [form for form in forms if derived.is_form_token(token, form)]
        assert fitting == [derived.form_token(token)]
    assert not derived.is_form_token(tokens[0], "")
    assert not other.is_form_token(tokens[0], forms[0])


async def test_five_guesses_and_no_more_also_at_once(town, autojump_clock):
    browser = town.browser()
    await town.people.sign_in.begin(browser, KNOWN)
    code = await town.mailed(KNOWN)
    wrong = f"{(int(code) + 1) % 10**6:06}"
    answers: list[Denied] = []

    async def guess() -> None:
        answers.append(await town.people.sign_in.finish(browser, wrong))

    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(guess)
    assert sorted(each.attempts_left for each in answers) == [0] * 16 + [1, 2, 3, 4]
    assert await town.people.sign_in.finish(browser, code) == Denied(0)
    assert town.people.sign_in.pending(browser.token) is None


async def test_a_code_lasts_ten_minutes(town, autojump_clock):
    browser = town.browser()
    await town.people.sign_in.begin(browser, KNOWN)
    code = await town.mailed(KNOWN)
    await trio.sleep(599)
    assert town.people.sign_in.pending(browser.token) is not None
    await trio.sleep(1)
    assert town.people.sign_in.pending(browser.token) is None
    assert await town.people.sign_in.finish(browser, code) == Denied(0)


async def test_asking_again_sends_the_same_code_for_a_while(town, autojump_clock):
    browser = town.browser()
    first = await town.people.sign_in.begin(browser, KNOWN)
    assert await town.people.sign_in.begin(browser, KNOWN) == first  # a double click
    code = await town.mailed(KNOWN)
    assert len(town.mails.sent) == 1
    await trio.sleep(61)
    again = await town.people.sign_in.begin(browser, KNOWN)
    assert (again.expires_at, len(town.mails.sent)) == (first.expires_at, 1)
    assert await town.mailed(KNOWN) == code
    assert len(town.mails.sent) == 2
    await trio.sleep(400)
    later = await town.people.sign_in.begin(browser, KNOWN)
    assert later.expires_at > first.expires_at
    assert await town.mailed(KNOWN) != code


# -- who is known is told to nobody


async def test_the_answer_is_the_same_for_a_stranger(open_town, autojump_clock):
    async with open_town(sign_up="closed") as town:
        await town.do("user.create", email=KNOWN)
        answers = [
            await town.people.sign_in.begin(town.browser(), each) for each in (KNOWN, STRANGER)
        ]
        assert answers[0] == replace(answers[1], email=KNOWN)
        await trio.testing.wait_all_tasks_blocked()
        assert [mail.to for mail in town.mails.sent] == [KNOWN]
        # As much was written for both.
        for table in ("sign_in_requests", "mails"):
            column = "email" if table == "sign_in_requests" else "recipient"
            found = town.rows(f"SELECT {column} FROM {table} ORDER BY 1")
            assert found == [(KNOWN,), (STRANGER,)]
        assert town.rows("SELECT count(*) FROM users") == [(1,)]


async def test_limits_do_not_tell_either(open_town, autojump_clock):
    async with open_town(sign_up="closed", codes_per_address_per_hour=2) as town:
        await town.do("user.create", email=KNOWN)
        said = []
        for email in (KNOWN, STRANGER):
            for _ in range(2):
                await town.people.sign_in.begin(town.browser(), email)
            with pytest.raises(RateLimited) as refused:
                await town.people.sign_in.begin(town.browser(), email)
            said.append((refused.value.limit, str(refused.value), refused.value.retry_after_s))
        assert said[0] == said[1]
        assert said[0][0] == "address"


async def test_who_was_invited_may_sign_up_where_others_may_not(open_town, autojump_clock):
    async with open_town(sign_up="invited") as town:
        organization = await town.do("org.create", name="Shop")
        invited = {"email": KNOWN, "role": "developer"}
        await town.do("member.invite", organization_id=organization["id"], **invited)
        assert (await town.sign_in(KNOWN)).is_new
        await town.people.sign_in.begin(town.browser(), STRANGER)
        await trio.testing.wait_all_tasks_blocked()
        assert town.mails.to(STRANGER) == []


async def test_whom_the_setting_shuts_out_meanwhile_stays_out(open_town, autojump_clock):
    async with open_town() as town:
        browser = town.browser()
        await town.people.sign_in.begin(browser, STRANGER)
        code = await town.mailed(STRANGER)
    async with open_town(sign_up="closed") as town:
        with pytest.raises(Forbidden):
            await town.people.sign_in.finish(browser, code)
        assert await town.people.sign_in.finish(browser, code) == Denied(0)
        assert town.rows("SELECT count(*) FROM users") == [(0,)]


# -- limits


@pytest.mark.parametrize(
    ("limits", "limit"),
    [
        ({"codes_per_ip_per_hour": 3}, "ip"),
        ({"codes_per_address_per_hour": 3}, "address"),
        ({"codes_per_hour": 3}, "all"),
    ],
)
async def test_codes_are_limited(open_town, autojump_clock, limits, limit, leap):
    async with open_town(**limits) as town:

        async def ask(number: int) -> None:
            email = KNOWN if limit == "address" else f"u{number}@example.com"
            bucket = {"bucket": "same"} if limit == "ip" else {}
            await town.people.sign_in.begin(town.browser(**bucket), email)

        for number in range(3):
            await ask(number)
        with pytest.raises(RateLimited) as refused:
            await ask(3)
        assert (refused.value.limit, refused.value.retry_after_s) == (limit, 3600)
        await leap(3600)
        await ask(4)


@pytest.mark.parametrize(
    ("limits", "limit"),
    [
        ({"sign_ups_per_ip_per_hour": 2}, "ip"),
        ({"sign_ups_per_domain_per_hour": 2}, "domain"),
        ({"sign_ups_per_hour": 2}, "all"),
    ],
)
async def test_sign_ups_are_limited_and_said_only_to_who_reads_the_mail(
    open_town, autojump_clock, limits, limit
):
    async with open_town(**limits) as town:

        def email(number: int) -> str:
            domain = "example.com" if limit == "domain" else f"example{number}.com"
            return f"u{number}@{domain}"

        def browser():
            return town.browser(**({"bucket": "same"} if limit == "ip" else {}))

        for number in range(2):
            await town.sign_in(email(number), browser=browser())
        third = browser()
        await town.people.sign_in.begin(third, email(2))
        code = await town.mailed(email(2))
        assert isinstance(await town.people.sign_in.finish(third, "abcdef"), Denied)
        with pytest.raises(RateLimited) as refused:
            await town.people.sign_in.finish(third, code)
        assert refused.value.limit == limit
        assert town.people.sign_in.pending(third.token).attempts_left == 4  # nothing was used up
        assert not (await town.sign_in(email(0), browser=browser())).is_new  # the known come in


@pytest.mark.parametrize(
    ("near", "far"),
    [("198.51.100.{}", "198.51.101.1"), ("2001:db8:7:{}::1", "2001:db8:8::1")],
    ids=["IPv4 /24", "IPv6 /48"],
)
async def test_sign_ups_from_one_network_are_slowed(open_town, autojump_clock, near, far):
    async with open_town(sign_ups_per_ip_per_hour=1) as town:

        async def sign_up(number: int, address: str) -> None:
            await town.sign_in(f"u{number}@example.com", browser=town.browser(address=address))

        for number in range(SIGN_UP_NETWORK):
            await sign_up(number, near.format(number))
        with pytest.raises(RateLimited) as refused:
            await sign_up(99, near.format(99))
        assert refused.value.limit == "network"
        assert "network" in str(refused.value)
        await sign_up(100, far)


async def test_a_guesser_is_slowed_down_over_many_codes(open_town, autojump_clock):
    """Brute force: from one address, with codes for as many browsers as it likes."""
    async with open_town(guesses_per_ip_per_minute=7, codes_per_address_per_hour=100) as town:
        for number in range(7):
            if number % 5 == 0:
                browser = town.browser(bucket="guesser")
                await town.people.sign_in.begin(browser, KNOWN)
            await town.people.sign_in.finish(browser, "000000")
        with pytest.raises(RateLimited) as refused:
            await town.people.sign_in.finish(browser, "000000")
        assert refused.value.limit == "ip"


async def test_strangers_who_use_the_limits_up_sign_nobody_out(open_town, autojump_clock):
    async with open_town(codes_per_address_per_hour=2, codes_per_hour=5) as town:
        owner = await town.sign_in(KNOWN)
        await town.people.sign_in.begin(town.browser(), KNOWN)
        with pytest.raises(RateLimited):
            await town.people.sign_in.begin(town.browser(), KNOWN)
        assert town.people.sessions.find(owner.token, SessionKind.CUSTOMER) is not None
        assert (await town.as_user("account.show", owner))["user"]["email"] == KNOWN


# -- operators


async def test_the_console_is_for_operators_alone(town, autojump_clock):
    await town.do("user.create", email=KNOWN, operator=True)
    operator = await town.sign_in(KNOWN, SessionKind.OPERATOR)
    assert (
        town.people.sessions.operator_caller(operator.session).user_id == operator.session.user.id
    )
    assert town.people.sessions.find(operator.token, SessionKind.CUSTOMER) is None
    customer = await town.sign_in(KNOWN)
    with pytest.raises(Forbidden):
        town.people.sessions.operator_caller(customer.session)
    await town.sign_in(STRANGER)
    browser, sent = town.browser(), len(town.mails.sent)
    await town.people.sign_in.begin(browser, STRANGER, SessionKind.OPERATOR)
    await trio.testing.wait_all_tasks_blocked()
    assert len(town.mails.sent) == sent


# -- links


async def test_a_link_signs_in_once_and_looking_uses_nothing_up(town, autojump_clock):
    await town.do("user.create", email=KNOWN)
    made = await town.do("user.sign_in", email=KNOWN)
    assert made["url"] == f"https://sms.example/sign-in/link/{made['token']}"
    for _ in range(3):
        assert town.people.sign_in.peek_link(made["token"]).kind is SessionKind.CUSTOMER
    found = await town.people.sign_in.use_link(made["token"], town.browser())
    assert found.session.user.email == KNOWN
    assert town.people.sign_in.peek_link(made["token"]) is None
    assert await town.people.sign_in.use_link(made["token"], town.browser()) is None
    assert await town.people.sign_in.use_link(new_token(), town.browser()) is None
    assert await town.people.sign_in.use_link("x", town.browser()) is None


async def test_a_link_is_used_by_one_of_many_at_once(town, autojump_clock):
    await town.do("user.create", email=KNOWN)
    token = (await town.do("user.sign_in", email=KNOWN))["token"]
    found = []

    async def use() -> None:
        found.append(await town.people.sign_in.use_link(token, town.browser()))

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(use)
    assert sorted(each is not None for each in found) == [False] * 9 + [True]


async def test_a_link_lasts_ten_minutes_and_a_new_one_ends_it(town, autojump_clock):
    await town.do("user.create", email=KNOWN)
    old = (await town.do("user.sign_in", email=KNOWN))["token"]
    new = (await town.do("user.sign_in", email=KNOWN))["token"]
    assert town.people.sign_in.peek_link(old) is None
    await trio.sleep(600)
    assert town.people.sign_in.peek_link(new) is None
    assert await town.people.sign_in.use_link(new, town.browser()) is None


# -- secrets


async def test_no_code_and_no_token_is_on_the_disk_or_in_the_log(
    town, autojump_clock, tmp_path, capsys
):
    browser = town.browser()
    await town.people.sign_in.begin(browser, KNOWN)
    code = await town.mailed(KNOWN)
    wrong = f"{(int(code) + 1) % 10**6:06}"
    await town.people.sign_in.finish(browser, wrong)
    signed_in = await town.people.sign_in.finish(browser, code)
    made = await town.do("user.sign_in", email=KNOWN)
    await town.as_user("account.change_email", signed_in, email=STRANGER)
    codes = {code, await town.mailed(KNOWN), await town.mailed(STRANGER)}
    secrets = {*codes, browser.token, signed_in.token, made["token"]}
    assert len(secrets) == 6
    stored = json.dumps(
        [
            town.rows(f"SELECT * FROM {table}")
            for table in ("users", "mails", "email_changes", "audit_log")
        ]
    )
    files = b"".join(path.read_bytes() for path in tmp_path.glob("risala.db*"))
    said = "".join(capsys.readouterr())
    for secret in secrets:
        assert secret not in stored
        assert secret not in said
        assert secret.encode() not in files
    assert repr(signed_in).count(signed_in.token) == 0
    assert browser.token not in repr(browser)

"""Web sessions: 14 days idle, 90 in all, an operator's 12 hours; ended means ended."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
import trio
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from cases import examples
from risala.engine.journal.messages import waiting
from risala.engine.journal.people import sign_in_tokens, users, web_sessions
from risala.engine.model.errors import Conflict, Invalid
from risala.engine.model.people import Device, Language, SessionKind, SignedIn, User
from risala.engine.model.people_records import CodeRequest
from risala.engine.people.tokens import digest, new_token
from risala.engine.rules.people.lifetimes import GRACE_MS, IDLE_MS, TOTAL_MS

CUSTOMER, OPERATOR = SessionKind.CUSTOMER, SessionKind.OPERATOR
A, B = "a@example.com", "b@example.com"
DAY_S = 86_400


async def test_fourteen_idle_days_end_a_session_and_use_keeps_it(town, autojump_clock):
    kept, idle = await town.sign_in(A), await town.sign_in(A)
    for _ in range(6):
        town.pass_s(13 * DAY_S)
        assert town.people.sessions.find(kept.token, CUSTOMER) is not None
    assert town.people.sessions.find(idle.token, CUSTOMER) is None
    town.pass_s(12 * DAY_S - 1)  # the ninetieth day
    assert town.people.sessions.find(kept.token, CUSTOMER) is not None
    town.pass_s(2)
    assert town.people.sessions.find(kept.token, CUSTOMER) is None


async def test_a_token_is_good_for_its_own_kind_of_pages(town, autojump_clock):
    await town.do("user.create", email=A, operator=True)
    for kind, other in ((CUSTOMER, OPERATOR), (OPERATOR, CUSTOMER)):
        token = (await town.sign_in(A, kind)).token
        assert town.people.sessions.find(token, other) is None
        assert (
            town.people.sessions.find(token, kind) is not None
        )  # and from now on it is remembered
        assert town.people.sessions.find(token, other) is None


async def test_use_is_remembered_over_a_restart(open_town, autojump_clock, leap):
    async with open_town() as town:
        signed_in = await town.sign_in(A)
        town.pass_s(13 * DAY_S)
        assert town.people.sessions.find(signed_in.token, CUSTOMER) is not None
    async with open_town() as town:
        town.pass_s(13 * DAY_S)
        assert town.people.sessions.find(signed_in.token, CUSTOMER) is not None
        assert town.rows("SELECT count(*) FROM web_sessions") == [(1,)]
        town.pass_s(15 * DAY_S)
        await leap(3700)  # rows are looked through every hour
        assert town.rows("SELECT count(*) FROM web_sessions") == [(0,)]


async def test_an_operators_session_ends_after_twelve_hours_whatever_they_do(town, autojump_clock):
    await town.do("user.create", email=A, operator=True)
    operator = await town.sign_in(A, OPERATOR)
    for _ in range(11):
        town.pass_s(3600)
        assert town.people.sessions.find(operator.token, OPERATOR) is not None
    town.pass_s(3600)
    assert town.people.sessions.find(operator.token, OPERATOR) is None


async def test_devices_are_listed_and_signed_out_one_by_one_or_all(town, autojump_clock):
    first, second, third = [await town.sign_in(A) for _ in range(3)]
    other = await town.sign_in(B)
    shown = (await town.as_user("account.devices", first))["devices"]
    assert {each["id"] for each in shown} == {each.session.id for each in (first, second, third)}
    assert {each["agent"] for each in shown} == {"Tester/1.0"}
    session = town.people.sessions.find(second.token, CUSTOMER)
    with town.people.sessions.watching(session) as over:
        gone = await town.as_user("account.sign_out", first, session_id=second.session.id)
        assert over.is_set()
    assert gone == {"ended": 1}
    assert town.people.sessions.find(second.token, CUSTOMER) is None
    assert town.people.sessions.find(third.token, CUSTOMER) is not None
    # Nobody ends another's.
    gone = await town.as_user("account.sign_out", first, session_id=other.session.id)
    assert gone == {"ended": 0}
    gone = await town.as_user("account.sign_out", first, but=first.session.id)
    assert gone == {"ended": 1}
    assert town.people.sessions.find(first.token, CUSTOMER) is not None
    await town.people.sessions.sign_out(first.token, CUSTOMER)
    assert town.people.sessions.find(first.token, CUSTOMER) is None
    assert town.people.sessions.find(other.token, CUSTOMER) is not None


async def test_the_operator_signs_somebody_out_everywhere(town, autojump_clock):
    found = [await town.sign_in(A) for _ in range(3)]
    session = town.people.sessions.find(found[0].token, CUSTOMER)
    with town.people.sessions.watching(session, "org_x") as over:
        assert await town.do("user.sign_out", email=A) == {"ended": 3}
        assert over.is_set()
    assert all(town.people.sessions.find(each.token, CUSTOMER) is None for each in found)


async def test_a_session_costs_no_read_while_nothing_changes(town, autojump_clock):
    signed_in = await town.sign_in(A)
    town.people.sessions.find(signed_in.token, CUSTOMER)
    asked: list[str] = []
    town.gateway.services.repositories._store.reader.set_trace_callback(asked.append)
    people_reader = town.people.sessions._sources.web_sessions._store.reader
    people_reader.set_trace_callback(asked.append)
    for _ in range(100):
        assert town.people.sessions.find(signed_in.token, CUSTOMER) is not None
    assert town.people.sessions.find("x" * 43, OPERATOR) is None
    people_reader.set_trace_callback(None)
    assert 0 < len(asked) < 10  # those of the one that nobody has


async def test_a_browser_says_of_itself_what_it_likes(town, autojump_clock):
    browser = town.browser(agent="Mozilla\n\x1b[31m\u202eevil" + "x" * 1000)
    found = await town.sign_in(A, browser=browser)
    agent = found.session.device.agent
    assert agent.isprintable()
    assert len(agent) == 200


# -- the account


async def test_name_and_language_are_ones_own(town, autojump_clock):
    mine = await town.sign_in(A)
    before = (await town.as_user("account.show", mine))["user"]
    changed = await town.as_user("account.set", mine, name="  Fatima  B. ", language="ar")
    assert (changed["name"], changed["language"]) == ("Fatima B.", "ar")
    assert town.people.sessions.find(mine.token, CUSTOMER).user.language is Language.ARABIC
    with pytest.raises(Conflict, match=r"meantime by a@example\.com"):
        await town.as_user("account.set", mine, name="x", version=before["version"])
    await town.as_user("account.set", mine, name="", version=changed["version"])
    with pytest.raises(Invalid):
        await town.as_user("account.set", mine, name="x" * 101)


async def test_another_address_is_confirmed_by_both(town, autojump_clock):
    mine = await town.sign_in(A)
    await town.as_user("account.change_email", mine, email=" B@Example.com")
    old, new = await town.mailed(A), await town.mailed(B)
    assert (await town.as_user("account.show", mine))["change"]["email"] == B
    half = await town.as_user("account.confirm_email", mine, new_code=new)
    assert half["change"]["newConfirmed"]
    assert not half["change"]["oldConfirmed"]
    assert half["email"] == A
    wrong = await town.as_user("account.confirm_email", mine, old_code="000000")
    assert wrong["attemptsLeft"] == 4
    done = await town.as_user("account.confirm_email", mine, old_code=old)
    assert (done["email"], done["change"]) == (B, None)
    await trio.testing.wait_all_tasks_blocked()
    assert "b@example.com" in town.mails.to(A)[-1].text  # the old one is told
    assert not (await town.sign_in(B)).is_new
    assert town.people.sessions.find(mine.token, CUSTOMER).stale
    (line,) = [
        each
        for each in (await town.do("audit.list", limit=50))["lines"]
        if each["operation"] == "account.confirm_email"
    ]
    assert (line["before"]["email"], line["after"]["email"]) == (A, B)


async def test_codes_of_a_change_are_over_after_five_tries_or_half_an_hour(town, autojump_clock):
    mine = await town.sign_in(A)
    await town.as_user("account.change_email", mine, email=B)
    for left in (4, 3, 2, 1, 0):
        tried = await town.as_user("account.confirm_email", mine, new_code="000000")
        assert tried["attemptsLeft"] == left
    with pytest.raises(Conflict):
        await town.as_user("account.confirm_email", mine, new_code=await town.mailed(B))
    await town.as_user("account.change_email", mine, email=B)
    code = await town.mailed(B)
    town.pass_s(1800)
    with pytest.raises(Conflict):
        await town.as_user("account.confirm_email", mine, new_code=code)


async def test_an_address_that_somebody_has_stays_theirs(town, autojump_clock):
    mine, _ = await town.sign_in(A), await town.sign_in(B)
    await town.as_user("account.change_email", mine, email=B)
    codes = {"old_code": await town.mailed(A), "new_code": await town.mailed(B)}
    with pytest.raises(Conflict, match="already"):
        await town.as_user("account.confirm_email", mine, **codes)
    assert (await town.as_user("account.show", mine))["user"]["email"] == A


async def test_who_lost_their_mailbox_is_helped_by_the_operator(town, autojump_clock):
    lost = await town.sign_in(A)
    changed = await town.do("user.set", email=A, new_email=B)
    assert changed["email"] == B
    assert town.people.sessions.find(lost.token, CUSTOMER) is None
    assert (await town.sign_in(B)).session.user.id == lost.session.user.id
    (line,) = (await town.do("audit.list", operation="user.set"))["lines"]
    assert (line["before"]["email"], line["after"]["email"]) == (A, B)


async def test_who_is_no_operator_any_more_leaves_the_console(town, autojump_clock):
    await town.do("user.create", email=A, operator=True)
    operator, customer = await town.sign_in(A, OPERATOR), await town.sign_in(A)
    await town.do("user.set", email=A, operator=False)
    assert town.people.sessions.find(operator.token, OPERATOR) is None
    assert town.people.sessions.find(customer.token, CUSTOMER) is not None


async def test_a_users_sessions_have_a_limit(town, autojump_clock):
    await town.do("user.create", email=A)
    found: list[SignedIn] = []
    for _ in range(web_sessions.DEVICES_MAX + 2):
        made = await town.do("user.sign_in", email=A)
        found.append(await town.people.sign_in.use_link(made["token"], town.browser()))
        town.pass_s(1)
    alive = [each for each in found if town.people.sessions.find(each.token, CUSTOMER) is not None]
    assert alive == found[2:]


def test_a_clock_that_is_set_back_gives_no_code_more_time(book):
    """Ten minutes stay ten minutes by the clock that went back an hour."""
    now_ms, hour_ms = book.now_ms, 3_600_000
    asked = CodeRequest(
        "sgn", b"b", CUSTOMER, A, Language.FRENCH, 0, now_ms, now_ms + 600_000, now_ms
    )
    book.unit(lambda conn: sign_in_tokens.ask(conn, asked))
    book.unit(lambda conn: waiting.follow(conn, hour_ms, now_ms - hour_ms))
    found = sign_in_tokens.request_of(book.conn, b"b")
    assert found.expires_at == now_ms - hour_ms + 600_000


# -- any order of anything


@dataclass
class _Cookie:
    """What the model knows of one session."""

    kind: SessionKind
    user_id: str
    token: str
    used_at: int
    expires_at: int
    old: dict[str, int] = field(default_factory=dict)
    ended: bool = False


class Cookies(RuleBasedStateMachine):
    """Sessions as rows beside a model of them."""

    cookies = Bundle("cookies")

    def __init__(self) -> None:
        super().__init__()
        self.book = self.open_book()
        self.known: list[_Cookie] = []
        self.users = ["usr_a", "usr_b"]
        for user_id in self.users:
            new = User(user_id, f"{user_id}@x.example", "", Language.ARABIC, False, 1, 1, None)
            self.book.unit(lambda conn, new=new: users.add(conn, new))

    def is_over(self, cookie: _Cookie) -> bool:
        now_ms = self.book.now_ms
        idle = now_ms - cookie.used_at >= IDLE_MS[cookie.kind]
        return cookie.ended or now_ms >= cookie.expires_at or idle

    @rule(target=cookies, who=st.integers(0, 1), kind=st.sampled_from(SessionKind))
    def sign_in(self, who, kind):
        now_ms, token = self.book.now_ms, new_token()
        over_at = now_ms + TOTAL_MS[kind]
        device = Device(
            self.book.id("web"), self.users[who], kind, "a", "b", now_ms, now_ms, over_at
        )
        self.book.unit(lambda conn: web_sessions.add(conn, device, digest(token)))
        cookie = _Cookie(kind, self.users[who], token, now_ms, over_at)
        cookie.id = device.id
        self.known.append(cookie)
        return cookie

    @rule(cookie=cookies)
    def rotate(self, cookie):
        new, now_ms = new_token(), self.book.now_ms
        rotated = self.book.unit(
            lambda conn: web_sessions.rotate(
                conn, digest(cookie.token), cookie.kind, digest(new), now_ms
            )
        )
        assert rotated == (not self.is_over(cookie))
        if rotated:
            cookie.old = {cookie.token: now_ms + GRACE_MS}
            cookie.token = new

    @rule(cookie=cookies)
    def use(self, cookie):
        if not self.is_over(cookie):
            cookie.used_at = self.book.now_ms
            self.book.unit(lambda conn: web_sessions.touch(conn, {cookie.id: cookie.used_at}))

    @rule(cookie=cookies, everywhere=st.booleans())
    def sign_out(self, cookie, everywhere):
        only = {} if everywhere else {"session_id": cookie.id}
        self.book.unit(lambda conn: web_sessions.end(conn, cookie.user_id, **only))
        for each in self.known:
            if each is cookie or (everywhere and each.user_id == cookie.user_id):
                each.ended = True

    @rule(span_s=st.sampled_from([1, 29, 31, 3600, 11 * 3600, 13 * DAY_S, 15 * DAY_S]))
    def wait(self, span_s):
        self.book.now_ms += span_s * 1000

    @rule()
    def tidy(self):
        now_ms = self.book.now_ms
        self.book.unit(lambda conn: web_sessions.forget_over(conn, now_ms))

    @invariant()
    def a_token_holds_as_long_as_the_model_says(self):
        conn, now_ms = self.book.conn, self.book.now_ms
        for cookie in self.known:
            for kind in SessionKind:
                found = web_sessions.by_hash(conn, digest(cookie.token), kind, now_ms)
                assert (found is not None) == (kind is cookie.kind and not self.is_over(cookie))
            for token, until in cookie.old.items():
                found = web_sessions.by_hash(conn, digest(token), cookie.kind, now_ms)
                assert (found is not None) == (now_ms < until and not self.is_over(cookie))


@pytest.mark.slow
def test_whatever_is_done_to_sessions_a_token_holds_as_long_as_it_should(open_book):
    Machine = type("Machine", (Cookies,), {"open_book": staticmethod(open_book)})
    Machine.TestCase.settings = settings(
        max_examples=examples(30), stateful_step_count=20, deadline=None
    )
    Machine.TestCase("runTest").runTest()

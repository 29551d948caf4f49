"""The queue of automatic answers: one for each text, within limits, to phones alone."""

from __future__ import annotations

import sqlite3
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from itertools import count

import pytest
import trio

from risala.config.model import RepliesSection, Settings
from risala.engine.features.answers.records import (
    DAY_MS,
    HOUR_MS,
    WAITING_MAX,
    AnswerKind,
    key_of_answer,
)
from risala.engine.features.answers.rules.matching import chosen, language_of
from risala.engine.features.answers.service import AnswerSending
from risala.engine.features.answers.stored import queue
from risala.engine.features.own_data.stored.account_export import _tables
from risala.engine.model.commands import SendCode, SendMessage
from risala.engine.model.errors import Draining, NotFound
from risala.engine.model.feature_work import RetentionWalk, WalkKind
from risala.engine.model.people import Language
from risala.engine.model.records.messages import Stamp
from risala.plugins.testing.fake_driver import FakeDriver
from risala.sms.message import Inbound

PHONE, OTHER, OURS = "+22236123456", "+22222999888", "1234"
_ids = count()


@dataclass
class Line:
    """An organization that is texted, and whose queue gets answers."""

    house: object
    whose: dict = field(default_factory=dict)

    @property
    def mine(self):
        return self.whose["organization_id"]

    @property
    def sending(self):
        return self.house.gateway.services.part(AnswerSending)

    @property
    def reader(self):
        return self.house.gateway.services.repositories._store.reader

    async def come_in(self, text="hello", sender=PHONE, *, recipient=OURS):
        """A text comes in; returns its id."""
        now_ms = self.house.clock.now_ms()
        message = Inbound(sender, recipient, text, now_ms, (f"mo{next(_ids)}",))
        await self.house.driver.context.inbound(message)
        (text_id,) = self.reader.execute("SELECT max(id) FROM inbound").fetchone()
        return text_id

    async def answer(self, text="yes", sender=PHONE, kind=AnswerKind.RULE, **more):
        """A text that is answered, once its answer has left or was refused."""
        text_id = await self.come_in(sender=sender)
        assert await self.sending.put_in(self.mine, text_id, kind, text, "Hours")
        await trio.sleep(1)
        return self.outcome(text_id)

    def outcome(self, text_id):
        """``sent``, why it was refused, or None: it waits."""
        row = self.reader.execute(
            "SELECT sent_at, refused, body FROM answers WHERE text_id = ?", (text_id,)
        ).fetchone()
        sent_at, refused, body = row
        assert (body is None) is (sent_at is not None or refused is not None)
        return "sent" if sent_at is not None else refused

    def texts(self):
        return [each.text for each in self.house.driver.submitted]


@pytest.fixture
def open_line(open_house):
    @asynccontextmanager
    async def opened(*carriers, **more):
        async with open_house(*carriers, **more) as house:
            line = Line(house, {"organization_id": house.principal.organization_id})
            await house.gateway.perform("inbound.route", line.whose)
            yield line

    return opened


@pytest.fixture
async def line(open_line, quick):
    async with open_line() as opened:
        yield opened


async def test_an_answer_leaves_as_its_text_came_and_is_charged(line, quick):
    before = await line.house.balance()
    assert await line.answer("Open until 19 h.") == "sent"
    (segment,) = line.house.driver.submitted
    assert (segment.recipient, segment.sender, segment.text) == (PHONE, OURS, "Open until 19 h.")
    assert await line.house.balance() != before
    thread = await line.house.gateway.perform("conversation.get", {**line.whose, "number": PHONE})
    assert {each["by"] for each in thread["messages"]} == {"number", "answer"}


async def test_of_several_answers_to_a_text_the_first_counts(line, quick):
    text_id = await line.come_in()
    put = [
        await line.sending.put_in(line.mine, text_id, kind, kind.value)
        for kind in (AnswerKind.OPT_OUT, AnswerKind.RULE, AnswerKind.WEBHOOK)
    ]
    await trio.sleep(1)
    again = await line.sending.put_in(line.mine, text_id, AnswerKind.WEBHOOK, "once more")
    await trio.sleep(1)
    assert (put, again) == ([True, False, False], False)
    assert line.texts() == ["opt_out"]


async def test_only_texts_of_the_organization_are_answered(line, quick):
    text_id = await line.come_in()
    other = await line.house.organization()
    kind = AnswerKind.WEBHOOK
    assert not await line.sending.put_in(other.organization_id, text_id, kind, "no")
    assert not await line.sending.put_in(line.mine, "mo_unknown", kind, "no")


@pytest.mark.parametrize("sender", ["Mattel", "1717", "+33612345678"])
async def test_no_answer_leaves_for_what_is_no_phone_that_is_served(line, quick, sender):
    assert await line.answer(sender=sender) == "no_phone"
    assert line.texts() == []


async def test_a_text_after_a_code_is_not_answered(line, quick):
    await line.house.gateway.send_code(line.house.principal, SendCode(to=PHONE))
    await trio.sleep(60)
    assert await line.answer() == "code"
    assert await line.answer(sender=OTHER) == "sent"
    line.house.pass_s(3700)
    assert await line.answer() == "sent"


async def test_a_text_after_a_later_message_than_the_code_is_answered(line, quick):
    session = await line.house.gateway.send_code(line.house.principal, SendCode(to=PHONE))
    view = line.house.gateway.get_verification(line.house.principal, session)
    await line.house.wait_status(view.message_id, "sent")
    await line.house.gateway.perform("verify.cancel", {"verification_id": session})
    await trio.sleep(60)
    await line.house.send("Your order is ready", PHONE)
    await trio.sleep(1)
    assert await line.answer() == "sent"


async def test_after_two_answers_within_an_hour_no_more_leave_for_a_day(line, quick):
    for apart_s in (1, 20, 300, 1790):
        number = f"+222369{apart_s:05d}"
        outcomes = []
        for _ in range(4):
            outcomes.append(await line.answer(sender=number))
            line.house.pass_s(apart_s)
        assert outcomes == ["sent", "sent", "paused", "paused"], apart_s
    line.house.pass_s(DAY_MS / 1000)
    assert await line.answer(sender="+22236900001") == "sent"


async def test_answers_an_hour_apart_are_no_loop(line, quick):
    for _ in range(3):
        assert await line.answer() == "sent"
        line.house.pass_s(3600)


async def test_a_pause_is_lifted_by_hand_and_begins_again_after_two_more(line, quick):
    outcomes = [await line.answer() for _ in range(3)]
    assert outcomes == ["sent", "sent", "paused"]
    stored = line.house.gateway.services.repositories.part(queue.AnswerRepository)
    await stored.lift(None, line.mine, PHONE, line.house.clock.now_ms())
    line.house.pass_s(1)
    outcomes = [await line.answer() for _ in range(3)]
    assert outcomes == ["sent", "sent", "paused"]
    with pytest.raises(NotFound):
        await stored.lift(None, line.mine, OTHER, line.house.clock.now_ms())


async def test_a_clock_that_is_set_back_after_a_pause_was_lifted_opens_no_loop(line, quick):
    for _ in range(2):
        await line.answer()
    services = line.house.gateway.services
    stored = services.repositories.part(queue.AnswerRepository)
    now_ms = line.house.clock.now_ms()
    await stored.lift(None, line.mine, PHONE, now_ms)
    before_ms = now_ms - 10 * DAY_MS
    with closing(sqlite3.connect(":memory:")) as conn:
        line.reader.backup(conn)
        for statement in queue.SHIFTS:
            conn.execute(statement, {"by": 10 * DAY_MS, "now": before_ms})
        (lifted_at,) = conn.execute("SELECT lifted_at FROM answer_pauses").fetchone()
    assert lifted_at <= before_ms, "else no two answers would be a loop for ten days"


async def test_a_number_gets_so_many_a_day_of_all_kinds(open_line, quick):
    async with open_line(replies=RepliesSection(per_number_and_day=3)) as line:
        outcomes = []
        for kind in (*AnswerKind,):
            outcomes.append(await line.answer(kind=kind))
            line.house.pass_s(3700)
        assert outcomes == ["sent", "sent", "sent", "per_day"]
        line.house.pass_s(DAY_MS / 1000)
        assert await line.answer() == "sent"


async def test_an_organization_sends_so_many_an_hour_to_whom_it_may_be(open_line, quick):
    async with open_line(replies=RepliesSection(per_organization_and_hour=3)) as line:
        outcomes = [await line.answer(sender=f"+2223600000{each}") for each in range(5)]
        assert outcomes == ["sent"] * 3 + ["per_hour"] * 2
        line.house.pass_s(HOUR_MS / 1000)
        assert await line.answer() == "sent"
        line.sending.retune(Settings(replies=RepliesSection(per_organization_and_hour=1)))
        assert await line.answer(sender=OTHER) == "per_hour"


async def test_so_many_wait_and_no_more(line, quick):
    with closing(sqlite3.connect(":memory:")) as conn:
        line.reader.backup(conn)
        stamp = Stamp(line.house.clock.now_ms())
        for each in range(WAITING_MAX + 2):
            conn.execute(
                "INSERT INTO inbound (id, carrier, sender, body, carrier_ids, received_at,"
                " organization_id) VALUES (?, 'fake', ?, '', '', 0, ?)",
                (f"mo_{each}", PHONE, line.mine),
            )
            assert queue.put_in(conn, line.mine, f"mo_{each}", AnswerKind.RULE, "a", stamp)
        counted = "SELECT refused, count(body), count(*) FROM answers GROUP BY refused"
        assert conn.execute(counted).fetchall() == [
            (None, WAITING_MAX, WAITING_MAX),
            ("full", 0, 2),
        ]


async def test_a_confirmation_leaves_though_the_person_wants_no_messages(line, quick):
    await line.house.gateway.perform("inbound.opt_outs", {**line.whose, "heeds": True})
    await line.house.gateway.perform("inbound.opt_out", {**line.whose, "number": PHONE})
    assert await line.answer(kind=AnswerKind.RULE) == "refused"
    assert await line.answer("You get no more.", kind=AnswerKind.OPT_OUT) == "sent"
    assert await line.answer(kind=AnswerKind.HELP) == "sent"
    (why,) = line.reader.execute("SELECT why FROM answers WHERE refused IS NOT NULL").fetchone()
    assert "opted out" in why


async def test_without_money_it_is_refused(open_line, quick):
    async with open_line(balance="0") as line:
        assert await line.answer() == "refused"
        assert line.texts() == []


async def test_it_waits_while_the_service_cannot_take_it_and_not_for_ever(line, quick, monkeypatch):
    from risala.engine.model.errors import Unavailable

    async def full(*_, **__):
        raise Unavailable("full")

    with monkeypatch.context() as patched:
        patched.setattr(line.house.gateway.services.intake, "send", full)
        assert await line.answer() is None
    await trio.sleep(10)
    assert line.texts() == ["yes"]
    text_id = await line.come_in(sender=OTHER)
    with monkeypatch.context() as patched:
        patched.setattr(line.house.gateway.services.intake, "send", full)
        await line.sending.put_in(line.mine, text_id, AnswerKind.RULE, "late")
        await trio.sleep(3700)
    assert line.outcome(text_id) == "late"


async def test_a_carrier_that_sends_nothing_answers_nothing(open_line, quick, carrier):
    carriers = carrier("main"), carrier("ears", receives_only=True)
    drivers = {"ears": FakeDriver(), "main": FakeDriver()}
    async with open_line(*carriers, drivers=drivers) as line:
        assert await line.answer() == "no_carrier"


async def test_killed_after_its_transaction_or_before_it_leaves_once(
    open_line, open_house, quick, monkeypatch
):
    """Put in, the process ends before its turn; then it ends between the commit and all else."""
    async with open_line() as line:
        text_id = await line.come_in()
        repository = line.house.gateway.services.repositories.part(queue.AnswerRepository)
        stamp = Stamp(line.house.clock.now_ms())
        with monkeypatch.context() as patched:
            patched.setattr(type(line.house.gateway.services.intake), "send", _ends_at_once)
            await repository.put_in(line.mine, text_id, AnswerKind.RULE, "once", stamp)
            await trio.sleep(60)
        assert line.outcome(text_id) is None
        whose = line.whose
    async with open_house() as house:
        line = Line(house, whose)
        await trio.sleep(60)
        assert line.outcome(text_id) == "sent"
        assert line.texts() == ["once"]
    async with open_house() as house:
        await trio.sleep(60)
        assert Line(house).texts() == []


async def _ends_at_once(*_, **__):
    raise Draining


async def test_decided_in_the_transaction_of_the_message(line, quick, monkeypatch):
    """If the transaction fails in its last statement, neither message nor note is there."""
    text_id = await line.come_in()
    noted = queue.note_sent

    def fails(*_):
        raise RuntimeError("cut")

    monkeypatch.setattr(queue, "note_sent", fails)
    await line.sending.put_in(line.mine, text_id, AnswerKind.RULE, "once")
    await trio.sleep(1)
    assert line.outcome(text_id) is None
    assert line.texts() == []
    monkeypatch.setattr(queue, "note_sent", noted)
    await trio.sleep(3600)
    assert line.outcome(text_id) in ("sent", "late")
    assert line.texts() in ([], ["once"])


async def test_a_key_that_somebody_else_used_sends_nothing_more(line, quick):
    text_id = await line.come_in()
    command = SendMessage(to=OTHER, body="mine", idempotency_key=key_of_answer(text_id))
    await line.house.gateway.send_message(line.house.principal, command)
    await line.sending.put_in(line.mine, text_id, AnswerKind.RULE, "once")
    await trio.sleep(1)
    assert line.outcome(text_id) == "sent"
    assert line.texts() == ["mine"]


async def test_it_is_old_when_its_text_is(line, quick):
    await line.answer()
    await line.answer()
    now_ms = line.house.clock.now_ms()
    for mine in ((), (line.mine,)):
        walk = RetentionWalk(WalkKind.ANSWERS, 0, organizations=mine)
        with closing(sqlite3.connect(":memory:")) as conn:
            line.reader.backup(conn)
            assert queue.walk_old(conn, walk, now_ms - HOUR_MS, 10).rows == 0
            assert queue.walk_old(conn, walk, now_ms + 2 * DAY_MS, 10).rows == 3
            assert not conn.execute("SELECT 1 FROM answers").fetchall()
            assert not conn.execute("SELECT 1 FROM answer_pauses").fetchall()


async def test_an_erased_number_and_a_deleted_organization_leave_none(line, quick):
    for _ in range(2):
        await line.answer("a secret of ours")
    await line.house.gateway.perform("number.forget", {**line.whose, "number": PHONE})
    await trio.sleep(4000)
    for each in ("answers", "answer_pauses"):
        assert not line.reader.execute(f"SELECT 1 FROM {each}").fetchall(), each
    await line.answer(sender=OTHER)
    with closing(sqlite3.connect(":memory:")) as conn:
        line.reader.backup(conn)
        assert queue.clear(conn, 10, line.mine).rows == 1
        assert queue.clear(conn, 10, None).rows == 0


async def test_the_owners_file_has_them(line, quick):
    await line.answer()
    part = dict(_tables())["automatic-answers"](line.reader, line.mine, "", 10)
    (row,) = part.rows
    assert (row["kind"], row["name"], row["number"]) == ("rule", "Hours", PHONE)


def test_a_text_tells_its_language_by_its_script_or_its_words():
    told = {
        "ما هي ساعات العمل؟": Language.ARABIC,
        "Bonjour, quels sont vos horaires ?": Language.FRENCH,
        "ARRÊT": Language.FRENCH,
        "what are your hours": Language.ENGLISH,
        "STOP": None,
        "12 ?": None,
        "": None,
    }
    assert {text: language_of(text) for text in told} == told
    texts = {Language.FRENCH: "fr", Language.ARABIC: "ar"}
    assert [chosen(texts, each) for each in ("ساعات", "hello", "INFO")] == ["ar", "fr", "fr"]

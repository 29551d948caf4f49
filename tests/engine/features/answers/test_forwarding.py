"""Texts that rules forward: as an SMS, to a member, into a chat, to a webhook."""

from __future__ import annotations

import json
import sqlite3
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from itertools import count

import pytest
import trio
from standardwebhooks import Webhook

from risala.config.model import RepliesSection
from risala.engine.features.answers.forwards import (
    CALLS_PER_HOUR,
    FORWARD_SENTENCES,
    FORWARDS_MAX,
    MAILS_PER_HOUR,
    ForwardFault,
    ForwardKind,
    key_of_forward,
    shown_target,
    sms_of,
)
from risala.engine.features.answers.records import DAY_MS, HOUR_MS
from risala.engine.features.answers.stored import both_queues
from risala.engine.features.own_data.stored.account_export import _tables
from risala.engine.model.commands import SendCode
from risala.engine.model.errors import Draining, Invalid, Overloaded
from risala.engine.model.feature_work import RetentionWalk, WalkKind
from risala.engine.rules.webhooks.schedule import ReceiverAnswer, ReceiverFault
from risala.engine.wiring.connections import Connections
from risala.engine.wiring.foundation import DATABASE
from risala.sms.limits import TEXT_CHARACTERS_MAX
from risala.sms.message import Inbound

PHONE, OTHER, ON_CALL, OURS = "+22236123456", "+22222999888", "+22236000001", "1234"
URL = "https://example.com/texts?token=t0psecret"
SECRET = "whsec_" + "A" * 43 + "="
TOKEN = "123456:" + "b" * 35
_ids = count()
OK = ReceiverAnswer(200, None, "")
FAILED = ReceiverAnswer(500, None, "")


class FakeOutbound:
    """Answers calls as planned, the last answer for good."""

    def __init__(self):
        self.calls, self.plan = [], [OK]

    async def post(self, call):
        self.calls.append(call)
        await trio.lowlevel.checkpoint()
        return self.plan.pop(0) if len(self.plan) > 1 else self.plan[0]


class FakeMailer:
    """Takes every mail."""

    def __init__(self):
        self.mails = []

    async def send(self, mail):
        self.mails.append(mail)
        await trio.lowlevel.checkpoint()


class Desk:
    """An organization whose rule forwards texts."""

    def __init__(self, house, outbound, mailer):
        self.house, self.outbound, self.mailer = house, outbound, mailer
        self.whose = {"organization_id": house.principal.organization_id}

    async def do(self, name, /, **arguments):
        if name in ("create", "list", "try"):
            arguments = {**self.whose, **arguments}
        return await self.house.gateway.perform(f"answer.{name}", arguments)

    async def rule(self, name="Duty", **more):
        return await self.do("create", name=name, **more)

    @property
    def reader(self):
        return self.house.gateway.services.repositories._store.reader

    async def come_in(self, text="hello", sender=PHONE):
        """A text comes in; returns what left since."""
        sent = len(self.house.driver.submitted)
        message = Inbound(sender, OURS, text, self.house.clock.now_ms(), (f"mo{next(_ids)}",))
        await self.house.driver.context.inbound(message)
        await trio.sleep(1)
        return [(each.recipient, each.text) for each in self.house.driver.submitted[sent:]]

    async def member(self, email="duty@example.com", language="en"):
        await self.house.gateway.perform("user.create", {"email": email, "language": language})
        of_it = {**self.whose, "email": email, "role": "viewer"}
        await self.house.gateway.perform("member.add", of_it)

    def run(self, statement, *values):
        """Write into the database, as no operation does."""
        with closing(sqlite3.connect(self.house.gateway.services.recorder.journal.path)) as conn:
            conn.execute(statement, values)
            conn.commit()

    async def told(self, number=PHONE):
        """What the thread says of the forwards of each text."""
        name = "conversation.get"
        thread = await self.house.gateway.perform(name, {**self.whose, "number": number})
        came = [each for each in thread["messages"] if each["by"] == "number"]
        return [
            [
                (told["kind"], told["to"], told["status"], told["reason"])
                for told in each["forwards"]
            ]
            for each in came
        ]


def refused(fault):
    return FORWARD_SENTENCES[fault]


@pytest.fixture
def open_desk(open_house):
    @asynccontextmanager
    async def opened(outbound=None, mailer=None, *, is_first=True, **more):
        outbound, mailer = outbound or FakeOutbound(), mailer or FakeMailer()
        outside = Connections(outbound=outbound, mailer=mailer)
        async with open_house(outside=outside, **more) as house:
            desk = Desk(house, outbound, mailer)
            if is_first:
                await house.gateway.perform("inbound.route", desk.whose)
            yield desk

    return opened


@pytest.fixture
async def desk(open_desk, quick):
    async with open_desk() as opened:
        yield opened


async def test_a_text_goes_on_as_a_message_that_says_who_wrote(desk, quick):
    before = await desk.house.balance()
    await desk.rule(forward_number=ON_CALL, language="en", text_en="We call you.")
    left = await desk.come_in("The pump is broken")
    assert sorted(left) == [
        (ON_CALL, f"From {PHONE}: The pump is broken"),
        (PHONE, "We call you."),
    ]
    assert await desk.house.balance() != before
    assert await desk.told() == [[("sms", ON_CALL, "forwarded", None)]]


async def test_a_message_tells_by_which_rule_it_was_sent(desk, quick):
    rule = await desk.rule(forward_number=ON_CALL, language="en", text_en="We call you.")
    own = await desk.house.send(to=OTHER)
    await desk.come_in("The pump is broken")

    async def told():
        rows = await desk.house.gateway.perform("message.list", desk.whose)
        asked = [{"message_id": each["messageId"]} for each in rows["messages"]]
        answers = [await desk.house.gateway.perform("answer.sent", each) for each in asked]
        return {
            each["to"]: (one["forwards"], one["ruleId"], one["ruleName"])
            for each, one in zip(rows["messages"], answers, strict=True)
        }

    none = (False, None, None)
    assert await told() == {
        OTHER: none,
        PHONE: (False, rule["ruleId"], "Duty"),
        ON_CALL: (True, rule["ruleId"], "Duty"),
    }
    await desk.rule()  # of the same name: which of the two answered is not known
    assert await told() == {
        OTHER: none,
        PHONE: (False, None, "Duty"),
        ON_CALL: (True, rule["ruleId"], "Duty"),
    }
    await desk.do("delete", rule_id=rule["ruleId"])
    assert (await told())[ON_CALL] == (True, None, "Duty")
    keyed = await desk.house.send(to=OTHER, idempotency_key="answer:mo_1")
    for each in (own, keyed):
        sent = await desk.house.gateway.perform("answer.sent", {"message_id": each})
        assert sent["ruleName"] is None


async def test_a_text_goes_on_to_a_member_by_mail(desk, quick):
    await desk.member(language="fr")
    await desk.rule(forward_email="Duty@Example.com")
    assert await desk.come_in("La pompe est en panne") == []
    await trio.sleep(60)
    (mail,) = desk.mailer.mails
    assert mail.to == "duty@example.com"
    assert PHONE not in mail.subject
    assert "La pompe est en panne" in mail.text
    (text_id,) = desk.reader.execute("SELECT id FROM inbound").fetchone()
    assert text_id in mail.text
    assert await desk.told() == [[("mail", "duty@example.com", "forwarded", None)]]
    (details,) = desk.reader.execute("SELECT details FROM mails").fetchone()
    assert "pompe" not in details


async def test_a_text_goes_on_into_a_chat_by_the_bot(desk, quick):
    await desk.rule(forward_chat="-1001234567890", bot_token=TOKEN)
    await desk.come_in("hello")
    (call,) = desk.outbound.calls
    assert call.url == f"https://api.telegram.org/bot{TOKEN}/sendMessage"
    body = json.loads(call.body)
    (text_id,) = desk.reader.execute("SELECT id FROM inbound").fetchone()
    assert body["chat_id"] == "-1001234567890"
    assert body["text"] == f"{PHONE} → {OURS}\nhello\n\nDuty · {text_id}"
    assert await desk.told() == [[("telegram", "-1001234567890", "forwarded", None)]]


async def test_a_text_goes_on_to_a_webhook_that_can_check_the_call(desk, quick):
    await desk.rule(forward_url=URL, forward_secret=SECRET)
    await desk.come_in("مرحبا")
    (call,) = desk.outbound.calls
    assert call.url == URL
    at = datetime.fromtimestamp(int(call.headers["webhook-timestamp"]), UTC)
    right = Webhook(SECRET).sign(call.headers["webhook-id"], at, call.body.decode())
    assert call.headers["webhook-signature"] == right
    event = json.loads(call.body)
    (text_id,) = desk.reader.execute("SELECT id FROM inbound").fetchone()
    at = event.pop("at")
    assert at.endswith("Z")
    assert event == {"id": text_id, "from": PHONE, "to": OURS, "text": "مرحبا", "rule": "Duty"}
    assert call.headers["webhook-id"] == f"forward_{text_id}_webhook"
    # What may be a secret is in no thread.
    assert await desk.told() == [[("webhook", "example.com", "forwarded", None)]]


async def test_only_the_rule_that_a_text_meets_forwards_it(desk, quick):
    await desk.rule("Pump", keywords=["pump"], forward_number=ON_CALL)
    await desk.rule("Other", keywords=["hours"], text_en="At 9.")
    assert len(await desk.come_in("pump broken")) == 1
    assert await desk.come_in("hello") == []
    assert await desk.come_in("hours") == [(PHONE, "At 9.")]


async def test_a_text_is_never_forwarded_to_who_wrote_nor_back(desk, quick):
    await desk.rule(forward_number=ON_CALL)
    assert await desk.come_in("hello", ON_CALL) == []
    assert await desk.told(ON_CALL) == [[("sms", ON_CALL, "refused", refused(ForwardFault.LOOP))]]
    await desk.do("set", rule_id=(await desk.do("list"))["rules"][0]["ruleId"], keywords=["a"])
    await desk.rule("Back", keywords=["b"], forward_number=OTHER)
    # Texts of either go to the other by another rule: the round ends at once.
    assert await desk.come_in("b", ON_CALL) == []
    assert await desk.come_in("a", OTHER) == []


async def test_a_sender_that_is_a_name_is_forwarded_too(desk, quick):
    await desk.rule(forward_number=ON_CALL, language="fr", text_fr="Merci")
    assert await desk.come_in("Solde: 100", "BANK") == [(ON_CALL, "De BANK : Solde: 100")]


async def test_texts_after_a_code_are_not_forwarded(desk, quick):
    await desk.rule(forward_number=ON_CALL)
    await desk.rule("Chat", forward_chat="1", bot_token=TOKEN)
    for each in ((await desk.do("list"))["rules"][1],):
        await desk.do("set", rule_id=each["ruleId"], place=1, keywords=["chat"])
    code = SendCode(to=PHONE)
    await desk.house.gateway.send_code(desk.house.principal, code)
    await trio.sleep(1)
    assert await desk.come_in("123456") == []
    assert await desk.come_in("chat 123456") == []
    assert desk.outbound.calls == []
    told = [each[0][2:] for each in await desk.told()]
    assert told == [("refused", refused(ForwardFault.CODE))] * 2


async def test_words_of_the_opt_outs_are_not_forwarded(desk, quick):
    await desk.rule(forward_number=ON_CALL)
    await desk.house.gateway.perform("inbound.opt_outs", {**desk.whose, "heeds": True})
    assert await desk.come_in("STOP") == []
    assert await desk.told() == [[]]


async def test_forwards_and_answers_share_the_caps(open_desk, quick):
    replies = RepliesSection(per_number_and_day=2, per_organization_and_hour=3)
    async with open_desk(replies=replies) as desk:
        await desk.rule(forward_number=ON_CALL)
        for _ in range(2):
            assert len(await desk.come_in()) == 1
        assert await desk.come_in() == []
        assert len(await desk.come_in(sender=OTHER)) == 1
        assert await desk.come_in(sender="+22236000002") == []
        assert (await desk.told())[-1][0][3] == refused(ForwardFault.PER_DAY)
        assert (await desk.told("+22236000002"))[0][0][3] == refused(ForwardFault.PER_HOUR)
        desk.house.pass_s(HOUR_MS // 1000)
        assert len(await desk.come_in(sender="+22236000002")) == 1
        await desk.rule("Answer", keywords=["a"], text_en="Yes.", place=1)
        assert len(await desk.come_in("a", "+22236000003")) == 1
        assert len(await desk.come_in("a", "+22236000004")) == 1
        assert await desk.come_in("a", "+22236000005") == []


@pytest.mark.parametrize(("kind", "most"), [("mail", MAILS_PER_HOUR), ("webhook", CALLS_PER_HOUR)])
async def test_mails_and_calls_have_a_most_within_an_hour(desk, quick, kind, most):
    await desk.member()
    way = {"mail": {"forward_email": "duty@example.com"}}
    await desk.rule(**way.get(kind, {"forward_url": URL, "forward_secret": SECRET}))
    await desk.come_in()
    desk.run(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
        " INSERT INTO answer_forwards SELECT 'mo' || i, kind, organization_id, rule_id, name,"
        " number, target, at, NULL, 0, done_at, NULL, NULL, NULL FROM answer_forwards, n",
        most - 1,
    )
    await desk.come_in()
    assert [each[0][2] for each in await desk.told()] == ["forwarded", "refused"]
    assert (await desk.told())[1][0][3] == refused(ForwardFault.PER_HOUR)


async def test_a_receiver_that_fails_is_called_again_with_the_same_id(desk, quick):
    await desk.rule(forward_url=URL, forward_secret=SECRET)
    lost = ReceiverFault("BROKEN", "The connection was lost.")
    desk.outbound.plan = [FAILED, lost, OK]
    await desk.come_in()
    assert (await desk.told())[0][0][2] == "waiting"
    await trio.sleep(120)
    assert (await desk.told())[0][0][2] == "forwarded"
    assert len({each.headers["webhook-id"] for each in desk.outbound.calls}) == 1
    assert len(desk.outbound.calls) == 3


async def test_a_text_is_given_up_after_a_day(desk, quick):
    await desk.rule(forward_url=URL, forward_secret=SECRET)
    desk.outbound.plan = [FAILED]
    await desk.come_in()
    await trio.sleep(2 * DAY_MS // 1000)
    assert await desk.told() == [
        [("webhook", "example.com", "refused", refused(ForwardFault.LATE))]
    ]
    assert 24 <= len(desk.outbound.calls) <= 40


@pytest.mark.parametrize(
    ("way", "status", "fault"),
    [
        ("webhook", 410, ForwardFault.ENDED),
        ("telegram", 401, ForwardFault.BAD_TOKEN),
        ("telegram", 404, ForwardFault.BAD_TOKEN),
        ("telegram", 400, ForwardFault.BAD_CHAT),
        ("telegram", 403, ForwardFault.BAD_CHAT),
    ],
)
async def test_what_fails_for_good_is_not_tried_again(desk, quick, way, status, fault):
    ways = {
        "webhook": {"forward_url": URL, "forward_secret": SECRET},
        "telegram": {"forward_chat": "@duty_room", "bot_token": TOKEN},
    }
    await desk.rule(**ways[way])
    desk.outbound.plan = [ReceiverAnswer(status, None, "")]
    await desk.come_in()
    await trio.sleep(3600)
    assert len(desk.outbound.calls) == 1
    assert (await desk.told())[0][0][2:] == ("refused", refused(fault))


async def test_a_slow_receiver_holds_nobody_else_up(desk, quick):
    """An organization has a few calls at a time, and its messages leave beside them."""
    await desk.rule(forward_url=URL, forward_secret=SECRET, forward_number=ON_CALL)
    assert len(await desk.come_in()) == 1


async def test_what_comes_twice_is_forwarded_once(desk, quick):
    await desk.rule(forward_number=ON_CALL)
    message = Inbound(PHONE, OURS, "hello", desk.house.clock.now_ms(), ("same",))
    for _ in range(2):
        await desk.house.driver.context.inbound(message)
        await trio.sleep(1)
    # Somebody put the row back, as a crash cannot: its key is used.
    desk.run("UPDATE answer_forwards SET due_at = at, done_at = NULL, message_id = NULL")
    await desk.come_in("other")
    assert [each.text.rpartition(" ")[2] for each in desk.house.driver.submitted] == [
        "hello",
        "other",
    ]
    assert [each[0][2] for each in await desk.told()] == ["forwarded"] * 2


async def test_a_service_that_is_killed_before_it_noted_calls_again(open_desk, quick):
    """The id tells that it is a repeat."""

    class Hanging(FakeOutbound):
        async def post(self, call):
            self.calls.append(call)
            await trio.sleep_forever()

    async with open_desk(outbound=Hanging()) as desk:
        await desk.rule(forward_url=URL, forward_secret=SECRET)
        await desk.come_in()
        (first,) = desk.outbound.calls
    async with open_desk(is_first=False) as again:
        await trio.sleep(60)
        (second,) = again.outbound.calls
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body


async def test_messages_of_a_drained_service_leave_after_its_next_start(open_desk, quick):
    async with open_desk() as desk:
        await desk.rule(forward_number=ON_CALL)

        async def drains(*_, **__):
            raise Draining("The service stops.", 1)

        desk.house.gateway.services.intake.send = drains
        assert await desk.come_in() == []
    async with open_desk(is_first=False) as again:
        await trio.sleep(1)
        assert [each.recipient for each in again.house.driver.submitted] == [ON_CALL]


async def test_the_queue_of_an_organization_has_an_end(desk, quick):
    await desk.rule(forward_url=URL, forward_secret=SECRET)
    desk.outbound.plan = [FAILED]
    await desk.come_in()
    desk.run(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
        " INSERT INTO answer_forwards SELECT 'mo' || i, kind, organization_id, rule_id, name,"
        " number, target, at, due_at + 86400000, 0, NULL, NULL, NULL, NULL"
        " FROM answer_forwards, n",
        FORWARDS_MAX - 1,
    )
    await desk.come_in()
    assert (await desk.told())[-1][0][2:] == ("refused", refused(ForwardFault.FULL))


async def test_a_rule_that_changed_meanwhile_forwards_nothing(desk, quick):
    rule = await desk.rule(forward_url=URL, forward_secret=SECRET)
    desk.outbound.plan = [FAILED]
    await desk.come_in()
    await desk.do("set", rule_id=rule["ruleId"], forward_url="")
    await trio.sleep(600)
    assert (await desk.told())[0][0][2:] == ("refused", refused(ForwardFault.CHANGED))
    assert not desk.reader.execute(
        "SELECT 1 FROM answer_rules WHERE secrets IS NOT NULL"
    ).fetchall()


async def test_who_is_no_member_any_more_gets_no_mail(desk, quick):
    with pytest.raises(Invalid, match="a member of the organization"):
        await desk.rule(forward_email="duty@example.com")
    await desk.member()
    await desk.rule(forward_email="duty@example.com")
    perform = desk.house.gateway.perform
    (member,) = (await perform("member.list", desk.whose))["members"]
    await perform("member.remove", {**desk.whose, "user_id": member["userId"]})
    await desk.come_in()
    assert (await desk.told())[0][0][2:] == ("refused", refused(ForwardFault.NO_MEMBER))


async def test_a_service_without_mail_or_calls_says_so(open_desk, open_house, quick):
    async with open_house() as house:
        desk = Desk(house, None, None)
        await house.gateway.perform("inbound.route", desk.whose)
        await desk.member()
        await desk.rule(forward_email="duty@example.com", forward_url=URL, forward_secret=SECRET)
        await desk.come_in()
        said = [each[3] for each in (await desk.told())[0]]
        assert said == [refused(ForwardFault.NO_MAILER), refused(ForwardFault.NO_CALLS)]


async def test_what_a_message_is_refused_for_is_said(open_desk, quick):
    async with open_desk(balance="0") as desk:
        await desk.rule(forward_number=ON_CALL)
        assert await desk.come_in() == []
        ((kind, to, status, reason),) = (await desk.told())[0]
        assert (kind, to, status) == ("sms", ON_CALL, "refused")
        assert "balance" in reason.lower()


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("forward_number", "12", "invalid_phone_number"),
        ("forward_email", "nobody", "invalid_email"),
        ("forward_chat", "my chat", "invalid_chat"),
        ("forward_url", "https://127.0.0.1/", "invalid_url"),
        ("forward_url", "http://example.com/", "invalid_url"),
        ("forward_url", "https://example.com/", "missing"),
        ("forward_chat", "12", "missing"),
        ("bot_token", "abc", "invalid_token"),
        ("forward_secret", "secret", "invalid_secret"),
    ],
)
async def test_what_a_rule_cannot_forward_to_is_refused(desk, quick, field, value, code):
    with pytest.raises(Invalid) as refusal:
        await desk.rule(**{field: value})
    assert refusal.value.code == code
    assert (await desk.do("list"))["rules"] == []


async def test_secrets_are_sealed_and_shown_nowhere(desk, quick, tmp_path, capsys):
    made = await desk.rule(
        forward_chat="12", bot_token=TOKEN, forward_url=URL, forward_secret=SECRET
    )
    await desk.come_in("the words")
    await desk.do("set", rule_id=made["ruleId"], forward_chat="13")
    await desk.come_in()
    assert json.loads(desk.outbound.calls[-1].body) is not None
    assert {each.url.partition("?")[0] for each in desk.outbound.calls} == {
        f"https://api.telegram.org/bot{TOKEN}/sendMessage",
        "https://example.com/texts",
    }
    shown = await desk.do("show", rule_id=made["ruleId"])
    trail = await desk.house.gateway.perform("audit.list", {})
    exported = dict(_tables())["forwarded-texts"](
        desk.reader, desk.whose["organization_id"], "", 10
    )
    said = json.dumps([made, shown, trail, exported.rows], default=str)
    said += capsys.readouterr().out
    assert (TOKEN in said, SECRET in said) == (False, False)
    assert "t0psecret" not in json.dumps([trail, exported.rows], default=str)
    assert "https://example.com" in json.dumps(trail, default=str)
    stored = b"".join(each.read_bytes() for each in tmp_path.glob(DATABASE + "*"))
    assert (TOKEN.encode() in stored, SECRET.encode() in stored) == (False, False)


async def test_a_try_says_where_a_text_would_go(desk, quick):
    await desk.rule(forward_number=ON_CALL, forward_url=URL, forward_secret=SECRET, language="en")
    tried = await desk.do("try", text="é" * 170, number=PHONE)
    sms, webhook = tried["forwards"]
    assert sms["text"] == f"From {PHONE}: " + "é" * 170
    assert (sms["to"], sms["segments"], sms["reason"]) == (ON_CALL, 2, None)
    assert (webhook["kind"], webhook["to"], webhook["text"]) == ("webhook", "example.com", None)
    tried = await desk.do("try", text="hello", number=ON_CALL)
    assert tried["forwards"][0]["reason"] == refused(ForwardFault.LOOP)
    assert desk.house.driver.submitted == []


async def test_the_thread_of_the_target_says_that_it_is_a_forwarded_text(desk, quick):
    await desk.rule(forward_number=ON_CALL, keywords=["pump"])
    await desk.come_in("hello", ON_CALL)
    await desk.come_in("pump")
    thread = await desk.house.gateway.perform("conversation.get", {**desk.whose, "number": ON_CALL})
    (message,) = [each for each in thread["messages"] if each["by"] == "answer"]
    assert message["answerKind"] == "forward"


async def test_forwards_are_exported_and_go_with_their_texts(desk, quick):
    await desk.rule(forward_number=ON_CALL, forward_url=URL, forward_secret=SECRET)
    await desk.come_in()
    await desk.come_in()
    mine = desk.whose["organization_id"]
    export = dict(_tables())["forwarded-texts"]
    first = export(desk.reader, mine, "", 3)
    rest = export(desk.reader, mine, first.last, 3)
    kinds = [(each["kind"], each["to"]) for each in (*first.rows, *rest.rows)]
    assert kinds == [("sms", ON_CALL), ("webhook", "example.com")] * 2
    desk.house.pass_s(400 * 86_400)
    walk = RetentionWalk(WalkKind.ANSWERS, 30 * DAY_MS)
    store = desk.house.gateway.services.repositories._store
    now_ms = desk.house.clock.now_ms()
    forgot = await store.commit(lambda conn: both_queues.walk_old(conn, walk, now_ms, 100), None)
    assert (forgot.rows >= 4, forgot.done) == (True, True)
    assert not desk.reader.execute("SELECT 1 FROM answer_forwards").fetchall()


async def test_a_number_that_is_erased_leaves_nothing(desk, quick):
    await desk.rule(forward_number=ON_CALL)
    await desk.come_in()
    store, mine = desk.house.gateway.services.repositories._store, desk.whose["organization_id"]
    gone = await store.commit(lambda conn: both_queues.erase(conn, mine, PHONE, 100), None)
    assert gone["forwarded texts"] == 0  # its text is there still
    gone = await store.commit(lambda conn: both_queues.erase(conn, mine, ON_CALL, 100), None)
    assert gone["forwarded texts"] == 1
    assert (await desk.do("list"))["rules"][0]["forwardNumber"] == ""


async def test_what_waits_no_longer_leaves_once_an_erasure_begins(desk, quick, monkeypatch):
    await desk.rule(forward_number=ON_CALL)

    async def full(*_, **__):
        raise Overloaded

    monkeypatch.setattr(desk.house.gateway.services.intake, "send", full)
    await desk.come_in()
    reader = desk.house.gateway.services.repositories._store.reader
    waiting = "SELECT 1 FROM answer_forwards WHERE due_at IS NOT NULL"
    assert reader.execute(waiting).fetchall() != []
    await desk.house.gateway.perform("number.forget", {**desk.whose, "number": PHONE})
    assert reader.execute(waiting).fetchall() == []


def test_a_long_text_is_cut_where_a_message_ends():
    cut = sms_of("ar", PHONE, "a" * TEXT_CHARACTERS_MAX)
    assert len(cut) == TEXT_CHARACTERS_MAX
    assert cut.startswith(f"من {PHONE}: a")
    assert cut.endswith("a...")


def test_of_a_url_the_host_alone_is_shown():
    assert shown_target(ForwardKind.WEBHOOK, URL) == "example.com"
    assert shown_target(ForwardKind.SMS, ON_CALL) == ON_CALL


def test_every_fault_but_a_messages_own_has_a_sentence():
    assert {*ForwardFault} - {*FORWARD_SENTENCES} == {ForwardFault.REFUSED}
    assert key_of_forward("mo_1") == "forward:mo_1"


async def test_an_erasure_waits_for_what_is_forwarded_and_takes_its_text(desk, quick):
    await desk.rule(forward_number=ON_CALL)
    await desk.come_in("at home alone")
    forwarded = f"FROM message WHERE recipient = {ON_CALL[1:]}"
    assert "at home alone" in desk.reader.execute(f"SELECT body {forwarded}").fetchone()[0]
    desk.run(f"UPDATE message SET status = 1 WHERE recipient = {ON_CALL[1:]}")
    perform = desk.house.gateway.perform
    asked = await perform("number.forget", {**desk.whose, "number": PHONE})

    async def state_after(runs):
        for _ in range(runs):
            await trio.sleep(60)
            done = await perform("erasure.run", {"erasure_id": asked["id"]})
        return done["erasure"]["state"]

    assert await state_after(20) == "under way"
    assert "at home alone" in desk.reader.execute(f"SELECT body {forwarded}").fetchone()[0]
    desk.run(f"UPDATE message SET status = 2 WHERE recipient = {ON_CALL[1:]}")
    assert await state_after(20) == "done"
    assert desk.reader.execute(f"SELECT body {forwarded}").fetchall() == [("",)]
    assert not desk.reader.execute("SELECT 1 FROM answer_forwards").fetchall()

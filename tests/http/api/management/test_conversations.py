"""Conversations by the API: read, answered and marked by programs with a secret live key."""

import pytest
import trio

from risala.sms.message import Inbound

TO, OTHER = "+22236123456", "+22246000000"
PATHS = {
    "/api/conversations/list": {},
    "/api/conversations/get": {"number": TO},
    "/api/conversations/reply": {"number": TO, "body": "Hello"},
    "/api/conversations/mark": {"number": TO, "state": "done"},
}


@pytest.fixture
async def talks(bureau, autojump_clock):
    """Two numbers wrote, the first one twice."""
    await bureau.perform("inbound.route", organization_id=bureau.organization_id)
    await trio.sleep(1)
    for number, text in ((TO, "One"), (OTHER, "Two"), (TO, "Three")):
        now_ms = bureau.clock.now_ms()
        await bureau.driver.context.inbound(Inbound(number, "1234", text, now_ms, (text,)))
        await trio.sleep(10)
    return bureau


async def test_a_list_page_by_page(talks, autojump_clock):
    page = await talks.ask("/api/conversations/list", {"limit": 1})
    (one,) = page["items"]
    last = one["lastMessage"]
    assert one == {
        "conversationId": one["conversationId"],
        "number": TO,
        "name": None,
        "state": "open",
        "unread": True,
        "assignedTo": None,
        "receivedAt": last["at"],
        "lastMessage": {
            "messageId": last["messageId"],
            "by": "number",
            "at": last["at"],
            "body": "Three",
            "status": "received",
            "from": TO,
            "to": "1234",
            "carrier": "fake",
            "segments": None,
            "price": None,
            "errorCode": None,
            "keyId": None,
            "mailingId": None,
            "answerKind": None,
            "answerName": None,
            "answerRefused": None,
            "forwards": [],
        },
    }
    rest = await talks.ask("/api/conversations/list", {"limit": 1, "before": page["next"]})
    assert [each["number"] for each in rest["items"]] == [OTHER]
    back = await talks.ask("/api/conversations/list", {"after": rest["previous"]})
    assert [each["number"] for each in back["items"]] == [TO]


async def test_a_conversation_is_answered_and_marked(talks, autojump_clock):
    sent = await talks.ask("/api/conversations/reply", {"number": TO, "body": "Until 19 h."})
    assert sent == {
        "accepted": True,
        "messageId": sent["messageId"],
        "idempotencyKey": sent["idempotencyKey"],
        "organizationId": talks.organization_id,
        "from": "1234",
    }
    await trio.sleep(5)
    thread = await talks.ask("/api/conversations/get", {"number": TO})
    assert [(each["by"], each["body"]) for each in thread["items"]] == [
        ("number", "One"),
        ("number", "Three"),
        ("program", "Until 19 h."),
    ]
    answer = thread["items"][-1]
    assert (answer["keyId"], answer["price"]) == (talks.key_ids["sk_live"], "0.50")
    assert (thread["answerable"], thread["answersFrom"], thread["answersBy"]) == (
        *(True, "1234"),
        "fake",
    )
    assert not thread["conversation"]["unread"]
    whose = {"conversationId": thread["conversation"]["conversationId"]}
    marked = await talks.ask("/api/conversations/mark", {**whose, "state": "done", "read": False})
    assert (marked["state"], marked["unread"]) == ("done", True)
    by_state = [
        [each["number"] for each in (await talks.ask("/api/conversations/list", body))["items"]]
        for body in ({"state": "done"}, {"state": "open"}, {"unread": False}, {"assignedTo": ""})
    ]
    assert by_state == [[TO], [OTHER], [], [TO, OTHER]]


async def test_the_same_key_has_the_same_answer_to_the_byte(talks, autojump_clock):
    body = {"number": TO, "body": "once", "idempotencyKey": "answer-77"}
    first = await (await talks.post("/api/conversations/reply", body)).get_data()
    again = await (await talks.post("/api/conversations/reply", {**body, "body": "x"})).get_data()
    assert again == first
    assert await (await talks.post("/api/sms", {**body, "to": TO})).get_data() == first


async def test_messages_go_on_by_their_cursors(talks, autojump_clock):
    page = await talks.ask("/api/conversations/get", {"number": TO, "limit": 1})
    older = {"number": TO, "limit": 1, "before": page["next"]}
    rest = await talks.ask("/api/conversations/get", older)
    assert [each["body"] for each in (*rest["items"], *page["items"])] == ["One", "Three"]
    assert await talks.refused("/api/conversations/get", {"number": TO, "before": "bTc0MzEw"}) == [
        (["before"], "invalid_cursor")
    ]


async def test_what_cannot_be_answered_has_a_word(talks, autojump_clock):
    now_ms = talks.clock.now_ms()
    await talks.driver.context.inbound(Inbound("Mattel", "1234", "Promo", now_ms, ("p",)))
    await trio.sleep(1)
    body = {"number": "Mattel", "body": "thanks"}
    assert await talks.refused("/api/conversations/reply", body) == {"code": "NOT_ANSWERABLE"}
    thread = await talks.ask("/api/conversations/get", {"number": "Mattel"})
    assert (thread["answerable"], thread["answersFrom"]) == (False, None)
    assert thread["whyNot"]


@pytest.mark.parametrize("path", PATHS)
async def test_test_keys_and_others_find_nothing(talks, autojump_clock, path):
    for key in ("sk_test", "other_sk_live"):
        if path.endswith("list"):
            assert (await talks.ask(path, {}, key))["items"] == []
            continue
        one = (await talks.ask("/api/conversations/list"))["items"][0]["conversationId"]
        by_id = {name: each for name, each in PATHS[path].items() if name != "number"}
        for body in (PATHS[path], {**by_id, "conversationId": one}):
            await talks.ask(path, body, key, 404)


async def test_faults_are_named(talks, autojump_clock):
    for path in PATHS:
        if not path.endswith("list"):
            both = {**PATHS[path], "conversationId": "cnv_1"}
            assert await talks.refused(path, both) == [(["conversationId"], "one_of_two")]
    for member, value, code in (
        ("state", "closed", "unknown_word"),
        ("assignedTo", "usr_nobody", "no_member"),
        ("read", "yes", "not_a_flag"),
    ):
        found = await talks.refused("/api/conversations/mark", {"number": TO, member: value})
        assert found == [([member], code)]
    assert await talks.refused("/api/conversations/reply", {"number": TO}) == [
        (["body"], "required")
    ]

"""What a caller with a secret key says of a code besides: taken, kept, counted; from a publishable
key ignored."""

import json

import pytest
import trio

from risala.engine.features.request_log.rules import asked_text

TO = "+22236123456"
SAID = {"clientIp": "203.0.113.9", "userAgent": "Firefox/133", "tags": ["sign-up", "web"]}
EMPTY = {"clientIp": None, "userAgent": None, "tags": None}
AS_EVER = ["id", "to", "status", "attempts", "expiresAt", "createdAt", "updatedAt"]


def rows(desk) -> list[tuple]:
    reader = desk.gateway.services.repositories._store.reader
    return reader.execute("SELECT client, user_agent, tags FROM session_details").fetchall()


async def test_what_is_said_is_kept_and_tags_are_answered(desk):
    session = await desk.sent(**SAID)
    shown = await desk.shown(session)
    assert list(shown) == [*AS_EVER, "tags"]
    assert shown["tags"] == SAID["tags"]
    ((client, user_agent, tags),) = rows(desk)
    assert (user_agent, tags) == ("Firefox/133", '["sign-up", "web"]')
    assert len(client) == 64
    assert "203.0.113" not in client
    assert await desk.status(session, await desk.code()) == "approved"
    assert (await desk.shown(session))["tags"] == SAID["tags"]


async def test_a_list_and_a_cancel_answer_as_get_does(desk):
    session = await desk.sent(**SAID)
    await desk.sent()
    listed = await (await desk.post("/api/verify/list", {})).get_json()
    assert [each.get("tags") for each in listed["items"]] == [None, SAID["tags"]]
    canceled = await desk.post("/api/verify/cancel", {"verificationId": session})
    assert (await canceled.get_json())["tags"] == SAID["tags"]


async def test_lean_answers_have_no_tags(desk):
    session = await desk.sent(**SAID)
    await desk.perform("org.set", organization_id=desk.organization_id, lean_answers=True)
    assert list(await desk.shown(session)) == AS_EVER
    listed = await (await desk.post("/api/verify/list", {})).get_json()
    assert list(listed["items"][0]) == AS_EVER


@pytest.mark.parametrize("said", [{}, EMPTY, {"tags": []}, {"userAgent": ""}])
async def test_where_nothing_is_said_all_is_as_ever(desk, said):
    session = await desk.sent(**said)
    assert list(await desk.shown(session)) == AS_EVER
    assert rows(desk) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *SAID.items(),
        *(("clientIp", "nobody"), ("userAgent", 7), ("tags", "sign-up"), ("tags", [7])),
    ],
)
async def test_from_a_publishable_key_each_member_is_ignored(desk, name, value):
    session = await desk.sent("pk_live", **{name: value})
    assert list(await desk.shown(session)) == AS_EVER
    assert rows(desk) == []


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"clientIp": "shop.example"}, "invalid_address"),
        ({"clientIp": ""}, "invalid_address"),
        ({"clientIp": 7}, "not_a_string"),
        ({"userAgent": "u" * 513}, "too_long"),
        ({"tags": "sign-up"}, "not_a_list"),
        ({"tags": ["t"] * 11}, "too_many_entries"),
        ({"tags": ["t" * 65]}, "too_long"),
        ({"tags": [""]}, "too_short"),
        ({"tags": [7]}, "not_a_string"),
        ({"tags": ["\0"]}, "invalid_characters"),
    ],
)
async def test_what_cannot_be_taken_is_an_issue_of_its_own(desk, refused, said, code):
    before = desk.rows()
    payload = await refused(await desk.send(**said), 400)
    assert [(each["path"], each["code"]) for each in payload["data"]["issues"]] == [
        ([next(iter(said))], code)
    ]
    assert desk.rows() == before


async def test_the_most_of_each_is_taken(desk):
    session = await desk.sent(
        userAgent="u" * 512, tags=["ت" * 64] * 10, clientIp="2001:db8::1%eth0"
    )
    assert (await desk.shown(session))["tags"] == ["ت" * 64] * 10


async def test_an_address_counts_where_the_organization_limits_it(desk, refused, quick):
    await desk.configure(client_ip_per_hour=2, per_phone_per_hour=100)
    for address in ("203.0.113.9", "::ffff:203.0.113.9"):
        await desk.sent(clientIp=address)
    await trio.sleep(60)
    before = desk.rows()
    response = await desk.send(clientIp="203.0.113.9:4711")
    payload = await refused(response, 429)
    assert payload["data"] == {"limit": "client_ip"}
    assert response.headers["retry-after"] == "3540"
    assert desk.rows() == before
    await desk.sent(clientIp="203.0.113.10")
    await desk.sent()
    await desk.sent("pk_live", clientIp="203.0.113.9")
    await desk.sent("sk_test", clientIp="203.0.113.9")
    await trio.sleep(3540)
    await desk.sent(clientIp="203.0.113.9")


async def test_users_of_one_network_behind_ipv6_count_as_one(desk, refused):
    await desk.configure(client_ip_per_hour=1)
    await desk.sent(clientIp="2001:db8:0:1::1")
    assert (await desk.send(clientIp="2001:db8:0:1:ffff::2")).status_code == 429
    await desk.sent(clientIp="2001:db8:0:2::1")


async def test_the_address_comes_before_the_number_and_the_balance(desk, refused):
    await desk.configure(client_ip_per_hour=1, per_phone_per_hour=1)
    await desk.sent(clientIp="203.0.113.9")
    payload = await refused(await desk.send(clientIp="203.0.113.9"), 429)
    assert payload["data"]["limit"] == "client_ip"
    await desk.perform(
        "adjust", organization_id=desk.organization_id, amount="-99.50", reason="spent"
    )
    other = await desk.send(to="+22236123457", clientIp="203.0.113.9")
    assert (await refused(other, 429))["data"]["limit"] == "client_ip"


async def test_at_the_same_instant_no_more_pass_than_may(desk):
    await desk.configure(client_ip_per_hour=3, per_phone_per_hour=100)
    answers = []

    async def send() -> None:
        answers.append((await desk.send(clientIp="203.0.113.9")).status_code)

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(send)
    assert sorted(answers) == [200] * 3 + [429] * 7
    assert len(rows(desk)) == 3


def test_the_log_of_requests_shows_their_shape_alone():
    shown = asked_text(json.dumps({"to": TO, **SAID}).encode())
    assert json.loads(shown) == {
        "to": "…3456",
        "clientIp": "‹11›",
        "userAgent": "‹11›",
        "tags": "‹[2]›",
    }

"""Channels over HTTP: what a request may name, and the answers of ``POST /api/verify/resend``."""

from __future__ import annotations

import pytest

from risala.config.channels import ChannelsSection

SECTION = ChannelsSection(
    chat={"channel": "telegram", "price": "0.20"}, email={"channel": "email", "price": "0.10"}
)
MEMBERS = ["id", "to", "status", "attempts", "expiresAt", "createdAt", "updatedAt"]
EVERY = ["sms", "chat", "email"]


@pytest.fixture
async def desk(open_desk, quick):
    async with open_desk(channels=SECTION) as desk:
        await desk.perform(
            "verify.channels",
            organization_id=desk.organization_id,
            channels=["chat", "sms"],
            secret=EVERY,
            publishable=["sms", "chat"],
            addresses=True,
        )
        yield desk


async def resend(desk, verification_id, key="sk_live", **fields):
    return await desk.post("/api/verify/resend", {"verificationId": verification_id, **fields}, key)


async def test_deliveries_are_shown_to_secret_keys(desk, quick):
    verification_id = await desk.sent()
    await desk.drivers["chat"].wait_submitted(1)
    shown = await desk.shown(verification_id)
    assert list(shown) == [*MEMBERS, "channel", "deliveries"]
    assert shown["channel"] == "chat"
    (delivery,) = shown["deliveries"]
    assert list(delivery) == ["channel", "status", "at"]
    answer = await resend(desk, verification_id)
    assert answer.status_code == 200
    payload = await answer.get_json()
    assert [each["channel"] for each in payload["deliveries"]] == ["chat", "sms"]
    assert await desk.status(verification_id, await desk.code()) == "approved"


async def test_a_publishable_key_is_answered_the_id_alone(desk, quick):
    verification_id = await desk.sent("pk_live")
    answer = await resend(desk, verification_id, "pk_live")
    assert await answer.get_json() == {"verificationId": verification_id}


async def test_lean_answers_have_the_fields_of_the_specification(desk, quick):
    await desk.perform("org.set", organization_id=desk.organization_id, lean_answers=True)
    verification_id = await desk.sent()
    assert list(await desk.shown(verification_id)) == MEMBERS


async def test_when_no_channel_is_left_it_says_so(desk, refused, quick):
    verification_id = await desk.sent(channels=["sms"])
    for key in ("sk_live", "pk_live"):
        payload = await refused(await resend(desk, verification_id, key), 400)
        assert payload["data"] == {"code": "NO_CHANNEL_LEFT"}
    assert (await resend(desk, verification_id, "pk_live", channel="chat")).status_code == 200


async def test_what_may_not_be_named_is_an_issue(desk, refused, quick):
    for key, fields, path in [
        ("sk_live", {"channels": ["pigeon"]}, ["channels"]),
        ("pk_live", {"channels": ["email"]}, ["channels"]),
        ("sk_live", {"channels": []}, ["channels"]),
        ("sk_live", {"channels": "sms"}, ["channels"]),
        ("pk_live", {"to": "a@example.org"}, ["to"]),
        ("sk_live", {"to": "a@example"}, ["to"]),
        ("sk_live", {"to": "a@example.org", "channels": ["sms"]}, ["channels"]),
    ]:
        payload = await refused(await desk.send(key, **fields), 400)
        assert [issue["path"] for issue in payload["data"]["issues"]] == [path], (key, fields)
    verification_id = await desk.sent()
    payload = await refused(await resend(desk, verification_id, channel="email"), 400)
    assert [issue["path"] for issue in payload["data"]["issues"]] == [["channel"]]


async def test_an_address_gets_its_code_by_mail(desk, quick):
    verification_id = await desk.sent(to="Someone@Example.org")
    await desk.drivers["email"].wait_submitted(1)
    assert (await desk.shown(verification_id))["to"] == "someone@example.org"


async def test_unknown_and_foreign_sessions_are_not_found(desk, refused, quick):
    verification_id = await desk.sent()
    for one, key in [("ver_nothing", "sk_live"), (verification_id, "sk_test")]:
        await refused(await resend(desk, one, key), 404)
    await refused(await resend(desk, None), 400)

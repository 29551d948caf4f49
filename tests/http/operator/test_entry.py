"""The way into the console: a code, a cookie and links of its own."""

from __future__ import annotations

import re

import pytest
import trio

from risala.engine.model.people import Browser, Language, SessionKind
from risala.http.dashboard.app import create_dashboard


async def test_an_operators_code_opens_the_console_and_nothing_else(post, stranger, browser_on):
    page = await stranger.get("/operator/overview?x=1")
    assert page.location == "/operator/sign-in?next=%2Foperator%2Foverview%3Fx%3D1"
    page = await stranger.get(page.location)
    assert "Operator sign-in" in page.text
    assert set(stranger.cookies) == {"risala-operator-door"}
    asked = await stranger.submit(page, "/operator/sign-in", {"email": "mariem@risala.example"})
    assert asked.location == "/operator/sign-in"
    pending = post.gateway.people.sign_in.pending(stranger.cookies["risala-operator-door"])
    assert pending.kind is SessionKind.OPERATOR


@pytest.mark.parametrize("kind", ["customer", "operator"])
async def test_a_link_works_at_the_face_that_it_is_for(post, stranger, browser_on, kind):
    is_operator = kind == "operator"
    link = await post.do("user.sign_in", email="mariem@risala.example", operator=is_operator)
    token, dashboard = (
        link["token"],
        create_dashboard(post.gateway, post.settings, shutdown=trio.Event()),
    )
    root = "/operator" if is_operator else ""
    assert re.fullmatch(rf"https?://[^/]+{root}/sign-in/link/{token}", link["url"])
    faces = {"customer": browser_on(dashboard), "operator": stranger}
    paths = {"customer": f"/sign-in/link/{token}", "operator": f"/operator/sign-in/link/{token}"}
    other = "customer" if is_operator else "operator"
    page = await faces[other].get(paths[other])
    assert page.status == 404
    assert (await faces[other].submit(page, paths[other], drawn=False)).status == 404
    page = await faces[kind].get(paths[kind])
    assert page.headers["referrer-policy"] == "no-referrer"
    entered = await faces[kind].submit(page, paths[kind])
    assert entered.status == 303
    assert entered.location == ("/operator/overview" if is_operator else "/app")
    cookie = "risala-operator" if is_operator else "risala"
    assert set(faces[kind].cookies) == {cookie, f"{cookie}-known"}


async def test_an_operator_who_is_held_up_reads_how_to_get_in(post, stranger):
    for _ in range(6):
        await post.gateway.people.sign_in.begin(
            Browser(post.gateway.people.new_token(), None, "", "", Language.ENGLISH),
            "mariem@risala.example",
            SessionKind.OPERATOR,
        )
    page = await stranger.get("/operator/sign-in")
    assert "8-digit code" in page.text
    page = await stranger.submit(page, "/operator/sign-in", {"email": "mariem@risala.example"})
    assert page.status == 422
    assert "Too many attempts" in page.text
    assert "risala user sign-in --console" in page.text


async def test_signing_out_ends_this_session_alone(post, operator, browser_on):
    dashboard = create_dashboard(post.gateway, post.settings, shutdown=trio.Event())
    as_customer = browser_on(
        dashboard, {"risala": await post.token("mariem@risala.example", operator=False)}
    )
    page = await operator.get("/operator/account")
    assert page.text.count("<li>") >= 2  # both sessions are devices of theirs
    out = await operator.submit(page, "/operator/sign-out")
    assert out.location == "/operator/sign-in"
    assert (await operator.get("/operator/overview")).status == 303
    assert (await as_customer.get("/app")).status == 200


async def test_a_device_is_signed_out_from_another(post, operator, browser_on):
    other = browser_on(
        post.console,
        {"risala-operator": await post.token("mariem@risala.example", operator=True)},
    )
    assert (await other.get("/operator/overview")).status == 200
    page = await operator.get("/operator/account")
    session_id = re.search(r'name="session_id" value="([^"]+)"', page.text)[1]
    done = await operator.submit(page, "/operator/account/sign-out", {"session_id": session_id})
    assert done.location == "/operator/account"
    assert (await other.get("/operator/overview")).status == 303
    assert "The device is signed out." in (await operator.get("/operator/account")).text


@pytest.mark.parametrize(("language", "word"), [("fr", "Exploitant"), ("ar", "المشرف")])
async def test_a_language_is_chosen_without_leaving_the_console(operator, language, word):
    page = await operator.get("/operator/account")
    chosen = await operator.submit(
        page, "/operator/language", {"language": language, "next": "/operator/account"}
    )
    assert chosen.location == "/operator/account"
    assert word in (await operator.get("/operator/account")).text


async def test_what_waits_stands_beside_every_page(post, operator):
    assert "Nothing waits for you." in (await operator.get("/operator/overview")).text
    whose = {"organization_id": post.organization_id}
    await post.do("sender.request", name="BARAKA", description="Orders", **whose)
    found = await post.do("console.waiting")
    assert found == {"senders": 1, "payments": 0, "approvals": 0}
    text = (await operator.get("/operator/overview")).text
    assert "Sender requests" in text
    assert "Nothing waits for you." not in text
    sender = (await post.do("sender.list", **whose))["senders"][0]
    await post.do("sender.clear", sender_id=sender["id"])
    begun = await post.do("payment.begin", method="bankily", amount="5", **whose)
    assert await post.do("console.waiting") == {"senders": 0, "payments": 0, "approvals": 0}
    await post.do("payment.claim", payment_id=begun["id"], entered={"reference": "T1234567"})
    assert await post.do("console.waiting") == {"senders": 0, "payments": 1, "approvals": 0}

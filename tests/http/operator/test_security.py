"""The page of who tries to come in, and the lock of the console to one address."""

from __future__ import annotations

import pytest

from risala.engine.model.callers import OperatorRole
from risala.engine.model.people import Browser, Language, SessionKind
from web_browser import Reader

pytestmark = pytest.mark.slow
HERE, ELSEWHERE = "127.0.0.7", "127.0.0.9"
PAGE = "/operator/security"


async def reader_at(post, address, token):
    return Reader(post.console, {"risala-operator": token}, client=address)


async def fail(post, address, count):
    people = post.gateway.people
    for number in range(count):
        browser = Browser(people.new_token(), f"{address}-{number}", address, "", Language.ENGLISH)
        await people.sign_in.begin(browser, f"somebody{number}@example.com", SessionKind.OPERATOR)
        await people.sign_in.finish(browser, "00000000", SessionKind.OPERATOR)


async def test_who_tries_is_shown_to_administrators(post, operator):
    await fail(post, ELSEWHERE, 5)
    text = (await operator.get(PAGE)).text
    assert ELSEWHERE in text
    assert "tries many accounts" in text
    assert "mariem@risala.example" in text, "who has no second factor"
    await post.do("user.create", email="v@risala.example", operator_role=OperatorRole.VIEWER.value)
    viewer = Reader(
        post.console, {"risala-operator": await post.token("v@risala.example", operator=True)}
    )
    assert (await viewer.get(PAGE)).status == 403


async def test_keys_used_from_new_places_are_listed(post, operator):
    organization = await post.do("org.create", name="Shop")
    made = await post.do(
        "key.create", organization_id=organization["id"], type="secret", name="Till"
    )
    accounts = post.gateway.services.accounts
    stored, now_ms = accounts._stored_keys, accounts._clock.now_ms()
    key_id, day_ms = made["key"]["id"], 86_400_000
    await stored.note_places({(key_id, "203.0.113.0/24"): now_ms - 3 * day_ms})
    await stored.note_places({(key_id, "198.51.100.0/24"): now_ms})
    places = (await operator.get(PAGE)).text.partition("h-places")[2].partition("h-keys")[0]
    assert "198.51.100.0/24" in places
    assert "203.0.113.0/24" not in places


async def test_the_console_is_locked_to_the_readers_own_address_and_opened_again(post):
    token = await post.token("mariem@risala.example", operator=True)
    here, elsewhere = (
        await reader_at(post, HERE, token),
        await reader_at(post, ELSEWHERE, token),
    )
    page = await here.get(PAGE)
    assert HERE in page.text
    form = {"form_token": page.field("form_token"), "address": ELSEWHERE}
    assert (await here.post(f"{PAGE}/lock", form)).status == 303
    assert (await here.get(PAGE)).status == 200, "who locks it is never locked out"
    for path in (PAGE, "/operator/sign-in", "/operator/overview"):
        refused = await elsewhere.get(path)
        assert refused.status == 403
        assert "risala console unlock" in refused.text
    assert (await post.do("console.unlock"))["address"] is None
    assert (await elsewhere.get(PAGE)).status == 200
    await post.do("console.lock", address="2001:db8::1")
    assert post.gateway.console_lock() == "2001:db8::/64"
    lines = (await post.do("audit.list", limit=5))["lines"]
    assert {"console.lock", "console.unlock"} <= {line["operation"] for line in lines}

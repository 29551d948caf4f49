"""One's own account."""

import pytest

from risala.engine.model.errors import Conflict, EditConflict, Invalid
from risala.engine.model.times import iso
from risala.http.web.entry.reader import device_name
from web_people import AT_MS, CODE

ANDROID = (
    "Mozilla/5.0 (Linux; Android 14; SM-A135F) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/130.0.0.0 Mobile Safari/537.36"
)
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 "
    "(KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1"
)
EDGE = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/130.0.0.0 Safari/537.36 Edg/130.0.0.0"
)


@pytest.fixture
def devices(gateway, owner):
    session = gateway.people.web_sessions[owner.cookies["risala"]]
    for number, agent in ((session.id, ANDROID), ("ses_other", "<script>curl/8")):
        device = {"id": number, "kind": "customer", "agent": agent, "address": "192.0.2.7"}
        device |= dict.fromkeys(("createdAt", "usedAt", "expiresAt"), iso(AT_MS))
        gateway.devices.append(device)
    return gateway.devices


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        *((ANDROID, "Chrome, Android"), (IPHONE, "Safari, iPhone"), (EDGE, "Edge, Windows")),
        *(("curl/8", ""), ("", ""), ("<script>Firefox/1", "Firefox")),
    ],
)
def test_a_device_is_named_by_what_it_says(agent, name):
    assert device_name(agent) == name


async def test_what_is_shown(owner, devices):
    page = await owner.get("/account")
    assert "Chrome, Android" in page.text
    assert "this one" in page.text
    assert page.text.count('name="session_id"') == 1
    assert "<script>curl" not in page.text


async def test_name_and_language(owner, gateway):
    owner.cookies["risala-language"] = "fr"
    form = await owner.get("/account")
    fields = {"name": "Sidi", "language": "ar", "version": form.field("version")}
    page = await owner.submit(form, "/account", fields)
    assert page.location == "/account"
    assert "risala-language" not in owner.cookies
    assert ("account.set", {"name": "Sidi", "language": "ar", "version": 3}) in gateway.done


async def test_what_somebody_else_changed_meanwhile(owner, gateway, monkeypatch):
    form = await owner.get("/account")
    perform = gateway.perform

    async def refuse(name, arguments, caller):
        if name == "account.set":
            raise EditConflict("<b>@baraka.example")
        return await perform(name, arguments, caller)

    monkeypatch.setattr(gateway, "perform", refuse)
    owner.cookies["risala-language"] = "fr"
    page = await owner.submit(form, "/account", {"name": "Sidi", "language": "en"})
    assert page.status == 422
    assert "<bdi>&lt;b&gt;@baraka.example</bdi> a modifié cela entre-temps." in page.text


async def test_devices_are_signed_out(owner, gateway, devices):
    page = await owner.get("/account")
    await owner.submit(page, "/account/sign-out", {"session_id": "ses_other"})
    assert ("account.sign_out", {"session_id": "ses_other"}) in gateway.done
    await owner.submit(page, "/account/sign-out")
    session = gateway.people.web_sessions[owner.cookies["risala"]]
    assert ("account.sign_out", {"but": session.id}) in gateway.done


async def test_an_address_is_changed_by_two_codes(owner, gateway):
    form = await owner.get("/account")
    page = await owner.submit(form, "/account/email", {"email": "new@baraka.example"})
    assert page.location == "/account"
    page = await owner.get("/account")
    assert 'name="old_code"' in page.text
    page = await owner.submit(page, "/account/email/confirm", {"new_code": "1"})
    assert "4 tries are left" in page.text
    page = await owner.submit(page, "/account/email/confirm", {"new_code": CODE, "old_code": ""})
    assert page.location == "/account"
    assert ("account.confirm_email", {"new_code": CODE}) in gateway.done


async def test_the_address_that_one_has(owner, gateway, monkeypatch):
    form = await owner.get("/account")
    perform = gateway.perform

    async def refuse(name, arguments, caller):
        if name == "account.change_email":
            raise Invalid("email", "same_email", "No.")
        return await perform(name, arguments, caller)

    monkeypatch.setattr(gateway, "perform", refuse)
    page = await owner.submit(form, "/account/email", {"email": "aicha@baraka.example"})
    assert page.status == 422
    assert "This is already your address." in page.text


async def test_an_organization_is_left(owner, gateway):
    page = await owner.get("/app/org_1/leave")
    assert "Only an owner can let you in again." in page.text
    gateway.refuse = Conflict("An organization needs an owner. Make somebody else an owner first.")
    page = await owner.submit(page, "/app/org_1/leave")
    assert page.status == 422
    assert "Make somebody else an owner first" in page.text
    gateway.refuse = None
    page = await owner.submit(page, "/app/org_1/leave")
    assert page.location == "/app"
    assert ("account.leave", {"organization_id": "org_1"}) in gateway.done

"""Credentials for other systems, on the page of keys."""

import pytest

from risala.engine.model.callers import Role
from risala.engine.model.errors import Conflict, Invalid
from web_people import credential

NEW = "/app/org_1/keys/credentials/new"
MADE = "/app/org_1/keys/credentials"
PASSWORD = "p4ssw0rd" * 4


async def test_the_page_of_keys_lists_those_that_hold(owner, gateway):
    gateway.credentials = [
        credential(),
        credential(id="crd_2", username="morse-1", face="morse"),
        credential(id="crd_3", username="former", revokedAt="2026-01-01T00:00:00Z"),
    ]
    page = await owner.get("/app/org_1/keys")
    assert "shop" in page.text
    assert "Kannel" in page.text
    assert "morse-1" in page.text
    assert "former" not in page.text
    gateway.credentials = []
    assert "sign in with a name and a password" in (await owner.get("/app/org_1/keys")).text


async def test_a_password_is_shown_once(owner, gateway):
    page = await owner.get(NEW)
    fields = {"face": "smpp", "username": "shop-1", "from": "SHOP", "allowed_addresses": "::1\n"}
    made = await owner.submit(page, MADE, fields)
    assert made.status == 200
    assert made.headers["cache-control"] == "no-store"
    assert made.text.count(PASSWORD) == 1
    asked = {
        "organization_id": "org_1",
        "face": "smpp",
        "mode": "live",
        "username": "shop-1",
        "from": "SHOP",
        "allowed_addresses": ["::1"],
    }
    assert ("credential.create", asked) in gateway.done
    again = await owner.submit(page, MADE, fields)
    assert PASSWORD not in again.text
    assert [name for name, _ in gateway.done].count("credential.create") == 1


@pytest.mark.parametrize(
    "refusal",
    [Conflict("Taken."), Invalid("username", "invalid_username", "No.")],
)
async def test_what_is_refused_may_be_changed(owner, gateway, refusal):
    page = await owner.get(NEW)
    gateway.refuse = refusal
    page = await owner.submit(page, MADE, {"face": "kannel", "username": "<b>"})
    assert page.status in (409, 422)
    assert "<b>" not in page.text


async def test_one_is_revoked_after_a_question(owner, gateway):
    page = await owner.get("/app/org_1/keys/credentials/crd_1/revoke")
    assert "It has never been used." in page.text
    page = await owner.submit(page, "/app/org_1/keys/credentials/crd_1/revoke")
    assert page.location == "/app/org_1/keys"
    assert gateway.credentials == []
    assert (await owner.get("/app/org_1/keys/credentials/crd_1/revoke")).status == 404


async def test_a_viewer_sees_and_does_not_do(reader_as):
    page = await reader_as(Role.VIEWER).get("/app/org_1/keys")
    assert "shop" in page.text
    assert "Revoke" not in page.text

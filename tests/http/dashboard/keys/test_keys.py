"""The keys' page."""

import pytest

from risala.engine.model.callers import Role
from risala.engine.model.errors import Conflict, Invalid, OutcomeUnknown
from risala.http.dashboard.snippets import number_of
from risala.sms.numbering.plan import DEFAULT, EXAMPLE
from web_people import key

SECRET = "sk_live_" + "4" * 28 + "x7Qd"
NASTY = [
    "<script>alert(1)</script>",
    "{{ 7 * 7 }}{% raw %}",
    "{name} %s",
    "\u202eevil\u202c\u2067",
    "' onmouseover='x\" autofocus=\"",
]


async def create(reader, **fields):
    page = await reader.get("/app/org_1/keys/new")
    return page, await reader.submit(page, "/app/org_1/keys", fields)


async def test_a_secret_is_shown_once(owner, gateway):
    _, page = await create(owner, name="Shop server", type="secret", key_mode="test")
    assert page.status == 200
    assert page.headers["cache-control"] == "no-store"
    assert "content-encoding" not in page.headers
    assert page.text.count(SECRET) == 2  # to be copied alone, and with the command that uses it
    assert "http://127.0.0.1:8080/api/sms" in page.text
    asked = {"type": "secret", "mode": "test", "name": "Shop server", "contact": None}
    asked["without_id"] = False
    assert ("key.create", {**asked, "organization_id": "org_1"}) in gateway.done
    assert SECRET not in (await owner.get("/app/org_1/keys")).text


@pytest.mark.parametrize(
    ("kind", "asked"), [("secret", True), ("publishable", False)], ids=["secret", "publishable"]
)
async def test_a_new_key_may_be_answered_without_the_id(owner, gateway, kind, asked):
    page, _ = await create(owner, type=kind, without_id="yes")
    (given,) = [given for name, given in gateway.done if name == "key.create"]
    assert given["without_id"] is asked
    (box,) = [each for _, each in page.tags if each.get("name") == "without_id"]
    assert (box["type"], "checked" in box) == ("checkbox", False)


@pytest.mark.parametrize(
    ("mode", "to"), [("test", number_of(DEFAULT, is_test=True)), ("live", EXAMPLE)]
)
async def test_the_command_works_as_it_is_pasted(owner, mode, to):
    """It sets the key that the command after it uses; programs read theirs from the environment."""
    _, page = await create(owner, type="secret", key_mode=mode)
    export = page.text.index(f"export RISALA_KEY=<i>&#39;{SECRET}&#39;</i>")
    curl = page.text.index("curl http://127.0.0.1:8080/api/sms")
    assert export < curl < page.text.index(to)
    assert page.text.count(SECRET) == 2


async def test_a_reload_makes_no_second_key(owner, gateway):
    form, _ = await create(owner, name="Shop server")
    page = await owner.submit(form, "/app/org_1/keys", {"name": "Shop server"})
    assert (page.status, page.location) == (303, "/app/org_1/keys")
    assert [name for name, _ in gateway.done].count("key.create") == 1


async def test_a_refused_form_may_be_sent_again(owner, gateway):
    gateway.refuse = Invalid("allowed_origins", "invalid_origin", "No.")
    form, page = await create(owner, type="publishable", allowed_origins="x", name="<b>")
    assert page.status == 422
    assert "An origin looks like" in page.text
    assert 'value="&lt;b&gt;"' in page.text
    gateway.refuse = None
    fields = {"type": "publishable", "allowed_origins": "https://a.example\nhttps://b.example"}
    page = await owner.submit(form, "/app/org_1/keys", fields)
    assert page.status == 200
    _, asked = next(each for each in gateway.done if each[0] == "key.create")
    assert asked["allowed_origins"] == ["https://a.example", "https://b.example"]


async def test_what_nobody_knows_is_not_done_again(owner, gateway):
    gateway.refuse = OutcomeUnknown()
    form, page = await create(owner)
    assert page.status == 503
    gateway.refuse = None
    page = await owner.submit(form, "/app/org_1/keys")
    assert (page.status, page.location) == (303, "/app/org_1/keys")
    assert [name for name, _ in gateway.done].count("key.create") == 0


async def test_disable_and_enable(owner, gateway):
    page = await owner.get("/app/org_1/keys?mode=test")
    page = await owner.submit(page, "/app/org_1/keys/key_1/disable?mode=test")
    assert page.location == "/app/org_1/keys?mode=test"
    assert not gateway.keys["key_1"]["enabled"]
    page = await owner.get("/app/org_1/keys")
    assert "The key is disabled" in page.text
    await owner.submit(page, "/app/org_1/keys/key_1/enable")
    assert gateway.keys["key_1"]["enabled"]


async def test_a_key_is_deleted_by_its_last_four_characters(owner, gateway):
    page = await owner.get("/app/org_1/keys/key_1/delete")
    assert "It has never been used." in page.text
    page = await owner.submit(page, "/app/org_1/keys/key_1/delete", {"confirm": "9aKe"})
    assert page.status == 422
    assert "not the last four characters" in page.text
    assert "key_1" in gateway.keys
    page = await owner.submit(page, "/app/org_1/keys/key_1/delete", {"confirm": "x7Qd"})
    assert page.location == "/app/org_1/keys"
    assert "key_1" not in gateway.keys


async def test_a_viewer_sees_and_does_not_do(reader_as):
    page = await reader_as(Role.VIEWER).get("/app/org_1/keys")
    assert "Shop server" in page.text
    actions = [each.get("action") for tag, each in page.tags if tag == "form"]
    assert {*actions} == {"/language", "/theme", "/sign-out", "/app/org_1/search"}


async def test_an_organization_without_keys_is_told_what_they_are_for(owner, gateway):
    gateway.keys = {}
    assert "There is no key yet" in (await owner.get("/app/org_1/keys")).text


@pytest.mark.parametrize("text", NASTY)
async def test_stored_text_is_text(owner, gateway, text):
    gateway.keys = {"key_1": key(1, name=text, allowedOrigins=[text], last4=text)}
    gateway.organization["name"] = text
    for path in ("/app/org_1/keys", "/app/org_1/keys/key_1/delete"):
        page = await owner.get(path)
        assert page.status == 200
        assert "<script>alert" not in page.text
        assert "49" not in page.text.partition("<h1")[2].partition("</h1>")[0]
        assert [each for _, each in page.tags if "onmouseover" in each] == []


async def test_a_refusal_without_a_form_is_a_page(owner, gateway):
    page = await owner.get("/app/org_1/keys")
    gateway.refuse = Conflict("Changed meanwhile.")
    page = await owner.submit(page, "/app/org_1/keys/key_1/disable")
    assert page.status == 409
    assert "Changed meanwhile." in page.text


async def test_test_mode_is_seen_and_kept(owner):
    page = await owner.get("/app/org_1/keys?mode=test")
    assert "Test data" in page.text
    assert 'href="/app/org_1/keys/new?mode=test"' in page.text

"""Every page there is, from the table of routes itself, by everybody who has no business there."""

import re

import pytest

from cases import sweep
from filter_sweep import undeclared
from risala.engine.model.callers import Role
from risala.http.dashboard.app import ROUTES
from risala.http.web.face import PageAccess
from risala.http.web.page_request import POLICY
from web_browser import assert_nothing_inline

GUARDED = [route for route in ROUTES if route.access is not PageAccess.PUBLIC]
POSTS = [route for route in ROUTES if route.method == "POST"]
OF_ORGANIZATION = [route for route in ROUTES if route.access.roles]
GETS = [route for route in ROUTES if route.method == "GET" and not route.path.endswith("/live")]
"""Those that end: a stream of pieces does not."""
TOO_LOW = {PageAccess.DEVELOPER: Role.VIEWER, PageAccess.OWNER: Role.DEVELOPER}
FORM = {"content_type": "application/x-www-form-urlencoded"}


def named(route) -> str:
    return route.name


def path_of(route, organization_id: str = "org_1") -> str:
    path = route.path.replace("<org>", organization_id).replace("<key_id>", "key_1")
    path = path.replace("<credential_id>", "crd_1")
    path = path.replace("<user_id>", "usr_2").replace("<endpoint_id>", "whe_1")
    path = path.replace("<hook_id>", "hok_1")
    return re.sub("<.*?>", "x", path)


async def test_mailings_lists_and_texts_have_their_place_and_key_in_the_rail(owner):
    page = await owner.get("/app/org_1/mailings")
    rail = {each["href"]: each for tag, each in page.tags if tag == "a" and each.get("data-go")}
    keys = [each["data-go"] for each in rail.values()]
    assert len(keys) == len(set(keys))
    for name in ("mailings", "lists", "texts"):
        assert rail[f"/app/org_1/{name}"]["data-go"]
    assert rail["/app/org_1/mailings"]["aria-current"] == "page"


async def test_every_field_that_filters_is_declared(owner):
    for route in (each for each in GETS if each.access.roles):
        page = await owner.get(path_of(route))
        assert not undeclared(page, ROUTES), route.path


@sweep("route", GUARDED, named)
async def test_who_is_not_signed_in_is_sent_to_sign_in(route, stranger, gateway):
    page = await stranger.ask(route.method, path_of(route), **FORM)
    assert page.status == 303
    assert page.location.startswith("/sign-in")
    assert gateway.done == []


@sweep("route", OF_ORGANIZATION, named)
async def test_another_organizations_member_finds_nothing(route, owner, gateway):
    page = await owner.ask(route.method, path_of(route, "org_2"), **FORM)
    assert page.status == 404
    assert "There is no such page" in page.text
    assert "org_2" not in page.text.replace(path_of(route, "org_2"), "")
    assert gateway.done == []


@sweep("route", [r for r in ROUTES if r.access in TOO_LOW], named)
async def test_the_wrong_role_is_told_so(route, reader_as, gateway):
    page = await reader_as(TOO_LOW[route.access]).ask(route.method, path_of(route), **FORM)
    assert page.status == 403
    assert "of this organization may do this" in page.text
    assert gateway.done == []


@sweep("route", POSTS, named)
@sweep("fields", [{}, {"form_token": "wrong"}, {"form_token": ""}])
async def test_a_form_without_its_mark_is_refused(route, fields, owner, gateway):
    page = await owner.post(path_of(route), fields)
    assert page.status == 403
    assert "reload the page" in page.text
    assert gateway.done == []
    assert gateway.people.browsers == []


@sweep("route", POSTS, named)
async def test_a_form_of_another_session_or_another_site_is_refused(
    route, reader_as, stranger, gateway
):
    owner, other = reader_as(), reader_as()
    theirs = (await other.get("/app/org_1/keys/new")).field("form_token")
    assert (await owner.post(path_of(route), {"form_token": theirs})).status == 403
    own = (await owner.get("/app/org_1/keys/new")).field("form_token")
    for headers in ({"origin": "https://evil.example"}, {"sec_fetch_site": "cross-site"}):
        assert (await owner.post(path_of(route), {"form_token": own}, **headers)).status == 403
    assert gateway.done == []


@sweep("route", [route for route in ROUTES if route.once], named)
async def test_what_is_done_once_needs_its_key(route, owner, gateway):
    mark = (await owner.get("/app/org_1/keys/new")).field("form_token")
    page = await owner.post(path_of(route), {"form_token": mark, "name": "x"})
    assert page.status == 409
    assert gateway.done == []


@sweep("route", GETS, named)
@pytest.mark.parametrize(
    "role",
    [
        *(None, Role.OWNER),
        *(pytest.param(role, marks=pytest.mark.long) for role in (Role.DEVELOPER, Role.VIEWER)),
    ],
)
async def test_nothing_stands_inline_and_every_header_is_there(route, role, reader_as):
    page = await reader_as(role).get(path_of(route))
    assert page.headers["content-security-policy"] == POLICY
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] in ("same-origin", "no-referrer")
    assert_nothing_inline(page)


def test_pages_are_in_nobodys_frame_and_bring_nothing_from_elsewhere():
    told = dict(each.strip().split(" ", 1) for each in POLICY.split(";"))
    assert told == {
        "default-src": "'self'",
        "frame-ancestors": "'none'",
        "form-action": "'self'",
        "base-uri": "'none'",
    }


@sweep("route", GETS, named)
async def test_a_strangers_pages_too(route, stranger):
    assert_nothing_inline(await stranger.get(path_of(route)))


def takes(method: str, address: str) -> bool:
    """Whether a page, or the API beside them, takes a form at this address."""
    path = address.partition("?")[0]
    return any(
        route.method == method and re.fullmatch(re.sub("<.*?>", "[^/]+", route.path), path)
        for route in ROUTES
    )


@sweep("route", GETS, named)
async def test_every_form_has_somewhere_to_go(route, owner):
    """A form that leads nowhere is noticed by its reader alone."""
    page = await owner.get(path_of(route))
    forms = [each for tag, each in page.tags if tag == "form"]
    for form in forms:
        assert takes((form.get("method") or "get").upper(), form["action"]), form["action"]


@sweep("role", [Role.OWNER, Role.DEVELOPER, Role.VIEWER])
@sweep("mode", ["", "?mode=test"])
async def test_whatever_a_page_leads_to_is_there(role, mode, reader_as):
    """The rail, the dock, the menus and the first page's own links: none is a dead end."""
    reader = reader_as(role)
    page = await reader.get(f"/app/org_1/overview{mode}")
    own = {each["href"] for tag, each in page.tags if tag == "a" and each["href"][0] == "/"}
    assert {"/app/org_1/messages" + mode, "/account"} <= own
    for address in sorted(own - {"/docs"}):
        assert (await reader.get(address)).status in (200, 303), address


CONTRACT = (
    *("overview", "messages", "messages/new", "messages/<message_id>", "inbound", "verify"),
    *("verify/settings", "verify/try", "senders", "keys", "keys/<key_id>", "webhooks"),
    *("webhooks/<endpoint_id>", "billing", "members", "settings", "start"),
)


def test_the_stable_addresses_are_there():
    there = {route.path for route in ROUTES if route.method == "GET"}
    assert {f"/app/<org>/{page}" for page in CONTRACT} <= there
    assert {"/", "/sign-in", "/sign-up", "/sign-out", "/app"} <= there


def test_the_policy_is_the_contracts():
    assert POLICY == (
        "default-src 'self'; frame-ancestors 'none'; form-action 'self'; base-uri 'none'"
    )


@sweep("path", ["/app/org_1/nope", "/app/org_2/nope", "/sign-in/x", "/app/org_1/keys/"])
async def test_pages_that_are_not_there(path, owner, stranger):
    for reader in (owner, stranger):
        page = await reader.get(path)
        assert page.status == 404
        assert "There is no such page" in page.text
        assert re.search(r"req_[0-9A-Z]{32}", page.text)[0] == page.headers["x-request-id"]


@pytest.mark.parametrize("path", ["/operator", "/operator/overview"])
async def test_the_console_is_no_page_of_the_dashboard(path, owner, stranger):
    """Where it has an address of its own, nobody finds it at this one."""
    for reader in (owner, stranger):
        page = await reader.get(path)
        assert page.status == 404
        assert "There is no such page" in page.text


async def test_a_method_that_a_page_does_not_take(owner):
    page = await owner.ask("DELETE", "/app/org_1/keys")
    assert page.status == 405
    assert page.headers["allow"] == "GET, HEAD, POST"

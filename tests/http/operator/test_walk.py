"""Every page of the console, from its table of routes, by all who have no business there."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from contextlib import closing
from urllib.parse import urlencode

import pytest
import trio

from cases import sweep
from filter_sweep import cases as filter_cases
from filter_sweep import rows_of, undeclared
from risala.http.dashboard.app import ROUTES as CUSTOMERS
from risala.http.dashboard.app import create_dashboard
from risala.http.operator.app import NAVIGATION, ROUTES
from risala.http.web.face import PageAccess
from risala.http.web.lists import FilterKind
from risala.http.web.page_request import POLICY
from web_browser import assert_nothing_inline

FORM = {"content_type": "application/x-www-form-urlencoded"}
GUARDED = [route for route in ROUTES if route.access is not PageAccess.PUBLIC]
POSTS = [route for route in ROUTES if route.method == "POST"]
GETS = [route for route in GUARDED if route.method == "GET" and not route.path.endswith("/live")]
SEEN = ("web_sessions", "meta")
"""When somebody was last seen is written down whatever they do; and what the service notes of
itself, as that its first upkeep is over, whenever that is."""


def path_of(route) -> str:
    return re.sub("<.*?>", "x", route.path)


def digest(post) -> dict[str, str]:
    """Of every table."""
    found: dict[str, str] = {}
    with closing(sqlite3.connect(post.database)) as database, database:
        names = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        for (name,) in database.execute(names).fetchall():
            if name not in SEEN:
                rows = database.execute(f'SELECT * FROM "{name}"').fetchall()
                found[name] = hashlib.sha256(repr(sorted(map(repr, rows))).encode()).hexdigest()
    database.close()
    return found


def test_all_of_it_is_an_operators_or_the_way_in():
    assert {route.access for route in ROUTES} == {PageAccess.PUBLIC, PageAccess.OPERATOR}
    assert all(route.path.startswith("/operator") for route in GUARDED)
    public = {route.path for route in ROUTES} - {route.path for route in GUARDED}
    assert public == {
        *("/", "/operator", "/operator/", "/operator/outbox"),
        *("/operator/sign-in", "/operator/sign-in/link/<token>", "/operator/sign-out"),
        *("/operator/sign-in/oidc", "/operator/sign-in/oidc/callback"),
        *("/operator/language", "/operator/theme"),
    }


@pytest.mark.slow
async def test_whoever_is_refused_has_changed_nothing(post, operator, browser_on, mock_clock):
    """Strangers, a customer's session under either name, and forms without their mark; under a
    clock that stands, so that nothing is written in its turn."""
    customers = await post.token("aicha@baraka.example", operator=False)
    mark = (await operator.get("/operator/account")).field("form_token")
    cookies = ({}, {"risala": customers}, {"risala-operator": customers}, {"risala-operator": "x"})
    before = digest(post)
    for route in GUARDED:
        for cookie in cookies:
            page = await browser_on(post.console, dict(cookie)).ask(
                route.method, path_of(route), **FORM
            )
            assert (page.status, page.location[:17]) == (303, "/operator/sign-in"), route.name
    for route in POSTS:
        for fields in ({}, {"form_token": "wrong"}):
            assert (await operator.post(path_of(route), fields)).status == 403, route.name
        for headers in ({"origin": "https://evil.example"}, {"sec_fetch_site": "cross-site"}):
            page = await operator.post(path_of(route), {"form_token": mark}, **headers)
            assert page.status == 403, route.name
        if route.once:
            page = await operator.post(path_of(route), {"form_token": mark})
            assert page.status == 409, route.name
    assert digest(post) == before


@pytest.mark.slow
async def test_an_operators_session_opens_no_page_of_a_customer(post, operator, browser_on):
    dashboard = create_dashboard(post.gateway, post.settings, shutdown=trio.Event())
    token = operator.cookies["risala-operator"]
    for cookie in ({"risala": token}, {"risala-operator": token}):
        reader = browser_on(dashboard, dict(cookie))
        for route in CUSTOMERS:
            if route.access is not PageAccess.PUBLIC:
                path = re.sub("<.*?>", "x", route.path.replace("<org>", post.organization_id))
                page = await reader.ask(route.method, path, **FORM)
                assert (page.status, page.location[:8]) == (303, "/sign-in"), route.name


async def test_who_is_no_operator_any_more_is_out(post, operator):
    assert (await operator.get("/operator/overview")).status == 200
    await post.do("user.set", email="mariem@risala.example", operator=False)
    assert (await operator.get("/operator/overview")).location.startswith("/operator/sign-in")


async def test_a_session_of_operators_is_not_enough(post, operator):
    """Nobody but an operator has one; the page asks all the same."""
    no_more = "UPDATE users SET operator = 0"
    await post.gateway.services.recorder.journal.commit(lambda conn: bool(conn.execute(no_more)))
    for user in (await post.do("user.list"))["users"]:
        post.gateway.people.sessions.forget(user["id"])
    assert (await operator.get("/operator/overview")).location.startswith("/operator/sign-in")


@sweep("route", GETS, lambda route: route.name)
async def test_nothing_stands_inline_and_every_header_is_there(route, operator):
    page = await operator.get(path_of(route))
    assert page.status in (200, 303, 404)
    assert page.headers["content-security-policy"] == POLICY
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["x-content-type-options"] == "nosniff"
    assert_nothing_inline(page)


async def test_whatever_the_rail_leads_to_is_there(operator):
    page = await operator.get("/operator/overview")
    own = {each["href"] for tag, each in page.tags if tag == "a" and each["href"][0] == "/"}
    assert "/operator/account" in own
    for address in sorted(own):
        found = await operator.get(address.partition("#")[0])
        assert found.status in (200, 303), address
    forms = [each for tag, each in page.tags if tag == "form" and each["method"] == "post"]
    taken = {route.path for route in POSTS}
    for form in forms:
        assert any(re.fullmatch(re.sub("<.*?>", "[^/]+", path), form["action"]) for path in taken)


def test_every_page_of_the_rail_has_a_key_of_its_own():
    keys = [item.key for group in NAVIGATION for item in group.items]
    assert len(set(keys)) == len(keys)


async def test_a_filter_that_is_not_understood_shows_no_rows(post, operator):
    for route, one, text in filter_cases(ROUTES):
        path = route.path.replace("<organization_id>", post.organization_id)
        asked = {"q": "36123456", one.name: text} if path.endswith("messages") else {one.name: text}
        address = f"{re.sub('<.*?>', 'x', path)}?{urlencode(asked)}"
        page = await operator.get(address)
        assert not undeclared(page, ROUTES), address
        if one.kind is FilterKind.WORDS and page.status == 200:
            assert rows_of(page) == 0, address
        elif page.status not in (303, 404):
            assert page.status == 422, (address, page.status)

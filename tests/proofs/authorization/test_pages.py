"""Each page, visited by everybody who could come."""

from __future__ import annotations

import re

import pytest
from proofs.authorization.expected import IN, PLACES, SIGN_IN, VISITED, Visitor

from risala.http.dashboard.app import ROUTES as CUSTOMERS
from risala.http.operator.app import ROUTES as OPERATORS
from risala.http.web.face import PageAccess
from web_browser import Reader

pytestmark = pytest.mark.slow
FORM = {"content_type": "application/x-www-form-urlencoded"}
ENDLESS = ("/live", "/piece", "/progress")
"""Streams: who may not come is refused; who may would read for ever."""
FEW = 7
every = pytest.mark.parametrize(
    "nth", [pytest.param(1, id="each route", marks=pytest.mark.long), pytest.param(FEW, id="some")]
)
"""``make test`` goes to some routes of each access; all of them have the walks of `tests/http`."""


def path_of(route, things):
    """The address, with what stands in its places; ``x`` where it is nothing of anybody."""
    return re.sub("<(.*?)>", lambda at: things.get(at[1], "x"), route.path)


def apps(city):
    return ((city.dashboard, CUSTOMERS), (city.console, OPERATORS))


@every
async def test_each_visitor_is_let_in_or_turned_away_as_expected(city, nth):
    before = await city.digest()
    for app, routes in apps(city):
        for who, told in VISITED.items():
            for access in told.keys() - {PageAccess.PUBLIC}:
                for route in [each for each in routes if each.access is access][::nth]:
                    await visit(city, app, route, who, told[access])
    after = await city.digest()
    looks = {"audit_log"}  # where it stands that a member looked
    changed = {name for name, found in after.items() if found != before[name]}
    assert changed <= looks, "whoever was refused, and whoever read, has changed nothing"


async def visit(city, app, route, who, wanted):
    reader = Reader(app, dict(city.cookies[who]))
    if wanted == IN and (route.method == "POST" or route.path.endswith(ENDLESS)):
        return  # forms of those who may are sent by `test_posts.py`
    page = await reader.ask(route.method, path_of(route, city.things["own"]), **FORM)
    where = (route.name, who, page.status, page.location)
    is_sign_in = page.status == 303 and "/sign-in" in (page.location or "")
    if wanted == IN:
        assert page.status in (200, 303, 404, 409), where
        assert not is_sign_in, where
    elif wanted == SIGN_IN:
        assert is_sign_in, where
        assert "Bonjour" not in page.text
    else:
        assert page.status == wanted, where


@every
async def test_the_right_session_does_nothing_without_the_mark_of_its_own_forms(city, nth):
    """None, nonsense, another session's, another person's of the same role; from elsewhere."""
    owner, other = (
        Reader(city.dashboard, dict(city.cookies[who]))
        for who in (
            Visitor.OWNER,
            Visitor.OTHER,
        )
    )
    boss = Reader(city.console, dict(city.cookies[Visitor.OPERATOR]))
    marks = [
        (await reader.get(path)).field("form_token")
        for reader, path in (
            (owner, "/account"),
            (other, "/account"),
            (boss, "/operator/account"),
        )
    ]
    before = await city.digest()
    for reader, routes, own in ((owner, CUSTOMERS, marks[0]), (boss, OPERATORS, marks[2])):
        for route in [each for each in routes if each.method == "POST"][::nth]:
            if "/link/" in route.path or route.path.endswith("sign-out"):
                continue
            path = path_of(route, city.things["own"])
            for mark in ("", "nonsense", *(each for each in marks if each != own)):
                page = await reader.post(path, {"form_token": mark})
                assert page.status == 403, (route.name, mark)
            for headers in (
                {"origin": "https://evil.example"},
                {"origin": "null"},
                {"sec_fetch_site": "cross-site"},
                {"sec_fetch_site": "same-site"},
                {"content_type": "text/plain"},
                {"content_type": "application/json"},
                {"content_type": "multipart/form-data; boundary=x"},
            ):
                page = await reader.post(path, {"form_token": own}, **headers)
                assert page.status in (400, 403, 415), (route.name, headers, page.status)
    assert await city.digest() == before


@every
async def test_a_method_in_a_field_or_a_header_is_no_method(city, nth):
    """A GET stays a look, whatever its query or its header say it is."""
    owner, before = Reader(city.dashboard, dict(city.cookies[Visitor.OWNER])), await city.digest()
    mark = (await owner.get("/account")).field("form_token")
    for route in [each for each in CUSTOMERS if each.method == "POST"][::nth]:
        if route.access is not PageAccess.PUBLIC:
            path = path_of(route, city.things["own"])
            for query in (f"?_method=POST&form_token={mark}", f"?form_token={mark}&confirm=x"):
                page = await owner.get(path + query, x_http_method_override="POST")
                assert page.status in (200, 303, 404, 405), route.name
            for method in ("PUT", "PATCH", "DELETE"):
                assert (await owner.ask(method, path, **FORM)).status == 405, route.name
    after = await city.digest()
    assert {name for name in after if after[name] != before[name]} <= {"audit_log"}


async def test_another_organizations_thing_is_not_reached_under_ones_own(city):
    """Each id that an address has, by its owner's neighbour, with a good mark and a good key."""
    owner, own = Reader(city.dashboard, dict(city.cookies[Visitor.OWNER])), city.things["own"]
    mark = (await owner.get("/account")).field("form_token")
    once, user_id = city.dashboard.site.once, city.users[Visitor.OWNER]
    before, tried = await city.digest(), set()
    for route in CUSTOMERS:
        if route.path.endswith(ENDLESS):
            continue  # its pieces are drawn by the same reads as the page that it belongs to
        names = set(re.findall("<(.*?)>", route.path)) & set(PLACES) - {"org"}
        for name in names:
            statuses = []
            for value in (city.things["other"][name], "x"):
                key = once.mint(user_id, city.clock.now_ms())
                fields = {"form_token": mark, "once": key, "confirm": "x", "role": "viewer"}
                path = path_of(route, {**own, name: value})
                posted = fields if route.method == "POST" else None
                page = await (owner.get(path) if posted is None else owner.post(path, posted))
                statuses.append(page.status)
            # What is wrong in a form is said first, whether there is such a thing or not.
            assert statuses[0] == statuses[1], (route.name, name, statuses)
            assert statuses[0] in (404, 400, 422), (route.name, name, statuses)
            tried.add(name)
    assert tried == set(PLACES) - {"org"}
    assert await city.digest() == before

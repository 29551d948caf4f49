"""What an operator's role reaches in the console, and what its pages leave out."""

from __future__ import annotations

import re

import pytest

from risala.engine.gateway.table import OPERATIONS
from risala.engine.model.callers import Caller, CallerKind, OperatorRole, Role
from risala.http.operator.app import ROUTES
from risala.http.web.face import PageAccess
from web_browser import Reader

pytestmark = pytest.mark.slow
GUARDED = [route for route in ROUTES if route.access is PageAccess.OPERATOR]
SECURITY = "/operator/account/security"
OWN = {
    *("/operator/account", "/operator/account/sign-out", "/operator/again"),
    *("/operator/account/fresh", SECURITY),
    *(f"{SECURITY}/{page}" for page in ("app", "passkey", "remove", "codes")),
}
"""Pages of one's own account and one's own forms, for every operator."""
LESSER = [role for role in OperatorRole if role is not OperatorRole.ADMINISTRATOR]


def may(route, role):
    caller = Caller("x", CallerKind.CONSOLE, Role.OPERATOR, operator_role=role)
    return route.needs is None or OPERATIONS[route.needs.name].allows(caller)


async def reader_as(post, role):
    email = f"{role}@risala.example"
    await post.do("user.create", email=email, operator_role=role.value)
    return Reader(post.console, {"risala-operator": await post.token(email, operator=True)})


def test_each_page_says_which_operation_it_is_for():
    without = {route.path for route in GUARDED if route.needs is None}
    everybodys = {"/operator/unsent", "/operator/handbook", "/operator/handbook/<chapter>"}
    assert without <= OWN | everybodys, without - OWN


async def test_each_role_reaches_what_it_may_and_sees_no_way_to_the_rest(post):
    things = {"organization_id": post.organization_id, "carrier": "fake"}
    await post.do(
        "sender.request", organization_id=post.organization_id, name="BARAKA", description="Notices"
    )
    for role in LESSER:
        reader, refused, ways = await reader_as(post, role), 0, set()
        for route in GUARDED:
            path = re.sub("<(.*?)>", lambda at: things.get(at[1], "x"), route.path)
            if route.method == "POST" or path.endswith("/live"):
                continue
            page = await reader.get(path)
            if may(route, role):
                assert page.status != 403, (role, path)
                ways |= {
                    ("POST", way) for way in re.findall(r'method="post" action="([^"]+)', page.text)
                }
                ways |= {
                    ("GET", way)
                    for way in re.findall(r'<a [^>]*href="(/operator/[^"]+)', page.text)
                }
            else:
                assert page.status == 403, (role, path)
                assert "Ask an administrator." in page.text
                refused += 1
        assert refused > 5
        for method, way in ways:
            for route in GUARDED:
                if route.method == method and route.pattern.fullmatch(way.partition("?")[0]):
                    assert may(route, role), (role, method, way)
                    break


async def test_a_viewer_sees_no_address_of_a_member(post):
    await post.do(
        "member.add",
        organization_id=post.organization_id,
        email="fatou@baraka.example",
        role="owner",
    )
    reader = await reader_as(post, OperatorRole.VIEWER)
    for page in ("organizations", f"organizations/{post.organization_id}"):
        text = (await reader.get(f"/operator/{page}")).text
        assert "fatou@" not in text
        assert "f…@baraka.example" in text


async def test_an_administrator_gives_a_role_and_the_last_one_stays(post, operator):
    reader = await reader_as(post, OperatorRole.SUPPORT)
    assert (await reader.get("/operator/organizations/new")).status == 403
    page = await operator.get("/operator/users/one?email=support@risala.example")
    mark, version = page.field("form_token"), page.field("version")
    form = {"form_token": mark, "version": version, "email": "support@risala.example"}
    assert (await operator.post("/operator/users/role", {**form, "role": "finance"})).status == 303
    assert (await reader.get("/operator/organizations/new")).status == 200, "it holds at once"
    again = await operator.post("/operator/users/role", {**form, "role": "viewer"})
    assert again.status == 422, "somebody changed it since the form was drawn"
    own = await operator.get("/operator/users/one?email=mariem@risala.example")
    form = {"form_token": mark, "version": own.field("version"), "email": "mariem@risala.example"}
    last = await operator.post("/operator/users/role", {**form, "role": "viewer"})
    assert last.status == 422
    assert "need an administrator" in last.text
    refused = await reader.post("/operator/users/role", {**form, "role": "administrator"})
    assert refused.status == 403

"""Users in the console: found, and signed out; no page gives a way in."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
import trio

from risala.http.dashboard.app import create_dashboard

LIST = "/operator/users"
AICHA = "aicha@baraka.example"
MARIEM = "mariem@risala.example"


def one(email: str) -> str:
    return f"{LIST}/one?email={quote(email, safe='')}"


async def test_users_are_found_and_operators_are_marked(post, operator):
    text = (await operator.get(LIST)).text
    assert text.index(one(AICHA)) < text.index(one(MARIEM))
    assert text.count('<span class="tag">Operator</span>') == 1
    text = (await operator.get(f"{LIST}?search=AICHA")).text
    assert AICHA in text
    assert one(MARIEM) not in text
    text = (await operator.get(f"{LIST}?kind=operators")).text
    assert one(MARIEM) in text
    assert AICHA not in text
    assert "No user matches" in (await operator.get(f"{LIST}?search=nobody")).text
    assert (await operator.get(f"{LIST}/one?email=nobody@x.example")).status == 404
    assert (await operator.get(f"{LIST}/one")).location == LIST


async def test_the_list_goes_on_and_back(post, operator):
    for number in range(60):
        await post.do("user.create", email=f"shop{number:02}@x.example")
    page = await operator.get(f"{LIST}?search=shop")
    assert "shop49@" in page.text
    assert "shop50@" not in page.text
    after = next(each["href"] for tag, each in page.tags if each.get("rel") == "next")
    page = await operator.get(after)
    assert "shop50@" in page.text
    assert "shop59@" in page.text
    before = next(each["href"] for tag, each in page.tags if each.get("rel") == "prev")
    page = await operator.get(before)
    assert "shop00@" in page.text
    assert "shop50@" not in page.text


async def test_one_shows_where_they_are(post, operator):
    await post.token(AICHA, operator=False)
    page = await operator.get(one(AICHA))
    assert f"/operator/organizations/{post.organization_id}" in page.text
    assert "owner" in page.text
    assert page.text.count('name="session_id"') == 1


@pytest.mark.parametrize("which", ["one", "all"])
async def test_sessions_are_ended(post, operator, browser_on, which):
    dashboard = create_dashboard(post.gateway, post.settings, shutdown=trio.Event())
    tokens = [await post.token(AICHA, operator=False) for _ in range(2)]
    theirs = [browser_on(dashboard, {"risala": token}) for token in tokens]
    page = await operator.get(one(AICHA))
    fields = {"email": AICHA}
    if which == "one":
        fields["session_id"] = re.search(r'name="session_id" value="([^"]+)"', page.text)[1]
    done = await operator.submit(page, f"{LIST}/sign-out", fields)
    assert done.location == one(AICHA)
    whose = f"/app/{post.organization_id}/overview"
    status = sorted([(await each.get(whose)).status for each in theirs])
    assert status == ([200, 303] if which == "one" else [303, 303])
    told = (await post.do("audit.list", operation="user.sign_out"))["lines"][0]
    assert (told["who"], told["face"]) == (MARIEM, "console")
    assert (await operator.get(one(AICHA))).status == 200


async def test_a_way_in_and_an_operator_are_made_at_the_machine_alone(post, operator):
    page = await operator.get(one(AICHA))
    assert f"risala user sign-in {AICHA}" in page.text
    assert {each["action"] for tag, each in page.tags if tag == "form"} <= {
        *("/operator/users/sign-out", "/operator/language", "/operator/theme"),
        *("/operator/sign-out", "/operator/search"),
    }
    lines = (await post.do("audit.list", operation="user.sign_in"))["lines"]
    assert {each["face"] for each in lines} == {"cli"}

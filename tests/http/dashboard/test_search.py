"""The search over everything on pages: the field, the page without script, and the panel's list."""

import re

import pytest

from risala.engine.features.search.nouns import NOUNS
from risala.engine.model.callers import Role
from risala.engine.model.errors import RateLimited
from risala.engine.model.features import features
from risala.http.dashboard.app import ROUTES
from risala.http.operator.app import ROUTES as CONSOLE
from risala.http.web.search import KINDS
from web_browser import assert_nothing_inline

PAGE = "/app/org_1/search"
DECLARED = (*NOUNS, *(one for each in features() if each.findable for one in each.findable()))


def asked(gateway):
    return [arguments for done, arguments in gateway.done if done == "search.find"]


async def test_each_page_has_the_field_and_the_panel(owner):
    page = await owner.get("/app/org_1/keys")
    assert 'action="/app/org_1/search"' in page.text
    assert 'role="combobox"' in page.text
    assert 'href="/app/org_1/search" data-seek-open' in page.text
    assert_nothing_inline(page)
    assert "search" not in re.findall(r'data-go="\w" href="/app/org_1/(\w+)', page.text)


async def test_the_page_shows_what_is_found_and_where_it_leads(owner, gateway):
    assert asked(gateway) == []
    assert (await owner.get(PAGE)).status == 200
    assert asked(gateway) == [], "nothing is looked for without words"
    page = await owner.get(f"{PAGE}?q=+36++12")
    assert page.status == 200
    assert_nothing_inline(page)
    assert asked(gateway) == [{"organization_id": "org_1", "query": "36 12", "mode": "live"}]
    links = re.findall(r'<a href="([^"]+)" data-row>', page.text)
    assert links == [
        *("/app/org_1/messages/sms_failed", "/app/org_1/messages/sms_delivered"),
        *("/app/org_1/verify/ver_1", "/app/org_1/keys/key_1?mode=test", "/app/org_1/senders"),
        *("/app/org_1/lists/lst_1?q=%2B22236120001", "/app/org_1/billing/payments/pay_1"),
        "/app/org_1/later/1",
    ]
    assert "Shop &lt;key&gt;" in page.text
    assert "السلام عليكم &lt;b&gt;" in page.text
    assert "8 results" in re.sub(r"<[^>]+>", "", page.text)
    for heading in ("Messages", "API keys", "People on lists", "Other"):
        assert re.search(rf'<h2 id="kind-\d">{heading}</h2>', page.text), heading
    assert 'href="/app/org_1/messages?q=36+12"' in page.text


async def test_a_whole_id_opens_what_it_is_of(owner):
    page = await owner.get(f"{PAGE}?q=sms_{'0' * 32}")
    assert page.status == 200, "nothing has it"
    page = await owner.get(f"{PAGE}?q=sms_failed")
    assert page.status == 200, "it is no whole id"


async def test_the_panel_gets_options_and_what_is_told(owner):
    page = await owner.get(f"{PAGE}/found?q=many")
    assert page.status == 200
    assert page.text.lstrip().startswith("<p data-told hidden>")
    assert "there is more" in page.text
    assert page.text.count('role="option"') == 9  # with the one that leads to all messages
    assert "<html" not in page.text
    none = await owner.get(f"{PAGE}/found?q=none")
    assert "Nothing has these words." in none.text
    short = await owner.get(f"{PAGE}/found?q=n")
    assert 'role="option"' not in short.text
    assert "Type at least two characters." in short.text


async def test_pages_are_found_by_their_names(reader_as):
    for role, is_there in ((Role.OWNER, True), (Role.VIEWER, False)):
        page = await reader_as(role).get(f"{PAGE}?q=settings")
        assert ('<a href="/app/org_1/settings" data-row>' in page.text) is is_there


async def test_tests_are_searched_where_tests_are_shown(owner, gateway):
    page = await owner.get(f"{PAGE}?mode=test&q=3456")
    assert asked(gateway)[0]["mode"] == "test"
    assert '<input type="hidden" name="mode" value="test">' in page.text
    assert 'href="/app/org_1/messages?mode=test&amp;q=3456"' in page.text


async def test_more_searches_than_somebody_types_are_refused_in_words(owner, gateway):
    async def perform(wanted, arguments, caller, perform=gateway.perform):
        if wanted == "search.find":
            raise RateLimited("search", 9, "There are too many searches.")
        return await perform(wanted, arguments, caller)

    gateway.perform = perform
    assert (await owner.get(f"{PAGE}?q=3456")).status == 429


def test_a_viewer_may_search():
    routes = [each for each in ROUTES if each.path.startswith("/app/<org>/search")]
    assert [Role.VIEWER in each.access.roles for each in routes] == [True, True]


def test_each_kind_has_a_page_and_a_name():
    for kind in DECLARED:
        assert kind.kind in KINDS
        for page, base, routes in (
            (kind.page, "/app/org_1/", ROUTES),
            (kind.console, "/operator/", CONSOLE),
        ):
            path = base + (page or "search").format("x").partition("?")[0]
            shows = [each for each in routes if each.method == "GET"]
            assert any(each.pattern.fullmatch(path) for each in shows), path


@pytest.mark.parametrize(
    ("words", "path"),
    [
        ("new key", "keys/new"),
        ("NEW MESS", "messages/new"),
        ("endpoint", "webhooks/new"),
        ("ask for", "senders/new"),
        ("new rule", "answers/new"),
    ],
)
async def test_what_can_be_made_is_found_by_whoever_may_make_it(reader_as, words, path):
    for role in (Role.OWNER, Role.DEVELOPER, Role.VIEWER):
        page = await reader_as(role).get(f"{PAGE}?q={words}")
        found = re.findall(r'<a href="([^"]+)" data-row>', page.text)
        assert (f"/app/org_1/{path}" in found) is (role is not Role.VIEWER), role

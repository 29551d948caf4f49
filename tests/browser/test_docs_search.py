"""The search of the documents' site: by its own index, from files, without a network."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect
from tests.docs.test_site import build, write_small

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    small = write_small(tmp_path_factory.mktemp("searched"))
    pages = {"page": "A lighthouse.", "fr/page": "Une clé perdue.", "ar/page": "مفتاح ضائع"}
    for name, words in pages.items():
        path = small / "docs" / f"{name}.md"
        path.write_text(path.read_text("utf-8").replace("</div>", f"{words}\n\n</div>"))
        if name != "ar/page":
            path.write_text(f"{path.read_text('utf-8')}\n{words}\n")
    done = build(small, small / "out")
    assert (done.returncode, done.stderr) == (0, "")
    return small / "out"


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("lighthouse", "docs/page.html"),
        ("clé", "docs/fr/page.html"),
        ("مفتاح", "docs/ar/page.html"),
        ("submarine", None),
    ],
)
def test_words_are_found_in_three_languages_without_a_network(browser: Browser, site, words, place):
    with browser.new_context(offline=True) as context:
        page, asked = context.new_page(), []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{(site / 'search.html').as_uri()}?q={words}")
        found = page.locator("#search-results ul.search li a")
        if place is None:
            expect(page.locator(".search-summary")).to_contain_text("did not match")
        else:
            expect(found.first).to_be_visible()
            assert [each.get_attribute("href").split("?")[0] for each in found.all()] == [place]
        assert [each for each in asked if not each.startswith("file:")] == []

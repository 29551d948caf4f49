"""The handbook as its readers see it: its contents, its chapters, and what is found in it."""

import re
from pathlib import Path

import pytest
from markupsafe import Markup

from risala.engine.model.people import Language
from risala.http.web import templates
from risala.http.web.face import PageAccess
from risala.http.web.handbook import chapters, pages, rendering
from risala.http.web.handbook.rendering import CodeBlock
from web_browser import assert_nothing_inline

PAGE = "/app/org_1/handbook"
CODES = f"{PAGE}/how-to.verify-a-phone-number"


def html_of(chapter, language=Language.ENGLISH):
    return "".join(
        part for part in rendering.draw(chapter, language, "").parts if isinstance(part, Markup)
    )


async def test_it_is_in_the_rail_and_lists_what_members_need(owner):
    page = await owner.get(PAGE)
    assert page.status == 200
    assert_nothing_inline(page)
    assert f'href="{CODES}" data-row>Verify a phone number</a>' in page.text
    assert 'data-go="h" aria-current="page"' in page.text
    for of_operators in ("how-to.back-up-and-restore", "tutorials.usb-modem", "The machine"):
        assert of_operators not in page.text


async def test_a_chapter_has_its_headings_its_links_and_its_code(owner):
    page = await owner.get(f"{CODES}?mode=test")
    assert_nothing_inline(page)
    assert page.text.count("<h1") == 1
    assert '<a href="#h-from-a-server">From a server</a>' in page.text
    assert '<h2 id="h-from-a-server">' in page.text
    assert 'href="tutorials.first-message?mode=test#h-send"' in page.text
    copied = re.search(r'data-copy="([^"]+)"', page.text)[1]
    assert copied.startswith("curl http"), "without the prompt"
    assert "verificationId" not in copied, "without what it answers"


async def test_it_is_in_the_readers_language_or_says_that_it_is_not(owner):
    owner.cookies["risala-language"] = "fr"
    page = await owner.get(CODES)
    assert "Vérifier un numéro de téléphone" in page.text
    assert "Ce chapitre est en anglais" not in page.text
    page = await owner.get(f"{PAGE}/how-to.connect.keycloak")
    assert "Ce chapitre est en anglais" in page.text
    assert '<article class="prose panel" lang="en" dir="ltr">' in page.text


@pytest.mark.parametrize(
    "name", ["nope", "all", "decisions.0001-src-layout-and-http", "fr.how-to.usb-modem", "..index"]
)
async def test_nothing_else_is_read(owner, name):
    assert (await owner.get(f"{PAGE}/{name}")).status == 404


async def test_words_are_found_in_it(owner):
    page = await owner.get(f"{PAGE}?q=Webhooks+RECEIVE")
    first = re.search(r'<a href="([^"]+)" data-row>', page.text)[1]
    assert first == f"{PAGE}/how-to.receive-webhooks"
    assert "has all of these words" in (await owner.get(f"{PAGE}?q=xyzzyx")).text
    assert "back-up" not in (await owner.get(f"{PAGE}?q=restore")).text
    found = chapters.with_words("restore", Language.ENGLISH, is_operator=True)
    assert "how-to/back-up-and-restore" in {each.chapter for each in found}


async def test_the_search_over_everything_finds_its_chapters(owner):
    page = await owner.get("/app/org_1/search?q=keep+keys")
    assert f'href="{PAGE}/how-to.keep-keys-safe"' in page.text


async def test_pages_lead_to_their_chapter(owner):
    page = await owner.get("/app/org_1/webhooks")
    assert f'href="{PAGE}/how-to.receive-webhooks"' in page.text
    pieces = Path(templates.__file__).with_suffix("") / "handbook/pieces.html"
    named = pieces.read_text(encoding="utf-8")
    fitting = re.findall(r'": "([a-z.-]+)"', named)
    assert len(fitting) > 20
    assert [each for each in fitting if rendering.chapter_of(each) is None] == []


def test_without_its_chapters_there_are_no_pages(monkeypatch, tmp_path):
    monkeypatch.setattr(chapters, "_WRITTEN", tmp_path)
    assert pages.routes("/app/<org>", PageAccess.VIEWER, "settings") == ()
    chapters.contents.cache_clear()
    try:
        assert chapters.contents() == ()
    finally:
        chapters.contents.cache_clear()


def test_accents_and_capitals_do_not_count():
    found = chapters.with_words("VERIFIER numero", Language.FRENCH, is_operator=False)
    assert {each.title for each in found[:2]} == {
        "Vérifier un numéro depuis une page web",
        "Vérifier un numéro de téléphone",
    }


@pytest.mark.slow
def test_each_chapter_is_whole_in_each_language():
    for chapter in sorted(chapters.known()):
        for language in Language:
            if chapters.language_of(chapter, language) is not language:
                continue
            drawn, html = rendering.draw(chapter, language, ""), html_of(chapter, language)
            assert drawn.title
            assert not re.search(r"<!--|<script|<div dir|style=|\x1e|<img", html), chapter
            assert all(part.text for part in drawn.parts if isinstance(part, CodeBlock))
            ids = set(re.findall(r' id="([^"]+)"', html))
            assert {each.anchor for each in drawn.headings} <= ids
            for to, anchor in re.findall(r'<a href="([\w.-]*)(?:#([^"]+))?"', html):
                there = rendering.chapter_of(to) if to else chapter
                assert there is not None, (chapter, to)
                spoken = chapters.language_of(there, language)
                if anchor and (spoken is language or not to):
                    assert f' id="{anchor}"' in html_of(there, spoken), (chapter, to, anchor)

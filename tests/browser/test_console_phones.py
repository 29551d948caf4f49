"""A phone's part of its carrier's page in a real browser: pairing, another phone that takes the
place, and forgetting, in each language."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from looking import wrong_on_any_screen
from risala.drivers.phone.devices import TYPED_CHARACTERS, TYPED_LENGTH
from risala.drivers.phone.page_words import WORDS

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PROGRAM = "serve_phones.py"
LANGUAGES = ["fr", "ar", "en"]
PHONE, OTHER = "samsung/SM-A145R", "xiaomi/redmi 9A"
THUMB = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
TOKEN = re.compile(f"[{TYPED_CHARACTERS}]{{{TYPED_LENGTH}}}")


def shown_token(main: Locator) -> str:
    """The private token in the answer of the page, once it is there."""
    answer = main.locator(".note.good")
    expect(answer).to_contain_text(TOKEN)
    return TOKEN.search(answer.inner_text())[0]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_page_of_a_phone_is_closed_to_anybody(look_at_console, console, language):
    page = look_at_console("/operator/overview", language)
    found = []
    for kind in ("paired", "alone"):
        found += wrong_on_any_screen(page, f"{console}/operator/carriers/{kind}-{language}")
    assert found == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_another_phone_takes_the_place(look_at_console, language):
    words = WORDS[language]
    page = look_at_console(f"/operator/carriers/waits-{language}", language, **THUMB)
    main = page.get_by_role("main")
    expect(main.get_by_role("heading", name=words.another.format(name=OTHER))).to_be_visible()
    asked = main.locator("details", has_text=words.replace.format(name=PHONE))
    sure = asked.get_by_role("button")
    expect(sure).to_be_hidden()
    asked.locator("summary").tap()
    expect(asked).to_contain_text(words.replace_confirm)
    sure.tap()
    expect(main.locator(".note.good")).to_contain_text(OTHER)
    expect(main.get_by_role("heading", name=OTHER, exact=True)).to_be_visible()
    main.locator("summary", has_text=words.forget.format(name=OTHER)).wait_for()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_phone_is_forgotten_and_its_token_with_it(look_at_console, language):
    words = WORDS[language]
    page = look_at_console(f"/operator/carriers/paired-{language}", language, **THUMB)
    main = page.get_by_role("main")
    expect(main.get_by_role("heading", name=PHONE, exact=True)).to_be_visible()
    main.get_by_role("button", name=words.show, exact=True).tap()
    before = shown_token(main)
    asked = main.locator("details", has_text=words.forget.format(name=PHONE))
    asked.locator("summary").tap()
    expect(asked).to_contain_text(words.forget_confirm)
    asked.get_by_role("button").tap()
    expect(main.get_by_role("heading", name=words.pairing)).to_be_visible()
    main.get_by_role("button", name=words.show, exact=True).tap()
    assert shown_token(main) != before


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_token_is_shown_when_it_is_asked_for(look_at_console, language):
    """Without script, and gone with the next page."""
    words, path = WORDS[language], f"/operator/carriers/alone-{language}"
    page = look_at_console(path, language, java_script_enabled=False)
    main = page.get_by_role("main")
    expect(main).to_contain_text(f"/carriers/alone-{language}/mobile/v1")
    assert not TOKEN.search(main.inner_text())
    main.get_by_role("button", name=words.show, exact=True).click()
    shown_token(main)
    page.goto(page.url.removesuffix("/ask"))
    assert not TOKEN.search(main.inner_text())

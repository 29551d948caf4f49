"""The search over everything in a real browser: by keyboard, on a phone, without script, dark."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from looking import violations, wrong_on_any_screen
from risala.engine.model.people import Language
from risala.http.web.languages import load_words

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HOME, PAGE = "/app/org_1/billing", "/app/org_1/search"
PHONE = {"width": 390, "height": 844}
SHOTS = os.environ.get("RISALA_SHOTS")
OPTIONS = "#seek-list [role=option]"


def shot(page, name: str) -> None:
    for width in (390, 1280) if SHOTS else ():
        page.set_viewport_size({"width": width, "height": 844})
        page.screenshot(path=Path(SHOTS or "") / f"{name}-{width}.png")


def chosen(page) -> str:
    """The text of the option that a screen reader is told of."""
    return page.evaluate(
        "document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))"
        ".innerText"
    )


@pytest.mark.parametrize(
    ("language", "colours"), [("en", "light"), ("fr", "dark"), ("ar", "light"), ("ar", "dark")]
)
def test_the_panel_is_right_in_every_language_and_theme(look, pages, language, colours):
    words = load_words(Language(language))
    page = look(HOME, language=language, color_scheme=colours)
    page.keyboard.press("Control+k")
    field = page.locator("#seek-text")
    expect(field).to_be_focused()
    assert field.get_attribute("aria-expanded") == "false"
    page.keyboard.type("3456")
    expect(page.locator(OPTIONS)).to_have_count(9)
    assert field.get_attribute("aria-expanded") == "true"
    expect(page.locator("#seek-told")).to_contain_text("8")
    expect(page.get_by_role("group", name=str(words.among("found", "Messages")))).to_be_visible()
    assert violations(page) == []
    shot(page, f"search-panel-{language}-{colours}")
    page.set_viewport_size(PHONE)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.keyboard.press("Escape")
    expect(page.locator("#seek-panel")).to_be_hidden()
    assert wrong_on_any_screen(page, f"{pages}{PAGE}?q=3456") == []
    shot(page, f"search-page-{language}-{colours}")


def test_it_is_used_by_keyboard_alone(look, pages):
    page = look(HOME)
    page.keyboard.press("/")  # a page without a field of its own
    expect(page.locator("#seek-text")).to_be_focused()
    page.keyboard.type("3456")
    expect(page.locator(OPTIONS)).to_have_count(9)
    assert "UNDELIV err:027" in chosen(page)
    page.keyboard.press("ArrowDown")
    assert "السلام عليكم <b>" in chosen(page)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert "All messages with" in chosen(page)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{pages}/app/org_1/messages/sms_failed")
    page.keyboard.press("Meta+k")
    expect(page.locator("#seek-text")).to_have_value("")
    page.keyboard.type("none")
    expect(page.locator("#seek-told")).to_contain_text("Nothing has these words.")
    expect(page.locator(OPTIONS)).to_have_count(1)
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.locator("#seek-text")).to_have_value("")


def test_a_page_with_a_field_of_its_own_keeps_its_key(look):
    page = look("/app/org_1/messages")
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()


def test_it_opens_from_the_rail_and_on_a_phone_from_the_bar(look, pages):
    page = look(HOME)
    page.locator("#seek").click()
    expect(page.locator("#seek-text")).to_be_focused()
    page.get_by_role("button", name="Close").click()
    page.set_viewport_size(PHONE)
    page.locator("[data-seek-open]").click()
    page.keyboard.type("3456")
    page.locator(OPTIONS).nth(1).click()
    page.wait_for_url(f"{pages}/app/org_1/messages/sms_delivered")


def test_nothing_of_it_is_stored_in_the_browser(look):
    page = look(HOME)
    page.keyboard.press("Control+k")
    page.keyboard.type("3456")
    expect(page.locator(OPTIONS)).to_have_count(9)
    assert "3456" not in page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert page.evaluate("document.cookie").find("3456") == -1


def test_without_script_it_is_a_page(look, pages):
    page = look(HOME, java_script_enabled=False)
    page.locator("#seek").fill("3456")
    page.locator("#seek").press("Enter")
    page.wait_for_url(f"{pages}{PAGE}?q=3456")
    expect(page.locator("main .seek-list a")).to_have_count(8)
    page.get_by_label("Number, word, name, id or its end").fill("none")
    page.get_by_role("main").get_by_role("button", name="Search").click()
    expect(page.get_by_text("Nothing has these words.")).to_be_visible()
    page.set_viewport_size(PHONE)
    page.locator("[data-seek-open]").click()
    page.wait_for_url(f"{pages}{PAGE}")

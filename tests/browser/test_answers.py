"""Automatic answers in a real browser: rules read, tried, written, by keyboard, without script."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from looking import wrong_on_any_screen
from patience import until
from risala.engine.model.people import Language
from risala.http.web.languages import load_words

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PAGE = "/app/org_1/answers"
OWNER, WRITER = "owner@demo.example", "36 12 00 78"
SHOTS = os.environ.get("RISALA_SHOTS")


@pytest.mark.parametrize(
    ("language", "colours"), [("en", "light"), ("fr", "dark"), ("ar", "light")]
)
def test_a_text_is_tried_on_the_page(look, pages, language, colours):
    words = load_words(Language(language))
    page = look(PAGE, language=language, color_scheme=colours)
    for path in (PAGE, f"{PAGE}/new", f"{PAGE}/rul_1"):
        assert wrong_on_any_screen(page, pages + path) == []
        for width in (390, 1280) if SHOTS else ():
            page.set_viewport_size({"width": width, "height": 844})
            name = f"answers-{path.rpartition('/')[2]}-{language}-{width}.png"
            page.screenshot(path=Path(SHOTS or "") / name, full_page=True)
    page.goto(pages + PAGE)
    page.get_by_label(str(words("Text")), exact=True).fill("Vos horaires ?")
    page.get_by_role("button", name=str(words("Try it"))).click()
    expect(page.get_by_role("status").filter(has_text="De 8 h")).to_be_visible()


def test_a_rule_is_written_by_keyboard(look, pages):
    page = look("/app/org_1/conversations")
    page.keyboard.press("g")
    page.keyboard.press("z")
    page.wait_for_url(pages + PAGE)
    page.goto(f"{pages}{PAGE}/new")
    page.get_by_label("Name").focus()
    page.keyboard.type("Hours")
    page.keyboard.press("Tab")
    page.keyboard.type("hours, horaires")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.get_by_label("The word may stand anywhere in the text")).to_be_checked()
    page.get_by_label("Answer in English").focus()
    page.keyboard.type("From 8 to 19.")
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Save").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(pages + PAGE)
    expect(page.get_by_text("The rule is saved.")).to_be_visible()


def test_without_script_everything_is_a_form(look, pages):
    page = look(PAGE, java_script_enabled=False)
    page.get_by_role("button", name="Answer again").click()
    expect(page.get_by_text("Automatic answers to this number leave again.")).to_be_visible()
    page.get_by_role("link", name="ترحيب").click()
    page.get_by_role("link", name="Delete").click()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("The rule is deleted.")).to_be_visible()
    assert page.url == pages + PAGE


def test_a_rule_answers_a_phone(open_page, demo):
    """On a real service: a rule is written on the page, a phone writes and reads the answer."""
    page = open_page(f"{demo.file['base_url']}/sign-in", viewport={"width": 1280, "height": 844})
    page.get_by_label("E-mail address").fill(OWNER)
    page.get_by_role("button", name="Send me a code").click()
    page.get_by_label("6-digit code").fill(demo.mailed_code(OWNER))
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/overview")
    page.goto(page.url.replace("/overview", "/answers/new"))
    page.get_by_label("Name").fill("Opening hours")
    page.get_by_label("Keywords").fill("ساعات, hours")
    page.get_by_label("The word may stand anywhere in the text").check()
    page.get_by_label("Answer in Arabic").fill("نفتح من الساعة 8 إلى الساعة 19.")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/answers")
    demo.risala("demo", "text", WRITER, "ما هي ساعات العمل؟")
    until(lambda: demo.texts("+22236120078") == ["نفتح من الساعة 8 إلى الساعة 19."], "the answer")
    page.goto(page.url.replace("/answers", "/conversations"))
    page.locator("#people a", has_text="36 12 00 78").click()
    expect(page.locator("#flow li.out")).to_contain_text("by the rule “Opening hours”")
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / "answers-thread.png", full_page=True)

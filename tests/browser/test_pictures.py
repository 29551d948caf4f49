"""Pictures that the server draws, in a real browser: three languages, dark, a phone, without
script; whoever sees no picture reads the same numbers in a table."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from looking import violations, wrong_on_any_screen
from risala.engine.model.people import Language
from risala.http.web.languages import load_words

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FIGURES, BILLING = "/app/org_1/verify/figures", "/app/org_1/billing"
PHONE = {"width": 390, "height": 844}
SHOTS = os.environ.get("RISALA_SHOTS")
SPOKEN = [("en", "light"), ("fr", "dark"), ("ar", "light"), ("ar", "dark")]


def shot(page, name: str) -> None:
    for width in (390, 1280) if SHOTS else ():
        page.set_viewport_size({"width": width, "height": 844})
        page.screenshot(path=Path(SHOTS or "") / f"{name}-{width}.png", full_page=True)


@pytest.mark.parametrize(("language", "colours"), SPOKEN)
def test_codes_day_by_day_are_drawn_and_told(look, pages, language, colours):
    words = load_words(Language(language))
    page = look(FIGURES, language=language, color_scheme=colours)
    assert wrong_on_any_screen(page, pages + FIGURES) == []
    page.goto(pages + FIGURES)
    whole = page.get_by_role("img", name=str(words("Codes asked for and entered, by day")))
    expect(whole).to_be_visible()
    strip = words("{name}: share entered of each day", name="\u2068Mattel\u2069")
    expect(page.get_by_role("img", name=str(strip.striptags()))).to_be_visible()
    tables = page.locator("summary", has_text=str(words("The numbers as a table")))
    expect(tables).to_have_count(3)
    for place in range(3):
        tables.nth(place).focus()
        page.keyboard.press("Enter")
    expect(
        page.locator("#h-daily-network").locator("xpath=../..").get_by_role("row")
    ).to_have_count(31)
    assert violations(page) == []
    shot(page, f"codes-{language}-{colours}")
    page.set_viewport_size(PHONE)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


@pytest.mark.parametrize(("language", "colours"), SPOKEN)
def test_the_balance_is_a_line_that_goes_on_to_where_it_ends(look, pages, language, colours):
    words = load_words(Language(language))
    page = look(BILLING, language=language, color_scheme=colours)
    line = page.get_by_role("img", name=str(words("Balance at the end of each day")))
    expect(line).to_be_visible()
    expect(line.locator(".l3")).to_have_count(1)
    expect(line.locator(".l1")).to_have_count(1)
    pace = str(words("At the pace of the last week"))
    expect(page.get_by_text(pace, exact=True)).to_be_visible()
    shot(page, f"balance-{language}-{colours}")
    page.goto(f"{pages}{BILLING}?month=2026-10")
    expect(line.locator(".l3")).to_have_count(1)
    expect(line.locator(".l1")).to_have_count(0)  # a month that is over does not go on


@pytest.mark.parametrize(("language", "colours"), SPOKEN)
def test_the_console_shows_where_messages_go_and_by_whom(
    look_at_console, console, language, colours
):
    words = load_words(Language(language))
    page = look_at_console("/operator/overview", language, color_scheme=colours)
    places = page.get_by_role("region", name=str(words("Where messages go")))
    expect(places.get_by_role("listitem").first).to_contain_text("Mattel")
    widths = places.get_by_role("listitem").evaluate_all(
        "all => all.map((each) => each.getBoundingClientRect().width)"
    )
    assert widths == sorted(widths, reverse=True), "as wide as they are many"
    assert wrong_on_any_screen(page, f"{console}/operator/overview") == []
    shot(page, f"where-{language}-{colours}")
    page.goto(f"{console}/operator/carriers")
    beside = page.get_by_role("region", name=str(words("Side by side")))
    expect(beside.get_by_role("row")).to_have_count(3)
    expect(beside.locator("svg.times")).to_have_count(2)
    assert wrong_on_any_screen(page, f"{console}/operator/carriers") == []
    shot(page, f"beside-{language}-{colours}")


def test_pictures_need_no_script(look, look_at_console):
    for path in ("/operator/overview", "/operator/carriers"):
        page = look_at_console(path, java_script_enabled=False)
        expect(page.locator(".places, .times").first).to_be_visible()
    for path in (FIGURES, BILLING):
        page = look(path, java_script_enabled=False)
        expect(page.locator("main svg[role=img]").first).to_be_visible()

"""Mailings that repeat in a real browser: read on any screen, made by keyboard."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from looking import wrong_on_any_screen

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PAGE = "/app/org_1/repeats"
SHOTS = os.environ.get("RISALA_SHOTS")


@pytest.mark.parametrize(
    ("language", "colours"), [("en", "light"), ("fr", "dark"), ("ar", "light")]
)
def test_they_are_read_on_any_screen(look, pages, language, colours):
    page = look(PAGE, language=language, color_scheme=colours)
    for path in (PAGE, f"{PAGE}/new", f"{PAGE}/rpt_1", f"{PAGE}/rpt_3"):
        assert wrong_on_any_screen(page, pages + path) == []
        for width in (390, 1280) if SHOTS else ():
            page.set_viewport_size({"width": width, "height": 844})
            name = f"repeats-{path.rpartition('/')[2]}-{language}-{width}.png"
            page.screenshot(path=Path(SHOTS or "") / name, full_page=True)


def test_one_is_made_by_keyboard(look, pages):
    page = look("/app/org_1/mailings")
    page.keyboard.press("g")
    page.keyboard.press("j")
    page.wait_for_url(pages + PAGE)
    page.goto(f"{pages}{PAGE}/new")
    page.get_by_label("Name", exact=True).focus()
    page.keyboard.type("Rent")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.type("Due")
    page.get_by_role("button", name="Save").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"{pages}{PAGE}/rpt_1")
    expect(page.get_by_text("It is saved, and begins by itself")).to_be_visible()

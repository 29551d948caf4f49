"""Alarms in a real browser: read on any screen, made and raised by keyboard."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from looking import wrong_on_any_screen

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PAGE = "/app/org_1/alarms"
SHOTS = os.environ.get("RISALA_SHOTS")


@pytest.mark.parametrize(
    ("language", "colours"), [("en", "light"), ("fr", "dark"), ("ar", "light")]
)
def test_they_are_read_on_any_screen(look, pages, language, colours):
    page = look(PAGE, language=language, color_scheme=colours)
    for path in (PAGE, f"{PAGE}/new", f"{PAGE}/alc_1", f"{PAGE}/raised/alm_1"):
        assert wrong_on_any_screen(page, pages + path) == []
        for width in (390, 1280) if SHOTS else ():
            page.set_viewport_size({"width": width, "height": 844})
            name = f"alarms-{path.rpartition('/')[2]}-{language}-{width}.png"
            page.screenshot(path=Path(SHOTS or "") / name, full_page=True)


def test_one_is_made_by_keyboard(look, pages):
    page = look("/app/org_1/connect")
    page.keyboard.press("g")
    page.keyboard.press("p")
    page.wait_for_url(pages + PAGE)
    page.goto(f"{pages}{PAGE}/new")
    page.get_by_label("Name", exact=True).focus()
    page.keyboard.type("Cold room")
    page.keyboard.press("Tab")
    page.keyboard.type("36123456 mon-fri 08:00-18:00")
    page.get_by_role("button", name="Save").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"{pages}{PAGE}/alc_1")
    expect(page.get_by_text("It is saved.")).to_be_visible()


def test_one_is_raised_without_script(look, pages):
    page = look(f"{PAGE}/alc_1", java_script_enabled=False)
    page.get_by_label("What has happened").fill("9 degrees")
    page.get_by_role("button", name="Raise the alarm").click()
    page.wait_for_url(f"{pages}{PAGE}/raised/alm_1")
    page.get_by_role("button", name="End the alarm").click()
    expect(page.get_by_text("The alarm has ended: nobody is written to any more.")).to_be_visible()

"""Billing in a real browser: the month in the first screen, forms behind their buttons."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from looking import violations, wrong_on_any_screen
from risala.engine.model.people import Language
from risala.http.web.languages import load_words

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PAGE = "/app/org_1/billing"
SHOTS = os.environ.get("RISALA_SHOTS")


@pytest.mark.parametrize(
    ("language", "colours"), [("en", "light"), ("fr", "dark"), ("ar", "light")]
)
def test_the_month_is_read_at_one_look(look, pages, language, colours):
    words = load_words(Language(language))
    page = look(PAGE, language=language, color_scheme=colours)
    assert wrong_on_any_screen(page, pages + PAGE) == []
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        page.goto(pages + PAGE)
        row = page.locator(".measure").first
        expect(row).to_be_visible()
        box = row.bounding_box()
        assert box is not None
        # Above the dock of a phone, below the notes of two payments that wait.
        assert box["y"] + box["height"] / 2 < 844 - 60
        shot(page, f"billing-{language}-{width}-closed")
        for summary in (words("Day by day"), words("By key and mailing")):
            page.locator("summary", has_text=str(summary)).click()
        expect(page.get_by_text("Autumn")).to_be_visible()
        assert violations(page) == []
        shot(page, f"billing-{language}-{width}")


def shot(page, name):
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)


def test_the_form_is_behind_its_button_by_keyboard(look):
    page = look(PAGE)
    amount = page.get_by_label("Amount")
    expect(amount).to_be_hidden()
    page.locator("summary", has_text="Top up").focus()
    page.keyboard.press("Enter")
    expect(amount).to_be_visible()
    assert violations(page) == []
    shot(page, "billing-top-up")


@pytest.mark.parametrize("script", [True, False])
def test_it_needs_no_script(look, pages, script):
    page = look(PAGE, java_script_enabled=script)
    page.locator("summary", has_text="Top up").click()
    expect(page.get_by_label("Amount")).to_be_visible()
    page.get_by_role("link", name="Oct 2026").click()
    page.wait_for_url(f"{pages}{PAGE}?month=2026-10")
    expect(page.get_by_role("heading", name="Oct 2026")).to_be_visible()
    page.locator("summary", has_text="All entries").click()
    expect(page.get_by_role("heading", name="Statement", exact=True)).to_be_visible()


def test_a_month_is_downloaded(look):
    page = look(PAGE)
    with page.expect_download() as download:
        page.get_by_role("link", name="Statement (PDF)").click()
    assert download.value.suggested_filename == "statement-2026-11.pdf"
    assert Path(download.value.path()).read_bytes().startswith(b"%PDF-")


def test_a_receipt_has_a_button_to_print(look):
    page = look(f"{PAGE}/receipts/1")
    page.evaluate("window.print = () => { document.title = 'printed' }")
    page.get_by_role("button", name="Print").click()
    assert page.title() == "printed"

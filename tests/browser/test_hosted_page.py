"""The page on which a customer's user sees what to send: on a desktop a QR code, on a phone a link,
in each language, also without script."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from looking import violations, wrong_on_any_screen
from risala.engine.model.people import Language
from risala.http.web.languages import load_words
from web_verify import HOSTED

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PAGES = (f"/v/{HOSTED}", f"/v/call-{HOSTED}")
SHOTS = os.environ.get("RISALA_SHOTS")


@pytest.mark.parametrize("path", PAGES, ids=["text", "call"])
@pytest.mark.parametrize("language", ["en", "fr", "ar"])
def test_a_stranger_sees_what_to_do(look, pages, language, path):
    words = load_words(Language(language))
    page = look(path, "", language)
    expect(page.locator("#state")).to_have_attribute("data-state", "waiting")
    what = "Waiting for the call…" if "call-" in path else "Waiting for the text…"
    expect(page.get_by_role("status").filter(has_text=str(words(what)))).to_be_visible()
    expect(page.locator(".on-desktop")).to_be_visible()
    expect(page.locator(".on-phone")).to_be_hidden()
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"hosted-{language}.png", full_page=True)
    assert violations(page) == []
    assert wrong_on_any_screen(page, pages + path) == []

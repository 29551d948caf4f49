"""Fixed codes of reviewers on the page of Verify's settings, in a real browser."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from looking import violations, wrong_on_any_screen
from risala.engine.model.people import Language
from risala.http.web.languages import load_words

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SETTINGS = "/app/org_1/verify/settings"
CODE = "80416273"
SHOTS = os.environ.get("RISALA_SHOTS")


def shot(page, name: str) -> None:
    if SHOTS:
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 844})
            page.screenshot(path=Path(SHOTS) / f"{name}-{width}.png", full_page=True)


@pytest.mark.parametrize("language", ["en", "fr", "ar"])
def test_an_owner_gives_a_reviewer_a_code(look, pages, language):
    words = load_words(Language(language))
    page = look(SETTINGS, language=language)
    part = page.get_by_role("region", name=str(words("Fixed codes for app reviewers")))
    expect(part).to_contain_text(str(words("It weakens your sign-in")))
    expect(part.locator("bdi.tel")).to_have_text("+222 36 55 00 01")
    shot(page, f"fixed-{language}")
    part.get_by_role("link", name=str(words("Add a number"))).click()
    shot(page, f"fixed-new-{language}")
    page.get_by_label(str(words("Number")), exact=True).fill("36 55 00 01")
    page.get_by_label(str(words("Code")), exact=True).fill(CODE)
    page.get_by_role("button", name=str(words("Set the fixed code"))).click()
    expect(page.get_by_text(str(words("The fixed code works from now on.")))).to_be_visible()
    assert page.url == pages + SETTINGS
    assert CODE not in page.content()
    part.get_by_role("button", name=str(words("Remove"))).click()
    told = words("The fixed code is removed. Codes to this number leave by SMS.")
    expect(page.get_by_text(str(told))).to_be_visible()
    assert violations(page) == []


@pytest.mark.parametrize("language", ["en", "fr", "ar"])
def test_nothing_of_it_runs_over_or_is_closed_to_anybody(look, pages, language):
    page = look(SETTINGS, language=language)
    assert wrong_on_any_screen(page, pages + SETTINGS) == []
    assert wrong_on_any_screen(page, f"{pages}{SETTINGS}/fixed") == []

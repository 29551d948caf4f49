"""The guard's page in a real browser: on each screen, in each language, to everybody."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from looking import violations, wrong_on_any_screen
from risala.engine.model.people import Language
from risala.http.web.languages import load_words

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PAGE = "/app/org_1/verify/guard"
SHOTS = os.environ.get("RISALA_SHOTS")


@pytest.mark.parametrize(
    ("language", "colours"), [("en", "light"), ("fr", "dark"), ("ar", "light")]
)
def test_a_block_is_let_pass_by_one_click(look, pages, language, colours):
    words = load_words(Language(language))
    page = look(PAGE, language=language, color_scheme=colours)
    for width in (390, 1280) if SHOTS else ():
        page.set_viewport_size({"width": width, "height": 844})
        page.screenshot(path=Path(SHOTS or "") / f"guard-{language}-{width}.png", full_page=True)
    assert wrong_on_any_screen(page, pages + PAGE) == []
    assert violations(page) == []
    page.get_by_text(str(words("Check it by hand"))).first.click()
    assert violations(page) == []
    page.get_by_role("button", name=str(words("Let it pass for a week"))).first.click()
    said = str(words("These codes pass for a week, from now on."))
    expect(page.get_by_text(said)).to_be_visible()

"""The console's overview and carriers in a real browser: what operators do there in each language,
by keyboard, by thumb and without script, and how each page looks to axe."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from console_lanes import BROKEN, MODEM
from console_lanes import PHONE as PHONES
from looking import WIDEST, wrong_on_any_screen
from risala.engine.model.people import Language
from risala.http.web.languages import load_words

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
PAGES = [
    *("/operator/overview", "/operator/carriers", "/operator/carriers?to=36123456"),
    *("/operator/carriers?to=29123456", "/operator/carriers?to=12", "/operator/carriers/changes"),
    *(f"/operator/carriers/{name}" for name in ("fake", MODEM, BROKEN, PHONES)),
    f"/operator/carriers/{PHONES}/address",
    f"/operator/carriers/{MODEM}/traffic",
]


@pytest.fixture
def look(look_at_console: Callable[..., Page]) -> Callable[..., Page]:
    return look_at_console


@pytest.mark.parametrize("language", WIDEST)
def test_no_page_is_closed_to_anybody(look, console, language):
    """axe finds nothing, nothing runs over, and no text stands over another or is cut."""
    page = look("/operator/overview", language)
    found = []
    for path in PAGES:
        found += wrong_on_any_screen(page, console + path)
    assert found == []


@pytest.mark.parametrize("language", ["fr", "ar", "en"])
def test_the_first_line_of_the_traffic_is_on_a_phones_first_screen(look, language):
    page = look(f"/operator/carriers/{MODEM}/traffic", language, **PHONE)
    lines = page.locator("#lines")
    assert lines.bounding_box()["y"] < 340


@pytest.mark.parametrize("language", ["fr", "ar", "en"])
def test_a_modem_is_paused_and_resumed_on_a_telephone(look, console, language):
    """The tile that another browser looks at follows by itself."""
    words = load_words(Language(language))
    other = look("/operator/carriers", language)
    page = look("/operator/overview", language, **PHONE)
    tile = page.locator("article.lane", has_text=MODEM)
    tile.get_by_role("button", name=f"{words('Pause')}: {MODEM}").tap()
    page.wait_for_url(f"{console}/operator/carriers")
    theirs = other.locator("article.lane", has_text=MODEM)
    expect(theirs.get_by_role("button", name=f"{words('Resume')}: {MODEM}")).to_be_visible()
    tile.get_by_role("button", name=f"{words('Resume')}: {MODEM}").tap()
    expect(tile.get_by_role("button", name=f"{words('Pause')}: {MODEM}")).to_be_visible()


@pytest.mark.parametrize("language", ["fr", "ar", "en"])
def test_where_a_number_would_go_is_asked_by_keyboard_alone(look, console, language):
    words = load_words(Language(language))
    page = look("/operator/overview", language)
    page.keyboard.press("g")
    page.keyboard.press("c")
    page.wait_for_url(f"{console}/operator/carriers")
    page.keyboard.press("/")
    page.keyboard.type("29 12 34 56")
    page.keyboard.press("Enter")
    row = page.get_by_role("row", name=BROKEN)
    told = words("It needs your help: it does not connect by itself.")
    expect(row).to_contain_text(told)


@pytest.mark.parametrize("language", ["fr", "ar", "en"])
def test_pace_is_changed_and_given_back_without_script(look, language):
    words = load_words(Language(language))
    page = look(f"/operator/carriers/{MODEM}", language, java_script_enabled=False)
    page.locator("#rate_per_s").fill("0,5" if language == "fr" else "0.5")
    page.get_by_role("button", name=str(words("Change it")), exact=True).click()
    expect(page.locator("#rate_per_s")).to_have_value("0.5")
    page.get_by_role("button", name=str(words("Return to the file"))).click()
    expect(page.get_by_role("button", name=str(words("Return to the file")))).to_be_hidden()


def test_the_line_of_the_overview_is_drawn(look):
    """By the table beside it, which changes by itself."""
    page = look("/operator/overview", "ar")
    expect(page.locator(".plot canvas")).to_be_visible()
    page.get_by_text("عرض كجدول").click()
    expect(page.locator("#rate tbody tr")).to_have_count(60)


@pytest.mark.parametrize("language", ["fr", "ar", "en"])
def test_a_drivers_part_follows_and_its_command_asks_first(look, language):
    """On a telephone: the table changes by itself, and the answer comes after the question."""
    page = look(f"/operator/carriers/{PHONES}", language, **PHONE)
    today = page.get_by_role("row", name="Samsung A12").get_by_role("cell").last
    before = today.inner_text()
    expect(today).not_to_have_text(before)
    device = page.locator("details", has_text="Samsung A12")
    sure = device.locator("button")
    expect(sure).to_be_hidden()
    device.locator("summary").tap()
    sure.tap()
    expect(page.locator("main")).to_contain_text("dev_1")


@pytest.mark.parametrize("language", ["fr", "ar", "en"])
def test_a_secret_address_is_made_and_shown_once_without_script(look, language):
    words = load_words(Language(language))
    page = look(f"/operator/carriers/{PHONES}", language, java_script_enabled=False)
    page.locator(f"a[href$='{PHONES}/address']").click()
    page.locator("main form button").click()
    expect(page.locator("#address")).to_have_value(
        re.compile(f"/carriers/{PHONES}/[A-Za-z0-9]{{32}}$")
    )
    page.get_by_role("link", name=str(words("The address is saved"))).click()
    expect(page.locator("#h-address")).to_be_visible()
    assert page.locator("#address").count() == 0

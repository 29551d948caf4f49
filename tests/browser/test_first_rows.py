"""What a list is for is on the first screen of a phone, without scrolling."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from looking import violations

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
DOCK = 56
"""Pixels of the bar at the foot of a phone's page."""


def first_row_y(page: Page) -> float:
    """Where the first row that is seen begins, in pixels from the page's top."""
    found = page.evaluate(
        "() => [...document.querySelectorAll('main tbody tr:not(.day)')]"
        ".find((row) => row.checkVisibility())?.getBoundingClientRect().top ?? null"
    )
    assert found is not None
    return found


@pytest.mark.parametrize("language", ["en", "fr", "ar"])
@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("/app/org_1/messages", 300),
        ("/app/org_1/webhooks/whe_1", 844 - DOCK),
        ("/app/org_1/keys/key_1", 844 - DOCK),
        ("/app/org_1/mailings/mlg_draft", 520),
    ],
)
def test_the_first_row_is_on_the_first_screen(look, path, most, language):
    assert first_row_y(look(path, language=language, **PHONE)) < most


@pytest.mark.parametrize("scripted", [True, False])
def test_the_filters_of_a_phone_are_behind_a_button(look, pages, scripted):
    page = look("/app/org_1/messages?status=failed", java_script_enabled=scripted, **PHONE)
    state = page.get_by_label("State", exact=True)
    expect(state).to_be_hidden()
    button = page.get_by_role("button", name="Filters 1")
    button.click()
    expect(state).to_be_visible()
    if scripted:
        assert violations(page) == []
        page.keyboard.press("Escape")
        expect(state).to_be_hidden()
        expect(button).to_be_focused()
        button.click()
    state.select_option("delivered")
    page.get_by_role("button", name="Filter", exact=True).click()
    page.wait_for_url("**/messages?*status=delivered*")


def test_a_search_on_a_phone_needs_the_field_alone(look):
    page = look("/app/org_1/messages", **PHONE)
    page.get_by_label("Number, text, id or cause").fill("4832")
    page.keyboard.press("Enter")
    page.wait_for_url("**/messages?*q=4832*")


def test_on_a_desk_the_filters_are_open(look):
    page = look("/app/org_1/messages", viewport={"width": 1280, "height": 844})
    expect(page.get_by_label("State", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Filters")).to_be_hidden()


def test_a_phone_shows_five_requests_and_then_all(look, pages):
    page = look("/app/org_1/keys/key_1?rows=all", **PHONE)
    row = "document.querySelector('#h-log').closest('section').querySelector('tbody')"
    for number in range(4):
        page.evaluate(f"{row}.append({row}.rows[{number}].cloneNode(true))")
    rows = page.locator("section:has(#h-log) tbody tr")
    assert [row.is_visible() for row in rows.all()] == [True] * 8
    page.evaluate("document.querySelector('#h-log').closest('section').classList.add('few')")
    assert [row.is_visible() for row in rows.all()] == [True] * 5 + [False] * 3


def test_what_a_draft_costs_stays_in_sight(look):
    page = look("/app/org_1/mailings/mlg_draft", viewport={"width": 1280, "height": 844})
    bar = page.locator(".sendbar")
    for _ in range(3):
        box = bar.bounding_box()
        assert box["y"] + box["height"] <= 844
        page.mouse.wheel(0, 400)
    bar.get_by_role("link", name="Send to 120 people").click()
    expect(page.get_by_role("dialog")).to_contain_text("Send it?")

"""Decisions, the trail and the system in the console, in a real browser: how each page looks to
axe, in every width, theme and language."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from looking import WIDEST, wrong_on_any_screen

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PAGES = [
    *("/operator/overview", "/operator/account", "/operator/senders", "/operator/nope"),
    *(f"/operator/senders?status={state}" for state in ("cleared", "approved", "denied")),
    *("/operator/senders?q=nobody", "/operator/payments", "/operator/payments?q=nobody"),
    *("/operator/audit", "/operator/audit?operation=sender.&who=root&face=cli&since=2026-01-01"),
    *("/operator/payments/texts", "/operator/payments/texts?all=yes"),
    *("/operator/codes", "/operator/codes?by=network&period=week", "/operator/opt-outs"),
    *("/operator/handbook", "/operator/handbook/how-to.run-the-console"),
    *("/operator/plugins", "/operator/plugins/sinks", "/operator/plugins/things"),
    "/operator/plugins/phones",
    *("/operator/system", "/operator/system/alerts", "/operator/system/alerts?kind=errors"),
    *("/operator/audit?who=nobody", "/operator/audit/export?id=aaaaaaaaaaaaaaaaaaaaaa&who=root"),
    *(f"/operator/payments?status={state}" for state in ("open", "confirmed", "refused", "all")),
]
FIRST_OF = [
    *("/operator/senders", "/operator/senders?status=approved"),
    *(
        "/operator/payments?q=BK-7710342",
        "/operator/payments?q=MS-220814",
        "/operator/payments?status=refused",
    ),
]
"""Lists of which the first thing is looked at too."""


@pytest.fixture
def look(look_at_console: Callable[..., Page]) -> Callable[..., Page]:
    """Opens a page of it as an operator; nothing may have gone wrong in the end."""
    return look_at_console


@pytest.mark.parametrize("language", WIDEST)
def test_no_page_is_closed_to_anybody(look, console, language):
    """axe finds nothing, nothing runs over, and no text stands over another or is cut."""
    page = look("/operator/overview", language)
    found = []
    firsts = []
    for path in FIRST_OF:
        page.goto(console + path)
        firsts.append(page.locator("main .rowlink").first.get_attribute("href"))
    for path in [*PAGES, *firsts]:
        found += wrong_on_any_screen(page, console + path)
    assert found == []


@pytest.mark.parametrize("language", ["en", "fr", "ar"])
def test_the_audit_log_begins_on_a_phones_first_screen(look, language):
    page = look("/operator/audit", language, viewport={"width": 390, "height": 844})
    row = page.locator("main tbody tr:not(.day)").first
    assert row.bounding_box()["y"] < 400

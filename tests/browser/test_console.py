"""Decisions, the trail and the system in the console, in a real browser: how each page looks to
axe, in every width, theme and language."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from looking import misplaced, overflow, violations

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PAGES = [
    *("/operator/overview", "/operator/account", "/operator/senders", "/operator/nope"),
    *(f"/operator/senders?status={state}" for state in ("cleared", "approved", "denied")),
    *("/operator/senders?q=nobody", "/operator/payments", "/operator/payments?q=nobody"),
    *("/operator/audit", "/operator/audit?operation=sender.&who=root&face=cli&since=2026-01-01"),
    *("/operator/payments/texts", "/operator/payments/texts?all=yes"),
    *("/operator/plugins", "/operator/plugins/sinks", "/operator/plugins/things"),
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
SCREENS = [(1280, "light"), (1280, "dark"), (390, "light"), (360, "dark")]


@pytest.fixture
def look(look_at_console: Callable[..., Page]) -> Callable[..., Page]:
    """Opens a page of it as an operator; nothing may have gone wrong in the end."""
    return look_at_console


@pytest.mark.parametrize("language", ["fr", "ar", "en"])
@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_no_page_is_closed_to_anybody(look, console, language, width, scheme):
    """axe finds nothing, nothing runs over, and no text stands over another or is cut."""
    size = {"viewport": {"width": width, "height": 844}, "color_scheme": scheme}
    page = look("/operator/overview", language, has_touch=width < 600, **size)
    found = []
    firsts = []
    for path in FIRST_OF:
        page.goto(console + path)
        firsts.append(page.locator("main .rowlink").first.get_attribute("href"))
    for path in [*PAGES, *firsts]:
        page.goto(console + path)
        found += [f"{path}: {each}" for each in violations(page) + misplaced(page)]
        if over := overflow(page):
            found.append(f"{path}: {over} px too wide")
    assert found == []

"""Two operators reset lost factors, and look who tries to come in: in every language, by keyboard,
in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from looking import overflow, violations

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PHONE = {"viewport": {"width": 390, "height": 844}}
SECOND = "sidi@risala.example"
"""The other operator of ``serve_console.py``."""


def test_two_operators_reset_lost_factors_by_keyboard(speaker, console):
    says, email = speaker.says, f"lost-{speaker.language}@baraka.example"
    page = speaker.open(f"/operator/users/one?email={email}", **PHONE)

    def press(role: str, label: str) -> None:
        page.get_by_role(role, name=label, exact=True).first.focus()
        page.keyboard.press("Enter")

    def clean() -> None:
        found = violations(page) if speaker.language == "ar" else []
        assert (found, overflow(page)) == ([], 0)

    page.locator("summary", has_text=says("They lost them?")).focus()
    page.keyboard.press("Enter")
    clean()
    press("button", says("Ask for the reset"))
    page.wait_for_url("**/operator/approvals")
    confirm = says("Confirm: {what}", what=speaker.among("approval", RESET))
    expect(page.get_by_text(email)).to_be_visible()
    assert page.get_by_role("button", name=confirm).count() == 0, "nobody confirms their own"
    clean()
    page.context.request.get(f"{console}/operator/enter?who={SECOND}", max_redirects=0)
    page.goto(f"{console}/operator/approvals")
    clean()
    press("button", confirm)
    expect(page.locator("#toasts")).to_contain_text(says("Confirmed: it is done."))
    page.goto(f"{console}/operator/users/one?email={email}")
    expect(page.get_by_text(says("None: a code by e-mail alone lets them in."))).to_be_visible()
    # The page of who tries: a key from a new place, and the lock behind a second look.
    page.goto(f"{console}/operator/security")
    expect(page.get_by_text("198.51.100.0/24")).to_be_visible()
    page.locator("summary").last.focus()
    page.keyboard.press("Enter")
    lock = page.get_by_role("button", name=says("Lock the console now"), exact=True)
    expect(lock).to_be_visible()
    clean()


RESET = "Reset somebody’s second factors"

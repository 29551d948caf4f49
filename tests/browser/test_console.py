"""The console in a real browser: each page by axe, width, theme and language, and what operators
do on it by keyboard, by thumb, and without script."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from looking import overflow, violations

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PAGES = [
    *("/operator/overview", "/operator/account", "/operator/senders", "/operator/nope"),
    *(f"/operator/senders?status={state}" for state in ("cleared", "approved", "denied")),
    *("/operator/senders?q=nobody", "/operator/payments", "/operator/payments?q=nobody"),
    *("/operator/audit", "/operator/audit?operation=sender.&who=root&face=cli&since=2026-01-01"),
    *("/operator/payments/texts", "/operator/payments/texts?all=yes"),
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
    """axe finds nothing, and nothing runs over, on any page in any language and theme."""
    size = {"viewport": {"width": width, "height": 844}, "color_scheme": scheme}
    page = look("/operator/overview", language, has_touch=width < 600, **size)
    found = []
    firsts = []
    for path in FIRST_OF:
        page.goto(console + path)
        firsts.append(page.locator("main .rowlink").first.get_attribute("href"))
    for path in [*PAGES, *firsts]:
        page.goto(console + path)
        found += [f"{path}: {each}" for each in violations(page)]
        if over := overflow(page):
            found.append(f"{path}: {over} px too wide")
    assert found == []


def test_a_name_is_cleared_by_keyboard_alone(look, console):
    page = look("/operator/overview")
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.wait_for_url(f"{console}/operator/senders")
    page.get_by_role("button", name="Clear BARAKA").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("The name is cleared.")).to_be_visible()
    expect(page.get_by_text("BARAKA", exact=True)).to_be_hidden()
    page.get_by_role("link", name="Cleared").click()
    expect(page.get_by_text("BARAKA", exact=True)).to_be_visible()


def test_a_name_is_denied_by_thumb_without_script(look):
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
    page = look("/operator/senders", "fr", java_script_enabled=False, **phone)
    page.get_by_role("link", name="PROMO", exact=True).tap()
    expect(page.get_by_text("Regardez-y à deux fois")).to_be_visible()
    page.get_by_role("button", name="Refuser", exact=True).tap()
    expect(page.get_by_role("alert")).to_contain_text("Choisissez l’une des raisons.")
    page.get_by_text("générique, trompeur").tap()
    page.get_by_role("button", name="Refuser", exact=True).tap()
    expect(page.get_by_text("son organisation en apprend la raison")).to_be_visible()


@pytest.mark.parametrize(
    ("language", "reference", "amount", "confirm", "told"),
    [
        ("ar", "MS-220814", "١٢٣٤٫٥", "تأكيد وإضافة إلى الرصيد", "أُضيفت الدفعة إلى الرصيد"),
        ("fr", "BK-7710342", "800,25", "Confirmer et créditer", "Le paiement est crédité"),
    ],
)
def test_a_payment_is_confirmed_on_a_telephone(look, language, reference, amount, confirm, told):
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
    page = look(f"/operator/payments?q={reference}", language, **phone)
    page.locator("main .rowlink").last.tap()
    page.locator("#amount").fill(amount)
    page.get_by_role("button", name=confirm).tap()
    expect(page.get_by_text(told)).to_be_visible()


def test_a_payment_is_refused_without_script(look):
    page = look("/operator/payments?status=open", java_script_enabled=False)
    page.locator("main .rowlink").first.click()
    page.get_by_role("button", name="Refuse the payment").click()
    expect(page.locator("#reason-fault")).to_contain_text("Fill this in.")
    page.get_by_label("Why").fill("No such payment is in the account.")
    page.get_by_role("button", name="Refuse the payment").click()
    expect(page.get_by_text("The payment is refused")).to_be_visible()


def test_the_trail_is_filtered_and_taken_along(look):
    page = look("/operator/audit", "fr")
    page.keyboard.press("/")
    page.keyboard.type("sender.")
    page.keyboard.press("Enter")
    expect(page.locator(".chip")).to_have_count(1)
    page.get_by_role("link", name="Exporter").click()
    page.get_by_text("Lignes JSON").click()
    with page.expect_download() as told:
        page.get_by_role("button", name="Télécharger").click()
    lines = Path(told.value.path()).read_text("utf-8").splitlines()
    assert all('"operation": "sender.' in each for each in lines)
    expect(page.get_by_text("Le fichier est entier")).to_contain_text(str(len(lines)))

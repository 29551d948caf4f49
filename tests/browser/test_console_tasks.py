"""What operators decide at the console, in a real browser: each task in every language, by
keyboard, by thumb, and without script."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from console_lanes import MODEM
from looking import violations

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
AMOUNTS = {"fr": "700,25", "ar": "٧٠٠٫٢٥", "en": "700.25"}
"""One sum, as people of each language write it."""


def test_a_name_is_cleared_by_keyboard_alone(speaker, console):
    says, name = speaker.says, f"Souk {speaker.language}"
    page = speaker.open("/operator/overview")
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.wait_for_url(f"{console}/operator/senders")
    page.keyboard.press("/")
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    page.wait_for_url("**q=Souk*")
    page.get_by_role(
        "button", name=says("Approve when volume is reached: {name}", name=name)
    ).focus()
    page.keyboard.press("Enter")
    told = says("The name is cleared. It is approved automatically once the volume is reached.")
    expect(page.get_by_text(told)).to_be_visible()
    expect(page.get_by_text(name, exact=True)).to_be_hidden()
    page.get_by_role("link", name=speaker.among("requests", "Cleared"), exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text(name, exact=True)).to_be_visible()


def test_a_name_is_denied_by_thumb_without_script(speaker):
    says, name = speaker.says, f"Waha {speaker.language}"
    page = speaker.open("/operator/senders", java_script_enabled=False, **PHONE)
    page.get_by_role("link", name=name, exact=True).tap()
    deny = page.get_by_role("button", name=says("Deny"), exact=True)
    deny.tap()
    expect(page.get_by_role("alert")).to_contain_text(says("Choose one of the reasons."))
    page.locator("main .check label").last.tap()
    deny.tap()
    told = says("The name is denied, and its organization is notified of the reason.")
    expect(page.get_by_text(told)).to_be_visible()


def test_the_volume_of_a_name_is_waived(speaker):
    says, name = speaker.says, f"Barid {speaker.language}"
    page = speaker.open("/operator/senders", **PHONE)
    page.get_by_role("link", name=name, exact=True).tap()
    page.get_by_role("button", name=says("Approve without the volume")).tap()
    told = says("The name is approved. Messages leave with it from now on.")
    expect(page.get_by_text(told)).to_be_visible()


def test_a_name_that_resembles_another_is_looked_at_twice(speaker):
    page = speaker.open("/operator/senders", java_script_enabled=False)
    page.get_by_role("link", name="PROMO", exact=True).click()
    expect(
        page.get_by_text(speaker.says("Check it carefully before you clear it."))
    ).to_be_visible()
    generic = speaker.says("The name is generic: anybody could use it.")
    expect(page.get_by_text(generic)).to_be_visible()


def test_a_payment_is_confirmed_on_a_telephone(speaker, console):
    says = speaker.says
    page = speaker.open(f"/operator/payments?q={speaker.language}-44710", **PHONE)
    page.locator("main .rowlink").tap()
    page.locator("#amount").fill(AMOUNTS[speaker.language])
    page.get_by_role("button", name=says("Confirm and credit")).tap()
    told = says("The payment is credited, and the owners are notified.")
    expect(page.get_by_text(told)).to_be_visible()
    page.goto(f"{console}/operator/payments?status=all&q={speaker.language}-44710")
    expect(page.locator("main .rowlink")).to_contain_text(re.compile("700[.,]25"))


def test_a_payment_is_refused_without_script(speaker):
    says, address = speaker.says, f"/operator/payments?q={speaker.language}-44711"
    page = speaker.open(address, java_script_enabled=False)
    page.locator("main .rowlink").click()
    refuse = page.get_by_role("button", name=says("Refuse the payment"))
    refuse.click()
    expect(page.locator("#reason-fault")).to_contain_text(says("Fill this in."))
    page.get_by_label(says("Why")).fill("4471?")
    refuse.click()
    told = says("The payment is refused, and the owners are notified of the reason.")
    expect(page.get_by_text(told)).to_be_visible()


def test_a_text_of_a_bank_is_put_away_by_keyboard_alone(speaker):
    says = speaker.says
    page = speaker.open("/operator/payments/texts")
    advert = page.locator("article", has_text=f"{speaker.language}: gagnez")
    advert.locator("summary").focus()
    page.keyboard.press("Enter")
    advert.get_by_label(says("Why")).focus()
    page.keyboard.type("Publicité")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_be_visible()
    expect(page.get_by_text(f"{speaker.language}: gagnez")).to_have_count(0)
    page.goto(page.url + "?all=yes")
    expect(page.get_by_text(f"{speaker.language}: gagnez")).to_be_visible()


def test_what_the_account_has_is_said_without_script(speaker):
    says = speaker.says
    page = speaker.open("/operator/payments/texts", java_script_enabled=False)
    line = page.locator("section.panel", has_text="Bankily").first
    if not line.get_by_label(says("Balance of the account")).is_visible():
        line.locator("summary").click()  # said once already, so that it is folded away
    line.get_by_label(says("Balance of the account")).fill("")
    line.get_by_role("button", name=says("Continue from there")).click()
    expect(page.get_by_role("alert").locator("a")).to_have_attribute("href", "#balance-bankily")
    line.get_by_label(says("Balance of the account")).fill("78 000")
    line.get_by_role("button", name=says("Continue from there")).click()
    expect(line.locator("dd strong")).to_contain_text("78")


def test_the_trail_is_filtered_and_taken_along(speaker):
    page = speaker.open("/operator/audit")
    page.keyboard.press("/")
    page.keyboard.type("sender.")
    page.keyboard.press("Enter")
    expect(page.locator(".chip")).to_have_count(1)
    page.get_by_role("link", name=speaker.says("Export"), exact=True).click()
    page.get_by_text(speaker.says("JSON lines")).click()
    with page.expect_download() as told:
        page.get_by_role("button", name=speaker.says("Download")).click()
    lines = Path(told.value.path()).read_text("utf-8").splitlines()
    assert lines
    assert all(json.loads(each)["operation"].startswith("sender.") for each in lines)
    expect(page.locator("#written")).to_contain_text(str(len(lines)))


def test_an_alert_is_seen_to_by_keyboard_alone(speaker):
    """Then it gives its place to one that nobody sees to."""
    page = speaker.open("/operator/overview")
    sees = page.locator(".note").get_by_role("button", name=speaker.says("I take care of it")).first
    seen = page.locator(f'[aria-label="{sees.get_attribute("aria-label")}"]')
    sees.focus()
    page.keyboard.press("Enter")
    expect(seen).to_have_count(0)


def test_an_alert_is_silenced_and_told_again_by_keyboard_alone(speaker):
    says = speaker.says
    page = speaker.open("/operator/overview")
    page.locator(".note summary", has_text=says("Silence it")).first.focus()
    page.keyboard.press("Enter")
    page.locator(".note details[open] button[name=minutes]").first.focus()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.goto(page.url.replace("/overview", "/system/alerts"))
    muted = page.locator("#h-mutes >> xpath=../..").get_by_role("listitem")
    before = muted.count()
    muted.first.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(muted).to_have_count(before - 1)


ANEW = """htmx.ajax("GET", location.href, {target: "#attention", select: "#attention",
    swap: "outerMorph"})"""


def test_what_is_drawn_anew_closes_no_menu_under_a_hand(speaker):
    page = speaker.open("/operator/overview")
    page.locator(".note summary", has_text=speaker.says("Silence it")).first.focus()
    page.keyboard.press("Enter")
    choice = page.locator(".note details[open] button[name=minutes]").first
    choice.focus()
    page.evaluate("document.querySelector('#attention').dataset.old = 'yes'")
    page.evaluate(ANEW)
    expect(page.locator("#attention[data-old]")).to_have_count(0)
    expect(choice).to_be_focused()


def test_a_driver_is_asked(speaker):
    page = speaker.open(f"/operator/carriers/{MODEM}", **PHONE)
    page.locator("#arguments").fill("*100#")
    page.get_by_role("button", name=speaker.says("Ask"), exact=True).tap()
    expect(page.get_by_text("*100# → 318,00 MRU")).to_be_visible()


def test_the_file_is_read_again_and_gone_by(speaker):
    says = speaker.says
    page = speaker.open("/operator/carriers", **PHONE)
    page.get_by_role("link", name=says("Read the settings again")).tap()
    expect(page.get_by_text("pricing.per_segment")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name=says("Use the file")).tap()
    told = says("The service now uses the file.")
    expect(page.get_by_text(told)).to_be_visible()

"""Organizations, users and messages in the console, in a real browser: what operators do there by
keyboard, by thumb and without script, and how each page looks to axe."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from console_records import HELD
from looking import WIDEST, violations, wrong_on_any_screen

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
PAGES = [
    *("/operator/organizations", "/operator/organizations?search=nobody"),
    *("/operator/organizations/new", "/operator/organizations?status=deleted"),
    *("/operator/users", "/operator/users?search=nobody", "/operator/users?kind=operators"),
    *("/operator/users/one?email=mariem%40risala.example", "/operator/messages"),
    *("/operator/users/one?email=aicha%40baraka.example", "/operator/messages?q=36123456"),
    *("/operator/messages?q=123abc", "/operator/messages?q=shop&by=to"),
]
ONES = {
    "/operator/organizations?search=baraka": ("", "/suspend", "/topup", "/adjust", "/statement"),
    "/operator/organizations?status=suspended": ("", "/statement"),
    "/operator/organizations?status=deleted": ("",),
    "/operator/messages?q=36123456": ("", "/text"),
    f"/operator/messages?q={HELD[1:]}": ("", "/text"),
}
"""Lists of which the first thing is looked at too, with pages of its own."""


@pytest.fixture
def look(look_at_console: Callable[..., Page]) -> Callable[..., Page]:
    return look_at_console


@pytest.mark.parametrize("language", WIDEST)
def test_no_page_is_closed_to_anybody(look, console, language):
    """axe finds nothing, nothing runs over, and no text stands over another or is cut."""
    page = look("/operator/overview", language)
    paths = [*PAGES]
    for path, inner in ONES.items():
        page.goto(console + path)
        first = page.locator("main .rowlink").first.get_attribute("href")
        paths += [first + each for each in inner]
    found = []
    for path in paths:
        found += wrong_on_any_screen(page, console + path)
    assert found == []


def test_an_organization_is_found_and_suspended_by_keyboard_alone(speaker, console):
    says = speaker.says
    page = speaker.open("/operator/overview")
    page.keyboard.press("g")
    page.keyboard.press("n")
    page.wait_for_url(f"{console}/operator/organizations")
    page.keyboard.press("/")
    page.keyboard.type("nasr")
    page.keyboard.press("Enter")
    page.wait_for_url("**search=nasr**")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/operator/organizations/org_*")
    page.get_by_role("link", name=says("Suspend"), exact=True).focus()
    page.keyboard.press("Enter")
    asked = page.get_by_role("dialog", name=says("Suspend “{name}”?", name="Clinique Nasr"))
    refused = "{n} API key is refused, with the status 403."
    refused_all = "{n} API keys are refused, with the status 403."
    expect(asked).to_contain_text(speaker.counted(refused, refused_all, 1))
    assert violations(page) == []
    asked.get_by_role("button", name=says("Suspend")).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text(says("It is suspended."), exact=True)).to_be_visible()
    page.get_by_role("button", name=says("Let it send again")).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text(says("The organization may send again."))).to_be_visible()


def test_an_organization_is_made_with_its_owner_without_script(speaker):
    says = speaker.says
    page = speaker.open("/operator/organizations", java_script_enabled=False, **PHONE)
    page.get_by_role("link", name=says("New organization")).tap()
    create = page.get_by_role("button", name=says("Create"), exact=True)
    create.tap()
    expect(page.get_by_role("alert")).to_contain_text(says("Fill this in."))
    page.locator("main").get_by_label(says("Name"), exact=True).fill(f"Centre {speaker.language}")
    create.tap()
    expect(page.get_by_text(says("It has no owner."))).to_be_visible()
    page.get_by_label(says("E-mail address")).fill("fatou@centre.example")
    page.get_by_role("button", name=says("Add"), exact=True).tap()
    expect(page.get_by_text(says("They are a member now."))).to_be_visible()
    expect(page.get_by_text(says("It has no owner."))).to_be_hidden()


def test_cash_is_credited_after_its_figures_were_read(speaker):
    says, reference = speaker.says, f"R-{speaker.language}"
    page = speaker.open("/operator/organizations?search=baraka", **PHONE)
    page.get_by_role("link", name="Baraka Market").tap()
    page.get_by_role("link", name=says("Credit cash")).tap()
    page.get_by_label(says("Amount")).fill("1 500,50")
    page.get_by_label(says("Reference")).fill(reference)
    page.get_by_role("button", name=says("Go on")).tap()
    expect(page.locator("main")).to_contain_text(reference)
    before, after = (
        page.locator("dt", has_text=says(word)).locator("+ dd").inner_text()
        for word in ("Balance now", "Balance after")
    )
    assert amount(after) - amount(before) == 150_050
    assert violations(page) == []
    page.get_by_role("button", name=says("Credit it")).tap()
    expect(page.get_by_text(says("The payment is credited."))).to_be_visible()
    expect(page.locator("td", has_text=reference)).to_have_count(1)


def amount(text: str) -> int:
    """Minor units of a sum, however it is written."""
    return int(re.sub(r"\D", "", text))


def test_a_balance_is_adjusted_without_script(speaker):
    says, reason = speaker.says, f"Charged to another ({speaker.language})"
    page = speaker.open("/operator/organizations?search=baraka", java_script_enabled=False)
    page.get_by_role("link", name="Baraka Market").click()
    page.get_by_role("link", name=says("Adjust the balance")).click()
    page.get_by_text(says("Take away"), exact=False).first.click()
    page.get_by_label(says("Amount")).fill("10")
    page.get_by_role("button", name=says("Go on")).click()
    expect(page.get_by_role("alert")).to_contain_text(says("Fill this in."))
    page.get_by_label(says("Reason")).fill(reason)
    page.get_by_role("button", name=says("Go on")).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(re.compile("−10[.,]00"))
    page.get_by_role("button", name=says("Adjust it")).click()
    expect(page.get_by_text(says("The balance is corrected."))).to_be_visible()
    expect(page.get_by_text(reason)).to_be_visible()


def test_limits_that_a_colleague_saved_are_shown_first(speaker):
    says = speaker.says
    page = speaker.open("/operator/organizations?search=Nasr")
    page.get_by_role("link", name="Clinique Nasr").click()
    other = speaker.open("/operator/organizations?search=Nasr")
    other.get_by_role("link", name="Clinique Nasr").click()
    step = ["fr", "ar", "en"].index(speaker.language)
    for each, cap in ((other, 600 + step), (page, 700 + step)):
        each.get_by_label(says("Spend at most a day")).fill(str(cap))
        each.get_by_role("button", name=says("Save")).click()
    expect(page.get_by_text(says("Present values:"))).to_be_visible()
    page.get_by_role("button", name=says("Save")).click()
    saved = says("Saved; it applies from the next message on.")
    expect(page.get_by_text(saved)).to_be_visible()


def test_a_text_is_read_for_a_reason_by_keyboard_alone(speaker, console):
    says = speaker.says
    page = speaker.open("/operator/overview")
    page.keyboard.press("g")
    page.keyboard.press("m")
    page.wait_for_url(f"{console}/operator/messages")
    page.keyboard.press("/")
    page.keyboard.type("36 12 34 56")
    page.keyboard.press("Enter")
    page.wait_for_url("**/operator/messages?q=*")
    expect(page.get_by_text("4471")).to_have_count(0)
    page.locator("tr", has_text="Clinique Nasr").get_by_role("link").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/operator/messages/sms_*")
    page.get_by_role("link", name=says("Show the text")).focus()
    page.keyboard.press("Enter")
    asked = page.get_by_role("dialog", name=says("Show the text?"))
    assert violations(page) == []
    asked.get_by_label(says("Why do you need to read it?")).focus()
    page.keyboard.type("Ticket 812")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Votre commande 4471")).to_be_visible()
    expect(page.get_by_text("Ticket 812")).to_be_visible()
    assert violations(page) == []
    page.goto(page.url.removesuffix("/text"))
    expect(page.get_by_text("4471")).to_have_count(0)


def test_a_session_is_ended_by_thumb(speaker):
    says = speaker.says
    page = speaker.open("/operator/users?kind=operators", java_script_enabled=False, **PHONE)
    page.get_by_role("link", name="mariem@risala.example").tap()
    page.wait_for_url("**/operator/users/one?*")
    speaker.open("/operator/overview")  # another session of theirs
    page.reload()
    others = page.locator("main li", has_not_text=says("this one"))
    ends = others.get_by_role("button", name=says("Sign out")).first
    session_id = ends.get_attribute("value")
    ends.tap()
    expect(page.get_by_text(says("The session is ended."))).to_be_visible()
    expect(page.locator(f"main button[value={session_id}]")).to_have_count(0)


def test_a_message_under_way_changes_by_itself(look):
    page = look(f"/operator/messages?q={HELD[1:]}")
    page.locator("main .rowlink").click()
    expect(page.locator("#state")).to_contain_text("Pending")
    expect(page.get_by_text("It is held: the organization is suspended.")).to_be_visible()
    other = look("/operator/organizations?status=suspended")
    other.get_by_role("link", name="Pharmacie du Port").click()
    expect(other.get_by_text("1 message is held and leaves when you resume.")).to_be_visible()
    other.get_by_role("button", name="Let it send again").click()
    expect(page.locator("#state")).to_contain_text("Sent")

"""What the pages of messages and of the first steps do by themselves, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from looking import violations
from risala.sms.alphabet import fits_gsm7, plainer

pytestmark = [pytest.mark.browser, pytest.mark.slow]

EXPORT = "/app/org_1/messages/export?id=bbbbbbbbbbbbbbbbbbbbbb"
LETTERS = [chr(each) for each in range(0xA0, 0x250)] + [*"’“”„…–—−œŒ€شأ☂"]


def test_new_messages_are_told_and_the_list_stays(look):
    page = look("/app/org_1/messages")
    first = page.locator("main tbody tr").first
    before = first.bounding_box()
    expect(page.get_by_role("link", name="3 new messages: show them")).to_be_visible()
    assert first.bounding_box() == before


def no_answer(route):
    route.abort()


def too_many(route):
    route.fulfill(status=429, content_type="text/html", body="<h1>Too many pages are open.</h1>")


@pytest.mark.parametrize("refuse", [no_answer, too_many])
def test_a_stream_that_did_not_open_is_asked_for_again(look, refuse):
    page = look("/app/org_1/keys")
    page.add_init_script("console.error = () => {}")  # htmx says there what went wrong
    shut = [True]
    page.route("**/messages/live*", lambda route: refuse(route) if shut[0] else route.continue_())
    page.goto(page.url.replace("/keys", "/messages"))
    expect(page.get_by_text("connection lost, trying again")).to_be_visible()
    assert page.get_by_text("Too many pages are open.").count() == 0
    shut[0] = False
    expect(page.get_by_role("link", name="3 new messages: show them")).to_be_visible()


@pytest.mark.parametrize("language", ["fr", "ar", "en"])
def test_the_filters_stand_in_one_line(look, language):
    page = look("/app/org_1/messages", language=language, viewport={"width": 1280, "height": 844})
    field = page.locator(".filters .input").first.bounding_box()
    button = page.locator(".filters .btn:not(.fold)").bounding_box()
    assert button["y"] < field["y"] + field["height"]


def test_what_has_nothing_to_show_takes_no_gap(look, pages):
    page = look("/app/org_1/members")
    first = page.locator("main h1").bounding_box()["y"]
    for path in ("messages", "overview"):
        page.goto(f"{pages}/app/org_1/{path}")
        assert page.locator("main h1").bounding_box()["y"] == first
        head, after = (
            page.locator(each).first.bounding_box()
            for each in ("main .head", "main .head ~ :is(.row, .note, .filters)")
        )
        # As much as the gaps of the page are.
        assert 15 < after["y"] - head["y"] - head["height"] < 25


def test_rows_are_walked_by_single_keys(look, pages):
    page = look("/app/org_1/messages")
    rows = page.locator("main .rowlink")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(rows.nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(rows.nth(0)).to_be_focused()
    page.keyboard.press("/")
    expect(page.locator("input[data-search]")).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator("input[data-search]")).to_have_value("j")
    page.keyboard.press("Escape")
    rows.nth(0).focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"{pages}/app/org_1/messages/sms_**")


def test_shortcuts_are_switched_off_in_the_account(look, pages):
    page = look("/account")
    page.get_by_label("Single-key shortcuts").uncheck()
    page.goto(f"{pages}/app/org_1/messages")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_hidden()


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_a_file_is_downloaded_and_told_of(look, script):
    page = look(EXPORT, java_script_enabled=script, accept_downloads=True)
    with page.expect_download() as downloaded:
        page.get_by_role("button", name="Download").click()
    text = downloaded.value.path().read_text("utf-8-sig")
    assert text.startswith('"messageId","createdAt"')
    assert "\"'+222" in text
    if not script:
        page.get_by_role("link", name="See its progress").click()
    expect(page.locator("#written")).to_contain_text("The file is complete: 5 messages.")


def test_the_letter_that_would_do_is_named(look):
    page = look("/app/org_1/messages/new")
    page.get_by_label("Text", exact=True).fill("Fenêtre")
    expect(page.locator("#count")).to_contain_text("makes it Unicode;")
    page.get_by_label("Text", exact=True).fill("L’été")  # the organization wants it replaced
    expect(page.locator("#count")).to_contain_text("GSM-7")
    assert violations(page) == []


def test_the_page_proposes_what_the_service_does(look):
    page = look("/app/org_1/messages/new")
    source = page.locator("script[src*='/sms.']").get_attribute("src")
    odd = [each for each in LETTERS if not fits_gsm7(each)]
    found = page.evaluate(
        "async ([source, odd]) => odd.map((await import(source)).plainer)", [source, odd]
    )
    assert dict(zip(odd, found, strict=True)) == {each: plainer(each) for each in odd}


def test_the_counter_takes_the_price_of_the_number(look):
    page = look("/app/org_1/messages/new")
    source = page.locator("script[src*='/sms.']").get_attribute("src")
    words = {"price": 50, "local": 8, "prices": {"+222": 50, "+221": 1200, "+22177": 900}}
    known = {
        **dict.fromkeys(("", "36 12", "36123456", "00222 36", "22236123456"), 50),
        "+221 70": 1200,
        **dict.fromkeys(("+221 77", "00221771", "221771234567", "٢٢١٧٧١٢٣٤٥٦٧"), 900),
        **dict.fromkeys(("+33", "+2"), None),
    }
    found = page.evaluate(
        "async ([source, typed, words]) => {"
        " const { priceOf } = await import(source); return typed.map((t) => priceOf(t, words)) }",
        [source, [*known], words],
    )
    assert dict(zip(known, found, strict=True)) == known


def test_steps_lead_on_and_programs_change_without_script(look, pages):
    page = look("/app/org_1/start?mode=test", java_script_enabled=False)
    page.get_by_text("PHP").first.click()
    expect(page.locator("pre", has_text="curl_setopt_array").first).to_be_visible()
    page.get_by_role("link", name="Type the code").click()
    page.wait_for_url(f"{pages}/app/org_1/verify/try**")


def test_a_program_is_copied_as_it_stands(look):
    page = look("/app/org_1/start")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_text("Python").first.click()
    page.get_by_role("button", name="Copy Python").first.click()
    expect(page.get_by_text("Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("import json, os, urllib.request\n")
    assert copied.endswith('body="Bonjour"))')

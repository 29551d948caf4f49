"""The page of conversations in a real browser: answered, marked, live, by keyboard, on a phone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from looking import violations, wrong_on_any_screen
from patience import HANG_S, until
from risala.engine.model.people import Language
from risala.http.web.languages import load_words

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PAGE = "/app/org_1/conversations"
ONE = f"{PAGE}/cnv_1"
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 844}
OWNER, WRITER, LISTED = "owner@demo.example", "36 12 00 77", "36 12 00 78"
MARKS = "\u2068\u2069"
"""They isolate a name from the words around it."""
SHOTS = os.environ.get("RISALA_SHOTS")


@pytest.mark.parametrize(
    ("language", "colours"), [("en", "light"), ("fr", "dark"), ("ar", "light")]
)
def test_a_text_is_answered_in_its_thread(look, pages, language, colours):
    words = load_words(Language(language))
    page = look(PAGE, language=language, color_scheme=colours)
    assert wrong_on_any_screen(page, pages + ONE) == []
    for width in (390, 1280) if SHOTS else ():
        page.set_viewport_size({"width": width, "height": 844})
        page.screenshot(path=Path(SHOTS or "") / f"talk-{language}-{width}.png", full_page=True)
    page.get_by_label(str(words("Your answer"))).fill("Oui, jusqu'à 19 h.")
    expect(page.locator("#count")).to_contain_text("18 / 160")
    page.get_by_role("button", name=str(words("Send")), exact=True).click()
    expect(page.get_by_text(str(words("The answer is accepted.")))).to_be_visible()
    assert page.url == pages + ONE
    assert violations(page) == []


def test_people_are_walked_through_by_keyboard(look, pages):
    page = look("/app/org_1/inbound")
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_url(pages + PAGE)
    page.keyboard.press("j")
    expect(page.locator("#people a").first).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{pages}{PAGE}/cnv_2")
    page.keyboard.press("/")
    expect(page.get_by_label("Number, name or word")).to_be_focused()
    page.keyboard.type("salam")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{pages}{PAGE}?q=salam")
    page.goto(pages + ONE)
    page.get_by_label("Your answer").focus()
    page.keyboard.type("By keyboard")
    for _ in range(3):  # over the saved texts
        page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("The answer is accepted.")).to_be_visible()


def test_a_saved_text_stands_where_the_cursor_was(look):
    page = look(ONE)
    page.get_by_label("Saved text").select_option("txt_1")
    page.get_by_role("button", name="Insert").click()
    expect(page.get_by_label("Your answer")).to_have_value(
        "Bonjour, votre enfant était absent aujourd'hui."
    )


def test_without_script_everything_is_a_form(look, pages):
    page = look(ONE, java_script_enabled=False)
    page.get_by_label("Saved text").select_option("txt_1")
    page.get_by_role("button", name="Insert").click()
    expect(page.get_by_label("Your answer")).to_have_value(
        "Bonjour, votre enfant était absent aujourd'hui."
    )
    page.get_by_label("Your answer").fill("سلام")
    page.get_by_role("button", name="Count the parts").click()
    expect(page.locator("#count")).to_contain_text("Unicode")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_text("The answer is accepted.")).to_be_visible()
    page.get_by_role("button", name="Mark as done").click()
    assert page.url == pages + ONE
    page.get_by_label("Who answers").select_option(label="\u2068Aïcha Mint Ahmed\u2069")
    page.get_by_role("button", name="Assign").click()
    assert page.url == pages + ONE
    page.get_by_role("button", name="Mark as read").click()
    assert page.url == pages + ONE
    page.goto(f"{pages}{PAGE}/cnv_2")
    page.get_by_role("button", name="Mark as unread").click()
    assert page.url == pages + PAGE
    page.get_by_label("Number, name or word").fill("salam")
    page.get_by_label("Number, name or word").press("Enter")
    assert page.url == f"{pages}{PAGE}?q=salam"


@pytest.mark.parametrize("language", ["en", "ar"])
def test_on_a_phone_the_answer_covers_nothing_of_the_thread(look, language):
    """One after the other: the newest text, then the answer, both on the screen at once."""
    page = look(ONE, language=language, viewport=PHONE)
    last = page.locator("#flow > li").last.bounding_box()
    form = page.locator("form.reply").bounding_box()
    box = page.locator("#body").bounding_box()
    dock = page.locator(".dock").bounding_box()
    assert last["y"] + last["height"] <= form["y"]
    assert last["y"] >= page.locator(".flow-box").bounding_box()["y"]
    assert box["y"] + box["height"] <= dock["y"]
    expect(page.locator("#people")).to_be_hidden()
    page.locator(".thread-panel a.back").click()
    expect(page.locator("#people")).to_be_visible()


def test_a_viewer_reads_and_writes_nothing(look):
    page = look("/app/org_2/conversations/cnv_1")
    expect(page.locator("#flow > li.in")).to_be_visible()
    expect(page.locator("main form[method=post]")).to_have_count(0)
    assert violations(page) == []


def test_who_opens_a_text_has_read_it(look):
    """By a request of the page, whose answer draws the list anew."""
    page = look(PAGE)
    with page.expect_response(lambda each: each.url.endswith("/mark")) as marked:
        page.locator("#people a").first.click()
    assert marked.value.request.post_data.endswith("read=yes")
    assert marked.value.status == 200
    expect(page.get_by_role("button", name="Mark as unread")).to_be_visible()
    expect(page.get_by_role("button", name="Mark as read")).to_be_hidden()


def sign_in(page, demo):
    page.get_by_label("E-mail address").fill(OWNER)
    page.get_by_role("button", name="Send me a code").click()
    page.get_by_label("6-digit code").fill(demo.mailed_code(OWNER))
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/overview")


def test_a_thread_is_live_again_after_a_restart(browser, serve_demo, tmp_path):
    """What came before it, what is half written, and what came while there was no stream."""
    context = browser.new_context(locale="en", viewport=DESK)
    page = context.new_page()
    page.set_default_timeout(HANG_S * 1000)
    with serve_demo(tmp_path) as demo:
        page.goto(f"{demo.file['base_url']}/sign-in")
        sign_in(page, demo)
        whose = ("--org", demo.file["organization_id"])
        demo.risala("inbound", "route", *whose, "--keyword", "shop")  # the next demo has its own
        demo.risala("demo", "text", WRITER, "Shop, before the restart")
        page.goto(page.url.replace("/overview", "/conversations"))
        page.locator("#people a", has_text="Shop, before the restart").click()
        page.get_by_label("Your answer").fill("Half")
    port = int(demo.file["base_url"].rpartition(":")[2])
    with serve_demo(tmp_path, port) as demo:
        for text in ("Shop, after the restart", "Shop, and once more"):  # the first before a stream
            demo.risala("demo", "text", WRITER, text)
            expect(page.locator("#flow")).to_contain_text(text)
        expect(page.locator("#flow")).to_contain_text("Shop, before the restart")
        expect(page.locator("#people")).to_contain_text("Shop, and once more")
        expect(page.get_by_label("Your answer")).to_have_value("Half")
    context.close()


def test_who_writes_is_put_on_a_list_and_given_to_a_member(open_page, demo):
    """On a real service, without script; the list then gives the person a name."""
    page = open_page(f"{demo.file['base_url']}/sign-in", java_script_enabled=False)
    sign_in(page, demo)
    home = page.url.partition("/overview")[0]
    demo.risala("demo", "text", LISTED, "Am I on your list?")
    whose = ("--org", demo.file["organization_id"])
    demo.risala("list", "create", "Customers", *whose)
    page.goto(f"{home}/conversations?q={LISTED.replace(' ', '')}")
    page.locator("#people a").first.click()
    page.get_by_label("Add to a list").select_option(label="\u2068Customers\u2069")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_text("The number is on the list.")).to_be_visible()
    expect(page.locator(".about dd a")).to_have_text("Customers")
    expect(page.get_by_label("Add to a list")).to_have_count(0)
    member = page.get_by_label("Who answers").locator("option").nth(1).inner_text()
    page.get_by_label("Who answers").select_option(index=1)
    page.get_by_role("button", name="Assign").click()
    expect(page.locator("#people .whose").first).to_have_text(f"{member.strip(MARKS)} answers")


def test_a_text_comes_in_while_one_looks_and_is_answered(open_page, demo):
    """On a real service: what a phone writes is on the page by itself, what is half written stays,
    and of two who answer at once one reads the other's answer first."""
    page = open_page(f"{demo.file['base_url']}/sign-in", viewport=DESK)
    sign_in(page, demo)
    demo.risala("demo", "text", WRITER, "Is the shop open?")
    page.goto(page.url.replace("/overview", "/conversations"))
    page.locator("#people a", has_text="Is the shop open?").click()
    answer = page.get_by_label("Your answer")
    answer.fill("Until 19 h.")
    other = page.context.new_page()
    other.goto(page.url)
    for text in ("And tomorrow?", "Or on Friday?"):  # the first may come as the stream begins
        demo.risala("demo", "text", WRITER, text)
        expect(page.locator("#flow")).to_contain_text(text)
    expect(page.locator("#people")).to_contain_text("Or on Friday?")
    expect(answer).to_have_value("Until 19 h.")
    send = {"name": "Send", "exact": True}
    page.get_by_role("button", **send).click()
    expect(page.get_by_role("alert")).to_contain_text("The conversation has gone on")
    expect(answer).to_have_value("Until 19 h.")
    page.get_by_role("button", **send).click()
    expect(page.locator("#flow li.out")).to_contain_text("Until 19 h.")
    other.get_by_label("Your answer").fill("We are closed.")
    expect(other.locator("#flow")).to_contain_text("Until 19 h.")
    other.get_by_role("button", **send).click()
    expect(other.get_by_role("alert")).to_contain_text("The conversation has gone on")
    until(lambda: demo.texts("+22236120077") == ["Until 19 h."], "the answer on the phone")
    expect(page.locator("#flow li.out")).to_contain_text("Delivered")

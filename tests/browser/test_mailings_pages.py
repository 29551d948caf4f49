"""Writing to many: by keyboard, on a phone, without script, in three languages."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from looking import violations

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NEW = "/app/org_1/messages/new"
DRAFT = "/app/org_1/mailings/mlg_draft"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
FILE = {"name": "école.csv", "mimeType": "text/csv", "buffer": b"numero;eleve\n36123456;Sidi\n"}
WORDS = {"en": "draft", "fr": "brouillon", "ar": "مسودة"}


def text_of(page: Page):
    return page.locator("#body")


def isolated(name: str) -> str:
    """A name as an option shows it, whichever way the page runs."""
    return f"\u2068{name}\u2069"


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
@pytest.mark.parametrize("language", WORDS)
def test_a_file_is_sent_and_a_draft_opens(look, pages, language, script):
    page = look(NEW, language=language, java_script_enabled=script, **PHONE)
    page.locator("#file").set_input_files(FILE)
    text_of(page).fill("Bonjour")
    page.locator("main .btn.main-act").click()
    page.wait_for_url(f"{pages}{DRAFT}")
    expect(page.locator("h1")).to_contain_text(WORDS[language])
    expect(page.locator("#person .bubble")).to_contain_text("محمد 1")


def test_many_numbers_are_pasted_line_by_line(look, pages):
    page = look(NEW)
    page.get_by_label("To", exact=True).fill("36 12 34 56\n46 12 34 56")
    expect(page.locator("#count")).not_to_contain_text("MRU")  # the draft's page says the price
    page.get_by_label("To", exact=True).fill("36 12 34 56")
    expect(page.locator("#count")).to_contain_text("0.50")
    page.get_by_label("To", exact=True).fill("Parents 6e")
    text_of(page).fill("Bonjour")
    page.get_by_role("button", name="Send").click()
    page.wait_for_url(f"{pages}{DRAFT}")


def test_the_phone_stands_beside_the_text_and_shows_it(look):
    page = look(NEW, viewport={"width": 1280, "height": 844})
    text_of(page).fill("Salam\nsecond line")
    expect(page.locator("#preview")).to_have_text("Salam\nsecond line", use_inner_text=True)
    form, phone = (page.locator(each).bounding_box() for each in ("main form .panel", ".phone"))
    assert phone["x"] >= form["x"] + form["width"]
    page.set_viewport_size({"width": 390, "height": 844})
    form, phone = (page.locator(each).bounding_box() for each in ("main form .panel", ".phone"))
    assert phone["y"] >= form["y"] + form["height"]
    page.get_by_label("Sender").select_option("BARAKA 2")
    expect(page.locator("#preview-sender")).to_have_text("BARAKA 2")


def test_a_saved_text_is_inserted_where_the_cursor_stands(look):
    page = look(NEW)
    text_of(page).fill("Before. After.")
    text_of(page).evaluate("field => field.setSelectionRange(8, 8)")
    page.get_by_label("Saved text").select_option(label=isolated("Absence"))
    page.get_by_role("button", name="Insert").click()
    expect(text_of(page)).to_have_value(re.compile(r"^Before\. Bonjour, .*\.After\.$"))
    expect(text_of(page)).to_be_focused()
    expect(page.locator("#preview")).to_contain_text("votre enfant")


def test_a_saved_text_is_inserted_without_script(look):
    page = look(NEW, java_script_enabled=False)
    text_of(page).fill("Before.")
    page.get_by_label("Saved text").select_option(label=isolated("غياب"))
    page.get_by_role("button", name="Insert").click()
    expect(text_of(page)).to_have_value("Before.\nالسلام عليكم، غاب ابنكم اليوم عن المدرسة.")


def test_a_file_is_dropped_on_the_form(look):
    page = look(NEW)
    data = page.evaluate_handle(
        "() => { const data = new DataTransfer();"
        " data.items.add(new File(['numero'], 'people.csv', { type: 'text/csv' })); return data; }"
    )
    for kind in ("dragover", "drop"):
        page.dispatch_event("#body", kind, {"dataTransfer": data})
    part = page.locator("#of-file")
    expect(part.locator("p bdi")).to_have_text("people.csv")
    expect(part).to_be_focused()
    page.keyboard.press("Tab")
    expect(part.get_by_role("button", name="Take it away")).to_be_focused()
    assert violations(page) == []
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(text_of(page)).to_have_value("{{Nom}}")
    expect(text_of(page)).to_be_focused()


def test_a_file_that_is_too_large_does_not_leave(look):
    page = look(NEW)
    page.locator("[data-drop]").evaluate("zone => { zone.dataset.max = 10; }")
    page.locator("#file").set_input_files(FILE)
    expect(page.get_by_text("The file is larger than 20 MB.")).to_be_visible()
    assert page.locator("#file").evaluate("field => field.files.length") == 0


def test_a_draft_is_walked_and_sent_by_keyboard_alone(look, pages):
    page = look(DRAFT)
    page.get_by_role("link", name="Next").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#person .bubble")).to_contain_text("محمد 2")
    expect(page.get_by_role("link", name="Next")).to_be_focused()
    page.get_by_role("button", name="الولي").focus()
    page.keyboard.press("Enter")
    expect(text_of(page)).to_have_value(re.compile(r"\{\{الولي\}\}$"))
    field = page.get_by_label("الهاتف in row 2")
    field.fill("36123456")
    field.press("Enter")
    expect(page.get_by_text("The row is fixed.")).to_be_visible()
    page.get_by_role("link", name=re.compile("Send to")).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Send it?")).to_contain_text("120.00")
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name=re.compile("Send to"))).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Send").press("Enter")
    expect(page.get_by_text("It is being sent.")).to_be_visible()


@pytest.mark.parametrize("language", WORDS)
def test_a_draft_is_sent_on_a_phone_without_script(look, pages, language):
    page = look(DRAFT, language=language, java_script_enabled=False, **PHONE)
    page.locator("#next").click()
    expect(page.locator("#person .bubble")).to_contain_text("محمد 2")
    page.locator("#acts a").click()
    page.wait_for_url(f"{pages}{DRAFT}/start")
    page.locator("main .btn.main-act").click()
    page.wait_for_url(f"{pages}{DRAFT}")


def test_a_mailing_is_paused_and_stopped(look, pages):
    page = look("/app/org_1/mailings/mlg_sending")
    page.get_by_role("link", name="Stop").click()
    expect(page.get_by_role("dialog", name="Stop it?")).to_contain_text("cannot be taken back")
    assert violations(page) == []
    page.get_by_role("button", name="Not now").click()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("It is paused")).to_be_visible()


def test_progress_is_drawn_while_the_page_is_open(look):
    page = look("/app/org_1/mailings/mlg_sending")
    page.locator("#figures").evaluate("part => { part.textContent = ''; }")
    expect(page.locator("#figures")).to_contain_text("Delivered")
    expect(page.locator("#progress")).to_contain_text("59%")


def test_a_check_that_ends_opens_the_draft(look):
    page = look("/app/org_1/mailings/mlg_checking")
    expect(page.get_by_text("Rows checked")).to_be_visible()
    page.evaluate(
        "() => { const piece = document.createElement('span'); piece.dataset.reload = '';"
        " document.body.append(piece); window.old = true;"
        " document.dispatchEvent(new CustomEvent('htmx:after:swap')); }"
    )
    page.wait_for_function("() => !window.old")


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_rows_and_reports_are_files(look, script):
    page = look(DRAFT, java_script_enabled=script, accept_downloads=True)
    with page.expect_download() as downloaded:
        page.get_by_role("link", name="Download these rows").click()
    assert "This is not a phone number." in downloaded.value.path().read_text("utf-8-sig")


def test_a_viewer_sees_a_mailing_and_changes_nothing(look):
    page = look("/app/org_2/mailings/mlg_draft")
    expect(page.locator("#person .bubble")).to_contain_text("محمد 1")
    assert page.locator("main form, main .btn.main-act, main textarea").count() == 0

"""The example page in a real browser, on a real service, through a simulated carrier."""

import json
import re
import socket
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TEXTS = Path(__file__).parents[2] / "examples/verify-page/texts.js"


def ask(demo, verification_id: str) -> dict:
    """What the page's own server would ask, with its secret key."""
    request = urllib.request.Request(
        demo.file["base_url"] + "/api/verify/get",
        json.dumps({"verificationId": verification_id}).encode(),
        {"x-api-key": demo.file["secret_key"], "content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=20) as response:
        return json.load(response)


def send(page: Page, number: str) -> None:
    page.get_by_label("Phone number").fill(number)
    page.get_by_role("button", name="Send the code").click()


def test_a_number_is_verified(demo, site, open_page):
    page = open_page(site)
    seen = []
    page.on("request", lambda request: seen.append(request.url))
    page.evaluate("addEventListener('verified', (event) => { window.done = event.detail; }, true)")
    send(page, "36 00 00 01")
    expect(page.get_by_role("heading", name="Your code")).to_be_visible()
    expect(page.get_by_text("+222 36 00 00 01")).to_be_visible()
    box = page.get_by_label("The code in the SMS")
    expect(box).to_be_focused()
    box.fill("12")
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text("wrong, or no longer valid")).to_be_visible()
    expect(box).to_have_attribute("aria-invalid", "true")
    box.fill(demo.code(page, "+22236000001"))
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_role("heading", name="Verified")).to_be_focused()
    shown = ask(demo, page.evaluate("window.done.verificationId"))
    assert (shown["status"], shown["to"], shown["attempts"]) == ("approved", "+22236000001", 1)
    assert all(url.startswith((site, demo.file["base_url"], "data:")) for url in seen)


def test_it_is_done_by_keyboard_and_in_arabic_digits(demo, site, open_page):
    page = open_page(site, locale="ar")
    box = page.get_by_label("رقم الهاتف")
    box.focus()
    page.keyboard.type("٣٦ ٠٠ ٠٠ ٠٢")
    page.keyboard.press("Enter")
    expect(page.get_by_label("الرمز الذي وصلك")).to_be_focused()
    code = demo.code(page, "+22236000002")
    assert demo.texts("+22236000002")[0].startswith("رمز التحقق")
    page.keyboard.type(code.translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="تم التأكيد")).to_be_visible()


NO_NUMBER = "no mobile number of a country that is served. Write it like \u206636 12 34 56\u2069."


@pytest.mark.parametrize("typed", ["3600000", "36 00 00 001", "56000000", "+33612345678"])
def test_what_the_service_does_not_serve_is_told(site, open_page, typed):
    page = open_page(site)
    send(page, typed)
    expect(page.get_by_text(NO_NUMBER)).to_be_visible()
    expect(page.get_by_label("Phone number")).to_be_focused()


@pytest.mark.parametrize("typed", ["", "1", "3600", "36 00 00 00 x", "+0036000000"])
def test_what_is_no_number_is_not_sent(site, open_page, typed):
    page = open_page(site)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    send(page, typed)
    expect(page.get_by_text(NO_NUMBER)).to_be_visible()
    expect(page.get_by_label("Phone number")).to_be_focused()
    assert asked == []


@pytest.mark.parametrize("typed", ["36000003", "+22236000003", "0022236000003", "222 36-00-00-03"])
def test_numbers_are_taken_as_people_write_them(site, open_page, typed):
    page = open_page(site)
    page.route("**/api/verify/send", lambda route: route.fulfill(json={"verificationId": "ver_1"}))
    with page.expect_request("**/api/verify/send") as asked:
        send(page, typed)
    assert asked.value.post_data_json == {"to": "+22236000003", "locale": "en"}


KENYA = {"code": "254", "trunk": "0", "example": "0712 123456"}


@pytest.mark.parametrize(
    "typed", ["0712 123456", "712123456", "+254 712 123456", "00254712123456", "254712123456"]
)
def test_the_page_is_of_another_country_by_its_config(site_with, open_page, typed):
    with site_with("http://127.0.0.1:1", "pk_live_x", KENYA) as url:
        page = open_page(url)
        answer = {"verificationId": "ver_1"}
        page.route("**/api/verify/send", lambda route: route.fulfill(json=answer))
        expect(page.get_by_text("+254", exact=True)).to_be_visible()
        expect(page.get_by_label("Phone number")).to_have_attribute("placeholder", "712 123456")
        with page.expect_request("**/api/verify/send") as asked:
            send(page, typed)
        assert asked.value.post_data_json == {"to": "+254712123456", "locale": "en"}
        expect(page.get_by_text("+254 712 123456")).to_be_visible()


def test_a_second_code_and_another_number(demo, site, open_page):
    page = open_page(site)
    send(page, "36000004")
    demo.code(page, "+22236000004")
    page.get_by_role("button", name="Send another code").click()
    expect(page.get_by_role("alert")).to_have_text("A new code is on its way. Use that one.")
    code = demo.code(page, "+22236000004", count=2)
    page.get_by_role("button", name="Change the number").click()
    expect(page.get_by_label("Phone number")).to_be_focused()
    send(page, "36000005")
    page.get_by_label("The code in the SMS").fill(code)
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text("wrong, or no longer valid")).to_be_visible()


def test_the_wait_of_a_limit_is_shown_and_runs_out(demo, site, open_page):
    page = open_page(site, locale="fr")
    page.clock.install()
    box, button = page.get_by_label("Numéro de téléphone"), page.get_by_role("button")
    for count in range(1, 6):
        box.fill("36000006")
        button.get_by_text("Envoyer le code").click()
        demo.code(page, "+22236000006", count)
        button.get_by_text("Changer de numéro").click()
    box.fill("36000006")
    button.get_by_text("Envoyer le code").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text(re.compile(r"Vous pourrez réessayer dans (60:00|59:[0-5]\d)"))
    expect(button.get_by_text("Envoyer le code")).to_be_disabled()
    page.get_by_role("button", name="العربية").click()
    expect(alert).to_contain_text("طلبات كثيرة")
    page.clock.run_for(3_600_000)
    expect(alert).to_be_hidden()
    expect(page.get_by_role("button", name="أرسل الرمز", exact=True)).to_be_enabled()


def test_the_origins_of_a_key_are_kept_to(demo, site_with, open_page):
    asked = ("--type", "publishable", "--origin", "https://app.example")
    made = demo.risala("key", "create", "--org", demo.file["organization_id"], *asked)
    with site_with(demo.file["base_url"], made["value"]) as url:
        page = open_page(url)
        send(page, "36000007")
        expect(page.get_by_role("alert")).to_contain_text("not set up properly")
        demo.risala("key", "origins", made["key"]["id"], url)
        send(page, "36000007")
        expect(page.get_by_role("heading", name="Your code")).to_be_visible()


def test_a_service_that_is_away(site_with, open_page):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with site_with(f"http://127.0.0.1:{port}", "pk_live_x") as url:
        page = open_page(url)
        send(page, "36000008")
        expect(page.get_by_role("alert")).to_contain_text("Check your connection")
        expect(page.get_by_role("button", name="Send the code")).to_be_enabled()


@pytest.mark.parametrize(
    ("locale", "lang", "direction", "title"),
    [
        ("fr-FR", "fr", "ltr", "Vérifier votre numéro"),
        ("ar-MR", "ar", "rtl", "تأكيد رقمك"),
        ("en-GB", "en", "ltr", "Verify your number"),
        ("de-DE", "fr", "ltr", "Vérifier votre numéro"),
    ],
)
def test_languages(site, open_page, locale, lang, direction, title):
    page = open_page(site, locale=locale)
    root = page.locator("html")
    expect(root).to_have_attribute("lang", lang)
    expect(root).to_have_attribute("dir", direction)
    assert page.title() == title
    assert page.locator("nav [aria-pressed=true]").get_attribute("lang") == lang
    page.get_by_role("button", name="English").click()
    assert page.title() == "Verify your number"
    texts = page.evaluate("TEXTS")
    assert {tuple(sorted(each)) for each in texts.values()} == {tuple(sorted(texts["en"]))}
    assert all(text for each in texts.values() for text in each.values())


@pytest.mark.parametrize("locale", ["fr", "ar", "en"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_small_phone_and_a_thumb(site, open_page, locale, scheme):
    viewport = {"width": 320, "height": 568}
    page = open_page(site, locale, viewport=viewport, color_scheme=scheme)
    page.evaluate(
        "document.querySelectorAll('section').forEach((each) => { each.hidden = false; })"
    )
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    for each in page.locator("button, input").all():
        box = each.bounding_box()
        assert box is not None
        assert box["height"] >= 44
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 320
    assert contrasts(page) == []


def contrasts(page: Page) -> list[str]:
    """Texts that stand out less than 4.5 to 1 from what is behind them (WCAG AA)."""
    return page.evaluate("""() => {
      const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
      const bright = ([r, g, b]) => [r, g, b].map((c) => c / 255)
        .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
        .reduce((sum, c, n) => sum + c * [0.2126, 0.7152, 0.0722][n], 0);
      const ground = (node) => {
        for (let at = node; at; at = at.parentElement) {
          const found = rgb(getComputedStyle(at).backgroundColor);
          if (found.length < 4 || found[3] > 0) return found;
        }
        return [255, 255, 255];
      };
      return [...document.querySelectorAll("h1, p, label, button, span, bdi")]
        .filter((node) => node.textContent.trim() && !node.closest("[hidden]"))
        .filter((node) => {
          const pair = [bright(rgb(getComputedStyle(node).color)), bright(ground(node))];
          return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05) < 4.5;
        })
        .map((node) => node.textContent);
    }""")

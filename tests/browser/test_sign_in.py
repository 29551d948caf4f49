"""From an e-mail address to the first key, in a real browser, on a real service."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from looking import Watch, overflow, violations
from patience import HANG_S

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WORDS = {
    "fr": ("Adresse e-mail", "M’envoyer un code", "Code à 6 chiffres", "Se connecter"),
    "ar": ("البريد الإلكتروني", "إرسال رمز إلي", "الرمز المكوّن من 6 أرقام", "تسجيل الدخول"),
    "en": ("E-mail address", "Send me a code", "6-digit code", "Sign in"),
}
NEW = {
    "fr": ("Nom de la nouvelle organisation", "Créer l’organisation", "Clés API"),
    "ar": ("اسم المنظمة الجديدة", "إنشاء المنظمة", "مفاتيح API"),
    "en": ("Name of the new organization", "Create the organization", "API keys"),
}
ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")


@pytest.fixture
def open_dashboard(demo, browser: Browser) -> Iterator[Callable[..., Page]]:
    contexts, watches = [], []

    def open_one(language: str, **options) -> Page:
        context = browser.new_context(locale=language, **options)
        contexts.append(context)
        watches.append(Watch(context, demo.file["base_url"]))
        page = context.new_page()
        page.set_default_timeout(HANG_S * 1000)
        page.goto(demo.file["dashboard_url"])
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert [fault for watch in watches for fault in watch.faults] == []


def sign_in(page: Page, demo, language: str, email: str, *, arabic_digits: bool = False) -> None:
    address, send, code_label, enter = WORDS[language]
    page.get_by_label(address).fill(email)
    page.get_by_role("button", name=send).click()
    field = page.get_by_label(code_label)
    expect(field).to_have_attribute("autocomplete", "one-time-code")
    code = demo.mailed_code(email)
    spaced = f" {code[:3]} {code[3:]} "
    field.fill(spaced.translate(ARABIC) if arabic_digits else spaced)
    page.get_by_role("button", name=enter, exact=True).click()


@pytest.mark.parametrize("language", ["fr", "ar", "en"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_a_newcomer_gets_in_and_makes_an_organization(
    open_dashboard, demo, language, width, scheme
):
    page = open_dashboard(language, viewport={"width": width, "height": 844}, color_scheme=scheme)
    assert violations(page) == []
    email = f"new-{language}-{width}@baraka.example"
    sign_in(page, demo, language, email, arabic_digits=language == "ar")
    name, create, keys = NEW[language]
    expect(page.get_by_label(name)).to_be_visible()
    assert violations(page) == []
    page.get_by_label(name).fill("Baraka Market")
    page.get_by_role("button", name=create).click()
    page.wait_for_url("**/app/org_*/**")
    page.goto(page.url.rpartition("/")[0] + "/keys")
    expect(page.get_by_role("heading", name=keys)).to_be_visible()
    assert page.locator("html").get_attribute("lang") == language
    assert (violations(page), overflow(page)) == ([], 0)


def test_the_demo_s_owner_gets_in_without_script(open_dashboard, demo):
    page = open_dashboard("en", java_script_enabled=False)
    page.get_by_label("E-mail address").fill("no address")
    page.get_by_role("button", name="Send me a code").click()
    expect(page.get_by_role("alert")).to_contain_text("This is not an e-mail address")
    sign_in(page, demo, "en", demo.file["owner_email"])
    expect(page.locator("#side summary", has_text="Demo")).to_be_visible()
    page.goto(f"{demo.file['base_url']}/app/{demo.file['organization_id']}/keys")
    made = page.get_by_role("main").get_by_role("link", name="demo", exact=True)
    expect(made).to_have_count(4)  # another test may have made keys of other names
    cookies = {each["name"]: each for each in page.context.cookies()}
    session = cookies["risala"]
    assert (session["httpOnly"], session["sameSite"], session["path"]) == (True, "Lax", "/")
    assert "risala-door" not in cookies


def test_wrong_codes_and_signing_out(open_dashboard, demo):
    page = open_dashboard("en")
    email = "wrong@baraka.example"
    page.get_by_label("E-mail address").fill(email)
    page.get_by_role("button", name="Send me a code").click()
    page.get_by_label("6-digit code").fill("12")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("alert")).to_be_focused()
    expect(page.get_by_role("alert")).to_contain_text("tries are left")
    assert violations(page) == []
    page.get_by_label("6-digit code").fill(demo.mailed_code(email))
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You are signed out.")).to_be_visible()
    page.go_back()
    page.reload()
    expect(page.get_by_label("E-mail address")).to_be_visible()


def test_a_page_lives_on_over_an_orderly_restart(browser: Browser, serve_demo, tmp_path):
    """It says that the connection is lost, and what happens after the restart is seen."""
    context = browser.new_context(locale="en")
    page = context.new_page()
    page.set_default_timeout(HANG_S * 1000)
    with serve_demo(tmp_path) as demo:
        page.goto(demo.file["dashboard_url"])
        sign_in(page, demo, "en", demo.file["owner_email"])
        expect(page.locator("#side summary", has_text="Demo")).to_be_visible()
        owner_of = demo.file["organization_id"]
        page.goto(f"{demo.file['base_url']}/app/{owner_of}/messages")
        expect(page.locator("#live")).to_have_text("live")
    expect(page.locator("#live")).to_have_text("connection lost, trying again")
    with serve_demo(tmp_path, int(demo.file["base_url"].rpartition(":")[2])) as demo:
        expect(page.locator("#live")).to_have_text("live", timeout=HANG_S * 1000)
        demo.risala("send", "+22236000001", "after the restart", "--org", owner_of)
        expect(page.get_by_role("link", name="1 new message: show it")).to_be_visible()
    context.close()

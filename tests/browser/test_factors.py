"""Passkeys by Chromium's virtual authenticator, authenticator apps and recovery codes, by keyboard,
on a real service."""

from __future__ import annotations

import html
from collections.abc import Iterator

import pyotp
import pytest
from playwright.sync_api import Browser, Page, expect

from looking import Watch, overflow, violations
from patience import HANG_S
from risala.engine.model.people import Language
from risala.http.web.languages import load_words

pytestmark = [pytest.mark.browser, pytest.mark.slow]
AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


class Person:
    """Somebody at a browser, with a keyboard."""

    def __init__(self, page: Page, demo, language: str) -> None:
        self.page, self._demo = page, demo
        self.words = load_words(Language(language))
        self.base = demo.file["base_url"].replace("127.0.0.1", "localhost")
        self.email = f"factors-{language}@baraka.example"

    def say(self, sentence: str) -> str:
        return html.unescape(str(self.words(sentence)))

    def press(self, role: str, label: str) -> None:
        self.page.get_by_role(role, name=self.say(label), exact=True).focus()
        self.page.keyboard.press("Enter")

    def type(self, label: str, text: str) -> None:
        self.page.get_by_label(self.say(label), exact=True).focus()
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")

    def show_mailed_code(self) -> None:
        self.page.goto(f"{self.base}/sign-in")
        self.type("E-mail address", self.email)
        expect(self.page.locator("#code")).to_be_visible()
        self.page.keyboard.type(self._demo.mailed_code(self.email))
        self.page.keyboard.press("Enter")

    def sign_out(self) -> None:
        self.page.goto(f"{self.base}/sign-out")
        self.press("button", "Sign out")
        self.page.wait_for_url("**/sign-in")

    def security(self) -> None:
        self.page.goto(f"{self.base}/account/security")

    def clean(self) -> None:
        """Nothing runs over; axe finds nothing wrong, on one language's pages for all."""
        found = violations(self.page) if self.words.language is Language.ARABIC else []
        assert (found, overflow(self.page)) == ([], 0)


@pytest.fixture(params=["fr", "ar", "en"])
def person(request, demo, browser: Browser) -> Iterator[Person]:
    context = browser.new_context(locale=request.param, viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.set_default_timeout(HANG_S * 1000)
    found = Person(page, demo, request.param)
    watch = Watch(context, found.base)
    authenticators = context.new_cdp_session(page)
    authenticators.send("WebAuthn.enable")
    authenticators.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    yield found
    context.close()
    assert watch.faults == []


def test_a_passkey_an_app_and_recovery_codes(person):
    page = person.page
    person.show_mailed_code()
    page.wait_for_url("**/app")
    person.security()
    person.clean()
    person.press("link", "Add a passkey")
    page.wait_for_url("**/passkey")
    person.clean()
    person.press("button", "Make a passkey")
    expect(page.locator(".codes li")).to_have_count(10)
    codes = page.locator(".codes code").all_inner_texts()
    person.clean()
    # A passkey alone lets in.
    person.sign_out()
    person.press("button", "Sign in with a passkey")
    page.wait_for_url("**/app")
    # An app beside it.
    person.security()
    person.press("link", "Add an authenticator app")
    page.wait_for_url("**/security/app")
    person.clean()
    expect(page.locator("svg.qr")).to_be_visible()
    secret = "".join(page.locator("code.anywhere").inner_text().split())
    person.type("Code of your app", pyotp.TOTP(secret).now())
    page.wait_for_url("**/security")
    expect(page.locator("#toasts")).to_contain_text(
        person.say("It is set up. From now on you are asked for it when you sign in.")
    )
    expect(page.locator(".plainlist > li")).to_have_count(2)
    # A page asks before a factor is removed.
    page.locator(".plainlist a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/remove*")
    person.clean()
    person.press("link", "Keep this factor")
    page.wait_for_url("**/security")
    # The code by e-mail alone does not.
    person.sign_out()
    person.show_mailed_code()
    expect(page.locator("#factor")).to_be_visible()
    person.clean()
    page.goto(f"{person.base}/app")
    page.wait_for_url("**/sign-in*")
    person.type("Code of your app, or a recovery code", "000000")
    expect(page.get_by_role("alert").first).to_be_visible()
    person.type("Code of your app, or a recovery code", codes[0])
    page.wait_for_url("**/app")

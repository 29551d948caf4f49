"""Operators and members sign in at a real identity provider, by keyboard, in three languages."""

from __future__ import annotations

import html
import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page, expect

from looking import overflow, violations
from npm import npm_installed
from patience import HANG_S
from processes import Process, run
from risala.engine.model.people import Language
from risala.http.web.languages import load_words

pytestmark = [pytest.mark.browser, pytest.mark.slow]
NODE: Final = Path(__file__).parents[1] / "http/oidc_node"
OPERATOR: Final = "operator@demo.example"
SECRET: Final = "a secret: +/%"
MARKS: Final = "\u2066\u2067\u2068\u2069"
"""Around names whose direction may be another one."""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def provider(*redirects: str) -> Iterator[str]:
    npm_installed(NODE, "node-oidc-provider")
    command = ["node", str(NODE / "provider.mjs"), *redirects]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


@contextmanager
def demo_with(issuer: str, data: Path, port: int) -> Iterator[str]:
    command = [sys.executable, "-m", "risala", "serve", "--demo", "--data", str(data)]
    oidc = {
        "ISSUER": issuer,
        "CLIENT_ID": "risala",
        "CLIENT_SECRET_ENV": "OIDC_SECRET",
        "LABEL": "Example Ltd",
        "DOMAINS": "demo.example",
    }
    more = {f"RISALA_PEOPLE__OIDC__{name}": value for name, value in oidc.items()}
    more |= {"OIDC_SECRET": SECRET, "RISALA_WEBHOOKS__ALLOW_INSECURE": "true"}
    process = Process([*command, "--port", str(port)], data, **more)
    try:
        until = time.monotonic() + HANG_S
        while not (data / "demo.json").exists():
            assert process.popen.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
        yield json.loads((data / "demo.json").read_text())["base_url"]
    finally:
        process.signal(signal.SIGTERM)
        process.wait_exit()


def press(page: Page, role: str, label: str) -> None:
    page.get_by_role(role, name=label, exact=True).focus()
    page.keyboard.press("Enter")


def clean(page: Page) -> None:
    assert (violations(page), overflow(page)) == ([], 0)


def risala(data: Path, *arguments: str) -> dict[str, Any]:
    done = run([sys.executable, "-m", "risala", *arguments, "--data", str(data), "--json"], data)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def register(data: Path, organization: str, issuer: str) -> None:
    (data / "secret.txt").write_text(SECRET, "utf-8")
    of = ("--org", organization)
    client = ("--client-id", "risala", "--secret-file", str(data / "secret.txt"))
    domain = ("--domain", "staff.example", "--default-role", "viewer", "--label", "Staff Ltd")
    risala(data, "provider", "set", *of, "--issuer", issuer, *client, *domain)
    risala(data, "provider", "confirm", *of, "staff.example")


def sign_in_there(page: Page, login: str) -> None:
    """On the provider's own pages, which are English."""
    page.locator("[name=login]").focus()
    page.keyboard.type(login)
    page.keyboard.press("Tab")
    page.keyboard.type("any")
    page.keyboard.press("Enter")
    press(page, "button", "Continue")


class Visitor:
    """Somebody who reads one language, with the keyboard of a small screen."""

    def __init__(self, browser: Browser, language: Language, base: str) -> None:
        self.words, self.base = load_words(language), base
        self.context = browser.new_context(
            locale=language.value, viewport={"width": 390, "height": 844}
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(HANG_S * 1000)

    def pattern(self, sentence: str, **values: object) -> re.Pattern[str]:
        """The sentence, wherever a page puts marks of direction."""
        shown = html.unescape(str(self.words(sentence, **values)))
        letters = (re.escape(letter) for letter in shown if letter not in MARKS)
        return re.compile(f"[{MARKS}]*".join(letters))

    def press_link(self, sentence: str, **values: object) -> None:
        self.page.get_by_role("link").filter(has_text=self.pattern(sentence, **values)).focus()
        self.page.keyboard.press("Enter")

    def sees(self, where: str, sentence: str, **values: object) -> None:
        expect(self.page.locator(where)).to_have_text(self.pattern(sentence, **values))
        clean(self.page)


def operator_stops_and_signs_in(visitor: Visitor) -> None:
    page = visitor.page
    page.goto(f"{visitor.base}/operator/sign-in")
    clean(page)
    visitor.press_link("Sign in with {provider}", provider="Example Ltd")
    press(page, "link", "[ Cancel ]")
    visitor.sees("h1", "You are not signed in")
    visitor.sees("main", "You stopped the sign-in there. Nothing was done.")
    visitor.press_link("Try again")
    sign_in_there(page, OPERATOR)
    page.wait_for_url("**/operator/overview")
    expect(page.locator("main")).to_be_visible()


def member_signs_in(visitor: Visitor, organization: str, login: str) -> None:
    page = visitor.page
    page.goto(f"{visitor.base}/sign-in")
    page.locator("[name=email]").focus()
    page.keyboard.type(login)
    page.keyboard.press("Enter")
    visitor.sees("h1", "Sign in with {provider}", provider="Staff Ltd")
    visitor.press_link("Go to {provider}", provider="Staff Ltd")
    sign_in_there(page, login)
    page.wait_for_url(f"**/app/{organization}/**")
    clean(page)
    # What belongs to the account itself is closed to a session by an organization's provider.
    answer = page.goto(f"{visitor.base}/account")
    assert answer is not None
    assert answer.status == 403
    clean(page)


def test_operators_and_members_sign_in_there_and_stop(browser: Browser, tmp_path):
    organization = risala(tmp_path, "org", "create", "Staff")["id"]
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    ways = ("/operator/sign-in/oidc/callback", f"/sign-in/oidc/{organization}/callback")
    with (
        provider(*(base + way for way in ways)) as issuer,
        demo_with(issuer, tmp_path, port) as served,
    ):
        assert served == base
        register(tmp_path, organization, issuer)
        for language in Language:
            visitor = Visitor(browser, language, base)
            operator_stops_and_signs_in(visitor)
            visitor.context.close()
            visitor = Visitor(browser, language, base)
            member_signs_in(visitor, organization, f"amina.{language.value}@staff.example")
            visitor.context.close()

"""An operator signs in at a real identity provider, by keyboard, in one language."""

from __future__ import annotations

import html
import json
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, expect

from looking import overflow, violations
from patience import HANG_S
from processes import Process
from risala.engine.model.people import Language
from risala.http.web.languages import load_words

pytestmark = [pytest.mark.browser, pytest.mark.slow]
NODE: Final = Path(__file__).parents[1] / "http/oidc_node"
INSTALL: Final = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
WORDS: Final = load_words(Language.FRENCH)
OPERATOR: Final = "operator@demo.example"


def say(sentence: str, **values: object) -> str:
    return html.unescape(str(WORDS(sentence, **values)))


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def provider(redirect: str) -> Iterator[str]:
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            pytest.skip(f"NOT TESTED against node-oidc-provider: {program} is not installed")
    if not (NODE / "node_modules/oidc-provider/package.json").exists():
        subprocess.run(INSTALL, cwd=NODE, check=True, capture_output=True, timeout=HANG_S)
    command = ["node", str(NODE / "provider.mjs"), redirect]
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
    more["OIDC_SECRET"] = "a secret: +/%"
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


def test_an_operator_signs_in_and_stops_there(browser: Browser, tmp_path):
    port = free_port()
    callback = f"http://127.0.0.1:{port}/operator/sign-in/oidc/callback"
    button = say("Sign in with {provider}", provider="Example Ltd")
    with provider(callback) as issuer, demo_with(issuer, tmp_path, port) as base:
        context = browser.new_context(locale="fr", viewport={"width": 390, "height": 844})
        page = context.new_page()
        page.set_default_timeout(HANG_S * 1000)
        page.goto(f"{base}/operator/sign-in")
        clean(page)
        press(page, "link", button)
        press(page, "link", "[ Cancel ]")
        expect(page.locator("h1")).to_have_text(say("You are not signed in"))
        expect(page.locator("main")).to_contain_text(
            say("You stopped the sign-in there. Nothing was done.")
        )
        clean(page)
        press(page, "link", say("Try again"))
        page.locator("[name=login]").focus()
        page.keyboard.type(OPERATOR)
        page.keyboard.press("Tab")
        page.keyboard.type("any")
        page.keyboard.press("Enter")
        press(page, "button", "Continue")
        page.wait_for_url("**/operator/overview")
        expect(page.locator("main")).to_be_visible()
        context.close()

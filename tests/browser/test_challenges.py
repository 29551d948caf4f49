"""Challenges in a real browser: the service's own script solves what the service asks."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CALL = """async ([url, key, to, ends]) => {
  const { Risala } = await import(url + "/clients/risala.js");
  const shares = [], over = new AbortController();
  const onProgress = (share) => { shares.push(share); if (ends) over.abort(); };
  const options = { locale: "en", onProgress, signal: over.signal };
  const called = new Risala(url, key).sendVerification(to, options);
  const answer = await called.catch((error) => ({ name: error.name }));
  return { answer, shares };
}"""


@pytest.fixture(scope="module", name="demo")
def own_demo(serve_demo, tmp_path_factory) -> Iterator:
    """A demo of its own: each code is asked for twice, and an address has a limit."""
    with serve_demo(tmp_path_factory.mktemp("challenges")) as served:
        yield served


@pytest.fixture(scope="module")
def asking_key(demo) -> str:
    """A publishable key that always asks for a challenge."""
    made = demo.risala("key", "create", "--type", "publishable")
    demo.risala("key", "challenge", made["key"]["id"], "always")
    return made["value"]


class _Strict(BaseHTTPRequestHandler):
    """An empty page, which runs no code but that of one origin."""

    service = ""

    def do_GET(self) -> None:
        policy = f"default-src 'none'; script-src {self.service}; connect-src {self.service}"
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-security-policy", policy)
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Page</title>")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def strict_page(demo, open_page) -> Iterator[Page]:
    """A page of another origin that runs no code but the service's."""
    handler = type("Strict", (_Strict,), {"service": demo.file["base_url"]})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield open_page(f"http://127.0.0.1:{server.server_port}/")
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def call(demo, strict_page, asking_key) -> Callable[..., dict]:
    def ask(to: str, *, ends: bool = False) -> dict:
        return strict_page.evaluate(CALL, [demo.file["base_url"], asking_key, to, ends])

    return ask


def test_the_client_solves_what_the_key_asks_under_a_strict_policy(demo, strict_page, call):
    asked = []
    strict_page.on("response", lambda each: asked.append((each.request.method, each.status)))
    done = call("+22236000071")
    assert re.fullmatch(r"ver_\w+", done["answer"]["verificationId"])
    assert done["shares"] == [each / 16 for each in range(17)]
    assert [each for each in asked if each[0] == "POST"] == [("POST", 403), ("POST", 200)]
    assert demo.code(strict_page, "+22236000071")


def test_who_goes_away_ends_the_search(demo, call):
    done = call("+22236000072", ends=True)
    assert done["answer"] == {"name": "AbortedError"}
    assert len(done["shares"]) == 1
    assert demo.texts("+22236000072") == []


@pytest.mark.parametrize(
    ("locale", "label", "button", "title", "working"),
    [
        ("en", "Phone number", "Send the code", "Your code", "One moment: a check against abuse…"),
        ("ar", "رقم الهاتف", "أرسل الرمز", "الرمز", "لحظة: فحص ضد إساءة الاستعمال…"),
    ],
)
def test_the_example_page_shows_how_far_it_is(
    demo, site_with, open_page, asking_key, locale, label, button, title, working
):
    number = {"en": "36 00 00 73", "ar": "36 00 00 74"}[locale]
    with site_with(demo.file["base_url"], asking_key) as url:
        page = open_page(url, locale=locale)
        held = []
        page.route("**/clients/risala.js", lambda route: held.append(route))
        page.get_by_label(label).fill(number)
        page.get_by_role("button", name=button).click()
        bar = page.get_by_role("progressbar", name=working)
        expect(bar).to_be_visible()
        expect(page.get_by_text(working)).to_be_visible()
        held[0].continue_()
        expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
        expect(bar).to_be_hidden()
        assert demo.code(page, "+222" + number.replace(" ", ""))

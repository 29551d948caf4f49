"""The JavaScript module in a real browser, on a page of another origin than the service's."""

from __future__ import annotations

import base64
import re
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import standardwebhooks
from playwright.sync_api import Page

from doc_blocks import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MODULE = Path(__file__).parents[2] / "clients/javascript"
SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()
CALL = """async ([url, key, options, method, args]) => {
  const { Risala } = await import("/risala.js");
  try {
    return { answer: await new Risala(url, key, options)[method](...args) };
  } catch (error) {
    const { name, status, limit, isMaybeDone, requestId, retryAfterS } = error;
    return { name, status, limit, isMaybeDone, requestId, retryAfterS };
  }
}"""


class _Quiet(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        """The module, and an empty page beside it."""
        if self.path == "/":
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            return
        super().do_GET()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[str]:
    handler = partial(_Quiet, directory=str(MODULE))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def call(demo, site, open_page) -> Callable:
    """Calls a method in the page; ``call.page`` is the page."""
    page: Page = open_page(site)

    def ask(method: str, *arguments: object, key: str = "publishable_key", **options: int) -> dict:
        told = [demo.file["base_url"], demo.file.get(key, key), options, method, [*arguments]]
        return page.evaluate(CALL, told)

    ask.page = page
    return ask


def test_a_number_is_verified(demo, call):
    started = call("sendVerification", "+22236000051", {"locale": "en"})["answer"]
    assert re.fullmatch(r"ver_\w+", started["verificationId"])
    code = demo.code(call.page, "+22236000051")
    wrong = f"{(int(code) + 1) % 1_000_000:06d}"
    verdicts = [
        call("checkVerification", started["verificationId"], each)["answer"]["status"]
        for each in (wrong, code, code)
    ]
    assert verdicts == ["denied", "approved", "denied"]


def test_refusals_are_errors_with_all_that_a_page_may_read(call):
    refused = call("sendVerification", "36")
    assert (refused["name"], refused["status"]) == ("BadRequestError", 400)
    assert refused["requestId"].startswith("req_")
    assert call("sendVerification", "+22236000052", key="pk_live_x")["name"] == "UnauthorizedError"
    unknown = call("checkVerification", "ver_x", "1")
    assert (unknown["name"], unknown["isMaybeDone"]) == ("UnknownIdError", False)


def test_a_limit_tells_how_long(call):
    for _ in range(5):
        assert "answer" in call("sendVerification", "+22236000053")
    limited = call("sendVerification", "+22236000053")
    assert (limited["name"], limited["limit"]) == ("TooManyRequestsError", "phone")
    assert 3000 < limited["retryAfterS"] <= 3600


def test_what_needs_a_secret_key_is_closed_to_pages(call):
    """The browser keeps the answer from the page: there is no CORS for it."""
    hasty = {"deadlineMs": 400, "firstWaitMs": 10, "waitMaxMs": 10}
    assert call("getVerification", "ver_x", **hasty)["name"] == "LostAnswerError"


def test_a_lost_answer_is_told_and_a_code_not_sent_again(demo, call):
    asked = []

    def lose(route):
        asked.append(route.request)
        route.abort("connectionreset")

    call.page.route("**/api/verify/send", lose)
    lost = call("sendVerification", "+22236000054")
    assert (lost["name"], lost["isMaybeDone"]) == ("LostAnswerError", True)
    assert len(asked) == 1


def test_a_service_that_is_full_is_asked_again(call):
    told = {"code": "SERVICE_UNAVAILABLE", "status": 503, "data": {}, "requestId": "req_1"}
    answers = [(503, told), (503, told), (200, {"verificationId": "ver_1"})]

    def answer(route):
        status, body = answers.pop(0)
        headers = {"access-control-allow-origin": "*"}
        route.fulfill(status=status, json=body, headers=headers)

    call.page.route("**/api/verify/send", answer)
    quick = {"firstWaitMs": 1, "waitMaxMs": 1}
    answered = call("sendVerification", "+22236000055", **quick)
    assert answered == {"answer": {"verificationId": "ver_1"}}
    assert answers == []


def test_a_signal_ends_a_call(call):
    call.page.route("**/api/verify/send", lambda route: None)  # is never answered
    name = call.page.evaluate(
        """async (url) => {
          const { Risala } = await import("/risala.js");
          const over = new AbortController();
          const risala = new Risala(url, "pk_live_x");
          const call = risala.sendVerification("+22236000056", { signal: over.signal });
          over.abort();
          return call.then(() => "answered", (error) => error.name);
        }""",
        "http://127.0.0.1:9",
    )
    assert name == "AbortedError"


def test_webhooks_are_verified_by_the_browsers_own_cryptography(call):
    """For workers at the edge, whose JavaScript is a browser's."""
    body, at = '{"id": "evt_1", "type": "webhook.test"}', int(time.time())
    moment = datetime.fromtimestamp(at, UTC)
    signature = standardwebhooks.Webhook(SECRET).sign("evt_1", moment, body)
    headers = {
        "webhook-id": "evt_1",
        "webhook-timestamp": str(at),
        "webhook-signature": signature,
    }
    verify = """async ([secret, body, headers]) => {
      const { Webhook } = await import("/risala.js");
      return new Webhook(secret).verify(body, headers).then((it) => it.type, (it) => it.name);
    }"""
    assert call.page.evaluate(verify, [SECRET, body, headers]) == "webhook.test"
    assert call.page.evaluate(verify, [SECRET, body + " ", headers]) == "SignatureError"


def test_the_component_of_the_example_shows_what_to_send(call, demo):
    """As a reader copies it: with a publishable key, and the module beside the page."""
    page: Page = call.page
    component = (ROOT / "examples/verify-page/prove-number.js").read_text("utf-8")
    page.add_script_tag(content=component, type="module")
    data = {"api": demo.file["base_url"], "key": demo.file["test_publishable_key"]}
    page.evaluate(
        """data => {
          const shown = document.createElement("prove-number");
          Object.assign(shown.dataset, data, { to: "+22236123456" });
          shown.addEventListener("started", (event) => { document.title = event.detail; });
          document.body.append(shown);
        }""",
        data,
    )
    page.wait_for_function("document.title.startsWith('ver_')")
    link = page.locator("prove-number a")
    assert re.fullmatch(r".* [0-9A-Z]{8} → 1234", link.inner_text())
    assert link.get_attribute("href").startswith("sms:1234?&body=")
    assert page.evaluate("document.querySelector('prove-number img').decode().then(() => 1)") == 1

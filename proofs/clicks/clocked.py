"""Tasks of somebody who has no time: why, how much, which rows, who."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Final

from proofs.clicks.person import Demo, Person
from proofs.clicks.tasks import FINDING, Task, write

OPERATOR: Final = "operator@demo.example"
ROWS: Final = """number,name
36120101,Aicha
36120102,Brahim
3612010,Cheikh
36120104,Demba
36120105,Fatou
36120106,Hawa
36120107,Ibrahima
36120108,Khadija
36120109,Lemine
36120110,Mariem
36120111,Oumar
"""
"""A spreadsheet, in whose third row a digit lacks."""


class NotThere(LookupError):
    """The pages do not lead there."""


class Gone(BaseHTTPRequestHandler):
    """A customer's server that once says that it is gone, and then takes what comes."""

    has_refused = False

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.send_response(200 if Gone.has_refused else 410)
        self.end_headers()
        Gone.has_refused = True

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def customers_server() -> Iterator[str]:
    """Its address."""
    Gone.has_refused = False
    server = HTTPServer(("127.0.0.1", 0), Gone)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook"
    finally:
        server.shutdown()


def replay_a_webhook(person: Person, _: Demo) -> None:
    """See why it failed, and have it delivered."""
    page = person.page
    person.open("webhooks")
    person.click("main tbody a:has-text('127.0.0.1')")
    page.wait_for_url("**/webhooks/whe_*")
    if page.locator("#h-h").count():  # the page begins with the reason
        person.see("main :text('410')")
        person.press("Enable, and replay")
    else:
        person.press("Enable")
        person.click("main tbody a.rowlink")
        person.see("#d pre:has-text('410')")
        person.press("Replay")
    page.locator(".toast").first.wait_for()
    person.look()


def this_months_cost(person: Person, _: Demo) -> None:
    """In an older source no page sums up a month."""
    person.open("billing")
    person.page.locator("main h1").wait_for()
    if not person.page.locator("#h-month").count():
        raise NotThere
    person.reach(".measure:has-text('Cost of the month')")


def mend_a_row(person: Person, demo: Demo) -> None:
    """Find what is wrong in a spreadsheet, and mend it."""
    path = demo.data / "people.csv"
    path.write_text(ROWS, "utf-8")
    person.follow("New message")
    person.see("#file")
    person.page.locator("#file").set_input_files(path)
    person.effort.clicks += 2  # the field, and the file
    person.fill("Text", "School begins on Monday.")
    person.press("Send")
    person.page.wait_for_url("**/mailings/mlg_*")
    number = person.reach("#rows input[name^='cell']")
    number.fill("36120103")
    person.effort.fields += 1
    person.effort.keys += len("36120103")
    person.click("#rows form:has(input[name^='cell']) button:has-text('Save')")
    person.page.locator("#rows .bad-text").wait_for(state="detached")
    person.look()


def who_changed_a_key(person: Person, _: Demo) -> None:
    """The operator's audit log."""
    person.open("audit")
    person.page.locator("main tbody tr").first.wait_for()
    person.reach("main tbody tr:has(code:text-is('key.disable'))")


def prepare(person: Person, demo: Demo, home: str, task: Task, hook: str) -> str:
    """What a task finds done, and the page where it begins; neither is counted."""
    page = person.page
    if task is replay_a_webhook:
        page.goto(f"{home}/webhooks/new")
        person.fill("Address", hook)
        person.choose("sms.delivered")
        person.press("Create")
        page.locator("input#secret").wait_for()
        page.goto(f"{home}/messages/new")
        write(person, "36 12 34 57")
        page.locator("#state .is-delivered").wait_for()
        page.goto(f"{home}/webhooks")
        page.locator("main tbody a:has-text('127.0.0.1')").first.click()
        for _ in range(50):
            if page.get_by_text("The endpoint is disabled.").count():
                break
            page.wait_for_timeout(100)
            page.reload()
    if task is who_changed_a_key:
        _disable_a_key(person, home)
        _sign_in(person, demo)
        return f"{demo.base_url}/operator/overview"
    return f"{home}/overview"


def _disable_a_key(person: Person, home: str) -> None:
    page = person.page
    page.goto(f"{home}/keys")
    page.locator("tbody a", has_text="Shop server").first.click()
    page.wait_for_url("**/keys/key_*")
    if (settings := page.locator("main nav a", has_text="Settings")).count():
        settings.first.click()
        page.wait_for_url("**tab=settings*")
    page.locator("main").get_by_role("button", name="Disable", exact=True).first.click()
    page.locator(".toast").first.wait_for()


def _sign_in(person: Person, demo: Demo) -> None:
    """The operator, who looks at some pages first, as operators do."""
    page = person.page
    page.goto(f"{demo.base_url}/operator/sign-in")
    page.locator("input[name='email']").fill(OPERATOR)
    page.keyboard.press("Enter")
    page.locator("input[name='code']").wait_for()
    page.locator("input[name='code']").fill(demo.mailed_code(OPERATOR))
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/operator/(?!sign-in)"))
    for slug in ("messages", "organizations", "payments", "users", "senders", "codes") * 3:
        page.goto(f"{demo.base_url}/operator/{slug}")


CLOCKED: Final[tuple[tuple[str, Task], ...]] = (
    *FINDING,
    ("See why a webhook failed, and have it delivered", replay_a_webhook),
    ("See this month’s cost", this_months_cost),
    ("Mend a row of a spreadsheet", mend_a_row),
    ("See who changed a key", who_changed_a_key),
)

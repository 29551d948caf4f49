"""The demo's phones write: by command and by page, the way of a real carrier."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from urllib.parse import urljoin

import httpx2
import pytest

from patience import HANG_S, until
from risala.app import demo_phones
from risala.cli.commands.upkeep import demo as command

pytestmark = pytest.mark.slow

PHONE = "+22236123456"
ARABIC_200 = ("رسالة عربية طويلة جدا " * 10)[:200]


@pytest.fixture(scope="module")
def demo(shared_premises):
    service = shared_premises.service("--demo")
    service.start()
    service.process.wait_line(lambda line: line.startswith("Stop with"))
    return service


@pytest.fixture(scope="module")
def facts(demo):
    return json.loads((demo.data / "demo.json").read_text(encoding="utf-8"))


@pytest.fixture
def browser(demo, facts):
    """A browser without script, in which the operator is signed in."""
    with httpx2.Client(
        base_url=demo.url,
        headers={"origin": demo.url, "accept-language": "en"},
        follow_redirects=True,
        timeout=HANG_S,
    ) as client:
        outbox = Path(facts["outbox"])
        mails = len(outbox.read_text("utf-8").splitlines())
        page = filled(client, client.get("/operator/sign-in"), email=facts["operator_email"])
        until(lambda: len(outbox.read_text("utf-8").splitlines()) > mails, "a mail")
        mail = json.loads(outbox.read_text("utf-8").splitlines()[-1])
        filled(client, page, code=re.search(r"\b\d{8}\b", mail["text"])[0])
        yield client


def filled(client, page, **values):
    """Submit the form that has these fields."""
    forms = re.findall(r"<form\b.*?</form>", page.text, re.S)
    form = next(each for each in forms if all(f'name="{name}"' in each for name in values))
    inputs = re.findall(r'<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"', form)
    sent = {name: html.unescape(value) for name, value in inputs}
    action = re.search(r'<form[^>]*action="([^"]*)"', form)
    address = urljoin(str(page.url), html.unescape(action[1]) if action else "")
    return client.post(address, data=sent | values)


def received(demo, text):
    listed = json.loads(demo.command("inbound", "list", "--json").stdout)["messages"]
    return next((each for each in listed if each["text"] == text), None)


def test_a_text_comes_in_through_the_carrier(demo, facts):
    done = demo.command("demo", "text", "36 12 34 56", "Is the shop open?", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"from": PHONE, "to": "1234"}
    message = until(lambda: received(demo, "Is the shop open?"), "it came in")
    assert (message["from"], message["to"]) == (PHONE, "1234")
    assert message["organizationId"] == facts["organization_id"]
    assert message["carrier"] == "demo-smsc"


def test_a_long_arabic_text_is_one_message(demo):
    done = demo.command("demo", "text", PHONE, ARABIC_200, "--to", "4321")
    assert (done.returncode, done.stdout) == (0, f"{PHONE} wrote to 4321.\n"), done.stderr
    message = until(lambda: received(demo, ARABIC_200), "it came in")
    assert message["to"] == "4321"


def test_stop_ends_the_messages_to_a_phone_and_start_begins_them(demo, facts):
    phone = "+22236999999"
    headers = {"x-api-key": facts["secret_key"]}

    def send():
        body = {"to": phone, "body": "News"}
        return demo.client.post("/api/sms", json=body, headers=headers).json()

    sent = send()["messageId"]

    def delivered():
        asked = {"messageId": sent}
        shown = demo.client.post("/api/sms/get", json=asked, headers=headers).json()
        return shown["status"] == "delivered"

    until(delivered, "the phone has it")
    assert demo.command("demo", "text", phone, "STOP").returncode == 0
    until(lambda: send().get("data", {}).get("code") == "RECIPIENT_OPTED_OUT", "it is refused")
    assert demo.command("demo", "text", phone, "START").returncode == 0
    until(lambda: send().get("accepted"), "it is taken again")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("12", "Hello"), "number"),
        ((PHONE, " "), "at least one character"),
        ((PHONE, "x" * 1001), "at most 1000 characters"),
        ((PHONE, "Hello", "--to", "RISALA"), "1 to 15 digits"),
    ],
)
def test_what_no_phone_can_write_is_refused_in_a_sentence(demo, arguments, sentence):
    done = demo.command("demo", "text", *arguments)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_the_page_shows_the_phone_and_it_answers_there(demo, facts, browser):
    headers = {"x-api-key": facts["secret_key"]}
    body = {"to": PHONE, "body": "<b>Your code is 123456</b>"}
    assert demo.client.post("/api/sms", json=body, headers=headers).status_code == 200

    def page_with(text):
        page = browser.get("/operator/plugins/phones")
        return page if text in page.text else None

    page = until(lambda: page_with("&lt;b&gt;Your code is 123456"), "the page shows it")
    assert page.status_code == 200
    assert "<b>Your" not in page.text
    assert page.text.count(f"\u2066{PHONE}\u2069</bdi></h2>") == 1
    answered = filled(browser, page, phone=PHONE, to="1234", text="Thank you")
    assert answered.status_code == 200
    assert answered.text.index("Thank you") < answered.text.index("Your code is 123456")
    message = until(lambda: received(demo, "Thank you"), "it came in")
    assert message["from"] == PHONE
    refused = filled(browser, answered, phone="12", to="1234", text="Hello")
    assert refused.status_code == 422
    assert "This is no mobile number of Mauritania." in refused.text


def test_the_greeting_leads_to_the_page(demo, facts, browser):
    said = f"See the phones as {facts['operator_email']}: "
    address = demo.process.wait_line(lambda line: line.startswith(said)).removeprefix(said)
    assert address == facts["phones_url"]
    assert browser.get(address).status_code == 200


def test_only_an_operator_with_a_form_of_the_page_writes(demo, browser):
    form = {"action": "text", "phone": PHONE, "to": "1234", "text": "Forged"}
    assert browser.post("/operator/plugins/phones", data=form).status_code >= 400
    with httpx2.Client(base_url=demo.url, timeout=HANG_S) as stranger:
        page = stranger.get("/operator/plugins/phones")
        assert page.status_code in (303, 302, 404)
    assert received(demo, "Forged") is None


def test_a_service_that_is_no_demo_has_no_phones(premises):
    service = premises.service()
    done = service.command("demo", "text", PHONE, "Hello")
    assert done.returncode == 1
    assert "No demo runs in" in done.stderr
    service.start()
    done = service.command("demo", "text", PHONE, "Hello", "--json")
    assert done.returncode == 1
    assert "is no demo" in json.loads(done.stderr.splitlines()[-1])["message"]


def test_the_command_and_the_service_agree():
    assert (command.PATH, command.OUR_NUMBER) == (demo_phones.PATH, demo_phones.OUR_NUMBER)

"""A new customer's whole way, in a real browser on a real service: by hand in each language, by
keyboard alone, and without script.

``RISALA_SHOTS=DIR`` keeps a picture of each step there, in both sizes and both colours.
"""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from journey import Hand, Keys, Looker, Unscripted, receiver, words_of
from looking import Watch
from patience import HANG_S

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.long]

CARD = "4242 4242 4242 4242"
METHOD = {"fr": "Carte (essai)", "ar": "بطاقة (تجربة)", "en": "Card (sandbox)"}
"""The plugin says it itself: it is in no catalogue."""


@dataclass(frozen=True)
class Customer:
    """Who comes, and what they write in their own language."""

    email: str
    organization: str
    text: str
    sender: str
    number: str
    """Of eight digits, as one types it; no other test's, since codes to a number are limited."""


CUSTOMERS = {
    "fr": Customer(
        "nour@epicerie.example",
        "Épicerie Nour",
        "Bonjour, votre commande est prête.",
        "NOUR",
        "36 11 00 01",
    ),
    "ar": Customer(
        "salem@matjar.example", "متجر السلام", "طلبكم جاهز، مرحبا بكم.", "SALAM", "26 11 00 02"
    ),
    "en": Customer(
        "aicha@baraka.example", "Baraka Market", "Your order is ready.", "BARAKA", "46 11 00 03"
    ),
}
KEYS = Customer("keys@baraka.example", "Clavier", "Sans souris.", "CLAVIER", "36 11 00 04")
NO_SCRIPT = Customer("lynx@baraka.example", "No script", "By forms.", "LYNX", "36 11 00 05")


@pytest.fixture
def travel(demo, browser: Browser, shots: Path | None) -> Iterator[Callable[..., Journey]]:
    """Begins a journey; nothing may have gone wrong in the browser at its end."""
    contexts, watches, lookers = [], [], []

    def begin(
        customer: Customer, language: str, hand: type[Hand], *, is_watched: bool = False, **options
    ) -> Journey:
        # No colour is on its way to another one when axe measures it.
        context = browser.new_context(locale=language, reduced_motion="reduce", **options)
        contexts.append(context)
        watches.append(Watch(context, demo.file["base_url"]))
        page = context.new_page()
        page.set_default_timeout(HANG_S * 1000)
        looker = Looker(page, language, shots) if is_watched else None
        lookers.append(looker)
        return Journey(demo, customer, page, hand(page, words_of(language)), looker)

    yield begin
    for context in contexts:
        context.close()
    assert [fault for watch in (*watches, *lookers) if watch for fault in watch.faults] == []


@pytest.fixture(scope="module")
def shots() -> Path | None:
    """Where pictures go, if anywhere."""
    if (name := os.environ.get("RISALA_SHOTS")) is None:
        return None
    folder = Path(name)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Journey:
    """One customer's way; each step stands on the ones before."""

    def __init__(
        self, demo, customer: Customer, page: Page, hand: Hand, looker: Looker | None
    ) -> None:
        self.demo = demo
        self.customer = customer
        self.page = page
        self.hand = hand
        self._looker = looker

    def look(self, step: str) -> None:
        if self._looker is not None:
            self._looker.look(step)

    @property
    def to(self) -> str:
        return "+222" + self.customer.number.replace(" ", "")

    def all_of_it(self) -> None:
        self.sign_up()
        self.found()
        self.top_up()
        key = self.make_a_key()
        self.send_a_message()
        self.verify_a_number()
        self.ask_for_a_sender()
        self.receive_a_webhook(key)
        self.find_it_all()

    def sign_up(self) -> None:
        hand, page = self.hand, self.page
        page.goto(f"{self.demo.file['base_url']}/sign-up")
        self.look("sign-up")
        hand.fill("E-mail address", self.customer.email)
        hand.press("Send me a code")
        hand.see(hand.field("6-digit code"))
        self.look("code")
        hand.fill("6-digit code", self.demo.mailed_code(self.customer.email))
        hand.press("Sign in")

    def found(self) -> None:
        hand, page = self.hand, self.page
        hand.see(hand.field("Name of the new organization"))
        self.look("organization")
        hand.fill("Name of the new organization", self.customer.organization)
        hand.press("Create the organization")
        page.wait_for_url("**/app/org_*/start")
        expect(page.locator(".todo li")).to_have_count(5)
        self.look("start")

    def top_up(self) -> None:
        hand = self.hand
        hand.open("billing")
        hand.unfold("Top up")
        self.look("top-up")
        hand.choose(METHOD[self.page.locator("html").get_attribute("lang")])
        hand.fill("Amount", "200")
        hand.press("Go on")
        hand.see(hand.named("link", "Go to the checkout"))
        self.look("payment")
        hand.follow("Go to the checkout")
        hand.see(hand.field("Card number"))
        self.look("checkout")
        hand.fill("Card number", CARD)
        hand.press("Pay")
        hand.see(hand.named("link", "Receipt"))
        self.look("credited")

    def make_a_key(self) -> str:
        hand, page = self.hand, self.page
        hand.open("keys")
        hand.follow("New key")
        hand.fill("Name", "API")
        self.look("new-key")
        hand.press("Create")
        secret = page.locator("input#secret")
        hand.see(secret)
        self.look("key")
        value = secret.input_value()
        assert value.startswith("sk_live_")
        hand.follow("I have saved it")
        expect(page.locator("tbody tr")).to_have_count(1)
        return value

    def send_a_message(self) -> None:
        hand, page = self.hand, self.page
        hand.open("messages")
        hand.follow("New message")
        hand.fill("To", self.customer.number)
        hand.fill("Text", self.customer.text)
        self.look("composer")
        hand.press("Send")
        page.wait_for_url("**/messages/sms_*")
        hand.see(page.locator("#state .is-delivered"))
        self.look("message")
        assert self.demo.texts(self.to) == [self.customer.text]

    def verify_a_number(self) -> None:
        hand, page = self.hand, self.page
        hand.open("verify")
        hand.follow("Try it")
        hand.fill("Number", self.customer.number)
        self.look("try")
        hand.press("Send the code")
        hand.see(hand.field("Code"))
        self.look("typing")
        hand.fill("Code", self.demo.code(page, self.to, 2))
        hand.press("Check the code")
        hand.see(page.locator("main .badge.is-approved"))
        self.look("approved")

    def ask_for_a_sender(self) -> None:
        hand, page = self.hand, self.page
        hand.open("senders")
        hand.follow("Ask for a name")
        hand.fill("Name", self.customer.sender)
        hand.fill("What will you send with it?", self.customer.text)
        self.look("new-sender")
        hand.press("Send the request")
        hand.see(page.get_by_role("heading", name=self.customer.sender))
        self.look("senders")

    def receive_a_webhook(self, key: str) -> None:
        hand, page = self.hand, self.page
        hand.open("webhooks")
        hand.follow("New endpoint")
        with receiver() as (url, arrived):
            hand.fill("Address", url)
            hand.choose("sms.delivered")
            self.look("new-endpoint")
            hand.press("Create")
            secret = page.locator("input#secret")
            hand.see(secret)
            self.look("secret")
            signing = secret.input_value()
            hand.follow("I have saved it")
            hand.press("Send a test event")
            hand.see(page.locator("#deliveries tbody tr").first)
            assert arrived.get(timeout=HANG_S).is_signed_by(signing)
            self._send_by(key)
            while (event := arrived.get(timeout=HANG_S)).type != "sms.delivered":
                pass
            assert event.is_signed_by(signing)
            assert json.loads(event.body)["to"] == self.to
            hand.reload_until(page.locator("main tbody .is-up").nth(2))
            self.look("endpoint")

    def _send_by(self, key: str) -> None:
        """From the customer's own program, with the key that the page showed."""
        asked = urllib.request.Request(
            f"{self.demo.file['base_url']}/api/sms",
            json.dumps({"to": self.to, "body": self.customer.text}).encode(),
            {"x-api-key": key, "content-type": "application/json"},
        )
        with urllib.request.urlopen(asked, timeout=HANG_S) as answer:
            assert json.load(answer)["accepted"] is True

    def find_it_all(self) -> None:
        hand, page = self.hand, self.page
        hand.open("overview")
        self.look("overview")
        hand.open("messages")
        expect(page.locator("tbody tr:not(.day)")).to_have_count(3)
        self.look("messages")
        hand.open("verify")
        expect(page.locator("tbody .is-approved")).to_have_count(1)
        self.look("sessions")
        hand.open("billing")
        amounts = page.locator(".entries tbody td.n:nth-child(3)")
        expect(amounts).to_have_count(4)
        self.look("statement")
        hand.open("start")
        expect(page.locator(".todo li.done")).to_have_count(5)
        self.look("done")


@pytest.mark.parametrize(("language", "width"), [("ar", 390), ("en", 1280)])
def test_a_new_customer_gets_all_of_it(travel, language, width):
    """In French all of it is done by keyboard."""
    options = {"viewport": {"width": width, "height": 844}, "has_touch": width < 600}
    travel(CUSTOMERS[language], language, Hand, is_watched=True, **options).all_of_it()


def test_the_whole_way_by_keyboard_alone(travel):
    travel(KEYS, "fr", Keys).all_of_it()


def test_the_whole_way_without_script(travel):
    travel(NO_SCRIPT, "en", Unscripted, java_script_enabled=False).all_of_it()

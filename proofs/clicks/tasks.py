"""Tasks from sign-up on: to send, to find, to set up, to answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from proofs.clicks.person import Demo, Person

Task = Callable[[Person, Demo], None]


def first_message(person: Person, demo: Demo) -> None:
    page = person.page
    page.goto(f"{demo.base_url}/sign-up")
    person.fill("E-mail address", demo.email)
    person.press("Send me a code")
    page.get_by_label("6-digit code").wait_for()
    person.fill("6-digit code", demo.mailed_code())
    person.press("Sign in")
    page.get_by_label("Name of the new organization").wait_for()
    person.fill("Name of the new organization", "Baraka Market")
    person.press("Create the organization")
    page.wait_for_url("**/start")
    if page.get_by_role("button", name="Run").count():
        person.press("Run")
        page.locator("#arrival .is-delivered").wait_for()
        return
    person.follow("Write one")  # a real message, for which there is no money yet
    page.wait_for_url("**/messages/new")
    person.follow("Write a test message")
    page.wait_for_url("**/messages/new?mode=test")
    write(person, "36 12 34 00")
    person.see("#state .is-delivered")


def write(person: Person, to: str) -> None:
    person.fill("To", to)
    person.fill("Text", "Your order is ready.")
    person.press("Send")


def top_up(person: Person, _: Demo) -> None:
    person.open("billing")
    person.see("main h1")
    if (form := person.page.locator("#topup > summary")).count():
        form.click()
        person.effort.clicks += 1
    person.choose("Card (sandbox)")
    person.fill("Amount", "200")
    person.press("Go on")
    person.follow("Go to the checkout")
    person.fill("Card number", "4242 4242 4242 4242")
    person.press("Pay")
    person.page.get_by_role("link", name="Receipt").wait_for()
    person.look()


def send_one(person: Person, _: Demo) -> None:
    person.follow("New message")
    write(person, "36 12 34 56")
    person.page.wait_for_url("**/messages/sms_*")
    person.see("#state .is-delivered")


def find_by_number(person: Person, _: Demo) -> None:
    person.open("messages")
    person.fill("Number, text, id or cause", "36 12 34 56")
    person.press("Filter")
    person.page.wait_for_url("**q=*")
    person.see("tbody .rowlink")


def _find(person: Person, words: str, leads_to: str) -> None:
    """By the search over everything; in an older source by the search of messages, or on the page
    of keys."""
    page = person.page
    if page.locator("#seek").count():
        person.key("Control+k")
        person.type(words)
        page.locator(f'#seek-list [role="option"][href*="{leads_to}"]').first.wait_for()
        person.look()
        person.key("Enter")
    elif leads_to == "/messages/sms_":
        person.open("messages")
        person.fill("Number, text, id or cause", words)
        person.press("Filter")
        page.wait_for_url("**q=*")
        person.look()
        page.locator("tbody .rowlink").first.click()
        person.effort.clicks += 1
    else:
        person.open("keys")
        person.look()
        page.locator("tbody tr", has_text=words).locator("a").first.click()
        person.effort.clicks += 1
    page.wait_for_url(f"**{leads_to}*")
    person.look()


def find_by_digits(person: Person, _: Demo) -> None:
    _find(person, "3456", "/messages/sms_")


def find_by_the_carriers_word(person: Person, _: Demo) -> None:
    _find(person, "UNDELIV", "/messages/sms_")


def find_by_the_end_of_an_id(person: Person, demo: Demo) -> None:
    sent = (demo.data / "sent.txt").read_text("utf-8")
    _find(person, sent[-8:], "/messages/sms_")


def find_by_a_name(person: Person, _: Demo) -> None:
    _find(person, "Shop server", "/keys/key_")


def make_a_key(person: Person, _: Demo) -> None:
    person.open("keys")
    person.follow("New key")
    person.fill("Name", "Shop server")
    person.press("Create")
    person.see("input#secret")


def add_an_endpoint(person: Person, _: Demo) -> None:
    person.open("webhooks")
    person.follow("New endpoint")
    person.fill("Address", "https://shop.example/hook")
    person.choose("sms.delivered")
    person.press("Create")
    person.see("input#secret")


def invite(person: Person, _: Demo) -> None:
    person.open("members")
    person.follow("Invite somebody")
    person.fill("E-mail address", "omar@baraka.example")
    person.press("Invite")
    person.page.get_by_text("omar@baraka.example").first.wait_for()
    person.look()


def connect_software(person: Person, _: Demo) -> None:
    person.open("connect")
    person.follow("Grafana")
    person.fill("Numbers", "36 12 34 56")
    person.press("Make the hook")
    person.see("input#secret, input[readonly]")


def send_to_a_list(person: Person, _: Demo) -> None:
    person.follow("New message")
    person.fill("To", "Parents")
    person.fill("Text", "School begins on Monday.")
    person.press("Send")
    person.page.wait_for_url("**/mailings/mlg_*")
    person.press("Send", "link")
    person.press("Send")
    person.see("#h-progress")  # at night it goes on the next day


def see_why_it_failed(person: Person, _: Demo) -> None:
    person.open("messages")
    person.see("tbody .is-failed")
    person.page.locator("tbody tr:has(.is-failed) .rowlink").first.click()
    person.effort.clicks += 1
    person.see("#why strong")


def cap_spending(person: Person, _: Demo) -> None:
    person.open("settings")
    person.fill("Spend at most a day", "50")
    person.press("Save")
    person.see(".toast")


WRITERS: Final = ("+22236120011", "+22236120012", "+22236120013")
"""Of these the second one got no answer."""


def answer_a_text(person: Person, _: Demo) -> None:
    if not has_conversations(person):
        person.open("inbound")
        person.see("tbody tr")
        person.open("messages")
        person.follow("New message")
        write(person, "36 12 00 12")
        person.page.wait_for_url("**/messages/sms_*")
        return
    person.open("conversations")
    person.see("#people a")
    person.page.locator("#people a", has_text="36 12 00 12").click()
    person.effort.clicks += 1
    person.fill("Your answer", "Until 19 h.")
    person.press("Send")
    person.see("#flow .out")


def find_who_waits(person: Person, _: Demo) -> None:
    """Before there were conversations: to look for an answer to each text."""
    if has_conversations(person):
        person.open("conversations")
        person.follow("Unread")
        person.see("#people .count")
        return
    person.open("inbound")
    person.see("tbody tr")
    for number in ("36 12 00 13", "36 12 00 12"):  # the newest first
        person.open("messages")
        person.fill("Number, text, id or cause", number)
        person.press("Filter")
        person.page.wait_for_url("**q=*")
        person.look()


def has_conversations(person: Person) -> bool:
    return person.page.locator("#side .nav a[href*='/conversations']").count() > 0


def prepare(person: Person, demo: Demo, home: str, task: Task) -> str:
    """What a task finds done, and the page where it begins; neither is counted."""
    page, begins = person.page, f"{home}/overview"
    if task is send_to_a_list:
        page.goto(f"{home}/lists")
        person.fill("Name", "Parents")
        person.fill("Or numbers", "36120001, 36120002, 36120003")
        person.press("Make the list")
        page.wait_for_url("**/lists/lst_*")
    if task is see_why_it_failed:
        page.goto(f"{home}/messages/new?mode=test")
        write(person, "36 12 34 01")
        page.locator("#state .is-failed").wait_for()
        return f"{begins}?mode=test"
    if task in (find_by_the_carriers_word, find_by_the_end_of_an_id):
        undelivered = task is find_by_the_carriers_word
        page.goto(f"{home}/messages/new?mode=test")
        write(person, "36 12 34 02" if undelivered else "36 12 34 00")
        page.locator(f"#state .is-{'un' * undelivered}delivered").wait_for()
        sent = page.url.partition("?")[0].rpartition("/")[2]
        (demo.data / "sent.txt").write_text(sent, "utf-8")
        return f"{begins}?mode=test"
    if task is find_who_waits:
        demo.route("shop", "Baraka Market")
        for writer in WRITERS:
            demo.text(writer, "shop: are you open today?")
        for writer in (WRITERS[0], WRITERS[2]):
            _answer(person, home, writer)
    return begins


def _answer(person: Person, home: str, number: str) -> None:
    page = person.page
    page.goto(f"{home}/overview")
    if not has_conversations(person):
        page.goto(f"{home}/messages/new")
        write(person, number)
        page.wait_for_url("**/messages/sms_*")
        return
    page.goto(f"{home}/conversations?q={number[1:]}")
    page.locator("#people a").first.click()
    page.get_by_label("Your answer").fill("Until 19 h.")
    page.get_by_role("button", name="Send", exact=True).click()
    page.locator("#flow .out").first.wait_for()


TASKS: Final[tuple[tuple[str, Task], ...]] = (
    ("See the first message arrive, from sign-up on", first_message),
    ("Top up by card", top_up),
    ("Send one message", send_one),
    ("Find a message by its number", find_by_number),
    ("Make a key", make_a_key),
    ("Add a webhook endpoint", add_an_endpoint),
    ("Invite a member", invite),
    ("Connect software", connect_software),
    ("Send to a list", send_to_a_list),
    ("See why a message failed", see_why_it_failed),
    ("Set a spending cap", cap_spending),
    ("Find who waits for an answer", find_who_waits),
    ("Read a text and answer it", answer_a_text),
)
FINDING: Final[tuple[tuple[str, Task], ...]] = (
    ("Open a message by four digits of its number", find_by_digits),
    ("Open a message by the carrier’s word", find_by_the_carriers_word),
    ("Open a message by the end of its id", find_by_the_end_of_an_id),
    ("Open a key by its name", find_by_a_name),
)

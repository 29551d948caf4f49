"""The first-run page in a real browser: what axe says of each step, and the whole way by keyboard
alone in a browser without script."""

import json
import re
import sys
import time

import pytest
from benchmarks.processes import free_port
from playwright.sync_api import expect

from journey import Hand, words_of
from looking import Watch, violations, wrong_on_any_screen
from processes import Process
from reading import WordCounter
from risala.drivers.phone.page_words import WORDS

pytestmark = [pytest.mark.browser, pytest.mark.slow]

STEPS = ("country", "payer", "money", "carrier", "address", "mail", "operator", "phone")
STANDING = """
[numbers]
countries = ["MR"]
[service]
currency = "MRU"
[pricing]
per_segment = "0.50"
[http]
port = 0
[[carriers]]
name = "trial"
driver = "loopback"
"""
"""What the settings say already."""


@pytest.fixture
def standing():
    """What the settings say already."""
    return STANDING


@pytest.fixture
def first_run(tmp_path, standing):
    """The command, and the link that it printed, on a machine that does not say where it is."""
    if standing:
        (tmp_path / "risala.toml").write_text(standing)
    nowhere = {"TZ": "UTC", "LANG": "C", "LC_ALL": "C", "LC_MESSAGES": "C"}
    process = Process([sys.executable, "-m", "risala", "init", "--web"], tmp_path, **nowhere)
    yield process, process.wait_line(lambda line: "/first-run/" in line).strip()
    process.end()


@pytest.fixture
def open_link(browser, first_run):
    """Opens the link in a browser of a kind."""
    contexts = []

    def open_link(**options):
        context = browser.new_context(**options)
        contexts.append(context)
        watch = Watch(context, first_run[1].partition("/first-run/")[0])
        page = context.new_page()
        page.goto(first_run[1])
        return page, watch

    yield open_link
    for context in contexts:
        context.close()


def test_no_step_is_closed_to_anybody(open_link, first_run):
    page, watch = open_link(locale="ar", bypass_csp=False)
    base = first_run[1].rpartition("/")[0]
    found = []
    for step in STEPS:
        found += wrong_on_any_screen(page, f"{base}/step/{step}")
    page.goto(f"{base}/step/operator")
    page.fill("[name=operator]", "nobody")
    page.keyboard.press("Enter")
    page.wait_for_selector("#faults")
    assert page.evaluate("document.activeElement.id") == "faults"
    found += violations(page)
    assert (found, watch.faults) == ([], [])


def test_the_whole_way_by_keyboard_and_without_script(open_link, first_run):
    page, watch = open_link(locale="en", java_script_enabled=False)
    expect(page.get_by_role("heading", level=1)).to_have_text("You")  # the rest stands already
    for field, typed, after in (
        ("Your e-mail address", "me@example.mr", "Your phone"),
        ("Your own number", "36 12 34 56", "Your answers"),
    ):
        page.get_by_label(field).focus()
        page.keyboard.type(typed)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text(after)
    page.get_by_role("button", name="Write this and start").focus()
    page.keyboard.press("Enter")
    console = page.get_by_role("link", name="Open the console")
    expect(console).to_be_visible()
    expect(page.locator("main")).to_contain_text("Delivered on trial")
    assert watch.faults == []
    address = console.get_attribute("href")
    assert re.search(r"/operator/sign-in/link/", address)
    first_run[0].wait_line(lambda line: line.strip() == address)


@pytest.mark.parametrize("standing", [""])
def test_a_country_is_chosen_by_keyboard_and_never_by_itself(open_link):
    page, watch = open_link(locale="fr", java_script_enabled=False)
    country = page.get_by_label("Pays")
    expect(country).to_have_value("")
    country.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#faults")).to_contain_text("Choisissez un pays.")
    expect(country).to_have_attribute("aria-invalid", "true")
    page.get_by_role("link", name="Choisissez un pays.").click()
    expect(country).to_be_focused()
    page.keyboard.type("Keny")
    expect(country).to_have_value("KE")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Qui paie")
    assert watch.faults == []


@pytest.mark.parametrize("standing", [""])
def test_a_choice_that_lacks_is_closed_to_nobody(open_link, first_run):
    page, watch = open_link(locale="ar", bypass_csp=False)
    found = wrong_on_any_screen(page, first_run[1].rpartition("/")[0] + "/step/country")
    page.locator("button.main-act").click()
    page.wait_for_selector("#faults")
    found += violations(page)
    assert (found, watch.faults) == ([], [])


CLICKS_MAX = 12
"""Who pays, the phone, nine times on, the console; the country is chosen by its list."""
SCRIPTED_MAX_S = 150
"""By a browser that types at once, on a machine that does other things; a person has five minutes,
most of them with the phone in the hand."""


@pytest.mark.parametrize("standing", [""])
@pytest.mark.parametrize("language", ["en", "ar"])
def test_a_newcomer_sends_by_a_phone_within_minutes(open_link, first_run, tmp_path, language):
    page, watch = open_link(locale=language)
    hand, counter = Hand(page, words_of(language)), WordCounter(page)
    began = time.monotonic()
    port = free_port()
    for title, answers in (
        ("Country", {"country": "MR"}),
        ("Who pays", {"payer": "self"}),
        ("How messages leave", {"carrier": "android"}),
        ("Android phone", {}),
        ("Address", {"port": str(port)}),
        ("Mail", {}),
        ("You", {"operator": "me@example.mr", "organization": "Baraka"}),
        ("Your phone", {"phone": "36 12 34 56"}),
        ("Your answers", {}),
    ):
        expect(page.get_by_role("heading", level=1)).to_have_text(hand.said(title))
        counter.see()
        for name, answer in answers.items():
            if name == "country":
                page.get_by_role("combobox").select_option(answer)
            elif name in ("payer", "carrier"):
                page.locator(f"#{name}-{answer}").check()
            else:
                page.fill(f"[name={name}]", answer)
        page.locator("button.main-act").click()
    url = page.locator("li", has_text="/mobile/v1").inner_text().split()[-1]
    (step,) = (each for each in WORDS[language].steps if "{token}" in each)
    said = page.locator("li", has_text=step.partition("{")[0])
    token = said.inner_text().split()[-1]
    command = [sys.executable, "-m", "risala", "simulate", "phone", url, "--token", token]
    phone = Process([*command, "--json"], tmp_path)
    try:
        console = page.locator("a.main-act")
        expect(console).to_be_visible()
        counter.see()
        expect(page.locator("main")).to_contain_text(hand.said("Your phone has the SMS."))
        sent = phone.wait_line(lambda line: '"TextSent"' in line)
        assert json.loads(sent)["recipient"] == "+22236123456"
        assert watch.faults == []  # the console is another address
        console.click()
        page.wait_for_url("**/operator/sign-in/link/*")
    finally:
        phone.end()
    took_s = time.monotonic() - began
    print(f"{language}: {counter.words} words, {counter.clicks} clicks, {took_s:.1f} s")
    assert counter.clicks <= CLICKS_MAX
    assert took_s < SCRIPTED_MAX_S

"""A stranger's way from sign-up to the first delivered message: its words and its clicks, by hand,
by keyboard alone and without script."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from journey import Hand, Keys, Looker, Unscripted, words_of
from looking import Watch
from patience import HANG_S
from reading import WordCounter
from risala.http.dashboard.snippets import LANGUAGES

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SENDING = sum(each.sending is not None for each in LANGUAGES)
WORDS_MAX = 300
"""On all pages that a stranger sees until *Run*, code and menu included."""
CLICKS_MAX = 4
"""A code, signed in, an organization, *Run*."""
SCRIPTED_MAX_S = 30
"""By a browser that types at once; a person has two minutes."""


@pytest.fixture
def stranger(demo, browser: Browser) -> Iterator[Callable[..., Page]]:
    contexts, watches = [], []

    def begin(language: str, **options) -> Page:
        context = browser.new_context(locale=language, reduced_motion="reduce", **options)
        contexts.append(context)
        watches.append(Watch(context, demo.file["base_url"]))
        page = context.new_page()
        page.set_default_timeout(HANG_S * 1000)
        page.goto(f"{demo.file['base_url']}/sign-up")
        return page

    yield begin
    for context in contexts:
        context.close()
    assert [fault for watch in watches for fault in watch.faults] == []


def sign_up(demo, hand: Hand, email: str, see: Callable[[], object] = lambda: None) -> None:
    see()
    hand.fill("E-mail address", email)
    hand.press("Send me a code")
    hand.see(hand.field("6-digit code"))
    see()
    hand.fill("6-digit code", demo.mailed_code(email))
    hand.press("Sign in")
    hand.see(hand.field("Name of the new organization"))
    see()
    hand.fill("Name of the new organization", "Baraka")
    hand.press("Create the organization")
    hand.page.wait_for_url("**/app/org_*/start")


@pytest.mark.parametrize(("language", "hand_of"), [("fr", Hand), ("en", Keys), ("ar", Unscripted)])
def test_a_stranger_reads_little_before_the_first_message(demo, stranger, language, hand_of):
    page = stranger(language, java_script_enabled=hand_of is not Unscripted)
    hand, counter = hand_of(page, words_of(language)), WordCounter(page)
    looker = Looker(page, language, None)
    began = time.monotonic()
    sign_up(demo, hand, f"first-{language}@baraka.example", counter.see)
    counter.see()
    hand.press("Run")
    value = page.locator("input#secret").input_value()
    assert page.locator(".snips pre", has_text=value).count() == SENDING
    hand.see(page.locator("#arrival .is-delivered"))
    took_s = time.monotonic() - began
    expect(page.locator("#arrival .bubble")).to_have_text("Bonjour")
    print(f"{language}: {counter.words} words, {counter.clicks} clicks, {took_s:.1f} s")
    assert counter.words <= WORDS_MAX
    assert counter.clicks <= CLICKS_MAX
    assert took_s < SCRIPTED_MAX_S
    if hand_of is Hand:
        looker.look("run")
        assert looker.faults == []
        hand.follow("I have saved it")
        expect(page.locator("#arrival .bubble")).to_have_text("Bonjour")
        assert value not in page.content()

"""The page of a verification in which a customer's user sends a text, or calls: without an account,
without a number of the user, and gone when it is over."""

from __future__ import annotations

import re

import pytest

from risala.engine.features.reverse.records import TextFault
from risala.engine.model.commands import AddressUse
from risala.engine.model.errors import RateLimited
from risala.engine.model.people import Language
from risala.engine.model.states import SessionState
from risala.http.web.languages import load_words
from web_verify import HOSTED

PAGE = f"/v/{HOSTED}"
CALL = f"/v/call-{HOSTED}"
TEXT = "Boutique Nour 7K3MX9QD"


async def test_it_says_what_to_send_where(stranger, gateway):
    page = await stranger.get(PAGE)
    assert page.status == 200
    for part in (
        TEXT,
        "<h1><bdi>Boutique Nour</bdi></h1>",
        'class="qr"',
        'href="sms:+22241000000?&amp;body=',
    ):
        assert part in page.text
    assert 'data-state="waiting"' in page.text
    assert re.search(r"<title>[^<·]*Boutique Nour[^<·]*</title>", page.text)  # not the service
    assert f'data-live="{PAGE}/live"' in page.text
    assert gateway.done == []
    ((use, _),) = gateway.addresses
    assert use is AddressUse.CODE_CHECK


async def test_a_call_has_no_text(stranger):
    page = await stranger.get(CALL)
    assert 'href="tel:+22241000000"' in page.text
    assert TEXT not in page.text


async def test_it_is_kept_nowhere_and_named_nowhere(stranger):
    page = await stranger.get(PAGE)
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["x-robots-tag"] == "noindex, nofollow"
    assert page.headers["content-security-policy"].startswith("default-src 'self';")
    assert '<meta name="robots" content="noindex, nofollow">' in page.text


async def test_without_script_it_loads_itself_again_while_it_waits(stranger, gateway):
    again = '<noscript><meta http-equiv="refresh" content="5"></noscript>'
    assert again in (await stranger.get(PAGE)).text
    gateway.reverse.status = SessionState.APPROVED
    page = await stranger.get(PAGE)
    assert again not in page.text
    assert "hosted" not in page.text.partition("<body")[0]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (SessionState.APPROVED, "Your number is verified. You can close this page."),
        (SessionState.EXPIRED, "This verification is over. Go back, and start again."),
        (SessionState.CANCELED, "This verification is over. Go back, and start again."),
    ],
)
@pytest.mark.parametrize("path", [PAGE, CALL])
async def test_afterwards_it_is_gone_and_says_how_it_ended(stranger, gateway, status, words, path):
    gateway.reverse.status = status
    page = await stranger.get(path)
    assert page.status == 410
    assert words in page.text
    for part in ("+222", TEXT, "sms:", "tel:", "qr"):
        assert part not in page.text


@pytest.mark.parametrize("refused", TextFault)
async def test_it_says_why_a_text_did_not_count(stranger, gateway, refused):
    gateway.reverse.refused = refused
    page = await stranger.get(PAGE)
    assert 'role="alert"' in page.text
    assert "Send it" in page.text


@pytest.mark.parametrize("language", Language)
async def test_it_speaks_the_language_that_was_asked_for(stranger, gateway, language):
    gateway.reverse.locale = language.value
    page = await stranger.get(PAGE)
    assert str(load_words(language)("Waiting for the text…")) in page.text
    assert f'dir="{"rtl" if language is Language.ARABIC else "ltr"}"' in page.text


@pytest.mark.parametrize("path", ["/v/nothing", f"{PAGE}x", "/v/nothing/live"])
async def test_another_address_is_not_found(stranger, path):
    assert (await stranger.get(path)).status == 404


@pytest.mark.parametrize("path", [PAGE, f"{PAGE}/live"])
async def test_an_address_that_asks_too_often_is_told_so(stranger, gateway, path):
    gateway.refuse_address = RateLimited("ip", 7, "Too many checks.")
    page = await stranger.get(path)
    assert page.status == 429
    assert page.headers["retry-after"] == "7"


async def test_nobody_posts_to_it(stranger):
    assert (await stranger.ask("POST", PAGE)).status == 405

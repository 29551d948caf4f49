"""The page after sign-up sends a message itself, and shows the same request as programs."""

import ast
import html
import re

import pytest

import web_messages
from risala.engine.model.callers import Role
from risala.engine.model.errors import Invalid, Overloaded
from risala.http.dashboard.snippets import LANGUAGES
from web_people import key

START = "/app/org_1/start"
VERIFYING = [each for each in LANGUAGES if each.verifying is not None]
SENDING = [each for each in LANGUAGES if each.sending is not None]
VALUE = "sk_live_" + "4" * 28 + "x7Qd"
"""What the gateway in memory gives each new key."""
SENT = web_messages.MESSAGE_ID
TEST_KEY = key(3, mode="test", last4="tEs7")
NASTY = 'C\'est "50 $x" \\ {y} é 😀\nligne\x08 \\u0041'


async def run(reader, **fields):
    page = await reader.get(START)
    return page, await reader.submit(page, START, {"to": "+22236123400", "body": "Salam", **fields})


def story(**changes):
    told = web_messages.story("delivered")
    told["message"] |= {"mode": "test", "body": "Salam", **changes}
    return {"message.show": told}


def operations(gateway):
    return [name for name, _ in gateway.done]


async def test_run_sends_the_form_and_makes_a_key_that_is_shown_once(owner, gateway):
    gateway.answers = story()
    _, page = await run(owner)
    assert page.status == 200
    assert page.headers["cache-control"] == "no-store"
    assert "content-encoding" not in page.headers
    (sent,) = [given for name, given in gateway.done if name == "send"]
    asked = {"organization_id": "org_1", "mode": "test", "to": "+22236123400", "body": "Salam"}
    assert sent == asked
    (made,) = [given for name, given in gateway.done if name == "key.create"]
    assert (made["type"], made["mode"], made["name"]) == ("secret", "test", "Quick start")
    # To be copied alone, and in the program of each language.
    assert page.text.count(VALUE) == 1 + len(SENDING)
    assert "RISALA_KEY" not in page.text
    assert VALUE not in (await owner.get(START)).text


async def test_a_reload_sends_nothing_again(owner, gateway):
    form, _ = await run(owner)
    page = await owner.submit(form, START, {"to": "+22236123400", "body": "Salam"})
    assert (page.status, page.location) == (303, START)
    assert (operations(gateway).count("send"), operations(gateway).count("key.create")) == (1, 1)


async def test_where_there_is_a_test_key_no_other_is_made(owner, gateway):
    gateway.keys["key_3"] = TEST_KEY
    _, page = await run(owner)
    assert (page.status, page.location) == (303, f"{START}?sent={SENT}")
    assert "key.create" not in operations(gateway)
    assert "RISALA_KEY=sk_test_…tEs7" in (await owner.get(START)).text


@pytest.mark.parametrize("changes", [{"enabled": False}, {"type": "publishable"}])
async def test_a_key_that_sends_nothing_is_no_test_key(owner, gateway, changes):
    gateway.keys["key_3"] = {**TEST_KEY, **changes}
    _, page = await run(owner)
    assert VALUE in page.text


async def test_a_refused_form_is_shown_as_it_was_typed(owner, gateway):
    page = await owner.get(START)
    perform = gateway.perform

    async def refuses(name, arguments, caller):
        if name == "send":
            raise Invalid("to", "invalid_number", "No.")
        return await perform(name, arguments, caller)

    gateway.perform = refuses
    page = await owner.submit(page, START, {"to": "12<b>", "body": "Salam"})
    assert page.status == 422
    assert 'value="12&lt;b&gt;"' in page.text
    assert "key.create" not in operations(gateway)


async def test_a_refused_key_takes_nothing_from_the_message(owner, gateway):
    page = await owner.get(START)
    perform = gateway.perform

    async def refuses(name, arguments, caller):
        if name == "key.create":
            raise Overloaded("There are too many.")
        return await perform(name, arguments, caller)

    gateway.perform = refuses
    page = await owner.submit(page, START, {"to": "+22236123400", "body": "Salam"})
    assert (page.status, page.location) == (303, f"{START}?sent={SENT}")


async def test_the_programs_are_the_request_as_it_was_sent(owner, gateway):
    gateway.answers = story(to="+22226000101", body=NASTY)
    text = (await owner.get(f"{START}?sent={SENT}")).text
    assert 'value="+22226000101"' in text
    code = html.unescape(re.sub("</?i>", "", text))
    (call,) = re.findall(r'^(print\(risala\("/api/sms", .*\)\))</code>', code, re.M)
    given = ast.parse(call).body[0].value.args[0].keywords
    assert {each.arg: each.value.value for each in given} == {"to": "+22226000101", "body": NASTY}


@pytest.mark.parametrize(
    ("changes", "is_shown"),
    [
        ({}, True),
        *[(each, False) for each in ({"mode": "live"}, {"kind": "code"}, {"organizationId": "o"})],
    ],
)
async def test_the_phone_shows_a_test_message_of_its_own(owner, gateway, changes, is_shown):
    gateway.answers = story(**changes)
    page = await owner.get(f"{START}?sent={SENT}")
    assert ('<p class="bubble"' in page.text) == is_shown
    assert ("It arrives here." in page.text) != is_shown


async def test_an_unknown_message_is_none(owner):
    assert "It arrives here." in (await owner.get(f"{START}?sent=sms_none")).text


async def test_the_text_is_on_the_phone_once_it_is_delivered(owner, gateway, short_streams):
    gateway.answers = story(status="processing", deliveredAt=None)
    page = await owner.get(f"{START}/live?sent={SENT}")
    assert re.search('<p class="bubble"[^>]*></p>', page.text)
    gateway.answers = story()
    page = await owner.get(f"{START}/live?sent={SENT}")
    assert re.search('<p class="bubble"[^>]*>Salam</p>', page.text)
    assert re.search('id="arrival" hx-swap-oob="true"', page.text)


async def test_who_may_only_look_runs_nothing(reader_as):
    page = await reader_as(Role.VIEWER).get(START)
    assert f'action="{START}"' not in page.text
    assert "/api/sms" in page.text


async def test_programs_have_the_readers_address(owner):
    page = await owner.get(START)
    assert page.text.count("http://127.0.0.1:8080/api/sms") == 1
    assert page.text.count("http://127.0.0.1:8080") == len(SENDING) + 1 + len(
        VERIFYING
    )  # curl checks too
    assert "sk_live_" not in page.text

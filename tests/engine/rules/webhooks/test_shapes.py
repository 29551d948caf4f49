"""Received messages in other programs' shapes, as these programs read them."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qs, parse_qsl

import pytest

from doc_blocks import blocks_of
from risala.engine.model.records.inbound import Received
from risala.engine.model.records.webhooks import SHAPE_TEMPLATE_MAX
from risala.engine.rules.webhooks import kannel_words, shapes
from risala.engine.rules.webhooks.shapes import received_of, shape_faults, shaped

URL = "https://shop.example/sms"
AT = 1_795_231_187_670
"""When the messages came, UTC epoch milliseconds."""
HOSTILE = 'a "b" \\ c\n{{to}} &x=1#%41+ é سلام 👋\t</script>'


def message(text: str = "Salam", **others) -> Received:
    known = {"id": "sms_1", "organization_id": "org_1", "carrier": "sim-1", "body": text}
    known |= {"sender": "+22236123456", "recipient": "1234", "received_at": AT}
    return Received(**{**known, **others})


def faults(shape: str, template: str = "", url: str = URL) -> list[tuple[str, str]]:
    return [(each.path, each.code) for each in shape_faults(shape, template, url)]


# -- forms and queries -------------------------------------------------------------------------


def test_rapidpros_form_has_the_fields_of_its_kannel_channel():
    asked = shaped("rapidpro", "", URL, message(HOSTILE))
    assert (asked.method, asked.url, asked.query) == ("POST", URL, "")
    assert asked.content_type == "application/x-www-form-urlencoded"
    assert asked.body.isascii()
    assert dict(parse_qsl(asked.body, strict_parsing=True, keep_blank_values=True)) == {
        "id": "sms_1",
        "ts": "1795231187",
        "message": HOSTILE,
        "sender": "+22236123456",
        "to": "1234",
    }


@pytest.mark.parametrize("shape", ["form", "get"])
def test_a_form_and_a_query_have_the_fields_of_their_template(shape):
    template = "sender={{ from }}\n\nwhat=SMS: {{text}} ({{carrier}})\nkey=a=b&c\nempty="
    assert not faults(shape, template)
    asked = shaped(shape, template, URL, message(HOSTILE))
    told = asked.body if shape == "form" else asked.query
    assert parse_qsl(told, strict_parsing=True, keep_blank_values=True) == [
        ("sender", "+22236123456"),
        ("what", f"SMS: {HOSTILE} (sim-1)"),
        ("key", "a=b&c"),
        ("empty", ""),
    ]


@pytest.mark.parametrize("shape", ["form", "get"])
def test_without_a_template_they_have_the_usual_fields(shape):
    asked = shaped(shape, "", URL, message(recipient=None))
    assert dict(parse_qsl(asked.body or asked.query, keep_blank_values=True)) == {
        "id": "sms_1",
        "from": "+22236123456",
        "to": "",
        "text": "Salam",
        "receivedAt": "2026-11-21T03:19:47.670Z",
    }


# -- JSON --------------------------------------------------------------------------------------


def test_json_escapes_what_people_write():
    template = """{"msg": {"text": "{{text}}", "all": ["{{from}}: {{text}}", 7, null, true]},
      "at": "{{timestamp}}", "line": "{{to}}", "carrier": "{{carrier}}",
      "org": "{{organization}}"}"""
    assert not faults("json", template)
    asked = shaped("json", template, URL, message(HOSTILE, recipient=None, carrier=""))
    assert (asked.method, asked.content_type) == ("POST", "application/json")
    assert json.loads(asked.body) == {
        "msg": {"text": HOSTILE, "all": [f"+22236123456: {HOSTILE}", 7, None, True]},
        "at": 1_795_231_187,
        "line": None,
        "carrier": None,
        "org": "org_1",
    }


def test_a_texts_own_time_is_told_where_it_is_known():
    """Of the event, which leaves it out where the carrier told none."""
    template = '{"sent": "{{sentAt}}", "came": "{{receivedAt}}"}'
    assert not faults("json", template)
    event = {"type": "sms.received", "organizationId": "org_1", "messageId": "sms_1"}
    event |= {"from": "+22236123456", "to": "1234", "text": "Salam"}
    late = {**event, "sentAt": "2026-11-20T22:15:00.125Z"}
    told = [
        json.loads(shaped("json", template, URL, received_of(json.dumps(each), "sim-1", AT)).body)
        for each in (late, event)
    ]
    came = "2026-11-21T03:19:47.670Z"
    assert told == [
        {"sent": "2026-11-20T22:15:00.125Z", "came": came},
        {"sent": None, "came": came},
    ]
    form = shaped("form", "at={{sentAt}}", URL, received_of(json.dumps(event), "sim-1", AT))
    assert form.body == "at="


@pytest.mark.parametrize(
    "template",
    [
        *("", "{", '"{{text}}"', "7", '{"text": {{text}}}', '{"a": NaN}', '{"a": 1e999}'),
        *('{"a": "\\ud800"}', "[" * 22 + "]" * 22, "[" * 1000 + "]" * 1000, "text={{text}}"),
    ],
)
def test_what_is_no_json_is_refused(template):
    assert faults("json", template) == [("template", "invalid_json")]


# -- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "template", "code"),
    [
        ("form", "text={{body}}", "invalid_placeholder"),
        ("get", "text={{}}", "invalid_placeholder"),
        ("json", '{"text": "{{text.upper}}"}', "invalid_placeholder"),
        ("form", "a={{text}}{{text}}\n" * 11, "invalid_placeholder"),
        ("form", "a=b\n" * 21, "invalid_fields"),
        ("form", "just words", "invalid_fields"),
        ("get", "={{text}}", "invalid_fields"),
        ("json", " " * (SHAPE_TEMPLATE_MAX + 1), "too_long"),
        ("event", "text={{text}}", "needless_template"),
        ("rapidpro", "text={{text}}", "needless_template"),
    ],
)
def test_a_template_with_a_fault_is_refused(shape, template, code):
    assert faults(shape, template) == [("template", code)]


def test_the_pages_templates_are_right():
    page = Path(__file__).parents[4] / "docs/reference/events.md"
    form, body = (each for each in blocks_of(page) if "{{text}}" in each.text)
    assert not faults("form", form.text)
    assert not faults("json", body.text)
    values = json.loads(shaped("json", body.text, URL, message()).body)
    assert values == {"phone": "+22236123456", "note": "sim-1: Salam", "at": 1_795_231_187}
    told = page.read_text(encoding="utf-8")
    assert all(f"`{each}`" in told for each in shapes.KNOWN.split(", "))
    assert all(f"`{each}`" in told for each in kannel_words.KNOWN.split(", "))


def test_an_unknown_shape_is_refused():
    assert faults("xml") == [("shape", "invalid")]


def test_the_sentence_names_what_can_be_used():
    (fault,) = shape_faults("form", "text={{body}}", URL)
    assert "{{text}}" in fault.message
    assert "not {{body}}" in fault.message


# -- Kannel's words ----------------------------------------------------------------------------


def kannel(pattern: str, text: str = "vote  7 für A&B", **others) -> str:
    url = f"{URL}?{pattern}"
    assert not faults("kannel", url=url)
    asked = shaped("kannel", "", url, message(text, **others))
    assert (asked.method, asked.url, asked.body) == ("GET", URL, "")
    return asked.query


@pytest.mark.parametrize(
    ("pattern", "query"),
    [  # each as gw/urltrans.c of Kannel fills it
        ("from=%p&to=%P", "from=%2B22236123456&to=1234"),
        ("from=%q&to=%Q", "from=%2B22236123456&to=1234"),
        ("t=%a", "t=vote+7+f%C3%BCr+A%26B"),
        ("t=%b", "t=vote++7+f%C3%BCr+A%26B"),
        ("t=%A", "t=vote++7+f%C3%BCr+A%26B"),
        ("k=%k&1=%s&2=%s&rest=%r", "k=vote&1=7&2=f%C3%BCr&rest=A%26B"),
        ("1=%s&2=%s&3=%s&4=%s&rest=%r", "1=7&2=f%C3%BCr&3=A%26B&4=&rest="),
        ("t=%t&ts=%T", "t=2026-11-21+03:19:47&ts=1795231187"),
        ("smsc=%i&id=%I&coding=%c&charset=%C", "smsc=sim-1&id=sms_1&coding=0&charset=UTF-8"),
        ("t=100%%&u=%p&v=a%20b", "t=100%&u=%2B22236123456&v=a%20b"),
    ],
)
def test_kannels_words_stand_for_what_they_do_there(pattern, query):
    assert kannel(pattern) == query


def test_kannels_words_of_another_alphabet_and_of_nothing():
    assert kannel("c=%c&t=%a", "سلام") == "c=0&t=%D8%B3%D9%84%D8%A7%D9%85"
    assert kannel("k=%k&t=%a&P=%P", "", recipient=None) == "k=&t=&P="
    assert kannel("q=%q", sender="0022236123456") == "q=%2B22236123456"


def test_a_text_adds_no_field_and_is_not_filled_again():
    found = parse_qs(kannel("t=%b&key=1", "x&key=2#%p%s=+"), keep_blank_values=True)
    assert found == {"t": ["x&key=2#%p%s=+"], "key": ["1"]}


@pytest.mark.parametrize(
    "url",
    [
        *(URL, f"{URL}?text=all", "https://shop.example/%a?t=%a", f"{URL}?t=%a&word=%S"),
        *(f"{URL}?t=%a&udh=%u", f"{URL}?t=%a&x=%", f"{URL}?t=%a&x=%é", f"{URL}?{'t=%a&' * 21}"),
    ],
)
def test_an_address_without_kannels_words_or_with_others_is_refused(url):
    assert faults("kannel", url=url) == [("url", "invalid_words")]


# -- events ------------------------------------------------------------------------------------


def test_a_test_event_becomes_a_message_from_the_example_number():
    body = '{"id":"evt_1","type":"webhook.test","organizationId":"org_1","endpointId":"whe_1"}'
    asked = shaped("rapidpro", "", URL, received_of(body, None, 1_795_231_187_670))
    told = dict(parse_qsl(asked.body, keep_blank_values=True))
    assert told == {
        "id": "evt_1",
        "ts": "1795231187",
        "message": "Test",
        "sender": "+22236123456",
        "to": "",
    }

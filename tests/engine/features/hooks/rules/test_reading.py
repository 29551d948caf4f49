"""What is read of a request: the number, the text, the code; and what is refused, and how."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.business import ODOO
from risala.engine.features.hooks.rules.mapping import MappingError, mapping_of
from risala.engine.features.hooks.rules.presets import preset, presets
from risala.engine.features.hooks.rules.reading import (
    ALERT_CHARACTERS_MAX,
    FIELDS_MAX,
    HOOK_MESSAGES_MAX,
    HOOK_STEPS_MAX,
    ITEMS_MAX,
    PARSED_MARKS,
    PARSED_OCTETS,
    read,
)
from risala.engine.features.hooks.rules.requests import HookFault, HookMessage, HookRequest
from risala.engine.features.hooks.rules.work_budget import WorkBudget
from risala.sms.limits import TEXT_CHARACTERS_MAX

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
SECRET_WORD = "mots-secrets"


def asked(body=b"", *, content_type=JSON, query="", headers=None, method="POST"):
    octets = body if isinstance(body, bytes) else json.dumps(body).encode()
    return HookRequest(method, query, headers or {}, octets, content_type, None, 0)


def found(table, body=b"", *, is_cut=False, **more):
    return read(mapping_of(table, is_cut=is_cut), asked(body, **more))


def text_of(source, body=b"", *, is_cut=False, **more):
    """The text that a source or template makes of a body."""
    messages = found({"text": source}, body, is_cut=is_cut, **more)
    return messages if isinstance(messages, HookFault) else messages[0].text


@pytest.mark.parametrize(
    ("source", "body", "text"),
    [
        ("/a", {"a": "x"}, "x"),
        ("/a/0/b", {"a": [{"b": "x"}]}, "x"),
        ("/a~1b/c~0d", {"a/b": {"c~d": "x"}}, "x"),
        ("/", {"": "x"}, "x"),
        ("/01", {"01": "x"}, "x"),
        ("/a", {"a": 7}, "7"),
        ("/a", {"a": 7.5}, "7.5"),
        ("/a|/b", {"a": None, "b": "x"}, "x"),
        ("/a|/b", {"a": "", "b": "x"}, "x"),
        ("/a|=word", {}, "word"),
        ("=a word", {}, "a word"),
        ("/a/*/b", {"a": [{"b": "x"}, {}, {"b": 7}]}, "x, 7"),
        ("a", {"a": "x"}, "x"),
        ("header:X-Word", {}, "h"),
        ("body:", {"a": 1}, '{"a": 1}'),
    ],
)
def test_a_source_is_where_it_says(source, body, text):
    assert text_of(source, body, headers={"x-word": "h"}) == text


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{/a}} and {{/b}}", "x and y"),
        ("{{ /a }}", "x"),
        ("{{count:/list}} of {{/a}}", "2 of x"),
        ("{{/no}}: {{/nothing}}\n{{/a}}", "x"),  # a line of which nothing is there is left out
        ("{{/no}}: {{/a}}", ": x"),
        ("{{/no|=none}}\nwords\n{{/a}}", "none\nwords\nx"),
        ("{{count:/no}} alerts\n{{/a}}", "x"),
        ("  {{/a}} \t {{/b}}  ", "x y"),
    ],
)
def test_a_template_makes_a_text_of_several_values(template, text):
    assert text_of(template, {"a": "x", "b": "y", "list": [1, 2]}) == text


def test_a_field_is_of_a_form_or_query():
    form = {"content_type": f"{FORM}; charset=utf-8"}
    assert text_of("a", b"a=1+2%26", **form) == "1 2&"
    assert text_of("a", b"", content_type="", query="a=%C3%A9", method="GET") == "é"
    assert text_of("a", b"", content_type="", query="a=%E9", method="GET") == "é"  # Latin-1
    assert text_of("a", b"a=body", query="a=query", **form) == "body"
    assert text_of("a", b"a=1&a=2", **form) == "1"
    assert found({"text": "a", "reads": "query"}, b"a=1", **form).code == "missing_field"
    assert found({"text": "a", "reads": "form"}, b"", query="a=1", **form).code == "missing_field"


def test_the_body_is_json_where_no_content_type_says_otherwise():
    body = b'{"a": "x"}'
    assert text_of("/a", body, content_type="text/plain") == "x"
    assert text_of("/a", body, content_type="application/cloudevents+json") == "x"
    assert text_of("/a", body, content_type=FORM) == "x"  # curl, of itself
    assert text_of("/a", b"\xef\xbb\xbf" + body) == "x"
    assert text_of("/a", b'{"a": "one\ntwo"}') == "one\ntwo"  # not escaped, as Keycloak's
    assert text_of("/a", b"{", content_type="").code == "missing_field"


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a": ' + b"9" * 5000 + b"}", b"NaN x"],
    ids=["empty", "open", "no Unicode", "deep", "endless digits", "words"],
)
def test_a_body_that_is_no_json_is_refused(body):
    assert found({"text": "/a", "reads": "json"}, body) == HookFault(
        "invalid_body", "The body must be JSON."
    )


@pytest.mark.parametrize(
    ("table", "body", "code"),
    [
        ({"text": "/a"}, {"a": {"b": SECRET_WORD}}, "not_text"),
        ({"text": "/a"}, {"a": [SECRET_WORD]}, "not_text"),
        ({"text": "/a"}, {"a": True}, "not_text"),
        ({"text": "/a"}, b'{"a": 1e999}', "not_text"),
        ({"text": "/a"}, b'{"a": NaN}', "not_text"),
        ({"text": "/a/b"}, {"a": SECRET_WORD}, "missing_field"),
        ({"text": "/9"}, [SECRET_WORD], "missing_field"),
        ({"text": "/-1"}, [SECRET_WORD], "missing_field"),
        ({"text": "/a"}, {"a": "\0\x1b"}, "missing_field"),
        ({"code": "/a"}, {"a": f"{SECRET_WORD} 1"}, "invalid_code"),
        ({"code": "/a"}, {"a": "1" * 33}, "invalid_code"),
        ({"code": "/a"}, {"a": 123456.0}, "invalid_code"),
        ({"code": "/a"}, {}, "missing_field"),
        ({"text": "/t", "to": "/a"}, {"t": "x"}, "missing_field"),
        ({"text": "/t", "to": "/a"}, {"t": "x", "a": SECRET_WORD}, "invalid_number"),
        ({"text": "/t", "to": "/a"}, {"t": "x", "a": "36123456,36123457"}, "invalid_number"),
        ({"text": "/t", "to": "/a/*"}, {"t": "x", "a": ["36123456"] * 10}, "invalid_number"),
        ({"text": "/t", "to": "/a"}, {"t": "x", "a": ["36123456"] * 10}, "not_text"),
        ({"text": "/t", "to": "/a"}, {"t": "x", "a": 22236123456.0}, "invalid_number"),
        ({"text": "/t", "to": "/a"}, {"t": "x", "a": "+ ()"}, "invalid_number"),
        ({"text": "/t", "sender": "/a"}, {"t": "x", "a": SECRET_WORD * 2}, "too_long"),
        ({"text": "/t", "each": "/a"}, {"a": []}, "missing_field"),
        ({"text": "/t", "each": "/a"}, {"a": SECRET_WORD}, "missing_field"),
    ],
)
def test_a_wrong_request_is_refused_without_its_words(table, body, code):
    fault = found(table, body)
    assert isinstance(fault, HookFault)
    assert fault.code == code
    assert SECRET_WORD not in repr(fault)
    assert "`" in fault.sentence


def test_a_value_of_a_million_characters_is_refused_or_cut():
    body = {"a": "x" * 1_000_000}
    assert text_of("/a", body).code == "text_too_long"
    assert text_of("{{/a}}", body).code == "text_too_long"
    assert text_of("body:", b"y" * 1_000_000, content_type="").code == "text_too_long"
    assert len(text_of("/a", {"a": "x" * TEXT_CHARACTERS_MAX})) == TEXT_CHARACTERS_MAX
    alert = text_of("{{/a}} {{/a}}", body, is_cut=True)
    assert len(alert) == ALERT_CHARACTERS_MAX
    assert alert.endswith("x…")


def test_a_joined_list_is_bounded_and_its_length_is_true():
    body = {"a": [{"b": "x"}] * 1000}
    assert text_of("/a/*/b", body).count("x") == ITEMS_MAX
    assert text_of("{{count:/a}}", body) == "1000"
    assert text_of("{{count:/a/*/b}}", body) == "1000"


def test_a_request_has_a_bounded_number_of_fields():
    form = b"&".join(b"a=1" for _ in range(FIELDS_MAX + 1))
    fault = text_of("a", form, content_type=FORM)
    assert (fault.code, str(FIELDS_MAX) in fault.sentence) == ("invalid_body", True)


def test_markup_stays_what_it_is_and_controls_go():
    body = {"a": "<b>Disk</b> &amp;\r\n\x1b[31mfull\x00\u2028now\ud800\tend"}
    assert text_of("/a", body) == "<b>Disk</b> &amp;\n[31mfull\nnow end"


def test_a_list_s_pointers_are_looked_up_from_the_inside_out():
    table = {"each": "/m/*/n", "to": "/to", "text": "/text|/id", "reference": "/id"}
    body = {
        "id": "outer",
        "m": [{"text": "A", "n": [{"to": "1", "id": "i"}]}, {"n": [{"to": 2}], "to": "9"}],
    }
    assert found(table, body) == (
        HookMessage("1", "A", None, reference="i"),
        HookMessage("2", "outer", None, reference="outer"),
    )


def test_one_wrong_number_does_not_stop_a_list():
    mapping = preset("odoo").mapping
    body = json.loads(ODOO.body)
    numbers = body["params"]["messages"][0]["numbers"]
    numbers[0]["number"] = "nobody" * 50
    del numbers[1]["number"]
    messages = read(mapping, asked(body))
    assert [each.to for each in messages] == [("nobody" * 50)[:40], "", "+22222123456"]


def test_a_list_has_a_bounded_number_of_messages():
    mapping = preset("odoo").mapping
    body = json.loads(ODOO.body)
    number = {"uuid": "u", "number": "+22236123456"}
    body["params"]["messages"] = [{"content": "x", "numbers": [number] * HOOK_MESSAGES_MAX}]
    assert len(read(mapping, asked(body))) == HOOK_MESSAGES_MAX
    body["params"]["messages"].append({"content": "x", "numbers": [number]})
    assert read(mapping, asked(body)).code == "too_many_messages"


def test_a_language_is_the_tag_s_or_none():
    table = {"code": "/c", "locale": "/l"}
    for word, locale in [
        ("fr-FR", "fr"),
        ("AR_mr", "ar"),
        ("en", "en"),
        ("de", "de"),
        ("1", None),
        ("", None),
    ]:
        assert found(table, {"c": "1", "l": word})[0].locale == locale


def test_neither_request_nor_message_print_their_words():
    request = asked({"a": SECRET_WORD}, query=SECRET_WORD, headers={"authorization": SECRET_WORD})
    message = HookMessage(SECRET_WORD, SECRET_WORD, SECRET_WORD)
    assert SECRET_WORD not in f"{request!r} {message!r} {request} {message}"


any_text = st.text("ab0{}|:/*=~ +\n\0\x85\ud800é٣", max_size=12)
parts = st.sampled_from(["a", "b", "*", "0", "", "~0", "~1", "ä"])
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from("ab0") | any_text, inner, max_size=4)
    ),
    max_leaves=12,
)
pointers = st.lists(parts, min_size=1, max_size=5).map(lambda each: "/" + "/".join(each))
sources = pointers | st.sampled_from(["a", "body:", "header:x-a", "=word", "/a|b|/0", "*"])
templates = st.tuples(sources, sources).map(
    lambda two: f"{{{{{two[0]}}}}} - {{{{count:{two[1]}}}}}"
)
tables = st.fixed_dictionaries(
    {"text": sources | templates},
    optional={
        **dict.fromkeys(("to", "code", "sender", "reference", "locale", "once"), sources),
        "each": pointers,
        "reads": st.sampled_from(["any", "json", "form", "query", "text"]),
    },
)
bodies = st.binary(max_size=60) | any_json.map(lambda value: json.dumps(value).encode())
kinds = st.sampled_from([JSON, FORM, "", "text/plain", "a/b+json;x"]) | any_text


@pytest.mark.slow
@given(tables, bodies, kinds, any_text, any_text, st.booleans())
def test_whatever_comes_there_are_messages_or_a_fault(table, body, kind, query, header, is_cut):
    headers = {"x-a": header}
    result = found(table, body, content_type=kind, query=query, headers=headers, is_cut=is_cut)
    if isinstance(result, HookFault):
        assert result.code
        assert result.sentence
        return
    assert 1 <= len(result) <= HOOK_MESSAGES_MAX
    for each in result:
        assert each.text or each.code
        assert len(each.text or "") <= TEXT_CHARACTERS_MAX
        assert all(ord(letter) > 31 or letter == "\n" for letter in each.text or "")
        (each.text or "").encode()
        assert (each.to is None) == ("to" not in table)


@pytest.mark.slow
@given(bodies, kinds, any_text)
def test_every_preset_makes_messages_or_a_fault_of_anything(body, kind, query):
    for each in presets():
        if each.mapping is not None:
            result = read(each.mapping, asked(body, content_type=kind, query=query))
            assert isinstance(result, tuple | HookFault)


@pytest.mark.slow
@given(st.dictionaries(any_text | st.sampled_from(["text", "to", "each"]), any_text | sources))
def test_a_mapping_is_one_or_says_what_is_wrong(table):
    try:
        mapping = mapping_of(table)
    except MappingError as error:
        sentence = str(error)
        mapping = None
    assert sentence if mapping is None else mapping.text or mapping.code


# -- what a mapping and a request multiply to

ITEMS = '{"x":[' + ",".join(["[]"] * 20_000) + "]}"


@pytest.mark.parametrize("each", [None, "/m"])
def test_work_beyond_the_budget_is_refused_and_nothing_of_the_request_is_told(each):
    table = {"text": "{{/x/*/a}}" * 40, "reads": "json"} | ({"each": each} if each else {})
    body = ITEMS if each is None else ITEMS[:-1] + ',"m":[1,2,3]}'
    fault = found(table, body.encode())
    assert isinstance(fault, HookFault)
    assert fault.code == "too_much"
    assert "fewer items" in fault.sentence


@pytest.mark.parametrize(
    ("body", "query", "least"),
    [
        (b"[" + b"{}," * 20_000 + b"{}]", "", 40_000 // PARSED_MARKS),
        (b'{"a":"' + b"x" * 60_000 + b'"}', "", 60_000 // PARSED_OCTETS),
        (b"", "a=" + "%20" * 20_000, 20_000 // PARSED_MARKS),
    ],
    ids=["items", "octets", "escapes of a query"],
)
def test_what_is_parsed_counts_before_anything_is_looked_up(body, query, least):
    steps = WorkBudget(HOOK_STEPS_MAX)
    read(mapping_of({"text": "=a word", "reads": "any"}), asked(body, query=query), steps)
    assert steps.used >= least


def test_what_several_messages_look_up_alike_is_looked_up_once():
    table = {"each": "/m", "text": "{{count:/x}} {{/x/*/a}}", "reads": "json"}
    used = []
    for count in (1, 100):
        steps = WorkBudget(HOOK_STEPS_MAX)
        body = {"m": [{}] * count, "x": [{"a": 1}] * 40}
        assert len(read(mapping_of(table), asked(body), steps)) == count
        used.append(steps.used)
    assert used[1] - used[0] < 99 * 50


def test_the_largest_requests_that_programs_make_stay_within_the_budget():
    alerts = [{"labels": {"alertname": f"a{each}"}, "annotations": {}} for each in range(400)]
    assert read(preset("alertmanager").mapping, asked({"status": "firing", "alerts": alerts}))
    message = {"content": "é" * 500, "numbers": [{"uuid": "u", "number": "+22236123456"}]}
    batch = {"params": {"messages": [message] * HOOK_MESSAGES_MAX}}
    assert len(read(preset("odoo").mapping, asked(batch))) == HOOK_MESSAGES_MAX


@pytest.mark.parametrize(
    ("only", "is_read"),
    [
        ("/event=made", True),
        ("/event=made /new=true /no=7", True),
        ("/event=other", False),
        ("/event=made /new=false", False),
        ("/none=made", False),
        ("/list=made", False),
        ("/null=None", False),
        ("/a=b=c", False),
    ],
)
def test_a_mapping_passes_over_what_it_does_not_mean(only, is_read):
    body = {"event": "made", "new": True, "no": 7, "list": ["made"], "null": None, "text": "x"}
    found_messages = found({"text": "/text", "only": only}, body)
    assert bool(found_messages) is is_read
    assert not isinstance(found_messages, HookFault)


@pytest.mark.parametrize("only", ["event=made", "/event", "/event=", "=", "/a~2=b"])
def test_conditions_that_are_none(only):
    with pytest.raises(MappingError, match="only"):
        mapping_of({"text": "/text", "only": only})

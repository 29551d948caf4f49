"""A body that is taken at a glance is the one that the models take, with the same value."""

import json
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.engine.model.errors import FieldFault
from risala.http.api import bodies, verify_bodies
from risala.http.api.fields import BodyContext
from risala.http.api.quick import quick_check, quick_get, quick_send, quick_send_code
from risala.http.api.verify_beside import CheckCodeBody, SendCodeBody
from risala.http.common.parse import quick_object
from risala.http.common.problems import Problem
from risala.http.common.validation import parse_body, validate
from risala.sms.numbering.plan import DEFAULT

NOW_MS = 1_767_225_600_000
CONTEXT = BodyContext(NOW_MS, DEFAULT)


def faults_of(locale, app_hash, origin):
    return [] if origin is None else [FieldFault("origin", "not_registered", "No such one.")]


def model():
    return SendCodeBody


def check_model():
    return CheckCodeBody


def explained_item(members):
    return validate(bodies.SendBody, members, escapes=True, context=CONTEXT).command()


PARSERS = {
    "send": (
        partial(bodies.parse_send, context=CONTEXT),
        partial(bodies.explained_send, context=CONTEXT),
    ),
    "get": (bodies.parse_get, lambda raw: parse_body(bodies.GetBody, raw).message_id),
    "send code": (
        partial(verify_bodies.parse_send_code, context=CONTEXT, faults_of=faults_of, model=model),
        partial(
            verify_bodies.explained_send_code, context=CONTEXT, faults_of=faults_of, model=model
        ),
    ),
    "check": (
        partial(verify_bodies.parse_check, model=check_model),
        partial(verify_bodies.explained_check, model=check_model),
    ),
    "get verification": (
        verify_bodies.parse_get,
        lambda raw: parse_body(verify_bodies.GetVerificationBody, raw).verification_id,
    ),
}

# -- bodies that are good, nearly good, and none

everything = st.characters(codec=None, exclude_categories=())
texts = st.text(everything, max_size=12) | st.sampled_from(["\0", "\ud800", "\udc00", "😀", ""])
names = st.sampled_from(
    [
        *("to", "from", "body", "idempotencyKey", "metadata", "messageId", "sendAt", "locale"),
        *("validitySeconds", "verificationId", "code", "appHash", "origin"),
        *("clientIp", "userAgent", "tags", "amount", "currency", "payee", "reported"),
    ]
)
numbers = st.integers() | st.floats() | st.sampled_from([60, 59, 259_200, 259_201, 3600.0, 1e999])
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
sizes = st.sampled_from([0, 1, 7, 8, 64, 65, 128, 129, 256, 257, 1600, 1601])
long_texts = st.builds(str.__mul__, st.sampled_from("aé😀"), sizes)
plausible = {
    "to": st.from_regex(r"\+222[0-9]{7,9}"),
    "body": texts | long_texts,
    "from": st.text("Aa1 é", max_size=13),
    "idempotencyKey": texts | long_texts,
    "validitySeconds": numbers,
    "sendAt": st.sampled_from(["2026-01-01T00:00:00Z", "2026-02-30T00:00:00Z", "soon"]),
    "metadata": st.dictionaries(texts | long_texts, texts | long_texts | values, max_size=12),
    "locale": st.sampled_from(["fr", "ar", "en", "de"]),
    "appHash": texts,
    "origin": texts,
    "messageId": texts,
    "verificationId": texts,
    "code": texts | long_texts,
}
members = st.one_of(
    *(st.tuples(st.just(name), value | values) for name, value in plausible.items()),
    st.tuples(names | texts, values),
)


@st.composite
def raw_bodies(draw):
    """An object's text: any members, some of them twice, in any spelling; sometimes broken."""
    written = []
    basis = [("to", "+22236123456"), ("body", "Hello"), ("verificationId", "v"), ("code", "1")]
    pairs = draw(st.permutations(basis)) if draw(st.booleans()) else []
    for name, value in [*pairs, *draw(st.lists(members, max_size=4))]:
        dump = partial(json.dumps, ensure_ascii=draw(st.booleans()))
        written.append(f"{dump(name)}{draw(st.sampled_from([':', ' : ']))}{dump(value)}")
    body = "{" + ",".join(written) + "}"
    if draw(st.integers(0, 4)) == 0:
        at = draw(st.integers(0, len(body)))
        body = body[:at] + draw(st.sampled_from(["", ",", '"', "{", "\\u0000", " ", "\n", "\x01"]))
        body += draw(st.sampled_from(["", " ", "}", "\n{}"]))
    return body.encode("utf-8", draw(st.sampled_from(["surrogatepass", "replace"])))


def outcome(parse, raw):
    try:
        return parse(raw)
    except Problem as problem:
        return problem.wire("req_1")


@pytest.mark.slow
@pytest.mark.parametrize("kind", PARSERS)
@given(raw=raw_bodies())
def test_a_glance_and_the_models_agree(kind, raw):
    quick, explained = PARSERS[kind]
    assert outcome(quick, raw) == outcome(explained, raw)


@pytest.mark.slow
@given(value=st.dictionaries(names | texts, values) | st.lists(members).map(dict))
def test_they_agree_on_items_of_a_batch(value):
    quick = partial(bodies.parse_item, context=CONTEXT, escapes=True)
    assert outcome(quick, value) == outcome(explained_item, value)


# -- and it is not idle: what clients send is seen at a glance

good = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=8, max_size=60)


@pytest.mark.parametrize("ensure_ascii", [True, False])
@given(
    text=good,
    more=st.fixed_dictionaries(
        {},
        optional={
            "from": st.sampled_from(["RISALA", "My Bank 2", None]),
            "idempotencyKey": good | st.none(),
            "metadata": st.dictionaries(good.map(lambda text: text[:40]), good, max_size=10),
            "validitySeconds": st.integers(60, 259_200) | st.none(),
        },
    ),
)
def test_good_bodies_are_taken_at_a_glance(ensure_ascii, text, more):
    body = {"to": "+22236123456", "body": text, **more}
    raw = json.dumps(body, ensure_ascii=ensure_ascii).encode()
    seen = quick_object(raw)
    assert seen is not None
    assert quick_send(seen, DEFAULT) == bodies.explained_send(raw, CONTEXT)
    assert quick_send(seen, DEFAULT) is not None


@pytest.mark.parametrize(
    ("quick", "body", "value"),
    [
        (partial(quick_get, name="messageId"), {"messageId": "sms_1"}, "sms_1"),
        (quick_check, {"verificationId": "ver_1", "code": " ٠١٢٣ "}, ("ver_1", " ٠١٢٣ ")),
    ],
)
def test_the_small_ones_too(quick, body, value):
    assert quick(quick_object(json.dumps(body).encode())) == value


def test_a_code_to_send_too():
    raw = b'{"to":"+22236123456","locale":"fr","appHash":"FA+9qCX9VSu"}'
    seen = quick_send_code(quick_object(raw), DEFAULT)
    assert seen is not None
    assert seen == verify_bodies.explained_send_code(raw, CONTEXT, faults_of, model)

"""Whatever arrives is either a command or a list of faults; nothing else ever comes out."""

import json
from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from risala.engine.model.commands import SendMessage
from risala.http.api.bodies import parse_get
from risala.http.api.bodies import parse_send as parse_send_at
from risala.http.api.fields import BodyContext
from risala.http.common.problems import Problem
from risala.sms.address import sender_fault
from risala.sms.numbering.plan import DEFAULT

NOW_MS = 1_767_225_600_000
DAY_MS = 86_400_000


def parse_send(raw: bytes) -> SendMessage:
    return parse_send_at(raw, BodyContext(NOW_MS, DEFAULT))


names = st.sampled_from(["to", "from", "body", "idempotencyKey", "metadata", "messageId", "sendAt"])
texts = st.text(st.characters(codec=None, exclude_categories=()), max_size=40)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names | texts, inner, max_size=4),
    max_leaves=20,
)
plausible = st.fixed_dictionaries(
    {"to": st.from_regex(r"\+222[0-9]{7,8}") | values, "body": texts | values},
    optional={
        "from": st.text("Aa1 é", max_size=13) | values,
        "idempotencyKey": st.text(max_size=140) | values,
        "metadata": st.dictionaries(texts, texts) | values,
        "sendAt": st.datetimes(timezones=st.timezones()).map(datetime.isoformat) | values,
        "validitySeconds": st.integers() | values,
    },
)


def outcome(parse, raw: bytes):
    try:
        return parse(raw)
    except Problem as problem:
        check_issues(problem)
        return None


def check_issues(problem: Problem) -> None:
    assert problem.status == 400
    issues = problem.data["issues"]
    assert issues
    for issue in issues:
        assert set(issue) == {"path", "code", "message"}
        assert issue["code"].isidentifier()
        assert issue["message"].endswith(".")
    json.loads(problem.body("req_1"))


def check(command: SendMessage | None) -> None:
    if command is not None:
        assert DEFAULT.serves(command.to)
        assert 1 <= len(command.body) <= 1600
        assert command.sender is None or sender_fault(command.sender) is None
        assert command.idempotency_key is None or 8 <= len(command.idempotency_key) <= 128
        whole = command.body + (command.idempotency_key or "") + "".join(command.metadata)
        assert "\0" not in whole
        assert command.send_at is None or NOW_MS < command.send_at <= NOW_MS + 30 * DAY_MS
        assert command.validity_s is None or 60 <= command.validity_s <= 259_200
        whole.encode()


@given(values | plausible)
def test_any_json(value):
    raw = json.dumps(value).encode()
    check(outcome(parse_send, raw))
    outcome(parse_get, raw)


@given(st.binary(max_size=200))
def test_any_bytes(raw):
    check(outcome(parse_send, raw))


@given(plausible, st.data())
def test_json_with_a_byte_changed(value, data):
    raw = bytearray(json.dumps(value, ensure_ascii=True).encode())
    raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    check(outcome(parse_send, bytes(raw)))

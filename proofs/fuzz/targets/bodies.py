"""JSON that clients send: our readers against the standard library's, and against each other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, NoReturn

import trio

from proofs.fuzz.target import FuzzTarget, refusal_of, work_within
from risala.engine.features.request_log.rules import answered_text, asked_text
from risala.engine.model.commands import SendMessage
from risala.http.api.batch_reader import MEMBERS_MAX, VALUE_CHARACTERS_MAX, Item, parse_batch
from risala.http.api.bodies import SendBody, explained_send, parse_send
from risala.http.api.fields import BATCH_ITEMS_MAX, BodyContext
from risala.http.common.parse import DEPTH_MAX, read_object
from risala.http.common.problems import Problem
from risala.http.common.validation import validate
from risala.sms.numbering.plan import DEFAULT

NOW_MS: Final = 1_767_225_600_000
CONTEXT: Final = BodyContext(NOW_MS, DEFAULT)
_GOOD: Final = b'{"to":"+22236123456","body":"Salam"}'
_DEEP: Final = 400
"""Brackets beyond which Python's own limit of recursion decides, which depends on the caller."""


class _Members(list[tuple[str, Any]]):
    """An object as the pairs that were written, one that comes twice among them."""


class _RefusedError(Exception):
    """The reference takes no such body."""


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


_REFERENCE: Final = json.JSONDecoder(object_pairs_hook=_Members, parse_constant=_no_constant)


def _read(raw: bytes) -> Any:  # noqa: ANN401 -- any JSON
    """A body by the standard library's reader, with its pairs kept."""
    try:
        return _REFERENCE.decode(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        raise _RefusedError from None


def _walk(value: object, depth: int = 0) -> Iterator[tuple[int, object]]:
    yield depth, value
    inner: list[object] = []
    if isinstance(value, _Members):
        inner = [each for _, each in value]
    elif isinstance(value, list):
        inner = value
    for each in inner:
        yield from _walk(each, depth + 1)


def _depth(value: object) -> int:
    return max((depth + 1 for depth, each in _walk(value) if isinstance(each, list)), default=0)


def _is_twice(value: object) -> bool:
    return any(
        len(dict(each)) != len(each) for _, each in _walk(value) if isinstance(each, _Members)
    )


def _plain(value: Any) -> Any:  # noqa: ANN401 -- any JSON
    if isinstance(value, _Members):
        return {name: _plain(each) for name, each in value}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _is_too_deep_to_say(raw: bytes) -> bool:
    return raw.count(b"[") + raw.count(b"{") > _DEEP


def _reference_object(raw: bytes) -> dict[str, Any]:
    value = _read(raw)
    if not isinstance(value, _Members) or _is_twice(value) or _depth(value) > DEPTH_MAX:
        raise _RefusedError
    found: dict[str, Any] = _plain(value)
    return found


def _check_problem(problem: Problem) -> None:
    """An answer of an error is valid, whatever was asked, and has nothing of it but places."""
    told = json.loads(problem.body("req_x"))
    assert told["status"] == problem.status == 400
    assert told["code"] == "BAD_REQUEST"
    assert told["message"]
    for issue in told["data"]["issues"]:
        assert set(issue) == {"path", "code", "message"}


def _objects(raw: bytes) -> None:
    with work_within(3000 + 20 * len(raw)):
        found = refusal_of(lambda: read_object(raw), Problem)
    if isinstance(found, Problem):
        _check_problem(found)
    if not _is_too_deep_to_say(raw):
        wanted = refusal_of(lambda: _reference_object(raw), _RefusedError)
        assert isinstance(wanted, Exception) == isinstance(found, Exception)
        if isinstance(wanted, dict):
            assert repr(found) == repr(wanted)
    # The short way gives what the models give.
    quick = refusal_of(lambda: parse_send(raw, CONTEXT), Problem)
    slow = refusal_of(lambda: explained_send(raw, CONTEXT), Problem)
    assert isinstance(quick, Exception) == isinstance(slow, Exception)
    for problem in (quick, slow):
        if isinstance(problem, Problem):
            _check_problem(problem)
    if isinstance(quick, SendMessage):
        assert quick == slow
        quick.body.encode()
        assert "\0" not in quick.body


def _reference_items(raw: bytes) -> list[dict[str, Any] | None]:
    """The items of a batch, None for each that is refused by itself before it is looked into."""
    value = _read(raw)
    if not isinstance(value, _Members) or len(value) > MEMBERS_MAX:
        raise _RefusedError
    names = [name for name, _ in value]
    if len(set(names)) != len(names):
        raise _RefusedError
    for name, each in value:
        if (name != "messages" or type(each) is not list) and (
            _is_twice(each) or _depth(each) > DEPTH_MAX - 1
        ):
            raise _RefusedError
    items = dict(value).get("messages")
    if type(items) is not list or not 1 <= len(items) <= BATCH_ITEMS_MAX:
        raise _RefusedError
    return [
        _plain(each)
        if isinstance(each, _Members) and not _is_twice(each) and _depth(each) <= DEPTH_MAX
        else None
        for each in items
    ]


def _reference_batch(raw: bytes) -> list[SendMessage | None]:
    def command(item: dict[str, Any] | None) -> SendMessage | None:
        if item is None:
            return None
        try:
            return validate(SendBody, item, escapes=True, context=CONTEXT).command()
        except Problem:
            return None

    return [command(item) for item in _reference_items(raw)]


def _batches(raw: bytes) -> None:
    def read() -> list[Item] | Exception:
        return refusal_of(lambda: trio.run(parse_batch, raw, CONTEXT), Problem)

    found = read()
    if isinstance(found, Problem):
        _check_problem(found)
    elif not isinstance(found, Exception):
        for item in found:
            if isinstance(item, Problem):
                _check_problem(item)
    if _is_too_deep_to_say(raw) or len(raw) > VALUE_CHARACTERS_MAX:
        return
    wanted = refusal_of(lambda: _reference_batch(raw), _RefusedError)
    if isinstance(wanted, Exception) or isinstance(found, Exception):
        assert isinstance(wanted, Exception) == isinstance(found, Exception)
        return
    assert [None if isinstance(item, Problem) else item for item in found] == wanted


def _batch_seeds() -> Iterator[bytes]:
    yield b'{"messages":[' + _GOOD + b"," + _GOOD + b"]}"
    yield b' {"x" : [1, {}] , "messages" :\t[ ' + _GOOD + b' , 3, null ] , "y" : null } \n'
    yield b'{"messages":[{"to":1,"to":2},[],{"a":' + b"[" * 33 + b"]" * 33 + b"}]}"
    yield b'{"a":0.' + b"1" * 4200 + b',"messages":[{}]}'
    yield b'{"a":"' + b"x" * 4090 + b'\\u0031","messages":[{}]}'
    yield b'{"a":1e999,"b":-0.0,"c":' + b"9" * 300 + b',"messages":[{}]}'
    yield b'{"messages":[{}],"messages":[{}]}'
    yield b'{"messages":[{"to":"\\ud800","body":"\\u0000"}]}'
    yield b"\xef\xbb\xbf" + b'{"messages":[{}]}'
    yield b'{"messages":[NaN,Infinity,-Infinity]}'
    yield b'{"messages":null,"messages2":[]}'
    yield b'{"messages":[' + b",".join([b"{}"] * 1001) + b"]}"
    yield b"{" + b",".join(b'"%d":0' % n for n in range(101)) + b',"messages":[{}]}'


def _object_seeds() -> Iterator[bytes]:
    yield _GOOD
    yield (
        b'{"to":"+22236123456","body":"\\u0633","from":"RISALA","idempotencyKey":"order-77",'
        b'"sendAt":"2026-01-01T08:30:00.123+01:00","validitySeconds":3600.0,"metadata":{"a":"b"}}'
    )
    yield b'{"to":"+22236123456","body":"\\ud83d\\ude00"}'
    yield b'{"to":"+22236123456","body":"\\ud83d"}'
    yield b'{"to":"+22236123456","to":"+22236123456","body":"x"}'
    yield b'{"a":' + b"[" * 31 + b"]" * 31 + b"}"
    yield b'{"a":' + b"[" * 32 + b"]" * 32 + b"}"
    yield b'{"a":[NaN,1E400,-0,0.1e-7]}'
    yield b'{"validitySeconds":true,"metadata":{"":1},"sendAt":"2026-02-30T08:30Z"}'
    yield b"[]"
    yield b'{"a":"\xff"}'


def _log(raw: bytes) -> None:
    """What the log of requests keeps is JSON that can be stored, and has no body and no code."""
    for text in (asked_text(raw), answered_text(raw)):
        assert text is not None
        json.loads(text, parse_constant=_no_constant)
        text.encode()
        assert len(text) < 64 * 1024
    try:
        told = json.loads(raw)
    except (ValueError, RecursionError):
        return
    body = told.get("body") if isinstance(told, dict) else None
    if isinstance(body, str) and len(body) > 5:
        alone = json.dumps({"body": body}).encode()
        for text in (asked_text(alone), answered_text(alone)):
            assert text == f'{{"body":"‹{len(body)}›"}}'


_WORDS: Final = (
    b'"messages"', b'"to"', b'"body"', b'"from"', b'"metadata"', b'"sendAt"', b"[", b"]", b"{",
    b"}", b":", b",", b"null", b"true", b"NaN", b"Infinity", b"1e5", b"-0", b"\\ud800", b"\\u0000",
    b'"+22236123456"', b"\xef\xbb\xbf", b"{}",
)  # fmt: skip

TARGETS: Final = (
    FuzzTarget(
        "json-objects",
        "read as Python's json reads it, or refused by both; the short way gives what the model"
        " gives; each refusal is an error with code and places",
        _objects,
        _object_seeds,
        words=_WORDS,
    ),
    FuzzTarget(
        "json-batches",
        "the same items, values and refusals as by Python's json of the whole body",
        _batches,
        _batch_seeds,
        octets_max=6000,
        words=_WORDS,
    ),
    FuzzTarget(
        "request-log",
        "what is kept is JSON that can be stored, bounded, without the text of a message",
        _log,
        lambda: (*_object_seeds(), *_batch_seeds()),
        words=_WORDS,
    ),
)

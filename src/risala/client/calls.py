"""What each method asks: the path, the body, how the answer is read, whether it may be repeated.

Nothing here speaks to a network, so both clients share it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from . import answers
from .decoding import camel, decoded
from .errors import RefusedError, UnreadableAnswerError, refusal

T = TypeVar("T")
Json = Mapping[str, Any]
When = datetime | str
"""A time: a `datetime` with an offset, or ISO 8601."""


@dataclass(frozen=True, slots=True)
class ApiCall(Generic[T]):
    """One thing that is asked of the service."""

    path: str
    body: Json = field(repr=False)
    """Not in the call's text: it has what people write, and the codes that they type."""
    read: Callable[[Json], T]
    is_repeatable: bool
    """Whether it may be asked again after its answer was lost."""
    keys: tuple[str, ...] = ()
    """The idempotency keys of what it sends."""
    is_batch: bool = False


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """A message of a batch."""

    to: str
    body: str = field(repr=False)
    sender: str | None = None
    """Without it the service's default sender."""
    idempotency_key: str | None = None
    """8 to 128 characters. Without one it gets one, the same for every attempt of the call."""
    send_at: When | None = None
    validity_seconds: int | None = None
    metadata: Mapping[str, str] | None = None
    message_class: int | None = None
    """0: a flash message, which the phone shows at once and does not keep."""


BatchResult = answers.SentMessage | RefusedError
"""What became of one message of a batch: it was accepted, or why it was not."""


def fresh_key() -> str:
    """An idempotency key that nobody else makes."""
    return f"idk_{secrets.token_hex(16)}"


# -- messages -----------------------------------------------------------------------------------


def send_message(message: OutgoingMessage) -> ApiCall[answers.SentMessage]:
    body = _message(message)
    keys = (body["idempotencyKey"],)
    return ApiCall("/api/sms", body, _as(answers.SentMessage), is_repeatable=True, keys=keys)


def reply(body: Json) -> ApiCall[answers.SentMessage]:
    members = _given({**body, "idempotencyKey": body["idempotencyKey"] or fresh_key()})
    return ApiCall(
        "/api/conversations/reply",
        members,
        _as(answers.SentMessage),
        is_repeatable=True,
        keys=(members["idempotencyKey"],),
    )


def send_messages(messages: Iterable[OutgoingMessage]) -> ApiCall[tuple[BatchResult, ...]]:
    bodies = [_message(each) for each in messages]
    keys = tuple(each["idempotencyKey"] for each in bodies)

    def read(answer: Json) -> tuple[BatchResult, ...]:
        results = answer.get("results")
        if not isinstance(results, list) or len(results) != len(keys):
            raise UnreadableAnswerError("The answer has not one result for each message.")
        return tuple(_result(each, key) for each, key in zip(results, keys, strict=True))

    return ApiCall(
        "/api/sms/batch",
        {"messages": bodies},
        read,
        is_repeatable=True,
        keys=keys,
        is_batch=True,
    )


def _result(result: object, key: str) -> BatchResult:
    if isinstance(result, Mapping) and "status" in result and not result.get("accepted"):
        waits = result.get("data", {}).get("retryAfter")
        error = refusal(int(result["status"]), result, waits)
        error.idempotency_key = key
        return error
    return decoded(answers.SentMessage, result)


def _message(message: OutgoingMessage) -> dict[str, Any]:
    return {
        "to": message.to,
        "body": message.body,
        "idempotencyKey": message.idempotency_key or fresh_key(),
    } | _given(
        {
            "from": message.sender,
            "sendAt": when(message.send_at),
            "validitySeconds": message.validity_seconds,
            "metadata": None if message.metadata is None else dict(message.metadata),
            "messageClass": message.message_class,
        }
    )


def when(at: When | None) -> str | None:
    """A time as the API takes it. One without an offset is refused: nobody knows which it is."""
    if not isinstance(at, datetime):
        return at
    if at.tzinfo is None:
        raise ValueError("A time needs an offset: datetime.now(timezone.utc), say.")
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


# -- the rest -----------------------------------------------------------------------------------


def read_one(path: str, kind: type[T], **body: object) -> ApiCall[T]:
    """A call that changes nothing, or nothing more when it is made again."""
    return ApiCall(path, _given(body), _as(kind), is_repeatable=True)


def do_once(path: str, kind: type[T], **body: object) -> ApiCall[T]:
    """A call that does its work each time that it is made."""
    return ApiCall(path, _given(body), _as(kind), is_repeatable=False)


def read_page(path: str, kind: type[T], body: Json) -> ApiCall[answers.Page[T]]:
    """A page of a list."""

    def read(answer: Json) -> answers.Page[T]:
        return answers.Page(_items(answer, kind), answer.get("next"), answer.get("previous"))

    return ApiCall(path, _given(body), read, is_repeatable=True)


def read_all(path: str, kind: type[T], **body: object) -> ApiCall[tuple[T, ...]]:
    """A list that has no pages."""
    return ApiCall(path, body, lambda answer: _items(answer, kind), is_repeatable=True)


def listing(
    *,
    limit: int | None,
    before: str | None,
    after: str | None,
    since: When | None = None,
    until: When | None = None,
    **others: str | None,
) -> dict[str, Any]:
    """What every list is asked with; those of ``others`` that are no word of the API end in _."""
    arguments = {name.rstrip("_"): value for name, value in others.items()}
    times = {"since": when(since), "until": when(until)}
    return {"limit": limit, "before": before, "after": after, **times, **arguments}


def settings(**values: object) -> dict[str, object]:
    """Settings by the API's names: ``signature_key`` is its ``signatureKey``."""
    return {camel(name): _plain(value) for name, value in values.items()}


def _plain(value: object) -> object:
    """A value as JSON writes it."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Iterable) and not isinstance(value, str):
        return list(value)
    return value


def _items(answer: Json, kind: type[T]) -> tuple[T, ...]:
    items = answer.get("items")
    if not isinstance(items, Sequence) or isinstance(items, str):
        raise UnreadableAnswerError("The answer has no `items`.")
    return tuple(decoded(kind, each) for each in items)


def _as(kind: type[T]) -> Callable[[Json], T]:
    return lambda answer: decoded(kind, answer)


def _given(body: Json) -> dict[str, Any]:
    """The members that are not None."""
    return {name: value for name, value in body.items() if value is not None}

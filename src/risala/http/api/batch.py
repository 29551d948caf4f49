"""``POST /api/sms/batch`` (contract §3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from risala.config.model import HttpSection
from risala.engine.model.commands import SendMessage
from risala.engine.model.errors import OutcomeUnknown, RateLimited, Refusal
from risala.http.api.batch_reader import Item, parse_batch
from risala.http.api.fields import Compared
from risala.http.common.auth import ApiKeyAuth
from risala.http.common.facade import GatewayFacade
from risala.http.common.parse import read_body
from risala.http.common.plain import PlainAnswer, PlainRequest, PlainRoutes
from risala.http.common.problems import Problem, problem_of

PATH: Final = "/api/sms/batch"


def add_batch(
    paths: PlainRoutes,
    gateway: GatewayFacade,
    context: Compared,
    http: HttpSection,
    door: ApiKeyAuth,
) -> None:
    """Serve ``POST /api/sms/batch``."""
    desk = BatchSlots(http.batches_read_max)

    async def read_items(request: PlainRequest) -> list[Item]:
        with desk.slot():
            return await parse_batch(await read_body(request), context())

    async def send_batch(request: PlainRequest) -> PlainAnswer:
        principal = door.secret(request)
        items = await read_items(request)
        commands = [item for item in items if isinstance(item, SendMessage)]
        try:
            answers = await gateway.send_batch(principal, commands) if commands else []
        except OutcomeUnknown as error:
            raise _with_place_of_all(error, items) from error
        return PlainAnswer(results(items, answers, request.id))

    paths.route(PATH, send_batch, body_bytes_max=http.batch_body_max_bytes)


class BatchSlots:
    """Bounds how many batches are read at one moment; a further one is refused and does not wait,
    since its body would take memory meanwhile."""

    def __init__(self, places: int) -> None:
        self._free = places

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Raises :class:`Problem`, 503, where every place is taken."""
        if not self._free:
            text = "Too many batches are being sent at once. Try again in a moment."
            raise Problem(503, text, headers={"Retry-After": "1"})
        self._free -= 1
        try:
            yield
        finally:
            self._free += 1


def results(items: Sequence[Item], answers: Sequence[bytes | Refusal], request_id: str) -> bytes:
    """The response: the gateway's own bytes for accepted items, and an error for each item that the
    gateway, or the reader before it, refused."""
    answer = iter(answers)
    parts = []
    for item in items:
        result = item if isinstance(item, Problem) else next(answer)
        if isinstance(result, Exception):
            result = _of_an_item(result).body(request_id)
        parts.append(result)
    return b'{"results":[' + b",".join(parts) + b"]}"


def _with_place_of_all(error: OutcomeUnknown, items: Sequence[Item]) -> OutcomeUnknown:
    """The error with a key for each item of the request, where the engine's has one for each item
    that reached it: None for those that did not."""
    key = iter(error.keys)
    keys = tuple(None if isinstance(item, Problem) else next(key) for item in items)
    return OutcomeUnknown(str(error), keys, of_batch=True)


def _of_an_item(error: Exception) -> Problem:
    problem = problem_of(error)
    if isinstance(error, RateLimited):  # the wait goes into the body: an item has no Retry-After
        return Problem(
            problem.status,
            problem.message,
            {**problem.data, "retryAfter": error.retry_after_s},
        )
    return problem

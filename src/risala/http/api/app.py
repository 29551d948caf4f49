"""The public face: the API and the probes, and behind them the pages and the reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

from risala.config.model import HttpSection, Settings
from risala.dataclass import dataclass
from risala.engine.model.answers import without_id
from risala.engine.model.clock import Clock, SystemClock
from risala.engine.model.commands import Principal, RequestNotes, SendMessage
from risala.engine.model.errors import OutcomeUnknown, RateLimited, Refusal
from risala.engine.model.records.asks import FeatureAccess
from risala.engine.model.wire import lean, message_wire
from risala.http.api.batch_reader import Item, parse_batch
from risala.http.api.bodies import parse_get, parse_send
from risala.http.api.fields import BodyContext, Compared
from risala.http.api.management.paths import add_management
from risala.http.api.quick import quick_send
from risala.http.api.verify import add_verify
from risala.http.common.auth import ApiKeyAuth
from risala.http.common.client_address import ClientAddresses
from risala.http.common.failed_keys import AnswerTally, FailedKeys
from risala.http.common.parse import quick_object, read_body
from risala.http.common.plain import (
    JSON,
    Fields,
    PlainAnswer,
    PlainRequest,
    PlainRoutes,
)
from risala.http.common.problems import Problem, problem_of
from risala.http.common.respond import json_bytes
from risala.http.server.late import LateApp

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway
    from risala.http.common.base import JsonApp, Pages

_ALIVE: Final = json_bytes({"status": "ok"})
_READY: Final = json_bytes({"status": "ready"})


def create_api(
    gateway: Gateway,
    settings: Settings,
    clock: Clock | None = None,
    pages: Sequence[Pages] = (),
    notes: RequestNotes | None = None,
    tally: AnswerTally | None = None,
    failed_keys: FailedKeys | None = None,
) -> JsonApp:
    """As :func:`late_api`, with the app and its pages made already."""
    return late_api(
        gateway,
        settings,
        clock,
        pages=lambda: pages,
        notes=notes,
        tally=tally,
        failed_keys=failed_keys,
    ).now()


def late_api(
    gateway: Gateway,
    settings: Settings,
    clock: Clock | None = None,
    *,
    pages: Callable[[], Sequence[Pages]],
    metrics: Callable[[JsonApp], None] | None = None,
    notes: RequestNotes | None = None,
    tally: AnswerTally | None = None,
    failed_keys: FailedKeys | None = None,
) -> LateApp:
    """The app that :func:`risala.http.server.server.serve_app` serves to the world.

    Args:
        pages: makes those of people, on the same listener; called when one is first asked for.
        metrics: adds ``/metrics`` to the app; None: it has none.
        notes: is told of each request with a valid key.
        tally: counts the answers, where somebody else wants to know them too.
        failed_keys: counts wrong keys, where wrong passwords of another face count as well.
    """
    tally = AnswerTally() if tally is None else tally
    addresses = ClientAddresses(settings.http.trusted_proxies)
    plain = PlainRoutes(
        body_bytes_max=settings.http.body_max_bytes,
        body_timeout_s=settings.http.body_timeout_s,
        tally=tally,
        failed_keys=failed_keys or FailedKeys(addresses, tally),
        notes=notes,
        addresses=addresses,
    )
    _add_api(plain, gateway, settings, clock or SystemClock(), ApiKeyAuth(gateway, addresses))

    def make(plain: PlainRoutes) -> JsonApp:
        # Imported here: see LateApp.
        from risala.http.api.clients import add_clients
        from risala.http.api.reference import add_reference
        from risala.http.common.base import JsonApp

        app = JsonApp(
            "risala.http.api",
            body_bytes_max=settings.http.body_max_bytes,
            body_timeout_s=settings.http.body_timeout_s,
            plain=plain,
            pages=pages(),
        )
        add_clients(app, add_reference(app, settings))
        if metrics is not None:
            metrics(app)
        return app

    return LateApp(plain, make)


def _add_api(
    plain: PlainRoutes, gateway: Gateway, settings: Settings, clock: Clock, auth: ApiKeyAuth
) -> None:
    """Answer the API's paths and the probes."""

    def context() -> BodyContext:
        return BodyContext(clock.now_ms(), settings.plan, settings.verify.links_in_variables)

    _add_probes(plain, gateway)
    add_sms(plain, gateway, context, auth)
    add_batch(plain, gateway, context, settings.http, auth)
    add_verify(plain, gateway, context, auth)
    add_management(plain, gateway, context, auth)


def _add_probes(paths: PlainRoutes, gateway: Gateway) -> None:
    async def alive(_: PlainRequest) -> PlainAnswer:
        return PlainAnswer(_ALIVE)

    async def ready(_: PlainRequest) -> PlainAnswer:
        readiness = gateway.readiness()
        if not readiness.ready:
            raise Problem(
                503,
                "The service is not ready.",
                {"reasons": list(readiness.reasons)},
                {"Retry-After": "1"},
            )
        return PlainAnswer(_READY)

    paths.route("/healthz", alive, method="GET")
    paths.route("/readyz", ready, method="GET")


# ``POST /api/sms`` and ``POST /api/sms/get`` (contract §3).

_HOPS: Final = b"risala-hops"
"""The header of a message that another Risala passes on: which services it came through."""
_HOPS_ALONE: Final = (
    "A batch cannot have the header Risala-Hops, which is of one message. Send each message by"
    " POST /api/sms."
)


class TakesHops(Protocol):
    """Accepts messages that another Risala passes on."""

    async def send(
        self, principal: Principal, command: SendMessage, values: Sequence[bytes], /
    ) -> bytes:
        """As ``Gateway.send_message``; ``values`` are the header's lines."""


HOPS_ACCESS: Final[FeatureAccess[TakesHops]] = FeatureAccess("hops")


@dataclass(frozen=True, slots=True)
class _SendsTogether:
    """Sends of one key that come together."""

    gateway: Gateway
    context: Compared
    auth: ApiKeyAuth

    def takes(self, fields: Fields) -> bool:
        return (
            fields.get(b"content-type") == [JSON.encode()]
            and b"content-encoding" not in fields
            and _HOPS not in fields
        )

    def command(self, raw: bytes) -> SendMessage | None:
        members = quick_object(raw)
        return None if members is None else quick_send(members, self.context().plan)

    def holder(self, request: PlainRequest) -> Principal:
        return self.auth.secret(request)

    async def answers(
        self, principal: Principal, commands: Sequence[SendMessage]
    ) -> Sequence[bytes | Exception | None] | None:
        stored = await self.gateway.send_together(principal, commands)
        if stored is None or not principal.without_id:
            return stored
        return [without_id(each) if isinstance(each, bytes) else each for each in stored]


def add_sms(paths: PlainRoutes, gateway: Gateway, context: Compared, auth: ApiKeyAuth) -> None:
    """Serve ``POST /api/sms`` and ``POST /api/sms/get``."""

    async def send(request: PlainRequest) -> PlainAnswer:
        principal = auth.secret(request)
        command = parse_send(await read_body(request), context())
        # The bytes are the journal's own: a repeated idempotency key gets them again.
        if (hops := request.fields.get(_HOPS)) is None:
            answer = await gateway.send_message(principal, command)
        else:
            answer = await gateway.access(HOPS_ACCESS).send(principal, command, hops)
        return PlainAnswer(without_id(answer) if principal.without_id else answer)

    async def get(request: PlainRequest) -> PlainAnswer:
        principal = auth.secret(request)
        message_id = parse_get(await read_body(request))
        wire = message_wire(gateway.get_message(principal, message_id))
        return PlainAnswer(json_bytes(lean(wire) if gateway.is_lean(principal) else wire))

    paths.route("/api/sms", send)
    paths.together("/api/sms", _SendsTogether(gateway, context, auth))
    paths.route("/api/sms/get", get)


# ``POST /api/sms/batch`` (contract §3).

_BATCH_PATH: Final = "/api/sms/batch"


def add_batch(
    paths: PlainRoutes,
    gateway: Gateway,
    context: Compared,
    http: HttpSection,
    auth: ApiKeyAuth,
) -> None:
    """Serve ``POST /api/sms/batch``."""
    slots = BatchSlots(http.batches_read_max)

    async def read_items(request: PlainRequest) -> list[Item]:
        with slots.slot():
            return await parse_batch(await read_body(request), context())

    async def send_batch(request: PlainRequest) -> PlainAnswer:
        principal = auth.secret(request)
        if _HOPS in request.fields:
            raise Problem(400, _HOPS_ALONE)
        items = await read_items(request)
        commands = [item for item in items if isinstance(item, SendMessage)]
        try:
            answers = await gateway.send_batch(principal, commands) if commands else []
        except OutcomeUnknown as error:
            raise _with_place_of_all(error, items) from error
        return PlainAnswer(results(items, answers, request.id))

    paths.route(_BATCH_PATH, send_batch, body_bytes_max=http.batch_body_max_bytes)


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

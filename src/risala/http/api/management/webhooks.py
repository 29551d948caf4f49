"""Webhook endpoints in the hands of programs (contract §8): a key manages those of its mode."""

from __future__ import annotations

from typing import Any, Final

from risala.engine.model.commands import Principal
from risala.engine.model.records import webhooks
from risala.engine.model.records.record import to_json
from risala.engine.model.records.webhooks import (
    EndpointWithCounts,
    EndpointWithSecret,
    ShownEndpoint,
)
from risala.engine.model.times import iso
from risala.http.api import answers
from risala.http.api.fields import instant_ms
from risala.http.api.management.cursors import ListName, page
from risala.http.api.management.list_bodies import EmptyBody
from risala.http.api.management.performer import KeyPerformer, argument, issue_of
from risala.http.api.management.webhook_bodies import (
    CreateEndpointBody,
    EndpointBody,
    ListDeliveriesBody,
    ReplayBody,
    RotateBody,
    UpdateEndpointBody,
)
from risala.http.common.auth import ApiKeyAuth
from risala.http.common.facade import ApiGateway
from risala.http.common.parse import has_escapes, read_body, read_object
from risala.http.common.plain import PlainAnswer, PlainRequest, PlainRoutes
from risala.http.common.problems import BodyIssue, Problem, bad_body, with_issues
from risala.http.common.respond import json_bytes
from risala.http.common.validation import Body, parse_body, validate

NO_ENDPOINT: Final = "No webhook endpoint has this id."
NO_DELIVERY: Final = "This event has no delivery to a webhook endpoint with this id."
CHUNKS_MAX: Final = 25
"""Units of work of one replay: some thousand deliveries, a second or so; then it is asked again."""

Json = dict[str, Any]


def add_webhooks(paths: PlainRoutes, gateway: ApiGateway, door: ApiKeyAuth) -> None:
    """Serve ``/api/webhooks/…``."""
    hooks = _Webhooks(gateway, door)
    for name, handler in (
        ("list", hooks.list),
        ("create", hooks.create),
        ("update", hooks.update),
        ("delete", hooks.delete),
        ("rotate", hooks.rotate),
        ("test", hooks.test),
        ("deliveries", hooks.deliveries),
        ("replay", hooks.replay),
    ):
        paths.route(f"/api/webhooks/{name}", handler)


class _Webhooks:
    def __init__(self, gateway: ApiGateway, door: ApiKeyAuth) -> None:
        self._faults = gateway.endpoint_faults
        self._ask = KeyPerformer(gateway, NO_ENDPOINT).ask
        self._ask_delivery = KeyPerformer(gateway, NO_DELIVERY).ask
        self._door = door

    async def list(self, request: PlainRequest) -> PlainAnswer:
        principal, _ = await self._asked(request, EmptyBody)
        mine = principal.organization_id
        found = await self._ask(principal, webhooks.LIST, organization_id=mine)
        own = [to_json(each) for each in found.endpoints if each.mode == principal.mode.value]
        return PlainAnswer(json_bytes({"items": own}))

    async def create(self, request: PlainRequest) -> PlainAnswer:
        principal = self._door.secret(request)
        body = self._parsed(CreateEndpointBody, await read_body(request))
        made = await self._ask(
            principal,
            webhooks.CREATE,
            organization_id=principal.organization_id,
            mode=principal.mode.value,
            **body.wished,
        )
        return _with_secret(made)

    async def update(self, request: PlainRequest) -> PlainAnswer:
        principal = self._door.secret(request)
        body = self._parsed(UpdateEndpointBody, await read_body(request))
        this, wished = _this(principal, body), body.wished
        found: ShownEndpoint | EndpointWithCounts | None = None
        if wished:
            found = await self._ask(principal, webhooks.UPDATE, **this, **wished)
        if body.enabled is not None:
            switch = webhooks.ENABLE if body.enabled else webhooks.DISABLE
            found = await self._ask(principal, switch, **this)
        if found is None:
            found = await self._ask(principal, webhooks.SHOW, **this)
        return PlainAnswer(json_bytes(to_json(found.endpoint)))

    async def delete(self, request: PlainRequest) -> PlainAnswer:
        principal, body = await self._asked(request, EndpointBody)
        found = await self._ask(principal, webhooks.DELETE, **_this(principal, body))
        return PlainAnswer(json_bytes(answers.ENDPOINT_DELETED.wire(found.endpoint, deleted=True)))

    async def rotate(self, request: PlainRequest) -> PlainAnswer:
        principal, body = await self._asked(request, RotateBody)
        this = _this(principal, body)
        made = await self._ask(principal, webhooks.ROTATE, **this, at_once=body.at_once)
        return _with_secret(made)

    async def test(self, request: PlainRequest) -> PlainAnswer:
        principal, body = await self._asked(request, EndpointBody)
        owed = await self._ask(principal, webhooks.TEST, **_this(principal, body))
        return PlainAnswer(json_bytes(to_json(owed.delivery)))

    async def deliveries(self, request: PlainRequest) -> PlainAnswer:
        principal, body = await self._asked(request, ListDeliveriesBody)
        found = await self._ask(
            principal,
            webhooks.DELIVERIES,
            **_this(principal, body),
            state=body.state,
            limit=body.count,
            before=None if body.before is None else int(body.before),
            after=None if body.after is None else int(body.after),
        )
        places = (found.before, found.after)
        return page(ListName.DELIVERIES, found.deliveries, places=places)

    async def replay(self, request: PlainRequest) -> PlainAnswer:
        principal, body = await self._asked(request, ReplayBody)
        if (body.event_id is None) == (body.since is None):
            text = "Give either `eventId` or `since`, not both."
            raise bad_body([BodyIssue(("eventId",), "one_of_both", text)])
        this = _this(principal, body)
        if body.event_id is not None:
            found = await self._ask_delivery(
                principal, webhooks.REPLAY, **this, event_id=body.event_id
            )
            return PlainAnswer(json_bytes(to_json(found.delivery)))
        return PlainAnswer(json_bytes(await self._replay_failed(principal, this, body)))

    async def _replay_failed(self, principal: Principal, this: Json, body: ReplayBody) -> Json:
        until = None if body.until is None else instant_ms(body.until)
        replayed, done = 0, False
        for _ in range(CHUNKS_MAX):
            found = await self._ask(
                principal, webhooks.REPLAY_FAILED, **this, since=body.since, until=until
            )
            replayed, until, done = replayed + found.replayed, found.until, found.done
            if done:
                break
        return {"replayed": replayed, "until": iso(until or 0), "done": done}

    async def _asked(self, request: PlainRequest, model: type[Body]) -> tuple[Principal, Body]:
        principal = self._door.secret(request)
        return principal, parse_body(model, await read_body(request))

    def _parsed(self, model: type[Body], raw: bytes) -> Body:
        """A body with an endpoint's fields, which the engine judges too.

        Raises:
            Problem: 400 with every fault of both.
        """
        members = read_object(raw)
        fields = {argument(name): value for name, value in members.items()}
        issues = [issue_of(each) for each in self._faults(fields)]
        try:
            body = validate(model, members, escapes=has_escapes(raw))
        except Problem as problem:
            raise with_issues(problem, issues) from None
        if issues:
            raise bad_body(issues)
        return body


def _this(
    principal: Principal,
    body: EndpointBody | UpdateEndpointBody | ReplayBody,
) -> Json:
    """The endpoint that is meant: of the key's organization, and for events of its mode."""
    return {
        "endpoint_id": body.endpoint_id,
        "organization_id": principal.organization_id,
        "only_mode": principal.mode.value,
    }


def _with_secret(made: EndpointWithSecret) -> PlainAnswer:
    return PlainAnswer(json_bytes(answers.ENDPOINT_SECRET.wire(made.endpoint, secret=made.secret)))

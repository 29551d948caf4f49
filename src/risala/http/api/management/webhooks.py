"""Webhook endpoints in the hands of programs (contract §8): a key manages those of its mode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

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
from risala.http.api.derived import DerivedBody
from risala.http.api.fields import Compared, instant_ms
from risala.http.api.management import webhook_bodies as bodies
from risala.http.api.management.cursors import ListName, page
from risala.http.api.management.list_bodies import LIMIT_USUAL, EmptyBody
from risala.http.api.management.performer import KeyPerformer, issue_of
from risala.http.common.auth import ApiKeyAuth
from risala.http.common.parse import has_escapes, read_body, read_object
from risala.http.common.plain import Handler, PlainAnswer, PlainRequest
from risala.http.common.problems import BodyIssue, Problem, bad_body, with_issues
from risala.http.common.respond import json_bytes
from risala.http.common.validation import parse_body, validate

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway


NO_ENDPOINT: Final = "No webhook endpoint has this id."
NO_DELIVERY: Final = "This event has no delivery to a webhook endpoint with this id."
CHUNKS_MAX: Final = 25
"""Units of work of one replay: some thousand deliveries, a second or so; then it is asked again."""

Json = dict[str, Any]


def handlers(gateway: Gateway, _: Compared, auth: ApiKeyAuth) -> Mapping[str, Handler]:
    """``/api/webhooks/…``."""
    hooks = _Webhooks(gateway, auth)
    return {
        "/api/webhooks/list": hooks.list,
        "/api/webhooks/create": hooks.create,
        "/api/webhooks/update": hooks.update,
        "/api/webhooks/delete": hooks.delete,
        "/api/webhooks/rotate": hooks.rotate,
        "/api/webhooks/test": hooks.test,
        "/api/webhooks/deliveries": hooks.deliveries,
        "/api/webhooks/replay": hooks.replay,
    }


class _Webhooks:
    def __init__(self, gateway: Gateway, auth: ApiKeyAuth) -> None:
        self._faults = gateway.endpoint_faults
        self._ask = KeyPerformer(gateway, NO_ENDPOINT).ask
        self._ask_delivery = KeyPerformer(gateway, NO_DELIVERY).ask
        self._auth = auth

    async def list(self, request: PlainRequest) -> PlainAnswer:
        principal = self._auth.secret(request)
        parse_body(EmptyBody, await read_body(request))
        mine = principal.organization_id
        listed = await self._ask(principal, webhooks.LIST, organization_id=mine)
        own = [to_json(each) for each in listed.endpoints if each.mode == principal.mode.value]
        return PlainAnswer(json_bytes({"items": own}))

    async def create(self, request: PlainRequest) -> PlainAnswer:
        principal = self._auth.secret(request)
        arguments = self._settings(bodies.CREATE, await read_body(request))
        mine = {"organization_id": principal.organization_id, "mode": principal.mode.value}
        return _with_secret(await self._ask(principal, webhooks.CREATE, **mine, **arguments))

    async def update(self, request: PlainRequest) -> PlainAnswer:
        principal = self._auth.secret(request)
        arguments = self._settings(bodies.UPDATE, await read_body(request))
        this = {"endpoint_id": arguments.pop("endpoint_id"), **_own(principal)}
        enabled = arguments.pop("enabled", None)
        shown: ShownEndpoint | EndpointWithCounts | None = None
        if arguments:
            shown = await self._ask(principal, webhooks.UPDATE, **this, **arguments)
        if enabled is not None:
            switch = webhooks.ENABLE if enabled else webhooks.DISABLE
            shown = await self._ask(principal, switch, **this)
        if shown is None:
            shown = await self._ask(principal, webhooks.SHOW, **this)
        return PlainAnswer(json_bytes(to_json(shown.endpoint)))

    async def delete(self, request: PlainRequest) -> PlainAnswer:
        principal, this = await self._read(request, bodies.ONE)
        deletion = await self._ask(principal, webhooks.DELETE, **this)
        return PlainAnswer(
            json_bytes(answers.ENDPOINT_DELETED.wire(deletion.endpoint, deleted=True))
        )

    async def rotate(self, request: PlainRequest) -> PlainAnswer:
        principal, arguments = await self._read(request, bodies.ROTATE)
        return _with_secret(await self._ask(principal, webhooks.ROTATE, **arguments))

    async def test(self, request: PlainRequest) -> PlainAnswer:
        principal, this = await self._read(request, bodies.ONE)
        owed = await self._ask(principal, webhooks.TEST, **this)
        return PlainAnswer(json_bytes(to_json(owed.delivery)))

    async def deliveries(self, request: PlainRequest) -> PlainAnswer:
        principal, arguments = await self._read(request, bodies.DELIVERIES)
        listed = await self._ask(
            principal, webhooks.DELIVERIES, **{"limit": LIMIT_USUAL, **arguments}
        )
        places = (listed.before, listed.after)
        return page(ListName.DELIVERIES, listed.deliveries, places=places)

    async def replay(self, request: PlainRequest) -> PlainAnswer:
        principal, arguments = await self._read(request, bodies.REPLAY)
        if ("event_id" in arguments) == ("since" in arguments):
            text = "Give either `eventId` or `since`, not both."
            raise bad_body([BodyIssue(("eventId",), "one_of_both", text)])
        until = arguments.pop("until", None)
        if "event_id" in arguments:
            replayed = await self._ask_delivery(principal, webhooks.REPLAY, **arguments)
            return PlainAnswer(json_bytes(to_json(replayed.delivery)))
        until_ms = None if until is None else instant_ms(until)
        return PlainAnswer(json_bytes(await self._replay_failed(principal, arguments, until_ms)))

    async def _replay_failed(
        self, principal: Principal, arguments: Json, until: int | None
    ) -> Json:
        replayed, done = 0, False
        for _ in range(CHUNKS_MAX):
            chunk = await self._ask(principal, webhooks.REPLAY_FAILED, **arguments, until=until)
            replayed, until, done = replayed + chunk.replayed, chunk.until, chunk.done
            if done:
                break
        return {"replayed": replayed, "until": iso(until or 0), "done": done}

    async def _read(
        self, request: PlainRequest, model: type[DerivedBody]
    ) -> tuple[Principal, Json]:
        """The key that asks, and the arguments of its body."""
        principal = self._auth.secret(request)
        return principal, {**parse_body(model, await read_body(request)).given(), **_own(principal)}

    def _settings(self, model: type[DerivedBody], raw: bytes) -> Json:
        """The arguments of a body with an endpoint's settings, which the engine judges too.

        Raises:
            Problem: 400 with every fault of both.
        """
        members = read_object(raw)
        issues = [issue_of(each) for each in self._faults(model.arguments_in(members))]
        try:
            body = validate(model, members, escapes=has_escapes(raw))
        except Problem as problem:
            raise with_issues(problem, issues) from None
        if issues:
            raise bad_body(issues)
        return body.given()


def _own(principal: Principal) -> Json:
    """Endpoints are of the key's organization, and for events of its mode."""
    return {"organization_id": principal.organization_id, "only_mode": principal.mode.value}


def _with_secret(made: EndpointWithSecret) -> PlainAnswer:
    return PlainAnswer(json_bytes(answers.ENDPOINT_SECRET.wire(made.endpoint, secret=made.secret)))

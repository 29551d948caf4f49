"""Withdrawing what has not left, and asking what a text would cost (contract §8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from risala.dataclass import dataclass
from risala.engine.model.records import messages
from risala.engine.model.records.verify import sessions
from risala.engine.model.states import Mode
from risala.engine.model.wire import lean, message_wire
from risala.http.api import fields
from risala.http.api.answers import ESTIMATE, verification_answer
from risala.http.api.bodies import parse_get
from risala.http.api.fields import Compared
from risala.http.api.management.performer import KeyPerformer
from risala.http.api.verify_bodies import parse_get as parse_get_verification
from risala.http.common.auth import ApiKeyAuth
from risala.http.common.parse import read_body
from risala.http.common.plain import Handler, PlainAnswer, PlainRequest
from risala.http.common.respond import json_bytes
from risala.http.common.validation import RequestBody, parse_body

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway


_NO_THING: Final = "Nothing has this id."
"""Never told: what is acted on is looked up first, in the words of ``get``."""


class EstimateBody(RequestBody):
    """A text that might be sent."""

    body: fields.MessageText
    to: Annotated[
        fields.Number | None,
        Field(description="Whom it would be to. At home the price is the same for every number."),
    ] = None
    message_class: Annotated[
        fields.MessageClass | None,
        Field(
            alias="messageClass",
            description="0: the text would be a flash message, which costs the same; refused with "
            "`data.code` `CLASS_NOT_POSSIBLE` where no carrier can send one.",
        ),
    ] = None
    app_hash: Annotated[
        str | None,
        Field(
            alias="appHash",
            description="If the text is that of a code: the app hash that it would be sent with. "
            "Must be registered in the Verify settings.",
        ),
    ] = None
    origin: Annotated[
        str | None,
        Field(
            description="If the text is that of a code: the host that it would be bound to. "
            "Must be registered in the Verify settings.",
        ),
    ] = None


def handlers(gateway: Gateway, context: Compared, auth: ApiKeyAuth) -> Mapping[str, Handler]:
    """``POST /api/sms/cancel``, ``/api/sms/estimate`` and ``/api/verify/cancel``."""
    actions = _Actions(gateway, KeyPerformer(gateway, _NO_THING), context, auth)
    return {
        "/api/sms/cancel": actions.cancel,
        "/api/sms/estimate": actions.estimate,
        "/api/verify/cancel": actions.cancel_verification,
    }


@dataclass(frozen=True, slots=True)
class _Actions:
    gateway: Gateway
    performer: KeyPerformer
    context: Compared
    auth: ApiKeyAuth

    async def cancel(self, request: PlainRequest) -> PlainAnswer:
        principal = self.auth.secret(request)
        message_id = parse_get(await read_body(request))
        self.gateway.get_message(principal, message_id)  # of this key's organization and mode
        await self.performer.ask(principal, messages.CANCEL, message_id=message_id)
        wire = message_wire(self.gateway.get_message(principal, message_id))
        return PlainAnswer(json_bytes(lean(wire) if self.gateway.is_lean(principal) else wire))

    async def cancel_verification(self, request: PlainRequest) -> PlainAnswer:
        principal = self.auth.secret(request)
        verification_id = parse_get_verification(await read_body(request))
        self.gateway.get_verification(principal, verification_id)
        view = await self.performer.ask(principal, sessions.CANCEL, verification_id=verification_id)
        lean = self.gateway.is_lean(principal)
        return PlainAnswer(json_bytes(verification_answer(view, lean=lean)))

    async def estimate(self, request: PlainRequest) -> PlainAnswer:
        principal = self.auth.secret(request)
        arguments = parse_body(EstimateBody, await read_body(request), self.context()).given()
        mine = principal.organization_id
        if principal.mode is Mode.TEST:  # its carrier takes everything
            arguments.pop("message_class", None)
        estimated = await self.performer.ask(
            principal, messages.ESTIMATE, organization_id=mine, **arguments
        )
        if principal.mode is Mode.TEST:
            estimated = replace(estimated, price=0)
        return PlainAnswer(json_bytes(ESTIMATE.wire(estimated)))

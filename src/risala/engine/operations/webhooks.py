"""Webhook endpoints: listing and changing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, Final

from pydantic import Field, PlainValidator, ValidationError

from risala.engine.journal.repositories import Repositories
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    Json,
    MaybeAnyText,
    MaybeFlag,
    MaybeText,
    MaybeWhole,
    OfOrganization,
    Text,
    fault,
    maybe,
    text,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditImage
from risala.engine.model.callers import Role
from risala.engine.model.errors import FieldFault, NotFound
from risala.engine.model.records import webhooks
from risala.engine.model.records.fields import OneOf
from risala.engine.model.records.record import fields_of
from risala.engine.model.records.webhooks import (
    BY_HAND,
    HEADER_CHARACTER,
    Endpoint,
    EndpointList,
    EndpointWithCounts,
    EndpointWithSecret,
    ShownEndpoint,
)
from risala.engine.rules.days import midnight
from risala.engine.rules.roles import DEVELOPERS, OWNERS, READERS, SUPPORT, VIEWERS
from risala.engine.rules.webhooks.types import TYPES
from risala.engine.services import Services
from risala.engine.webhooks.endpoints import Endpoints


def live_or_test(value: object) -> str:
    """The events that an endpoint gets; live ones by default."""
    mode = "live" if value is None else text(value)
    if mode not in ("live", "test"):
        raise fault("invalid_mode", "An endpoint gets `live` or `test` events: say which.")
    return mode


class OfEndpoint(Arguments):
    """Names one endpoint."""

    endpoint_id: Text = Field(examples=["whe_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"])
    """The `id` of a webhook endpoint."""
    organization_id: MaybeText = None
    """The organization whose endpoint it must be, if given."""
    only_mode: Annotated[
        str | None, PlainValidator(maybe(live_or_test)), ArgumentKind("`live` or `test`")
    ] = None
    """The mode of events that the endpoint must be for, if given."""


def endpoints_of(services: Services) -> Endpoints:
    """The class that changes endpoints, with this engine's settings and journal."""
    parts, stored = services, services.repositories
    clock = parts.recorder.clock
    return Endpoints(parts.settings.webhooks, stored.endpoints, stored.deliveries, clock, parts.ids)


def meant(call: Call[Any]) -> str:
    """The named endpoint, of the given organization and mode.

    Raises:
        NotFound: it does not exist, is another organization's, or is for other events.
    """
    arguments: OfEndpoint = call.arguments
    if arguments.organization_id is not None or arguments.only_mode is not None:
        endpoint = call.services.repositories.endpoints.endpoint(arguments.endpoint_id)
        is_meant = endpoint.organization_id == (
            arguments.organization_id or endpoint.organization_id
        )
        if not is_meant or endpoint.mode != (arguments.only_mode or endpoint.mode):
            raise NotFound(f"There is no webhook endpoint {arguments.endpoint_id}.")
    return arguments.endpoint_id


SUMMED_DAYS: Final = 7
"""The time of the deliveries whose share and median are shown with an endpoint."""
HEALTH_DAYS: Final = 30
"""The days of an endpoint's health: a month shows whether a failure is new."""
_MEMBERS: Final = (Role.OWNER.value, Role.DEVELOPER.value)
"""The roles in the audit trail of those who may disable an endpoint of their own."""


def _types(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise fault("invalid_list", "`{name}` must be a list of texts.")
    return tuple(dict.fromkeys(value))


def _headers(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        raise fault("invalid_headers", "`{name}` must be names with texts.")
    return dict(value)


class EndpointFields(Arguments):
    """The fields of an endpoint that can be set. Null leaves one as it is; in a new endpoint it
    takes the default."""

    url: MaybeText = Field(default=None, repr=False, examples=["https://example.com/events"])
    """An `https://…` URL. The host must not be in a private network."""
    types: Annotated[
        tuple[str, ...] | None,
        PlainValidator(maybe(_types)),
        ArgumentKind("list of types"),
        OneOf(TYPES),
    ] = None
    """The events to send there. If left out: messages that were sent or failed, and
    verifications."""
    description: MaybeAnyText = None
    headers: Annotated[
        dict[str, str] | None, PlainValidator(maybe(_headers)), ArgumentKind("names with texts")
    ] = Field(default=None, repr=False)
    """Custom header fields for each call, at most ten. Answers show `***` instead of their
    values."""
    notify: MaybeAnyText = None
    """The e-mail address that is notified when the endpoint is disabled because it fails. Empty:
    no notification."""
    signature_header: MaybeAnyText = Field(
        default=None,
        examples=["X-Service-Signature"],
        json_schema_extra={"pattern": f"^{HEADER_CHARACTER}*$"},
    )
    """The name of a header field for a second signature, `t=…,v1=…`, for programs that were
    written for a hosted service. The body then has `smsId` beside `messageId`. Empty: no second
    signature."""
    signature_key: MaybeText = None
    """The key of that signature: `text` is the secret as it is shown, `decoded` the bytes of its
    base64 after `whsec_`."""
    shape: MaybeText = None
    """How received messages arrive. `event`: as all events do. The others are for programs that
    take messages in a shape of their own; such an endpoint gets `sms.received` only."""
    template: MaybeAnyText = Field(default=None, repr=False)
    """The fields of the shapes `form` and `get`, one a line as `name=value`, or the JSON of
    `json`, with placeholders such as `{{from}}` and `{{text}}`. Empty: the usual fields."""
    may_reply: MaybeFlag = None

    @property
    def settings(self) -> Json:
        """The settings of the call, as the record has them: an empty text clears what may be
        missing."""
        values = {name: getattr(self, name) for name in webhooks.SETTINGS}
        cleared = {each.name for each in fields_of(Endpoint) if each.may_be_none}
        return {
            name: None if name in cleared and not value else value
            for name, value in values.items()
            if value is not None
        }


class CreateEndpoint(EndpointFields, OfOrganization):
    """Create an endpoint."""

    mode: Annotated[str, PlainValidator(live_or_test), ArgumentKind("`live` or `test`")] = "live"


class UpdateEndpoint(EndpointFields, OfEndpoint):
    """Change the given fields of an endpoint."""

    version: MaybeWhole = None


class RotateSecret(OfEndpoint):
    """Give an endpoint a new secret; with ``at_once`` the old one stops signing."""

    at_once: MaybeFlag = None
    """True: the old secret stops signing at once. False: both secrets sign for 24 hours."""


def endpoint_faults(services: Services, members: Mapping[str, object]) -> Sequence[FieldFault]:
    """The faults of these fields of an endpoint, as far as their types are right."""
    fit: Json = {}
    for name in EndpointFields.model_fields.keys() & members.keys():
        with suppress(ValidationError):
            EndpointFields.model_validate({name: members[name]})
            fit[name] = members[name]
    return endpoints_of(services).faults(EndpointFields.model_validate(fit).settings)


OPERATIONS: Final = Operations()
LOOK: Final[dict[str, Any]] = {"roles": VIEWERS, "owner": owners.of_endpoint}
CHANGE: Final[dict[str, Any]] = {
    "roles": DEVELOPERS,
    "owner": owners.of_endpoint,
    "changes": Endpoint,
}
"""The common parts of operations on one endpoint, which only read, or change something."""
_RESERVED: Final = dict.fromkeys(webhooks.OWNERS_SETTINGS, OWNERS)


@OPERATIONS(
    webhooks.CREATE,
    roles=DEVELOPERS,
    reserved=_RESERVED,
    owner=owners.named,
    changes=Endpoint,
    fresh=True,
)
async def _create(call: Call[CreateEndpoint]) -> EndpointWithSecret:
    arguments = call.arguments
    call.services.accounts.organization(arguments.organization_id)
    return await endpoints_of(call.services).create(
        arguments.organization_id,
        arguments.mode,
        arguments.settings,
        by=call.audit(AuditImage.ENDPOINT),
    )


@OPERATIONS(webhooks.LIST, roles=VIEWERS, operators=READERS, owner=owners.named)
async def _list(call: Call[OfOrganization]) -> EndpointList:
    services, organization_id = call.services, call.arguments.organization_id
    services.accounts.organization(organization_id)
    return EndpointList(tuple(services.repositories.endpoints.of_organization(organization_id)))


@OPERATIONS(webhooks.SHOW, operators=READERS, versioned_by="endpoint_id", **LOOK)
async def _show(call: Call[OfEndpoint]) -> EndpointWithCounts:
    stored, endpoint_id = call.services.repositories, meant(call)
    endpoint = stored.endpoints.endpoint(endpoint_id)
    return EndpointWithCounts(
        endpoint,
        stored.deliveries.pending_count(endpoint_id),
        stored.deliveries.failed_count(endpoint_id, 0),
        stored.deliveries.summed(endpoint_id, SUMMED_DAYS, call.now_ms),
        stored.deliveries.health(
            endpoint_id,
            _days(
                call.services.accounts.organization(endpoint.organization_id).time_zone,
                call.now_ms,
            ),
        ),
        _disabled_by(stored, endpoint),
    )


def _days(zone: str, now_ms: int) -> tuple[int, ...]:
    """When the last days began in a time zone, the oldest first."""
    starts = [midnight(zone, now_ms)]
    while len(starts) < HEALTH_DAYS:
        starts.append(midnight(zone, starts[-1] - 1))
    return tuple(reversed(starts))


def _disabled_by(stored: Repositories, endpoint: Endpoint) -> str | None:
    """The operator or member who disabled an endpoint by hand, by the audit trail; members read no
    operator's name."""
    if endpoint.disabled_reason != BY_HAND:
        return None
    line = stored.audit.last_of(endpoint.id, webhooks.DISABLE.name)
    if line is None:
        return None
    return line.who if line.role in _MEMBERS else Role.OPERATOR.value


@OPERATIONS(webhooks.UPDATE, versioned_by="endpoint_id", reserved=_RESERVED, **CHANGE)
async def _update(call: Call[UpdateEndpoint]) -> ShownEndpoint:
    endpoint_id = meant(call)
    by = call.audit(AuditImage.ENDPOINT, endpoint_id)
    return ShownEndpoint(
        await endpoints_of(call.services).update(endpoint_id, call.arguments.settings, by=by)
    )


@OPERATIONS(webhooks.ENABLE, operators=SUPPORT, **CHANGE)
async def _enable(call: Call[OfEndpoint]) -> ShownEndpoint:
    return await _switch(call, enabled=True)


@OPERATIONS(webhooks.DISABLE, operators=SUPPORT, **CHANGE)
async def _disable(call: Call[OfEndpoint]) -> ShownEndpoint:
    return await _switch(call, enabled=False)


async def _switch(call: Call[OfEndpoint], *, enabled: bool) -> ShownEndpoint:
    endpoint_id = meant(call)
    by = call.audit(AuditImage.ENDPOINT, endpoint_id)
    return ShownEndpoint(
        await endpoints_of(call.services).set_enabled(endpoint_id, enabled=enabled, by=by)
    )


@OPERATIONS(webhooks.ROTATE, **CHANGE, fresh=True)
async def _rotate(call: Call[RotateSecret]) -> EndpointWithSecret:
    endpoint_id, at_once = meant(call), bool(call.arguments.at_once)
    by = call.audit(AuditImage.ENDPOINT, endpoint_id, details={"atOnce": at_once})
    return await endpoints_of(call.services).rotate(endpoint_id, at_once=at_once, by=by)


@OPERATIONS(webhooks.DELETE, **CHANGE)
async def _delete(call: Call[OfEndpoint]) -> ShownEndpoint:
    endpoint_id = meant(call)
    by = call.audit(AuditImage.ENDPOINT, endpoint_id)
    return ShownEndpoint(await endpoints_of(call.services).delete(endpoint_id, by=by))

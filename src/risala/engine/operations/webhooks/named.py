"""The endpoint of an operation, and the common parts of such operations."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field, PlainValidator

from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    MaybeText,
    Text,
    fault,
    maybe,
    text,
)
from risala.engine.kernel.operation import Call
from risala.engine.model.errors import NotFound
from risala.engine.model.records.webhooks import Endpoint
from risala.engine.rules.roles import DEVELOPERS, VIEWERS
from risala.engine.services import Services
from risala.engine.webhooks.endpoints import Endpoints


def live_or_test(value: object) -> str:
    """The events that an endpoint gets; live ones by default."""
    found = "live" if value is None else text(value)
    if found not in ("live", "test"):
        raise fault("invalid_mode", "An endpoint gets `live` or `test` events: say which.")
    return found


class OfEndpoint(Arguments):
    """Names one endpoint."""

    endpoint_id: Text = Field(examples=["whe_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"])
    """The `id` of a webhook endpoint."""
    organization_id: MaybeText = None
    """If given, the endpoint must be this organization's."""
    only_mode: Annotated[
        str | None, PlainValidator(maybe(live_or_test)), ArgumentKind("`live` or `test`")
    ] = None
    """If given, the endpoint must be for these events."""


def endpoints_of(services: Services) -> Endpoints:
    """The class that changes endpoints, with this engine's settings and journal."""
    have, stored = services, services.repositories
    clock = have.recorder.clock
    return Endpoints(have.settings.webhooks, stored.endpoints, stored.deliveries, clock, have.ids)


def meant(call: Call[Any]) -> str:
    """The named endpoint, of the given organization and mode.

    Raises:
        NotFound: it does not exist, is another organization's, or is for other events.
    """
    given: OfEndpoint = call.given
    if given.organization_id is not None or given.only_mode is not None:
        found = call.services.repositories.endpoints.endpoint(given.endpoint_id)
        is_meant = found.organization_id == (given.organization_id or found.organization_id)
        if not is_meant or found.mode != (given.only_mode or found.mode):
            raise NotFound(f"There is no webhook endpoint {given.endpoint_id}.")
    return given.endpoint_id


LOOK: Final[dict[str, Any]] = {"roles": VIEWERS, "owner": owners.of_endpoint}
CHANGE: Final[dict[str, Any]] = {
    "roles": DEVELOPERS,
    "owner": owners.of_endpoint,
    "changes": Endpoint,
}
"""The common parts of operations on one endpoint, which only read, or change something."""

"""The bodies that the webhook endpoints take."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field
from pydantic.config import JsonDict

from risala.engine.model.records.webhooks import Endpoint
from risala.engine.operations.deliveries import ListDeliveries, OfDelivery, ReplayFailed
from risala.engine.operations.webhooks import (
    CreateEndpoint,
    OfEndpoint,
    RotateSecret,
    UpdateEndpoint,
)
from risala.http.api import fields
from risala.http.api.derived import body_of
from risala.http.api.management.cursors import ListName
from risala.http.api.management.list_bodies import DeliveryState, Limit, cursors

CREATE: Final = body_of(
    "CreateEndpointBody",
    "Where events are to go. A test key makes an endpoint for test events.",
    CreateEndpoint,
    record=Endpoint,
    required=("url",),
    last=("url",),
)
UPDATE: Final = body_of(
    "UpdateEndpointBody",
    "What is to be another. What is left out stays as it is.",
    UpdateEndpoint,
    record=Endpoint,
    last=("endpoint_id", "url", "enabled"),
    enabled=Annotated[
        bool, Field(description="Disabling an endpoint drops its pending deliveries.")
    ],
)
ONE: Final = body_of("EndpointBody", "Which endpoint.", OfEndpoint)
ROTATE: Final = body_of("RotateBody", "Which endpoint gets another secret.", RotateSecret)
DELIVERIES: Final = body_of(
    "ListDeliveriesBody",
    "Which deliveries of an endpoint, newest first.",
    ListDeliveries,
    last=("endpoint_id", "before", "after", "state"),
    state=DeliveryState,
    limit=Limit,
    **cursors(ListName.DELIVERIES),
)
_NULL: Final[JsonDict] = {"type": "null"}
_TEXT: Final[JsonDict] = {"type": "string"}
REPLAY: Final = body_of(
    "ReplayBody",
    "One delivery by its event, or all that failed since a time.",
    OfDelivery,
    ReplayFailed,
    optional=("event_id", "since"),
    until=fields.Instant,
    more={
        "oneOf": [
            {"required": ["eventId"], "properties": {"eventId": _TEXT, "since": _NULL}},
            {"required": ["since"], "properties": {"eventId": _NULL, "since": _TEXT}},
        ]
    },
)

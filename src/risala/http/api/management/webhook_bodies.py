"""The bodies that the webhook endpoints take."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from risala.engine.model.records.webhooks import (
    ENDPOINT_DESCRIPTION_MAX,
    SHAPE_TEMPLATE_MAX,
    SIGNATURE_HEADER_MAX,
    URL_MAX,
)
from risala.engine.rules.webhooks.types import TYPES
from risala.http.api import fields
from risala.http.api.management.list_bodies import (
    DeliveryCursor,
    DeliveryState,
    PageBody,
    PlacesBody,
)
from risala.http.common.validation import RequestBody

_FIT: Final = {"pattern": fields.FIT_PATTERN}
_ID: Final = "06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"

EndpointId = Annotated[
    str,
    Field(
        alias="endpointId",
        min_length=1,
        description="The `id` of a webhook endpoint.",
        examples=[f"whe_{_ID}"],
        json_schema_extra=_FIT,
    ),
]
Url = Annotated[
    str,
    Field(
        min_length=1,
        max_length=URL_MAX,
        description="An `https://…` URL. The host must not be in a private network.",
        examples=["https://example.com/events"],
        json_schema_extra=_FIT,
    ),
]
_TYPE: Final[JsonDict] = {
    "type": "string",
    "enum": [each.value for each in TYPES],
    "examples": ["sms.sent"],
}
Types = Annotated[
    list[str],
    Field(
        description="The events to send there. If left out: messages that were sent or failed, "
        "and verifications.",
        json_schema_extra={
            "minItems": 1,
            "items": {"type": "string", "enum": list(TYPES), "examples": ["sms.sent"]},
        },
    ),
]
Description = Annotated[str, Field(max_length=ENDPOINT_DESCRIPTION_MAX, json_schema_extra=_FIT)]
Headers = Annotated[
    dict[str, str],
    Field(
        description="Custom header fields for each call, at most ten. Answers show `***` "
        "instead of their values.",
    ),
]
Notify = Annotated[
    str,
    Field(
        description="The e-mail address that is notified when the endpoint is disabled because "
        "it fails. Empty: no notification.",
        json_schema_extra=_FIT,
    ),
]


SignatureHeader = Annotated[
    str,
    Field(
        max_length=SIGNATURE_HEADER_MAX,
        description="The name of a header field for a second signature, `t=…,v1=…`, for "
        "programs that were written for a hosted service. The body then has `smsId` beside "
        "`messageId`. Empty: no second signature.",
        json_schema_extra={"pattern": "^[A-Za-z0-9!#$%&'*+.^_`|~-]*$"},
    ),
]


SignatureKey = Annotated[
    Literal["text", "decoded"],
    Field(
        description="The key of that signature: `text` is the secret as it is shown, `decoded` "
        "the bytes of its base64 after `whsec_`.",
    ),
]


Shape = Annotated[
    Literal["event", "form", "get", "json", "rapidpro", "kannel"],
    Field(
        description="How received messages arrive. `event`: as all events do. The others are for "
        "programs that take messages in a shape of their own; such an endpoint gets `sms.received` "
        "only.",
    ),
]


Template = Annotated[
    str,
    Field(
        max_length=SHAPE_TEMPLATE_MAX,
        description="The fields of the shapes `form` and `get`, one a line as `name=value`, or the "
        "JSON of `json`, with placeholders such as `{{from}}` and `{{text}}`. Empty: the usual "
        "fields.",
        json_schema_extra=_FIT,
    ),
]


class _EndpointBody(RequestBody):
    types: Types | None = None
    description: Description | None = None
    headers: Annotated[Headers | None, Field(repr=False)] = None
    notify: Notify | None = None
    signature_header: Annotated[
        SignatureHeader | None, Field(alias="signatureHeader", examples=["X-Service-Signature"])
    ] = None
    signature_key: Annotated[SignatureKey | None, Field(alias="signatureKey")] = None
    shape: Shape | None = None
    template: Annotated[Template | None, Field(repr=False)] = None

    @property
    def wished(self) -> dict[str, Any]:
        """The fields that are given, as the operations name them."""
        names = _EndpointBody.model_fields.keys() | {"url"}
        found = {name: getattr(self, name, None) for name in names}
        return {name: value for name, value in found.items() if value is not None}


class CreateEndpointBody(_EndpointBody):
    """Where events are to go. A test key makes an endpoint for test events."""

    url: Annotated[Url, Field(repr=False)]


class UpdateEndpointBody(_EndpointBody):
    """What is to be another. What is left out stays as it is."""

    endpoint_id: EndpointId
    url: Annotated[Url | None, Field(repr=False)] = None
    enabled: Annotated[
        bool | None, Field(description="Disabling an endpoint drops its pending deliveries.")
    ] = None


class EndpointBody(RequestBody):
    """Which endpoint."""

    endpoint_id: EndpointId


class RotateBody(EndpointBody):
    """Which endpoint gets another secret."""

    at_once: Annotated[
        bool | None,
        Field(
            alias="atOnce",
            description=(
                "True: the old secret stops signing at once. False: both secrets sign for 24 hours."
            ),
        ),
    ] = None


class ListDeliveriesBody(PlacesBody[DeliveryCursor], EndpointBody, PageBody):
    """Which deliveries of an endpoint, newest first."""

    state: DeliveryState | None = None


_NULL: Final[JsonDict] = {"type": "null"}
_TEXT: Final[JsonDict] = {"type": "string"}


class ReplayBody(RequestBody):
    """One delivery by its event, or all that failed since a time."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"required": ["eventId"], "properties": {"eventId": _TEXT, "since": _NULL}},
                {"required": ["since"], "properties": {"eventId": _NULL, "since": _TEXT}},
            ]
        }
    )

    endpoint_id: EndpointId
    event_id: Annotated[
        Annotated[str, Field(min_length=1, json_schema_extra=_FIT)] | None,
        Field(
            alias="eventId",
            description="The `eventId` of a delivery.",
            examples=[f"evt_{_ID}"],
        ),
    ] = None
    since: Annotated[
        fields.Instant | None, Field(description="The failed deliveries of events since this time.")
    ] = None
    until: Annotated[
        fields.Instant | None,
        Field(description="The `until` of the previous answer, if its `done` was false."),
    ] = None

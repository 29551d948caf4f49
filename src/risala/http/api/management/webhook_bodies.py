"""The bodies that the webhook endpoints take."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from risala.engine.rules.webhooks.types import TYPES
from risala.http.api import fields
from risala.http.api.management.list_bodies import DeliveryCursor, DeliveryState, PageBody
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
        max_length=2000,
        description="`https://…`, of a host that is not of a private network.",
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
        description="Which events go there; without it those of messages that were sent or failed"
        " and of verifications.",
        json_schema_extra={
            "minItems": 1,
            "items": {"type": "string", "enum": list(TYPES), "examples": ["sms.sent"]},
        },
    ),
]
Description = Annotated[str, Field(max_length=500, json_schema_extra=_FIT)]
Headers = Annotated[
    dict[str, str],
    Field(
        description="Header fields of your own in each call, at most ten; answers have `***` in"
        " place of their values.",
    ),
]
Notify = Annotated[
    str,
    Field(
        description="Who is told by e-mail when the endpoint is disabled because it fails; empty:"
        " nobody.",
        json_schema_extra=_FIT,
    ),
]


SignatureHeader = Annotated[
    str,
    Field(
        max_length=100,
        description="The name of a header field for a second signature, `t=…,v1=…`, for programs"
        " that come from a hosted service; `smsId` then stands beside `messageId`. Empty: none.",
        json_schema_extra={"pattern": "^[A-Za-z0-9!#$%&'*+.^_`|~-]*$"},
    ),
]


SignatureKey = Annotated[
    Literal["text", "decoded"],
    Field(
        description="The key of that signature: the secret as it is shown, or the octets that its"
        " base64 after `whsec_` stands for.",
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
        bool | None, Field(description="What is pending at an endpoint that is disabled ends.")
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
            description="Whether the old secret signs no more; else both do for 24 hours.",
        ),
    ] = None


class ListDeliveriesBody(PageBody):
    """Which deliveries of an endpoint, newest first."""

    endpoint_id: EndpointId
    before: Annotated[
        DeliveryCursor | None,
        Field(description="`next` of another page: only older ones are listed."),
    ] = None
    after: Annotated[
        DeliveryCursor | None,
        Field(description="`previous` of another page: only newer ones are listed."),
    ] = None
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
        fields.Instant | None, Field(description="The failed ones of events since then.")
    ] = None
    until: Annotated[
        fields.Instant | None,
        Field(description="`until` of the answer before, where `done` was false."),
    ] = None

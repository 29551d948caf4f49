"""What lists answer, as models; see :mod:`risala.http.api.openapi.answers`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, RootModel

from risala.http.api.openapi.answers import (
    AnswerModel,
    Instant,
    MessageAnswer,
    VerificationAnswer,
)

Amount = Annotated[str, Field(pattern=r"^-?[0-9]+\.[0-9]{2}$")]
"""A decimal number as a string."""


class _Page(AnswerModel):
    next: str | None
    """The `before` of the page of older ones; null: there are none."""
    previous: str | None
    """The `after` of the page of newer ones; null: this is the first page."""


class MessagePage(_Page):
    """Messages, newest first."""

    items: list[MessageAnswer]


class VerificationPage(_Page):
    """Verifications, newest first."""

    items: list[VerificationAnswer]


class InboundAnswer(AnswerModel):
    """A message that came in."""

    message_id: Annotated[str, Field(alias="messageId")]
    id: str
    """The same as `messageId`."""
    sender: Annotated[str, Field(alias="from")]
    to: str | None
    """Null where the carrier does not tell."""
    body: str | None
    """Null: no longer kept."""
    status: Literal["received"]
    carrier: str
    received_at: Annotated[Instant, Field(alias="receivedAt")]
    created_at: Annotated[Instant, Field(alias="createdAt")]
    """The same as `receivedAt`."""


class InboundPage(_Page):
    """List received messages, newest first."""

    items: list[InboundAnswer]


class LedgerEntryAnswer(AnswerModel):
    """A change of the balance."""

    id: str
    kind: Literal["charge", "refund", "topup", "adjustment"]
    amount: Amount
    """Below zero for a charge."""
    balance_after: Annotated[Amount, Field(alias="balanceAfter")]
    reference: str
    """Of a charge or refund the (first) message's id, of a top-up the payment's reference."""
    created_at: Annotated[Instant, Field(alias="createdAt")]


class EntryPage(_Page):
    """Changes of the balance, newest first."""

    items: list[LedgerEntryAnswer]


class BalanceAnswer(AnswerModel):
    """The balance of now, and what bounds it; amounts are decimal strings."""

    organization_id: Annotated[str, Field(alias="organizationId")]
    balance: Amount
    currency: str
    low_balance: Annotated[Amount | None, Field(alias="lowBalance")]
    """Below this there is an event `balance.low`."""
    spent_today: Annotated[Amount, Field(alias="spentToday")]
    """Charged since midnight, less what was given back."""
    spend_cap: Annotated[Amount | None, Field(alias="spendCap")]
    """The most that a day may cost; null: no cap."""


class OddCharacter(AnswerModel):
    """A character that makes a text Unicode."""

    character: str
    index: Annotated[int, Field(ge=0)]
    """Where it stands: Unicode code points before it, in the text as it would be sent."""
    suggestion: str | None
    """What would do in its place; null: nothing that says the same."""


class EstimateAnswer(AnswerModel):
    """Get the price of a text. Nothing is charged."""

    encoding: Literal["gsm7", "ucs2"]
    segments: Annotated[int, Field(ge=1)]
    characters: Annotated[int, Field(ge=1)]
    """As the encoding counts them: septets of GSM 7-bit, or UTF-16 code units."""
    price: Amount
    currency: str
    unicode_characters: Annotated[list[OddCharacter], Field(alias="unicodeCharacters")]
    """Those that are not in GSM 7-bit; empty where the text fits it."""


class EndpointAnswer(AnswerModel):
    """A webhook endpoint, without its secret."""

    id: str
    organization_id: Annotated[str, Field(alias="organizationId")]
    mode: Literal["live", "test"]
    """Whose events it gets: those of live keys, or of test keys."""
    url: str
    description: str
    types: list[str]
    headers: dict[str, str]
    """Names of the header fields of your own; the values are `***`."""
    notify: str | None
    enabled: bool
    disabled_reason: Annotated[
        Literal["owner", "gone", "failing"] | None, Field(alias="disabledReason")
    ]
    failing_since: Annotated[Instant | None, Field(alias="failingSince")]
    old_secret_until: Annotated[Instant | None, Field(alias="oldSecretUntil")]
    """Until then the secret before this one signs too."""
    signature_header: Annotated[str | None, Field(alias="signatureHeader")]
    """The header field of a second signature, `t=…,v1=…`; null: there is none."""
    signature_key: Annotated[Literal["text", "decoded"], Field(alias="signatureKey")]
    """The key of that signature: the secret as it is shown, or what its base64 stands for."""
    created_at: Annotated[Instant, Field(alias="createdAt")]
    updated_at: Annotated[Instant, Field(alias="updatedAt")]


class EndpointSecretAnswer(EndpointAnswer):
    """A webhook endpoint with its new secret."""

    secret: str
    """`whsec_…`: told here and never again."""


class EndpointDeletedAnswer(EndpointAnswer):
    """A webhook endpoint as it was."""

    deleted: Literal[True]


class EndpointsAnswer(AnswerModel):
    """All webhook endpoints of the key's organization and mode."""

    items: list[EndpointAnswer]


class DeliveryAnswer(AnswerModel):
    """The delivery of one event to one endpoint."""

    endpoint_id: Annotated[str, Field(alias="endpointId")]
    event_id: Annotated[str, Field(alias="eventId")]
    type: str | None
    """Null: the event is no longer kept."""
    state: Literal["pending", "delivered", "failed", "dropped"]
    attempts: Annotated[int, Field(ge=0)]
    next_attempt_at: Annotated[Instant | None, Field(alias="nextAttemptAt")]
    status: int | None
    """Of the last answer."""
    error: str | None
    excerpt: str | None
    """The beginning of the last answer's body."""
    created_at: Annotated[Instant, Field(alias="createdAt")]
    updated_at: Annotated[Instant, Field(alias="updatedAt")]
    delivered_at: Annotated[Instant | None, Field(alias="deliveredAt")]


class DeliveriesAnswer(_Page):
    """Deliveries, newest first."""

    items: list[DeliveryAnswer]


class ReplayedAnswer(AnswerModel):
    """How many deliveries are due again."""

    replayed: Annotated[int, Field(ge=0)]
    until: Instant
    """For the next request, where there are more."""
    done: bool
    """Whether there are no more."""


class ReplayAnswer(RootModel[DeliveryAnswer | ReplayedAnswer]):
    """The delivery that is due again, or how many are."""


class SenderAnswer(AnswerModel):
    """A sender ID that was asked for."""

    id: str
    name: str
    status: Literal["pending", "approved", "denied"]
    reason: str | None
    """Why it was denied."""
    volume: Annotated[int, Field(ge=0)]
    """Messages that the organization sent in the last seven days: at 2,000 a cleared sender is
    approved."""
    created_at: Annotated[Instant, Field(alias="createdAt")]


class SenderList(AnswerModel):
    """All sender IDs of the organization."""

    items: list[SenderAnswer]

"""The bodies of lists: how many, from where on, and which."""

from __future__ import annotations

from typing import Annotated, Any, Final, Generic, TypeVar

from pydantic import AfterValidator, Field, ValidationInfo
from pydantic_core import PydanticCustomError

from risala.engine.model.numbers import ENTRY_KINDS
from risala.engine.model.records.conversations import ConversationState
from risala.engine.model.records.verify.figures import FiguresBy
from risala.engine.model.records.webhooks import DELIVERY_STATES
from risala.engine.model.states import SessionState, Status
from risala.http.api import fields
from risala.http.api.management.cursors import CHARACTERS_MAX, ListName, reader
from risala.http.common.validation import RequestBody

C = TypeVar("C", bound=str)
OLDER: Final = "The `next` of another page: only older items are listed."
NEWER: Final = "The `previous` of another page: only newer items are listed."
LIMIT_MAX: Final = 100
LIMIT_USUAL: Final = 20
ADDRESS_MAX: Final = 20
"""Characters of a number or a short code that something came from or to."""


def one_of(*words: str) -> tuple[AfterValidator, Any]:
    """Annotations of a member that is one of these words."""

    def known(text: str, info: ValidationInfo) -> str:
        if text not in words:
            holes = {"name": info.field_name, "words": ", ".join(words)}
            raise PydanticCustomError("unknown_word", "`{name}` must be one of {words}.", holes)
        return text

    return AfterValidator(known), fields.schema(type="string", enum=list(words))


def _cursor(of: ListName) -> tuple[Any, ...]:
    """Annotations of a member that is a cursor of this list."""
    text = Field(max_length=CHARACTERS_MAX, json_schema_extra={"pattern": fields.CURSOR_PATTERN})
    return text, AfterValidator(reader(of))


Limit = Annotated[
    int, Field(ge=1, le=LIMIT_MAX, description="The most items in the answer."), fields.WHOLE
]
Address = Annotated[
    str,
    Field(
        min_length=1,
        max_length=ADDRESS_MAX,
        json_schema_extra={"pattern": fields.FIT_PATTERN},
    ),
]
MessageCursor = Annotated[str, *_cursor(ListName.MESSAGES)]
VerificationCursor = Annotated[str, *_cursor(ListName.VERIFICATIONS)]
InboundCursor = Annotated[str, *_cursor(ListName.INBOUND)]
ThreadCursor = Annotated[str, *_cursor(ListName.THREAD)]
LedgerCursor = Annotated[str, *_cursor(ListName.LEDGER), AfterValidator(int)]
InvoiceCursor = Annotated[str, *_cursor(ListName.INVOICES)]
ConversationCursor = Annotated[str, *_cursor(ListName.CONVERSATIONS)]
StateWord = Annotated[str, *one_of(*(each.value for each in ConversationState))]
MessageStatus = Annotated[str, *one_of(*(each.value for each in Status))]
VerificationStatus = Annotated[str, *one_of(*(each.value for each in SessionState))]
Received = Annotated[str, *one_of("received")]
EntryKind = Annotated[str, *one_of(*ENTRY_KINDS.words)]
FigureKind = Annotated[str, *one_of(*(each.value for each in FiguresBy))]
DeliveryState = Annotated[str, *one_of(*DELIVERY_STATES)]


def cursors(of: ListName) -> dict[str, Any]:
    """The members that say from where on, in a list whose places are numbers."""
    return {
        name: Annotated[str, *_cursor(of), AfterValidator(int), Field(description=text)]
        for name, text in (("before", OLDER), ("after", NEWER))
    }


class PlacesBody(RequestBody, Generic[C]):
    """From where on; ``C`` is the list's cursor."""

    before: Annotated[C | None, Field(description=OLDER)] = None
    after: Annotated[C | None, Field(description=NEWER)] = None


class PageBody(RequestBody):
    """How many of a list."""

    limit: Limit | None = None


class PeriodBody(PageBody):
    """The period of a list."""

    since: Annotated[
        fields.Instant | None,
        Field(description="Only items from this time on.", examples=[fields.PAST]),
    ] = None
    until: Annotated[
        fields.Instant | None,
        Field(description="Only items before this time.", examples=[fields.PAST]),
    ] = None


class ListMessagesBody(PlacesBody[MessageCursor], PeriodBody):
    """Which messages, newest first; without any member the newest of all."""

    status: MessageStatus | None = None
    to: fields.Number | None = None
    sender: Annotated[
        fields.SenderName | None,
        Field(alias="from", description="The sender of the messages."),
    ] = None


class ListVerificationsBody(PlacesBody[VerificationCursor], PeriodBody):
    """Which verifications, newest first; without any member the newest of all."""

    status: VerificationStatus | None = None
    to: fields.Number | None = None


class ListInboundBody(PlacesBody[InboundCursor], PeriodBody):
    """Which messages that came in, newest first; without any member the newest of all."""

    status: Annotated[
        Received | None, Field(description="All received messages have the same status.")
    ] = None
    to: Annotated[Address | None, Field(description="Our number that received them.")] = None
    sender: Annotated[
        Address | None, Field(alias="from", description="The number that sent them.")
    ] = None


class ListEntriesBody(PlacesBody[LedgerCursor], PeriodBody):
    """Which entries of the ledger, newest first; without any member the newest of all."""

    kind: EntryKind | None = None


class CodeFiguresBody(RequestBody):
    """Which codes, by the day on which they were asked for, and what the items are of."""

    since: Annotated[
        fields.Instant,
        Field(description="The first day is the one of this time.", examples=[fields.PAST]),
    ]
    until: Annotated[
        fields.Instant | None,
        Field(
            description="The last day is the one of the moment before; without it, today.",
            examples=[fields.PAST],
        ),
    ] = None
    by: Annotated[FigureKind | None, Field(description="`day` if it is left out.")] = None


class EmptyBody(RequestBody):
    """Nothing is asked but what the key says."""

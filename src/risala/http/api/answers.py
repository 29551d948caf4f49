"""What the API tells of the engine's records: which members, under which names (contract §8).

Types and descriptions of members are the record's. An answer that is not the whole record lists its
members: a new field of such a record is in the API only once it is listed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.features.answers.rule_records import (
    AnswerRule,
    AnswerRules,
    PausedNumber,
    TriedForward,
    TriedText,
)
from risala.engine.model.records.accounts import WEEKLY_MESSAGES
from risala.engine.model.records.conversations import (
    ConversationSummary,
    Forwarded,
    StoredConversation,
    Thread,
    ThreadMessage,
)
from risala.engine.model.records.inbound import Received
from risala.engine.model.records.ledger import LedgerEntry
from risala.engine.model.records.messages import Estimate, MessageView, PlacedCharacter
from risala.engine.model.records.people.countries import PrefixPrice, ReachedCountry
from risala.engine.model.records.people.organizations import Organization
from risala.engine.model.records.record import to_json
from risala.engine.model.records.search import FoundItem
from risala.engine.model.records.senders import Sender
from risala.engine.model.records.verify.figures import CodeFigure, CodeFigures
from risala.engine.model.records.verify.sessions import (
    CodeSent,
    JudgedCode,
    SessionDelivery,
    StartedReverse,
    VerificationView,
)
from risala.engine.model.records.webhooks import Endpoint, Replayed, WebhookDelivery
from risala.engine.model.wire import LEAN_STATUS
from risala.http.api.schema import Places, enum_schema, json_schema
from risala.sms.cause import Cause

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Component:
    """A schema with a name of its own in the document."""

    name: str
    made: Json = field(default_factory=dict)

    @property
    def reference(self) -> str:
        return f"#/components/schemas/{self.name}"

    def schema(self) -> Json:
        return self.made


@dataclass(frozen=True, slots=True)
class ApiAnswer(Component):
    """An answer that follows from a record."""

    record: type[Any] = object
    members: str = ""
    """Names in their order; ``a=b`` is the record's ``b``, called ``a``. Empty: all of the record,
    and then ``more``."""
    more: Mapping[str, Json] = field(default_factory=dict)
    """What is said of members beside what the record says, or of those that it has not."""
    sometimes: Mapping[str, Json] = field(default_factory=dict)
    """Members that are not in every answer."""
    about: str | None = None
    """What it is, if the record does not say it."""
    closed: bool = False
    """Whether the answer will have no further member."""

    def wire(self, record: object, **more: object) -> Json:
        """A record as this answer; ``more`` are the members that the record has not."""
        whole = {**to_json(record), **more}
        if not self.members:
            return whole
        return {name: whole[name if name in more else own] for name, own in self._names()}

    def schema(self) -> Json:
        made = json_schema(self.record, PLACES)
        whole: Json = made["properties"]
        pairs = self._names() if self.members else [(name, name) for name in {**whole, **self.more}]
        members = {
            name: {**whole.get(own, {}), **self.more[name]} if name in self.more else whole[own]
            for name, own in pairs
        }
        return {
            "description": self.about or made["description"],
            "type": "object",
            "properties": {**members, **self.sometimes},
            "required": list(members),
            **({"additionalProperties": False} if self.closed else {}),
        }

    def _names(self) -> list[tuple[str, str]]:
        pairs = (each.partition("=") for each in self.members.split())
        return [(name, own or name) for name, _, own in pairs]


_SAME: Final = {"description": "The same as `messageId`."}
_TEXT: Final = {"type": "string"}

CAUSE: Final = Component("Cause", enum_schema(Cause))
CHARACTER: Final = ApiAnswer("OddCharacter", record=PlacedCharacter)
PRICE: Final = ApiAnswer("SegmentPriceAnswer", record=PrefixPrice)
CODE_FIGURE: Final = ApiAnswer("CodeFigure", record=CodeFigure)
THREAD_MESSAGE: Final = ApiAnswer("ConversationMessage", record=ThreadMessage)
LISTED_CONVERSATION: Final = ApiAnswer(
    "ListedConversationAnswer",
    record=ConversationSummary,
    members="conversationId number name state unread assignedTo receivedAt lastMessage",
    more={
        "lastMessage": {
            "anyOf": [{"$ref": THREAD_MESSAGE.reference}, {"type": "null"}],
            "description": "The newest message, of either way.",
        }
    },
)
ANSWER_RULE: Final = ApiAnswer(
    "AnswerRuleAnswer",
    record=AnswerRule,
    members="ruleId name place enabled keywords anywhere firstContact days fromTime toTime language"
    " textFr textAr textEn createdAt forwardNumber forwardEmail forwardChat forwardUrl",
)
FORWARDED: Final = ApiAnswer("ForwardedAnswer", record=Forwarded)
TRIED_FORWARD: Final = ApiAnswer("TriedForwardAnswer", record=TriedForward)
PAUSED_NUMBER: Final = ApiAnswer("PausedNumberAnswer", record=PausedNumber)
PLACES: Final[Places] = {
    AnswerRule: ANSWER_RULE.reference,
    Forwarded: FORWARDED.reference,
    TriedForward: TRIED_FORWARD.reference,
    PausedNumber: PAUSED_NUMBER.reference,
    ConversationSummary: LISTED_CONVERSATION.reference,
    ThreadMessage: THREAD_MESSAGE.reference,
    CodeFigure: CODE_FIGURE.reference,
    Cause: CAUSE.reference,
    PlacedCharacter: CHARACTER.reference,
    PrefixPrice: PRICE.reference,
}
MESSAGE: Final = ApiAnswer(
    "MessageAnswer",
    record=MessageView,
    members="messageId=id id to from body status segments encoding messageClass price currency"
    " attempts carrier providerMessageId errorCode errorText carrierCode metadata sendAt sentAt"
    " deliveredAt createdAt updatedAt",
    more={
        "id": _SAME,
        "errorText": {
            "type": ["string", "null"],
            "description": "`errorCode` as an English sentence.",
        },
    },
)
"""Written by :func:`risala.engine.model.wire.message_wire`."""
LEAN_MESSAGE: Final = ApiAnswer(
    "LeanMessageAnswer",
    record=MessageView,
    members="id to from body status createdAt updatedAt",
    more={
        "body": {"description": "Null: no longer kept."},
        "status": {
            "enum": list(dict.fromkeys(LEAN_STATUS.values())),
            "description": "`sent` of a message that is `sent` or `delivered`; `failed` of one "
            "that is `failed`,\n`undelivered` or `canceled`.",
        },
    },
    about="A message for an organization with lean answers: only these fields.",
    closed=True,
)
"""Written by :func:`risala.engine.model.wire.lean`."""
ESTIMATE: Final = ApiAnswer("EstimateAnswer", record=Estimate)
CODE_SENT: Final = ApiAnswer("SendCodeAnswer", record=CodeSent, members="verificationId")
CHECK: Final = ApiAnswer("CheckAnswer", record=JudgedCode)
CODE_DELIVERY: Final = ApiAnswer(
    "CodeDeliveryAnswer", record=SessionDelivery, members="channel status at"
)
VERIFICATION: Final = ApiAnswer(
    "VerificationAnswer",
    record=VerificationView,
    members="id to status attempts expiresAt createdAt updatedAt",
    sometimes={
        "tags": {
            "type": "array",
            "items": _TEXT,
            "description": "The tags that `POST /api/verify/send` gave it, if any; for 30 days.",
        },
        "method": {
            **_TEXT,
            "description": "What the user does, of a session that `POST /api/verify/start` began."
            " `to` is empty until a number is proven, where none was given.",
        },
        "channel": {**_TEXT, "description": "The channel that brought the code last."},
        "deliveries": {
            "type": "array",
            "items": {"$ref": CODE_DELIVERY.reference},
            "description": "How its code was brought, the first delivery first, where your"
            " organization opened channels. `status` is that of the delivery's message, or"
            " `refused`: it did not leave, for want of money or because the hour's codes were used"
            " up.",
        },
    },
)
STARTED: Final = ApiAnswer("StartVerificationAnswer", record=StartedReverse)
CODE_FIGURES: Final = ApiAnswer(
    "CodeFiguresAnswer", record=CodeFigures, members="by currency whole items countedUntil"
)


def verification_answer(view: VerificationView, *, lean: bool) -> Json:
    """The response of ``POST /api/verify/get`` (contract §4, §14).

    Args:
        lean: only the fields of the specification.
    """
    wire = VERIFICATION.wire(view)
    return wire if lean else {**wire, **view.details}


INBOUND: Final = ApiAnswer(
    "InboundAnswer",
    record=Received,
    members="messageId=id id from to body=text status carrier receivedAt sentAt"
    " createdAt=receivedAt",
    more={
        "id": _SAME,
        "status": {**_TEXT, "const": "received"},
        "createdAt": {"description": "The same as `receivedAt`."},
    },
)
LEDGER_ENTRY: Final = ApiAnswer(
    "LedgerEntryAnswer",
    record=LedgerEntry,
    members="id kind amount balanceAfter reference createdAt=at",
)
SENDER: Final = ApiAnswer(
    "SenderAnswer",
    record=Sender,
    members="id name status reason volume createdAt",
    more={
        "volume": {
            "type": "integer",
            "minimum": 0,
            "description": "Messages that the organization sent in the last seven days: at "
            f"{WEEKLY_MESSAGES:,} a cleared sender is\napproved.",
        }
    },
)
COUNTRY: Final = ApiAnswer("CountryAnswer", record=ReachedCountry)
BALANCE: Final = ApiAnswer(
    "BalanceAnswer",
    record=Organization,
    members="organizationId=id balance currency lowBalance spentToday spendCap",
    more={"spentToday": _TEXT},
    sometimes={
        "countries": {
            "type": "array",
            "items": {"$ref": COUNTRY.reference},
            "description": "The countries that are served, home first; only where there are"
            " several.",
        }
    },
    about="The balance of now, and what bounds it; amounts are decimal strings.",
)
ENDPOINT: Final = ApiAnswer("EndpointAnswer", record=Endpoint)
ENDPOINT_SECRET: Final = ApiAnswer(
    "EndpointSecretAnswer",
    record=Endpoint,
    more={"secret": {**_TEXT, "description": "`whsec_…`: shown here only."}},
    about="A webhook endpoint with its new secret.",
)
ENDPOINT_DELETED: Final = ApiAnswer(
    "EndpointDeletedAnswer",
    record=Endpoint,
    more={"deleted": {"type": "boolean", "const": True}},
    about="A webhook endpoint as it was.",
)
DELIVERY: Final = ApiAnswer("DeliveryAnswer", record=WebhookDelivery)
REPLAYED: Final = ApiAnswer(
    "ReplayedAnswer",
    record=Replayed,
    members="replayed until done",
    more={"until": {**_TEXT, "format": "date-time"}},
)


def listed(name: str, about: str, item: Component, *, paged: bool = True) -> Component:
    """The answer of a list.

    Args:
        paged: with the places of the pages beside it.
    """
    members: Json = {"items": {"type": "array", "items": {"$ref": item.reference}}}
    if paged:
        members = {**_PLACES_BESIDE, **members}
    return Component(
        name,
        {
            "description": about,
            "type": "object",
            "properties": members,
            "required": list(members),
        },
    )


_PLACES_BESIDE: Final = {
    name: {"type": ["string", "null"], "description": about}
    for name, about in {
        "next": "The `before` of the page of older ones; null: there are none.",
        "previous": "The `after` of the page of newer ones; null: this is the first page.",
    }.items()
}
MESSAGES: Final = listed("MessagePage", "Messages, newest first.", MESSAGE)
VERIFICATIONS: Final = listed("VerificationPage", "Verifications, newest first.", VERIFICATION)
INBOUND_MESSAGES: Final = listed("InboundPage", "Received messages, newest first.", INBOUND)
LEDGER: Final = listed("EntryPage", "Changes of the balance, newest first.", LEDGER_ENTRY)
DELIVERIES: Final = listed("DeliveriesAnswer", "Deliveries, newest first.", DELIVERY)
SENDERS: Final = listed("SenderList", "All sender IDs of the organization.", SENDER, paged=False)
ENDPOINTS: Final = listed(
    "EndpointsAnswer",
    "All webhook endpoints of the key's organization and mode.",
    ENDPOINT,
    paged=False,
)
REPLAY: Final = Component(
    "ReplayAnswer",
    {
        "description": "The delivery that is due again, or how many are.",
        "anyOf": [{"$ref": DELIVERY.reference}, {"$ref": REPLAYED.reference}],
    },
)
CONVERSATION: Final = ApiAnswer(
    "ConversationAnswer",
    record=StoredConversation,
    members="conversationId number state unread assignedTo receivedAt",
)
CONVERSATIONS: Final = listed(
    "ConversationPage", "Conversations, those with the newest texts first.", LISTED_CONVERSATION
)
THREAD: Final = ApiAnswer(
    "ThreadAnswer",
    record=Thread,
    members="conversation items next previous answerable whyNot answersFrom answersBy",
    more={
        "items": {
            "type": "array",
            "items": {"$ref": THREAD_MESSAGE.reference},
            "description": "Messages of both ways, the oldest first.",
        },
        **_PLACES_BESIDE,
    },
)
ANSWER_RULES: Final = ApiAnswer(
    "AnswerRulesAnswer",
    record=AnswerRules,
    members="items paused",
    more={
        "items": {
            "type": "array",
            "items": {"$ref": ANSWER_RULE.reference},
            "description": "All rules, in their order.",
        },
    },
)
TRIED_TEXT: Final = ApiAnswer(
    "TriedTextAnswer",
    record=TriedText,
    members="rule answer forwards",
)
FOUND_ITEM: Final = ApiAnswer("FoundItem", record=FoundItem, members="kind id title at url")
FOUND: Final = listed(
    "SearchAnswer",
    "What was found: by kind, and the newest of each first.",
    FOUND_ITEM,
    paged=False,
)
COMPONENTS: Final = (
    *(ANSWER_RULE, PAUSED_NUMBER, ANSWER_RULES, TRIED_TEXT, FORWARDED, TRIED_FORWARD),
    *(CAUSE, CHARACTER, MESSAGE, LEAN_MESSAGE, ESTIMATE, CODE_SENT, CHECK, CODE_DELIVERY),
    *(VERIFICATION, STARTED, INBOUND, CODE_FIGURE, CODE_FIGURES),
    *(
        LEDGER_ENTRY,
        PRICE,
        COUNTRY,
        BALANCE,
        SENDER,
        ENDPOINT,
        ENDPOINT_SECRET,
        ENDPOINT_DELETED,
        DELIVERY,
        REPLAYED,
    ),
    *(FOUND_ITEM, FOUND),
    *(CONVERSATION, THREAD_MESSAGE, LISTED_CONVERSATION, CONVERSATIONS, THREAD),
    *(MESSAGES, VERIFICATIONS, INBOUND_MESSAGES, LEDGER, DELIVERIES, SENDERS, ENDPOINTS, REPLAY),
)

"""Conversations: the answers of their operations, and the asks for them."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import Annotated, Final, NamedTuple

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import (
    AUDITED,
    UNAUDITED,
    Count,
    JsonName,
    Moment,
    Money,
    OneOf,
    WrittenAs,
)
from risala.engine.model.records.messages import AcceptedMessage

NOT_ANSWERABLE: Final = "NOT_ANSWERABLE"
"""The code of a conversation in which nothing can be answered."""
WENT_ON: Final = "WENT_ON"
"""The code of an answer to a conversation that has gone on since it was read."""
WAITING_MAX: Final = 99
"""Unread conversations that a list counts."""
ON_LISTS_MAX: Final = 20
"""Lists of a person that are shown beside a conversation."""
COSTS_ADDED: Final = 1000
"""The newest messages to a person whose prices are added up."""
ANSWER_KEY: Final = "answer:"
"""What the idempotency key of an automatic answer begins with; the id of the text follows."""
FORWARD_KEY: Final = "forward:"
"""What the key of a message begins with that forwards a text."""
FORWARD_KINDS: Final = ("sms", "mail", "telegram", "webhook")
FORWARD_STATES: Final = ("waiting", "forwarded", "refused")
ANSWERED_BY: Final = ("opt_out", "help", "rule", "webhook", "forward")
"""What answers a text by itself: its confirmation as an opt-out, HELP, a rule, or a program in what
it answers to an event. ``forward``: it is no answer, but a text that a rule forwards."""
NOBODY: Final = ""
"""In place of a member: nobody in particular answers."""


class ConversationState(StrEnum):
    """Whether a conversation needs something."""

    OPEN = "open"
    DONE = "done"


class WrittenBy(StrEnum):
    """Who wrote a message of a conversation."""

    NUMBER = "number"
    """The person with whom the organization writes."""
    PERSON = "person"
    """A member, or an operator."""
    PROGRAM = "program"
    """A program, with a key."""
    MAILING = "mailing"
    ANSWER = "answer"
    """The service, by itself: a rule, a confirmation, or what a program answered to an event."""
    CODE = "code"
    """A verification: its text is not shown."""


@dataclass(frozen=True, slots=True)
class Forwarded:
    """Where a rule forwards a text, and what became of it."""

    kind: Annotated[str, OneOf(FORWARD_KINDS)]
    target: Annotated[str, JsonName("to")]
    """The number, the address, the chat, or the webhook's host."""
    rule: str
    """The rule's name."""
    status: Annotated[str, OneOf(FORWARD_STATES)]
    """By mail, `forwarded` means that the mail is owed."""
    reason: str | None
    """Why it is not forwarded, as a sentence."""


class AnswerNote(NamedTuple):
    """The automatic answer to a text, and where it was forwarded."""

    kind: str | None
    name: str | None
    refused: str | None
    forwards: tuple[Forwarded, ...] = ()


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """A message of a conversation."""

    id: Annotated[str, JsonName("messageId")]
    by: Annotated[str, OneOf(WrittenBy)]
    """The writer of the message."""
    at: Moment
    """When it came in, or was accepted."""
    body: str | None
    """Null: a code, or no longer kept."""
    status: str
    """`received`, or as of `POST /api/sms/get`."""
    sender: Annotated[str, JsonName("from")]
    recipient: Annotated[str | None, JsonName("to")]
    carrier: str | None
    segments: int | None
    """Null of a text that came in, and so are the next two."""
    price: Money | None
    error_code: str | None
    key_id: str | None
    """The key of the program that sent it."""
    mailing_id: str | None
    answer_kind: Annotated[str | None, OneOf(ANSWERED_BY)] = None
    """What wrote an automatic answer; a text that had one has it too."""
    answer_name: str | None = None
    """The name of its rule."""
    answer_refused: str | None = None
    """Why the text's automatic answer does not leave, as a sentence; null: it left, or waits."""
    forwards: tuple[Forwarded, ...] = ()
    """Forwards of a text that came in."""
    answers: Annotated[str | None, WrittenAs.NOTHING] = None
    """The text that it answers by itself."""
    place: Annotated[int, WrittenAs.NOTHING] = 0
    """The first bits of its id, by which messages of both ways are in order."""

    @property
    def came_in(self) -> bool:
        return self.by == WrittenBy.NUMBER


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """What is stored of a conversation: neither texts nor numbers of anybody else."""

    id: Annotated[str, UNAUDITED, JsonName("conversationId")]
    organization_id: Annotated[str, UNAUDITED]
    number: Annotated[str, UNAUDITED]
    """Who writes: a number, or a name or short number that cannot be answered."""
    state: Annotated[str, AUDITED, OneOf(ConversationState)]
    """A text that comes in opens it again."""
    unread: Annotated[bool, UNAUDITED]
    """Whether a text came in that nobody has read."""
    assigned_to: Annotated[str | None, AUDITED]
    """The member who answers."""
    received_at: Annotated[Moment, UNAUDITED]
    """When the newest text came in."""
    last_text: Annotated[str, UNAUDITED, WrittenAs.NOTHING] = ""


@dataclass(frozen=True, slots=True)
class ConversationSummary(StoredConversation):
    """A conversation with the person's name and the last message."""

    name: str | None = None
    """By the organization's lists."""
    last: ThreadMessage | None = None
    """The newest message, of either way."""


@dataclass(frozen=True, slots=True)
class Conversations:
    """Conversations, those with the newest texts first, and where the next pages begin."""

    conversations: tuple[ConversationSummary, ...]
    newer: str | None
    older: str | None
    looked_to: Moment | None
    """The time as far as the search came; None: as far as there are any."""
    waiting: Annotated[Count, WrittenAs.NOTHING] = 0
    """How many have a text that nobody has read, and at most ``WAITING_MAX``."""


@dataclass(frozen=True, slots=True)
class OnList:
    """A list of the organization that a person is on."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Known:
    """What an organization knows of a person, beside the messages."""

    lists: tuple[OnList, ...] = ()
    """At most ``ON_LISTS_MAX``, by name."""
    cost: Money = 0
    """What the newest ``COSTS_ADDED`` messages to them cost, without those that were paid back."""
    opted_out: bool = False
    """Whether they want no messages, and that is heeded."""


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation with a page of its messages."""

    conversation: ConversationSummary
    messages: tuple[ThreadMessage, ...]
    """The oldest first; without a cursor, the newest ones."""
    newer: str | None
    older: str | None
    answerable: bool
    """Whether something can be answered."""
    why_not: str | None = None
    """Why nothing can be answered, as a sentence."""
    answers_from: str | None = None
    """Our number or name that answers are from."""
    answers_by: str | None = None
    """The carrier by which they leave: the one that brought the last text."""
    known: Annotated[Known, WrittenAs.NOTHING] = field(default=Known())


LIST: Final = Ask("conversation.list", Conversations)
GET: Final = Ask("conversation.get", Thread)
REPLY: Final = Ask("conversation.reply", AcceptedMessage)
MARK: Final = Ask("conversation.mark", StoredConversation)

"""What one feature does for the core; and what features are given, and return, where all are asked:
by retention, and by a restore."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Protocol

from risala.dataclass import dataclass
from risala.engine.model.states import Mode


class Duty(StrEnum):
    """What one feature does for the core, and no two."""

    RESTORED = "restored"
    """What becomes of mailings in a restored database: a function of a connection, and of what the
    database that was there shows; it returns ``RestoredMailings``."""
    FACTOR = "factor"
    """What a sign-in still asks for after the code: a function of a connection and a user's id, or
    None for any operator, which says whether they have it."""
    PROVIDER_ALONE = "provider_alone"
    """Whether members enter an organization by its identity provider alone: a function of a
    connection and the organization's id."""
    FOUR_EYES = "four_eyes"
    """Around what needs a second operator: an async context manager of a call, its operation, its
    JSON arguments, what it weighs, and the sum from which it needs two."""
    CONFIRMED = "confirmed"
    """In the transaction of an operation that an operator asked for and another one confirms: a
    function of a connection, the audit entry, and the request's id."""
    UPLOAD = "upload"
    """Takes a file that is uploaded, as ``Gateway.receive_upload`` does."""
    UPLOADS_WAITING = "uploads_waiting"
    """Uploads that wait: an async function of the services and an organization's id, which returns
    how many there are, and their bytes."""
    CARRIER_TEXTS = "carrier_texts"
    """Takes a carrier's incoming texts in place of customers: a function of the services and the
    carrier's name, which returns a ``TextTaker``, or None: they are for customers."""
    OWN_ANSWERS = "own_answers"
    """Keeps a text that answers one of the operator's own, in the transaction that brings it: a
    function of a connection, the carriers of its account and the ``Inbound``, which returns whether
    it does. Customers do not get it then."""
    HEADS = "heads"
    """Takes signed heads of the audit trail out of this machine: a function of the settings and of
    all that were signed. It may raise ``OSError``, and runs in a thread."""
    LEASE = "lease"
    """Keeps two machines from sending, where the settings name a second one: an async function, as
    ``hold_lease`` is."""
    SMPP = "smpp"
    """Serves customers' SMPP software: an async function, as ``serve_smpp`` is."""
    HOPS = "hops"
    """The services that a message came through, this one as the last: a function of the
    repositories and the message's id, which returns their ids."""
    FIXED_CODE = "fixed_code"
    """The code of a number that gets no SMS, such as of an app store's reviewer: a function of the
    repositories, the organization's id, the number and the time, which returns it, or None."""
    USUAL_CARRIER = "usual_carrier"
    """The carrier that a number's messages left by, or its texts came by, last, where carriers are
    sticky: a function of the repositories, the settings of retention, an organization's id, the
    number, these carriers' names and the time, which returns one of them, or None."""
    CODE_AGAIN = "code_again"
    """The settings by which a further delivery of a code counts: a function of the services,
    the session, the key that asks for it, or None where it comes by itself, and the type of the
    session's own key. It raises ``RateLimited`` where it is refused."""
    CONVERSATION_EVENT = "conversation_event"
    """Writes an event of a conversation, if there is one: a function of a connection, the
    organization's id, the number, the event's type, a text's id, and the time."""
    ANSWERS = "answers"
    """Automatic answers to texts: a function of a connection and the texts' ids, which returns the
    ``AnswerNote`` of each by its id."""
    OPT_OUTS = "opt_outs"
    """What texts that say STOP or START do, and what must be said to take an opt-out back: an
    object as ``OptOutHeeding`` is."""
    REPLY = "reply"
    """Takes what a webhook's receiver answered to the event of a received text: a function of the
    ``WebhookAttempt`` and the ``ReceiverAnswer``, which returns what takes it (``TakeReply``), or
    None: there is no reply in it."""
    ALARMS = "alarms"
    """Raises alarms for hooks, and says whether a text ends one: an object as ``AlarmWork`` is."""
    MAIL = "mail"
    """What ``risala send --from-mail`` does: a function of the options, the mail's recipient and
    its sender."""


TakeReply = Callable[[Any, int], str]
"""In the transaction that ends an attempt: a function of a connection and the time, which returns
the word for what became of the reply."""


class WalkKind(StrEnum):
    """What a walk of retention forgets."""

    TEXTS = "texts"
    TIMELINES = "timelines"
    EVENTS = "events"
    CHOSEN_EVENTS = "chosen_events"
    """For organizations that keep theirs for a shorter time."""
    INBOUND = "inbound"
    CONVERSATIONS = "conversations"
    ANSWERS = "answers"
    """Automatic answers to texts."""
    ALARMS = "alarms"
    BANK_TEXTS = "bank_texts"
    OWN_ANSWERS = "own_answers"
    MAILINGS = "mailings"
    HOPS = "hops"
    """The services that messages came through, once the messages are over."""
    SESSION_DETAILS = "session_details"
    """What callers said of codes."""
    CLEARED = "cleared"
    """Rows of mailings that are old, and of mailings and lists that were deleted."""


@dataclass(frozen=True, slots=True)
class RetentionWalk:
    """A way through rows, the oldest first, a few at a time."""

    kind: WalkKind
    age_ms: int
    """The least age of a row that it erases."""
    name: str = ""
    """The name under which the file stores its place; empty: the caller keeps it."""
    organizations: tuple[str, ...] = ()
    """The owners of the rows; empty: all."""


@dataclass(frozen=True, slots=True)
class Forgot:
    """The work of one unit."""

    rows: int
    """Messages, events or inbound messages from which it erased something."""
    after: str
    """The place where the next unit continues, if that is not stored in the file."""
    done: bool
    """No other row is old enough."""


# -- restores


class FormerDatabase(Protocol):
    """The database that a restore replaces, as far as it can be read."""

    def keys_with_messages(
        self, organization_id: str, mode: Mode, first: str, end: str
    ) -> list[str] | None:
        """Idempotency keys, from one to before another, of an organization's messages in it; None:
        it cannot be read."""


@dataclass(frozen=True, slots=True)
class RestoredMailings:
    """What became of mailings in a restored database."""

    paused: int = 0
    """Mailings that were being sent when the backup was made."""
    rows_left_out: int = 0
    """Rows that were sent since, as the database that was there shows."""
    unknown: int = 0
    """Mailings of which nobody knows what they sent since."""

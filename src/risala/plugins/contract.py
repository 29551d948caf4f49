"""The contract between the engine and a plugin: everything that an author imports.

A carrier driver is a class with :class:`Driver`'s shape, registered by the hook
``risala_register_drivers`` (see :mod:`risala.plugins.hookspecs`). The engine owns queueing,
retries, throttling, windows, failover and the timeline; a driver owns one connection to a carrier
and its protocol, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Protocol, runtime_checkable

import trio
from pydantic import BaseModel

from risala.plugins.answering import (
    Answering,
    CarrierAnswer,
    CarrierRequest,
    CarrierStream,
    RequestRefusedError,
)
from risala.plugins.page import Paged
from risala.plugins.sharing import SharedAccount, Sharing
from risala.sms.cause import Cause
from risala.sms.message import Alphabet, Inbound, Segment
from risala.sms.outcome import Accepted, Outcome, Refused, Scope, Throttled, Uncertain, Unsent
from risala.sms.receipt import NotTaken, Receipt, ReceiptState

__all__ = [
    "COMMAND_S",
    "NOTES_MAX",
    "NOTE_KEY_CHARACTERS_MAX",
    "NOTE_TEXT_CHARACTERS_MAX",
    "RECEIPTS_SOON_MAX",
    "SECRETS_MAX",
    "SECRET_CHARACTERS_MAX",
    "SETTLE_S_MIN",
    "SUBMIT_S_MAX",
    "Accepted",
    "Alphabet",
    "Answering",
    "Capabilities",
    "CarrierAnswer",
    "CarrierRequest",
    "CarrierStream",
    "Cause",
    "Choosy",
    "CommandRefusedError",
    "Commandable",
    "Declined",
    "Driver",
    "DriverCommand",
    "DriverContext",
    "DriverFactory",
    "Health",
    "HealthState",
    "IdForms",
    "Inbound",
    "NotStoredError",
    "NotTaken",
    "Outcome",
    "Paged",
    "Posting",
    "Receipt",
    "ReceiptState",
    "Refused",
    "RequestRefusedError",
    "Scope",
    "Segment",
    "SharedAccount",
    "Sharing",
    "Throttled",
    "Uncertain",
    "Unsent",
]


NOTES_MAX: Final = 10_000
"""The most notes that one carrier may keep (:meth:`DriverContext.remember`): room for a month's
recipients, or for the parts of some thousand long messages."""
NOTE_KEY_CHARACTERS_MAX: Final = 200
"""The longest key of a note."""
NOTE_TEXT_CHARACTERS_MAX: Final = 4096
"""The longest text of a note."""
SECRETS_MAX: Final = 1000
"""The most sealed notes that one carrier may keep (:meth:`DriverContext.remember_secret`): room for
the tokens of some hundred devices."""
SECRET_CHARACTERS_MAX: Final = 4096
"""The longest text of a sealed note: a private key of 4096 bits in PEM is shorter."""
COMMAND_S: Final = 50.0
"""The longest that a driver's command may take, in seconds; then it is cancelled. The command line
gives up after a minute, and must get the reason before that."""


SUBMIT_S_MAX: Final = 3600.0
"""The longest that a submit may take by a driver's own limits, in seconds."""
SETTLE_S_MIN: Final = 30.0
"""The shortest :attr:`Capabilities.settle_s` but 0, in seconds: a first request that timed out may
still be on its way through proxies and queues, which give up after half a minute at most."""
RECEIPTS_SOON_MAX: Final = 1000
"""The most receipts of one carrier that wait for the disk at once; further ones are refused."""


class NotStoredError(Exception):
    """The engine could not store something at this moment.

    Answer the carrier with a temporary error, so that it sends again.
    """


class HealthState(StrEnum):
    """How a carrier's link is."""

    DOWN = "down"
    """Not connected; the driver is trying."""
    UP = "up"
    """Ready to submit."""
    SICK = "sick"
    """Connected, but an operator must act (wrong password, SIM locked)."""


@dataclass(frozen=True, slots=True)
class Health:
    """How a carrier's link is, as its driver reports it (:meth:`DriverContext.health`)."""

    state: HealthState
    """Submits come only while it is :attr:`HealthState.UP`."""
    text: str
    """One sentence for the operator. Never a credential."""
    details: Mapping[str, str | int | float | None] = field(default_factory=dict)
    """Small facts to show: signal strength, operator, bind type. Numbers are metrics too.

    ``attention`` is a sentence about something that the operator should do soon, though the link
    is up.
    """
    receipts: bool = True
    """False: the link gives no receipts now, whatever its capabilities say. Messages stay ``sent``,
    and timelines say that their delivery will not be known."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a carrier can do. The engine reads it once, after the driver was built."""

    alphanumeric_sender: bool
    """False: the line's own number is always the sender (a GSM modem).

    ``Health.details["number"]`` has that number, if it is known: timelines show it."""
    receipts: bool
    """True: the carrier reports later what became of a segment."""
    inbound: bool
    """True: it brings messages from phones."""
    query: bool
    """True: it can be asked what became of a segment."""
    validity: bool
    """True: ``Segment.expires_at_ms`` reaches the carrier."""
    window_max: int
    """The most unanswered submits at once; the configuration may lower it."""
    submit_s: float = 120.0
    """The longest that a submit takes by the driver's own limits, at most :data:`SUBMIT_S_MAX`. It
    may be long, where a phone has to fetch the message or the answer comes by a callback.

    A few seconds later the engine gives it up as uncertain; its answer is still used if it comes,
    and a call that never comes back is cancelled in the end."""
    account: str = ""
    """Our account at the carrier (such as host and user). Several configured carriers of one driver
    with the same account get each other's receipts and inbound messages. Empty: no other connection
    shares the account. Never a secret."""
    takes_whole: bool = False
    """True: the carrier takes texts of any length and cuts them itself, as most HTTP APIs do.

    A message of several segments then comes in one submit: ``Segment.text`` is the whole text,
    ``number`` 0, ``total`` 1. One answer accepts it, and one final receipt ends it. Its price is
    that of the segments that Risala counts; if the carrier says how many it counts, write that
    into ``Accepted.raw``, which the timeline shows. Such a driver never gets a part: parts that a
    customer cut go to another carrier, and fail if there is no other."""
    secret_address: bool = False
    """True, of a driver that is :class:`Answering`: its carrier signs nothing, and proves itself by
    a secret in its address, ``/carriers/NAME/SECRET/…``. The service makes and checks it
    (``risala carriers rotate NAME``); the driver never sees it."""
    remembers_ids_s: float = 0.0
    """How long the carrier remembers the id of a submit, in seconds from the first submit with it:
    if the same id comes again within this time, the phone still gets one text.

    The id is what the driver makes of ``Segment.message_id``, ``attempt`` and ``number``. More than
    ``submit_s``, since a repeated submit must arrive in time. 0: the carrier knows no ids; then no
    attempt is submitted twice."""
    same_id_is_safe: bool = False
    """True: an attempt whose outcome is unknown may be submitted again at once, with the same id.

    After a timeout, a crash or a restart the engine then submits the *same attempt* again (the same
    :class:`Segment`), in place of waiting for a receipt: at most three submits in all
    (``delivery.uncertain_submits_max``), within ``remembers_ids_s`` and the message's validity, and
    only while the message is still wanted. Needs ``remembers_ids_s``. If the carrier answers that
    it knows the id already, return :class:`Accepted` with the id that it gave at first: any other
    answer to a repeated submit leaves the attempt uncertain."""
    settle_s: float = SETTLE_S_MIN
    """How long after the end of a submit a :class:`NotTaken` counts, in seconds: until then the
    first request may still be on its way. The engine asks again then.

    At least :data:`SETTLE_S_MIN`; 0 only if the carrier promises that a query sees every submit
    that was made before it, even one without an answer."""
    own_sim: bool = False
    """True: texts and calls come in on a SIM of the operator's own, so that the network itself says
    who sent them. Then they may prove a number, unless the setting ``origin`` says otherwise."""
    calls: bool = False
    """True: it reports calls that come in, by :meth:`DriverContext.call`, and picks up none."""
    fetches: bool = False
    """True: the carrier *fetches*. The driver's submit only makes the segment ready, and the
    carrier asks for it later, as a phone does that asks for its messages.

    Before the driver hands a segment out, it calls :meth:`DriverContext.fetched`. Until then nobody
    has the segment, no attempt is on disk, and it may be withdrawn at any moment (canceled,
    expired, the link down, the carrier paused or drained, the service stopped): then its submit is
    cancelled, and :meth:`DriverContext.fetched` refuses it. Until then, ``Unsent`` and
    ``Throttled`` leave no trace. A segment that waits to be fetched uses a place of ``window_max``,
    and the time of ``submit_s`` begins again when it is fetched. Needs ``takes_whole``;
    :meth:`Posting.post` is not called."""
    flash: bool = False
    """True: it sends flash messages (:attr:`Segment.message_class`). A driver without it never gets
    one. Since contract 1.1."""


class DriverContext(Protocol):
    """A driver's way to the engine: everything that a driver may report."""

    @property
    def carrier(self) -> str:
        """The configured name of this carrier."""

    async def receipt(self, receipt: Receipt) -> None:
        """Hand over a receipt; returns once it is on disk: acknowledge it to the carrier then.

        Raises:
            NotStoredError: answer the carrier with a temporary error.
        """

    def receipt_soon(self, receipt: Receipt, stored: Callable[[bool], None]) -> None:
        """As :meth:`receipt`, without a waiting task: receipts that come together go to the disk
        together.

        Args:
            stored: called once, later. True: it is on disk; acknowledge it to the carrier. False:
                answer the carrier with a temporary error. Must raise nothing.

        Raises:
            NotStoredError: :data:`RECEIPTS_SOON_MAX` already wait.
        """

    async def inbound(self, message: Inbound, *, forget: Iterable[str] = ()) -> None:
        """Hand over a received message; returns once it is on disk.

        Args:
            forget: keys of notes, sealed ones too, to delete in the same transaction, such as the
                parts that the message was joined from. After a crash, either the notes or the
                message are there.

        Raises:
            NotStoredError: answer the carrier with a temporary error.
        """

    async def call(self, number: str | None) -> None:
        """Report a call that came in and was hung up before anybody answered; returns once what
        follows from it is on disk. Since contract 1.1.

        Args:
            number: the caller's, as the carrier writes it; None: it was withheld.

        Raises:
            NotStoredError: the disk does not take it now. Nobody calls again by themselves: report
                it once more.
        """

    async def remember(self, notes: Mapping[str, str | None]) -> None:
        """Keep small facts of this carrier; returns once they are on disk.

        All of them or none. They outlive a restart and a change of settings, and are in backups.
        Only the driver reads them. Never a secret: :meth:`remember_secret` is for those.

        Args:
            notes: text by key; None deletes a note.

        Raises:
            NotStoredError: the disk does not take them, or the carrier has :data:`NOTES_MAX`.
            ValueError: a key or a text is too long.
        """

    def recall(self, prefix: str = "") -> dict[str, str]:
        """The notes whose keys begin with ``prefix``, by key."""

    async def remember_secret(
        self, secrets: Mapping[str, str | None], *, notes: Mapping[str, str | None] | None = None
    ) -> None:
        """Keep secrets of this carrier, such as a device's token; returns once they are on disk.

        All of them or none. They are sealed with the service's sealing key: the database and its
        backups hold them as no one can read them. They outlive a restart and a change of settings.
        They go when the settings no longer have the carrier, or give it another driver; a disabled
        carrier keeps them.

        Args:
            secrets: text by key; None deletes it. A key is no secret: it stands in the clear, and
                operators see it where a secret is lost. Other keys than those of notes.
            notes: notes to write in the same transaction, as :meth:`remember` does.

        Raises:
            NotStoredError: the disk does not take them, or the carrier has :data:`SECRETS_MAX`.
            ValueError: a key or a text is too long.
        """

    def recall_secret(self, prefix: str = "") -> dict[str, str]:
        """The secrets whose keys begin with ``prefix``, by key.

        One whose sealing key was lost is missing: the driver has to get it again. The link's trace
        names its key.
        """

    def hops(self, message_id: str) -> tuple[str, ...]:
        """The Risala services that a message came through, the first one first and this one as the
        last, each by a random id.

        For a driver that sends through another Risala, which refuses a message that came through
        itself.

        Args:
            message_id: :attr:`Segment.message_id`.
        """

    async def fetched(self, segments: Sequence[Segment]) -> tuple[Segment, ...]:
        """Record that these segments are about to leave; only for a driver that
        :attr:`~Capabilities.fetches`.

        Returns once that is on disk. From then on the carrier may have them: a crash leaves them
        uncertain, and each submit has to return its outcome. The same segment may be named again
        while its submit is open, as when an answer was lost on its way to the phone.

        Args:
            segments: those of open submits that the carrier asks for now.

        Returns:
            The segments that may be handed out, in the same order. The others were withdrawn, or
            could not be written: never hand them out. A submit that is still open may be named
            again at the next request.
        """

    async def late_outcome(self, segment: Segment, outcome: Outcome) -> None:
        """Report the answer to a submit that already returned :class:`Uncertain`."""

    async def reachable(self, number: str) -> None:
        """Report that, as the carrier says, a phone can be reached again.

        This appears in the timelines of the latest messages to this number that the carrier has
        without a receipt, and of those that wait for another attempt; it moves and sends nothing.
        Returns once that is on disk. Raises nothing: if the disk fails, the report is lost.

        Args:
            number: as the carrier writes it. Without a country code, it is a number of the
                carrier's own country.
        """

    def health(self, health: Health) -> None:
        """Report how the link is; the latest wins. Submits come only while it is ``UP``."""

    def trace(self, text: str) -> None:
        """One line of the link's life for the operator (bind, rebind, recovery step)."""

    def traffic(self, sent: bool, tell: Callable[..., str], *given: object) -> None:
        """One line of traffic, for an operator who watches it.

        Args:
            sent: True: it was sent; False: it was received.
            tell: makes the line from ``given``, at once or never: it is not called if more lines
                come in a second than anybody can read. The line holds no secret, no text of a
                message and no code, and of a number at most the last four digits.
        """


@dataclass(frozen=True, slots=True)
class Declined:
    """A message that a driver would not take now."""

    text: str
    """Why: one sentence, with the limit. Never a message's text."""
    until_ms: int
    """Unix time when it would take it, as far as it knows."""


@runtime_checkable
class Choosy(Protocol):
    """A driver with a quota or the like, that can say beforehand what it would not take."""

    def declines(self, recipient: str, segments: int, *, is_next: bool = False) -> Declined | None:
        """Whether a message may begin now.

        A declined message goes to another carrier, or waits: it costs no attempt.

        Args:
            recipient: ``+`` and digits (E.164).
            segments: how many submits the message takes.
            is_next: True: the message would be submitted now; False: somebody only asks what it
                waits for.
        """


@runtime_checkable
class IdForms(Protocol):
    """A driver whose carrier may write ids in receipts differently than in answers.

    Optional. With it, receipts that came before the setting was right still find their message.
    """

    def other_ids(self, carrier_id: str) -> tuple[str, ...]:
        """The other forms of a receipt's id that the submit's answer may have had, by the present
        settings (:attr:`Receipt.also_known_as`).

        Called before :meth:`Driver.run`, for each receipt that matches no message. It returns at
        once and raises nothing.
        """


@runtime_checkable
class Driver(Protocol):
    """One connection to one carrier."""

    @property
    def capabilities(self) -> Capabilities:
        """What the carrier can do; read once, after the driver was built."""

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Connect, keep alive, and reconnect with backoff, until cancelled.

        Calls ``task_status.started()`` at once, before the first connection is up, and reports
        the link by :meth:`DriverContext.health`. Ends only by cancellation; then it closes the
        session (unbind) under a shielded deadline of a few seconds. An exception that escapes is
        logged, and the supervisor starts the driver again.
        """

    async def submit(self, segment: Segment) -> Outcome:
        """Submit one segment and wait for the carrier's answer.

        Never raises, whatever the carrier answers or leaves unanswered. May be called up to
        ``capabilities.window_max`` times at once. Bounded in time by the driver's own answer
        timeout (at most ``capabilities.submit_s``), after which it returns :class:`Uncertain`. If
        cancelled, the outcome is uncertain.
        """

    async def query(self, carrier_id: str, *, sender: str) -> Receipt | NotTaken | None:
        """Ask what became of a segment; None: the carrier does not say.

        :class:`NotTaken`: the carrier surely does not have it. It counts for a submit that returned
        :class:`Uncertain` with this id, and once :attr:`Capabilities.settle_s` is over. Then the
        same attempt is submitted again, within the bounds of :attr:`Capabilities.same_id_is_safe`.

        Args:
            sender: the segment's sender. Carriers answer only for the sender of a message.
        """


@runtime_checkable
class Posting(Protocol):
    """A driver that takes a segment without a task that waits for its answer.

    Optional, and useful if hundreds of messages a second go through one link: a task for each
    submit costs more than the submit. The engine calls ``post`` if a driver has it, and otherwise
    :meth:`Driver.submit`.
    """

    def post(self, segment: Segment, answered: Callable[[Outcome], None]) -> None:
        """Submit one segment; returns at once.

        The rules of :meth:`Driver.submit` apply: it never raises, whatever the carrier answers, is
        bounded in time by ``capabilities.submit_s``, and is called only while fewer than
        ``capabilities.window_max`` are unanswered.

        Args:
            answered: call it once, from the event loop's thread, with what submit would return;
                within this call if the outcome is already known. It returns at once and raises
                nothing.
        """


@dataclass(frozen=True, slots=True)
class DriverCommand:
    """Something else that an operator may ask of a driver."""

    name: str
    """The word for ``risala carriers ask CARRIER NAME``: lower-case letters, digits, ``-``."""
    summary: str
    """One line for the operator."""
    arguments: str = ""
    """The form of its arguments: ``CODE [CHOICE]…``. Empty: no arguments."""
    needs_fresh_sign_in: bool = False
    """True: it hands out a secret, or does what is hard to undo. An operator in the console has
    then shown within ten minutes who they are."""


class CommandRefusedError(Exception):
    """A command was not done; ``str()`` is a sentence for the operator."""


@runtime_checkable
class Commandable(Protocol):
    """A driver with commands, which only operators may give."""

    @property
    def commands(self) -> tuple[DriverCommand, ...]:
        """The driver's present commands."""

    async def command(
        self, name: str, arguments: Sequence[str]
    ) -> Mapping[str, str | int | float | None]:
        """Do one of :attr:`commands`, and return its results by name, to be shown.

        Called for one command at a time, at any time in the driver's life, also before it is up.
        Cancelled if it takes longer than :data:`COMMAND_S`.

        Raises:
            CommandRefusedError: why it was not done.
        """


@dataclass(frozen=True, slots=True)
class DriverFactory:
    """How the engine builds a driver of one kind from a ``[[carriers]]`` table."""

    name: str
    """The word for ``driver = "…"`` in the configuration."""
    settings: type[BaseModel]
    """Validates the carrier's own table (``[carriers.NAME]``), unknown keys forbidden."""
    build: Callable[..., Driver]
    """Takes the carrier's name, its validated settings and, if there is :attr:`shared`, what its
    account shares. Opens nothing yet."""
    summary: str
    """One line for ``risala plugins``."""
    shared: Callable[[Any], SharedAccount] | None = None
    """Builds what carriers of one account share, from the validated settings of the first of them.
    Opens nothing yet. The driver is :class:`Sharing` then."""
    account_key: Callable[[Any], str] | None = None
    """Which account settings are of: carriers with the same key share. It has everything of the
    settings that the shared part is built from, passwords too; it is neither shown nor stored."""

    def __post_init__(self) -> None:
        if (self.shared is None) is not (self.account_key is None):
            raise ValueError("A factory has both `shared` and `account_key`, or neither.")

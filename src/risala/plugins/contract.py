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

from risala.sms.cause import Cause
from risala.sms.message import Alphabet, Inbound, Segment
from risala.sms.outcome import Accepted, Outcome, Refused, Scope, Throttled, Uncertain, Unsent
from risala.sms.receipt import Receipt, ReceiptState

__all__ = [
    "COMMAND_S",
    "NOTES_MAX",
    "NOTE_KEY_CHARACTERS_MAX",
    "NOTE_TEXT_CHARACTERS_MAX",
    "RECEIPTS_SOON_MAX",
    "SUBMIT_S_MAX",
    "Accepted",
    "Alphabet",
    "Capabilities",
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
    "Outcome",
    "Posting",
    "Receipt",
    "ReceiptState",
    "Refused",
    "Scope",
    "Segment",
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
COMMAND_S: Final = 50.0
"""The longest that a driver's command may take, in seconds; it is cancelled then. The command line
gives up after a minute, and must get the reason before."""


SUBMIT_S_MAX: Final = 3600.0
"""The longest that a submit may take by a driver's own limits, in seconds."""
RECEIPTS_SOON_MAX: Final = 1000
"""Receipts of one carrier that may wait for the disk at once; what comes beyond it is not taken."""


class NotStoredError(Exception):
    """The engine could not make something durable at this moment.

    Nobody's fault in the carrier: answer it with a temporary error so that it sends it again.
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
    """How a carrier's link is, as its driver tells it (:meth:`DriverContext.health`)."""

    state: HealthState
    """Submits come only while it is :attr:`HealthState.UP`."""
    text: str
    """One sentence for the operator. Never a credential."""
    details: Mapping[str, str | int | float | None] = field(default_factory=dict)
    """Small facts to show: signal strength, operator, bind type. Numbers are metrics too.

    ``attention`` is a sentence of its own: what the operator should see to soon, though the link
    is up.
    """
    receipts: bool = True
    """False where the line gives no receipts as it is now, whatever its capabilities say: what is
    sent stays sent, and timelines say that its delivery will not be known."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a carrier can do. The engine reads it once the driver is built."""

    alphanumeric_sender: bool
    """False where the line's own number is the sender whatever is asked (a GSM modem).

    ``Health.details["number"]`` tells that number, where it is known: timelines show it."""
    receipts: bool
    """True where the carrier tells later what became of a segment."""
    inbound: bool
    """True where it brings messages from phones."""
    query: bool
    """True where it can be asked what became of a segment."""
    validity: bool
    """True where ``Segment.expires_at_ms`` reaches the carrier."""
    window_max: int
    """How many submits may be unanswered at once; the configuration may lower it."""
    submit_s: float = 120.0
    """The longest that a submit takes by the driver's own limits, at most :data:`SUBMIT_S_MAX`.

    A few seconds later the engine gives it up as uncertain; its answer is still used if it comes,
    and a call that never comes back is cancelled in the end."""
    account: str = ""
    """Where and as whom the carrier knows us (host and user, say). Several configured carriers of
    one driver with the same account get each other's receipts and inbound messages. Empty: no
    other connection shares this one's account. Never a secret."""
    takes_whole: bool = False
    """True where the carrier takes texts of any length and cuts them itself, as most HTTP APIs do.

    A message of several segments comes by one submit then: ``Segment.text`` is all of it,
    ``number`` 0, ``total`` 1. One answer accepts it, and one final receipt ends it. Its price is
    that of the segments that Risala counts; where the carrier says how many it counts, write that
    into ``Accepted.raw``, which the timeline shows. Such a driver never gets a part: what a
    customer has cut by themselves goes to another carrier, and fails where there is no other."""


class DriverContext(Protocol):
    """The engine's hand in a driver: everything that a driver may tell it."""

    @property
    def carrier(self) -> str:
        """The configured name of this carrier."""

    async def receipt(self, receipt: Receipt) -> None:
        """Hand over a receipt; returns once it is on disk: acknowledge it to the carrier then.

        Raises:
            NotStoredError: answer the carrier with a temporary error.
        """

    def receipt_soon(self, receipt: Receipt, stored: Callable[[bool], None]) -> None:
        """As :meth:`receipt`, without a task that waits: receipts that come together go to the
        disk together.

        Args:
            stored: called once, later: True when it is on disk, and is to be acknowledged to the
                carrier; False where the carrier is to be answered with a temporary error. Must
                raise nothing.

        Raises:
            NotStoredError: :data:`RECEIPTS_SOON_MAX` wait already.
        """

    async def inbound(self, message: Inbound, *, forget: Iterable[str] = ()) -> None:
        """Hand over a received message; returns once it is on disk.

        Args:
            forget: keys of notes that are deleted in the same transaction, such as the parts that
                the message was joined from. Whenever a crash comes, either the notes are there or
                the message is.

        Raises:
            NotStoredError: answer the carrier with a temporary error.
        """

    async def remember(self, notes: Mapping[str, str | None]) -> None:
        """Keep small facts of this carrier for good; returns once they are on disk.

        All of them or none. They outlive a restart and a change of settings, are in backups, and
        are the driver's own affair: nobody else reads them. Never a secret.

        Args:
            notes: text by key; None strikes a note.

        Raises:
            NotStoredError: the disk does not take them, or the carrier has :data:`NOTES_MAX`.
            ValueError: a key or a text is too long.
        """

    def recall(self, prefix: str = "") -> dict[str, str]:
        """The notes whose keys begin with ``prefix``, by key."""

    async def late_outcome(self, segment: Segment, outcome: Outcome) -> None:
        """Tell the answer to a submit that already returned :class:`Uncertain`."""

    async def reachable(self, number: str) -> None:
        """Tell that, as the carrier says, a phone can be reached again.

        The timelines say so of the latest messages to this number that the carrier has and has not
        reported on, and of those that wait for another attempt; nothing is moved or sent by it.
        Returns once that is on disk. Raises nothing: what the disk does not take is lost.

        Args:
            number: as the carrier writes it. Where it has no country code, it is a number of the
                carrier's own country.
        """

    def health(self, health: Health) -> None:
        """Tell how the link is; the latest wins. Submits come only while it is ``UP``."""

    def trace(self, text: str) -> None:
        """One line of the link's life for the operator (bind, rebind, recovery step)."""

    def traffic(self, sent: bool, tell: Callable[..., str], *given: object) -> None:
        """One line of what goes over the wire, for an operator who looks at it.

        Args:
            sent: it leaves; else it came.
            tell: makes the line of ``given``, at once or never: it is not called where more comes
                in a second than anybody can read. The line holds no secret, no text of a message
                and no code, and of a number no more than the last four digits.
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
    """A driver with a quota or the like, that can tell beforehand what it would not take."""

    def declines(self, recipient: str, segments: int, *, is_next: bool = False) -> Declined | None:
        """Whether a message may begin now.

        A message that is declined goes to another carrier, or waits: no attempt is spent on it.

        Args:
            recipient: ``+222XXXXXXXX``.
            segments: how many submits the message takes.
            is_next: True where the message would be submitted now; False where somebody only asks
                what it waits for.
        """


@runtime_checkable
class IdForms(Protocol):
    """A driver whose carrier may write an id in its receipts otherwise than in its answers.

    Optional. By it receipts that came before the setting was right find their message after all.
    """

    def other_ids(self, carrier_id: str) -> tuple[str, ...]:
        """How the answer to the submit may have written the id that a receipt has, by the settings
        as they are now (:attr:`Receipt.also_known_as`).

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
        """Connect, keep alive, reconnect with backoff, for life.

        Calls ``task_status.started()`` at once, before the first connection is up, and reports
        the link by :meth:`DriverContext.health`. Ends only by cancellation, then takes leave of
        the carrier (unbind) under a shielded deadline of a few seconds. A bug that escapes is
        logged and the driver is started again by its supervisor.
        """

    async def submit(self, segment: Segment) -> Outcome:
        """Submit one segment and wait for the carrier's answer.

        Never raises for what a carrier may say or fail to say. May be called up to
        ``capabilities.window_max`` times at once. Bounded in time by the driver's own answer
        timeout (``capabilities.submit_s`` tells how long that is), after which it returns
        :class:`Uncertain`. If cancelled, the outcome is uncertain.
        """

    async def query(self, carrier_id: str, *, sender: str) -> Receipt | None:
        """Ask what became of an accepted segment; None where the carrier can't tell.

        Args:
            sender: who it was sent as. Carriers tell only the sender about a message.
        """


@runtime_checkable
class Posting(Protocol):
    """A driver that takes a segment without a task that waits for its answer.

    Optional, and worth it where hundreds of messages a second go through one link: a task for
    each submit costs more than the submit. The engine posts to a driver that can be posted to,
    and calls :meth:`Driver.submit` of every other.
    """

    def post(self, segment: Segment, answered: Callable[[Outcome], None]) -> None:
        """Submit one segment; returns at once, whatever becomes of it.

        All that :meth:`Driver.submit` promises holds here too: never raises for what a carrier may
        say, is bounded in time by ``capabilities.submit_s``, and is called only while fewer than
        ``capabilities.window_max`` are unanswered.

        Args:
            answered: to be called once, from the event loop's thread, with what submit would
                return; before this call returns where the outcome is known by then. It returns at
                once and raises nothing.
        """


@dataclass(frozen=True, slots=True)
class DriverCommand:
    """Something that an operator may ask of a driver, beyond messages."""

    name: str
    """The word for ``risala carriers ask CARRIER NAME``: lower-case letters, digits, ``-``."""
    summary: str
    """One line for the operator."""
    arguments: str = ""
    """How its arguments are written: ``CODE [CHOICE]…``. Empty: it takes none."""


class CommandRefusedError(Exception):
    """A command was not done; ``str()`` is a sentence for the operator."""


@runtime_checkable
class Commandable(Protocol):
    """A driver that has commands: what its carrier can be asked, and only by its operator."""

    @property
    def commands(self) -> tuple[DriverCommand, ...]:
        """The commands that it has now."""

    async def command(
        self, name: str, arguments: Sequence[str]
    ) -> Mapping[str, str | int | float | None]:
        """Do one of :attr:`commands`; what it came to, by name, to be shown.

        Comes one at a time, at any time in the driver's life, also before it is up. Is cancelled
        where it takes longer than :data:`COMMAND_S`.

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
    build: Callable[[str, Any], Driver]
    """Takes the carrier's name and validated settings. Opens nothing yet."""
    summary: str
    """One line for ``risala plugins``."""

"""The contract for plugins that bring one-time codes to people by another way than SMS.

A channel is registered by the hook ``risala_register_channels`` (see
:mod:`risala.plugins.hookspecs`). The engine owns the codes, their prices and refunds, retries, the
order of channels and when the next one begins; a channel hands one code over, and may tell later
what became of it. It is a carrier of codes: pauses, metrics and the commands of ``risala carriers``
are the same, and a vendor that calls back finds it at ``/carriers/NAME/…``.

**Secrets.** A code is a secret: a channel writes it into no log, no trace and no exception, and
leaves it out of the vendor's words that it returns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Protocol, runtime_checkable

import trio
from pydantic import BaseModel

from risala.plugins.answering import Answering, CarrierAnswer, CarrierRequest, RequestRefusedError
from risala.plugins.contract import (
    Accepted,
    Cause,
    DriverContext,
    Health,
    HealthState,
    NotStoredError,
    Outcome,
    Receipt,
    ReceiptState,
    Refused,
    Scope,
    Throttled,
    Uncertain,
    Unsent,
)
from risala.plugins.mail import Mail, Mailer, MailNotSentError

__all__ = [
    "LANGUAGES",
    "Accepted",
    "Answering",
    "CarrierAnswer",
    "CarrierRequest",
    "Cause",
    "ChannelCapabilities",
    "ChannelFactory",
    "ChannelTools",
    "CodeChannel",
    "CodeToSend",
    "DriverContext",
    "Health",
    "HealthState",
    "Mail",
    "MailNotSentError",
    "Mailer",
    "NotStoredError",
    "Outcome",
    "Reaches",
    "Receipt",
    "ReceiptState",
    "Refused",
    "RequestRefusedError",
    "Scope",
    "Throttled",
    "Uncertain",
    "Unsent",
]

LANGUAGES: Final = ("en", "fr", "ar")
"""The languages that a code may be in; a channel that lacks one takes English."""


class Reaches(StrEnum):
    """What a channel sends to."""

    NUMBER = "number"
    """A phone number: ``+`` and digits (E.164)."""
    ADDRESS = "address"
    """An e-mail address."""


@dataclass(frozen=True, slots=True)
class ChannelCapabilities:
    """What a channel can do. The engine reads it once, after the channel was built."""

    reaches: Reaches = Reaches.NUMBER
    """What it sends to."""
    receipts: bool = False
    """True: it tells later what became of a code (:meth:`DriverContext.receipt`)."""
    window_max: int = 10
    """The most unanswered calls of :meth:`CodeChannel.send_code` at once."""
    send_s: float = 30.0
    """The longest that one takes by the channel's own limits, in seconds."""
    account: str = ""
    """Our account at the vendor, where several channels share it. Never a secret."""
    secret_address: bool = False
    """True, of a channel that is :class:`Answering`: its vendor signs nothing, and proves itself by
    a secret in its address (``risala carriers rotate NAME``)."""


@dataclass(frozen=True, slots=True)
class CodeToSend:
    """One delivery of a code."""

    id: str
    """Ours, and the same in each attempt: for the vendor's idempotency."""
    attempt: int
    """1 for the first attempt."""
    to: str
    """Whom it is for, as :attr:`ChannelCapabilities.reaches` says."""
    code: str = field(repr=False)
    """4 to 8 digits."""
    language: str
    """One of :data:`LANGUAGES`."""
    expires_at_ms: int
    """UTC epoch milliseconds, after which the code is of no use."""
    text: str = field(default="", repr=False)
    """A text with the code that names a payment, or has words of the caller's: for e-mail alone.
    Empty: the channel writes its own."""


@runtime_checkable
class CodeChannel(Protocol):
    """One way to people, at one vendor."""

    @property
    def capabilities(self) -> ChannelCapabilities:
        """What the channel can do; read once, after it was built."""

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Live until cancelled, as :meth:`risala.plugins.contract.Driver.run` does: calls
        ``task_status.started()`` at once, and reports by :meth:`DriverContext.health` whether codes
        can be sent."""

    async def send_code(self, code: CodeToSend) -> Outcome:
        """Hand one code over and wait for the vendor's answer.

        Never raises. :class:`Refused` with :attr:`Scope.FINAL`: this person cannot be reached so,
        as who has no account there; the next channel begins at once. ``Uncertain``: the vendor may
        have it; the delivery then fails after some seconds, and the next channel begins. Bounded
        in time by :attr:`ChannelCapabilities.send_s`.
        """


@dataclass(frozen=True, slots=True)
class ChannelTools:
    """What the service lends a channel."""

    mailer: Callable[[], Mailer | None]
    """The service's mailer, once it is built; None: no mail server is set."""


@dataclass(frozen=True, slots=True)
class ChannelFactory:
    """How a channel is built from its table in the configuration."""

    name: str
    """The word for ``channel = "…"`` in ``[channels.NAME]``, and of the table within it."""
    settings: type[BaseModel]
    """Validates that table, ``[channels.NAME.WORD]``; unknown keys forbidden. Keys that end in
    ``_env`` name environment variables with secrets."""
    build: Callable[[str, Any, ChannelTools], CodeChannel]
    """Takes the channel's name, its validated settings and the tools. Opens nothing yet."""
    summary: str
    """One line for ``risala plugins``."""

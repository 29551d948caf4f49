"""The contract for plugins that send e-mail.

A mailer is registered by the hook ``risala_register_mailers`` (see
:mod:`risala.plugins.hookspecs`). The engine owns the texts, the recipients and retries; a mailer
hands one mail over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from risala.config.outward import MailSection


@dataclass(frozen=True, slots=True)
class Mail:
    """One e-mail in plain text."""

    to: str
    """One address."""
    subject: str
    """One line, in any script."""
    text: str = field(repr=False)
    """Plain text, in lines; it may hold a code or a link that only the recipient may read."""


class MailNotSentError(Exception):
    """The mail was not taken; ``str()`` is a sentence for the operator. It is tried again."""


@runtime_checkable
class Mailer(Protocol):
    """Sends e-mail."""

    async def send(self, mail: Mail) -> None:
        """Hand a mail over; returns once it was taken. Bounded in time.

        Raises:
            MailNotSentError: the server could not be reached, or refused the mail.
        """


@dataclass(frozen=True, slots=True)
class MailerFactory:
    """How a mailer of one kind is built from the ``[mail]`` table."""

    name: str
    """The word for ``mail.mailer = "…"`` in the configuration."""
    build: Callable[[MailSection], Mailer]
    """Takes the table, in which the setting :attr:`needs` is set. Opens nothing yet."""
    summary: str
    """One line for ``risala plugins``."""
    needs: str = "host"
    """The setting of the table without which no mail is sent."""

"""E-mail as a plugin like any other: by SMTP, or into a file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import trio

from risala.config.model import MailSection
from risala.plugins.hookspecs import hookimpl
from risala.plugins.mail import Mail, Mailer, MailerFactory, MailNotSentError

# E-mail into a file, a line of JSON each: for the demo and for experiments.


class OutboxMailer:
    """A :class:`risala.plugins.mail.Mailer` that sends nothing: codes and links are in its file.

    So only its owner can read the file.
    """

    def __init__(self, settings: MailSection) -> None:
        assert settings.outbox is not None
        self._path: Path = settings.outbox

    async def send(self, mail: Mail) -> None:
        await trio.lowlevel.checkpoint()
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = {"at": at, "to": mail.to, "subject": mail.subject, "text": mail.text}
        try:
            self._append(json.dumps(line, ensure_ascii=False) + "\n")
        except OSError as error:
            raise MailNotSentError(f"{self._path} cannot be written: {error.strerror}.") from error

    def _append(self, line: str) -> None:
        flags = os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_CLOEXEC
        with open(os.open(self._path, flags, 0o600), "a", encoding="utf-8") as outbox:
            outbox.write(line)


def build_smtp(settings: MailSection) -> Mailer:
    """Build a mailer by SMTP. It is imported here, so that a service without a mail server does not
    spend time and memory on it."""
    from risala.drivers.mail.smtp import SmtpMailer

    return SmtpMailer(settings)


SMTP = MailerFactory(
    name="smtp",
    build=build_smtp,
    summary="SMTP with STARTTLS or TLS, to one server",
)
OUTBOX = MailerFactory(
    name="outbox",
    build=OutboxMailer,
    summary="Into a file, a line of JSON each; nothing is sent",
    needs="outbox",
)


@hookimpl
def risala_register_mailers(register: Callable[[MailerFactory], None]) -> None:
    register(SMTP)
    register(OUTBOX)

"""E-mail as a plugin like any other: by SMTP, or into a file."""

from __future__ import annotations

from collections.abc import Callable

from risala.drivers.mail.outbox import OutboxMailer
from risala.drivers.mail.smtp import SmtpMailer
from risala.plugins.hookspecs import hookimpl
from risala.plugins.mail import MailerFactory

SMTP = MailerFactory(
    name="smtp",
    build=SmtpMailer,
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

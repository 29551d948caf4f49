"""E-mail as a plugin like any other: by SMTP, or into a file."""

from __future__ import annotations

from collections.abc import Callable

from risala.config.model import MailSection
from risala.drivers.mail.outbox import OutboxMailer
from risala.plugins.hookspecs import hookimpl
from risala.plugins.mail import Mailer, MailerFactory


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

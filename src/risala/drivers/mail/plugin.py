"""E-mail by SMTP as a plugin like any other."""

from __future__ import annotations

from collections.abc import Callable

from risala.drivers.mail.smtp import SmtpMailer
from risala.plugins.hookspecs import hookimpl
from risala.plugins.mail import MailerFactory

FACTORY = MailerFactory(
    name="smtp",
    build=SmtpMailer,
    summary="SMTP with STARTTLS or TLS, to one server",
)


@hookimpl
def risala_register_mailers(register: Callable[[MailerFactory], None]) -> None:
    register(FACTORY)

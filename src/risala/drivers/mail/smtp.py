"""E-mail by SMTP: the standard library's client, in a thread."""

from __future__ import annotations

import os
import smtplib
import ssl
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, make_msgid
from typing import Final

import trio

from risala.config.model import MailSection
from risala.plugins.mail import Mail, MailNotSentError

TIMEOUT_S: Final = 20.0
"""Seconds for each step of the conversation with the server, the connection included."""
AT_ONCE: Final = 2
"""Threads that send mail at once: mail is rare, and a hanging server must not use up the shared
thread pool."""


class SmtpMailer:
    """A :class:`risala.plugins.mail.Mailer` for one server."""

    def __init__(self, settings: MailSection) -> None:
        assert settings.host is not None
        self._settings = settings
        self._limiter = trio.CapacityLimiter(AT_ONCE)

    async def check(self, password: str) -> None:
        """Connect, encrypt and log in, and hang up: nothing is sent.

        Raises:
            OSError, smtplib.SMTPException: the server cannot be used so.
        """
        await trio.to_thread.run_sync(
            self._check, password, limiter=self._limiter, abandon_on_cancel=True
        )

    def _check(self, password: str) -> None:
        with self._connect(password) as server:
            server.noop()

    async def send(self, mail: Mail) -> None:
        try:
            # Abandoned at a stop: the mail may then be sent twice, which is better than never.
            await trio.to_thread.run_sync(
                self._send, mail, limiter=self._limiter, abandon_on_cancel=True
            )
        except (OSError, smtplib.SMTPException, ValueError) as error:
            reason = smtp_reason(error).replace(mail.to, "the recipient")  # never logged
            raise MailNotSentError(f"The mail was not sent: {reason}") from error

    def _send(self, mail: Mail) -> None:
        message = EmailMessage(policy=SMTP)  # refuses line ends in headers
        message["From"] = self._settings.sender
        message["To"] = mail.to
        message["Subject"] = mail.subject
        message["Date"] = formatdate()
        message["Message-ID"] = make_msgid(domain="risala.invalid")
        message["Auto-Submitted"] = "auto-generated"  # RFC 3834: prevents automatic replies
        # base64, because not every server takes eight bits a character (8BITMIME).
        message.set_content(mail.text, cte="base64")
        password = os.environ.get(self._settings.password_env or "", "")
        with self._connect(password) as server:
            server.send_message(message, to_addrs=[mail.to])

    def _connect(self, password: str) -> smtplib.SMTP:
        settings = self._settings
        host = settings.host or ""
        if settings.security == "tls":
            context = ssl.create_default_context()
            server: smtplib.SMTP = smtplib.SMTP_SSL(
                host, settings.port, timeout=TIMEOUT_S, context=context
            )
        else:
            server = smtplib.SMTP(host, settings.port, timeout=TIMEOUT_S)
        try:
            if settings.security == "starttls":
                server.starttls(context=ssl.create_default_context())
            if settings.user is not None:
                server.login(settings.user, password)
        except BaseException:
            server.close()
            raise
        return server


def smtp_reason(error: Exception) -> str:
    """The text of an error from the server or the system, on one line."""
    reason = str(error)
    if isinstance(error, smtplib.SMTPRecipientsRefused):  # its text is a dictionary by address
        reason = " ".join(_answer(*answer) for answer in error.recipients.values())
    elif isinstance(error, smtplib.SMTPResponseException):
        reason = _answer(error.smtp_code, error.smtp_error)
    return " ".join(reason.split())[:200] or type(error).__name__


def _answer(code: int, text: bytes | str) -> str:
    return f"{code} {text.decode('utf-8', 'replace') if isinstance(text, bytes) else text}"

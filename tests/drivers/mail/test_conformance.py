"""The built-in mailers pass the suite that we ship to plugin authors."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from email import message_from_bytes
from email.policy import default
from pathlib import Path

import pytest
from aiosmtpd.controller import Controller

from patience import HANG_S
from risala.config.model import MailSection
from risala.drivers.mail.plugin import OutboxMailer
from risala.drivers.mail.smtp import SmtpMailer
from risala.plugins.mail import Mail, Mailer
from risala.plugins.testing.mailers import MailerConformance


class Inbox:
    """What aiosmtpd hands over."""

    def __init__(self) -> None:
        self.mails: list[Mail] = []
        self.refuses = False

    async def handle_DATA(self, server: object, session: object, envelope: object) -> str:
        if self.refuses:
            return "550 5.7.1 No mail from you"
        message = message_from_bytes(envelope.content, policy=default)
        for to in envelope.rcpt_tos:
            self.mails.append(Mail(to, message["Subject"], message.get_content()))
        return "250 OK"


@contextmanager
def smtp_server(inbox: Inbox) -> Iterator[int]:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    server = Controller(inbox, hostname="127.0.0.1", port=port)
    server.start()
    try:
        yield port
    finally:
        server.stop()


class TestSmtp(MailerConformance):
    patience_s = leave_s = HANG_S
    whole_s = 5 * HANG_S

    @asynccontextmanager
    async def open_mailer(self) -> AsyncIterator[Mailer]:
        self.inbox = Inbox()
        with smtp_server(self.inbox) as port:
            yield SmtpMailer(
                MailSection(host="127.0.0.1", port=port, security="none", sender="sms@shop.example")
            )

    async def server_got(self) -> list[Mail]:
        return self.inbox.mails

    async def refuse_mail(self) -> None:
        self.inbox.refuses = True


class TestOutbox(MailerConformance):
    patience_s = leave_s = HANG_S
    whole_s = 5 * HANG_S

    @pytest.fixture(autouse=True)
    def _in_folder(self, tmp_path: Path) -> None:
        self.path = tmp_path / "outbox.jsonl"

    @asynccontextmanager
    async def open_mailer(self) -> AsyncIterator[Mailer]:
        yield OutboxMailer(MailSection(mailer="outbox", outbox=self.path))

    async def server_got(self) -> list[Mail]:
        lines = [json.loads(line) for line in self.path.read_text("utf-8").splitlines()]
        return [Mail(line["to"], line["subject"], line["text"]) for line in lines]

    async def refuse_mail(self) -> None:
        self.path.mkdir()

"""Codes by e-mail: the suite that we ship to plugin authors, and what the mail says."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from patience import HANG_S
from risala.drivers.channels.mail import EmailChannel
from risala.drivers.channels.settings import EmailSettings
from risala.plugins.channel import LANGUAGES, ChannelTools, CodeChannel, CodeToSend, HealthState
from risala.plugins.contract import Refused, Scope, Unsent
from risala.plugins.mail import Mail, MailNotSentError
from risala.plugins.testing.channels import ChannelConformance
from risala.plugins.testing.context import RecordingContext


class Server:
    """A mailer that keeps what it gets."""

    def __init__(self) -> None:
        self.mails: list[Mail] = []
        self.refuses = False

    async def send(self, mail: Mail) -> None:
        if self.refuses:
            raise MailNotSentError("The mail was not sent: 421 too busy")
        self.mails.append(mail)


def code(**changes) -> CodeToSend:
    fields = {
        "id": "sms_1",
        "attempt": 1,
        "to": "a@example.org",
        "code": "482913",
        "language": "en",
        "expires_at_ms": 4_102_444_800_000,
    }
    return CodeToSend(**{**fields, **changes})


async def test_a_text_of_its_own_is_brought_as_it_is():
    server = Server()
    channel = EmailChannel(EmailSettings(name="Shop"), ChannelTools(lambda: server))
    await channel.send_code(code(text="482913 pays 12.50 MRU to Boutique."))
    (mail,) = server.mails
    assert mail.text == "482913 pays 12.50 MRU to Boutique.\n"
    assert mail.subject == "Shop: your code is 482913"


class TestEmail(ChannelConformance):
    patience_s = leave_s = HANG_S
    whole_s = 5 * HANG_S

    @asynccontextmanager
    async def open_channel(self) -> AsyncIterator[CodeChannel]:
        self.server = Server()
        yield EmailChannel(EmailSettings(), ChannelTools(lambda: self.server))

    async def vendor_got(self) -> Sequence[tuple[str, str]]:
        return [
            (mail.to, found[0])
            for mail in self.server.mails
            if (found := re.search(r"\d{4,8}", mail.text)) is not None
        ]

    async def break_vendor(self) -> None:
        self.server.refuses = True


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_mail_names_the_sender_and_the_code(language):
    server = Server()
    channel = EmailChannel(EmailSettings(name="My shop"), ChannelTools(lambda: server))
    await channel.send_code(code(language=language))
    (mail,) = server.mails
    for text in (mail.subject, mail.text):
        assert "My shop" in text
        assert "482913" in text
    assert "\n" not in mail.subject


async def test_a_mail_that_is_not_taken_is_tried_again():
    server = Server()
    server.refuses = True
    outcome = await EmailChannel(EmailSettings(), ChannelTools(lambda: server)).send_code(code())
    assert isinstance(outcome, Refused)
    assert outcome.scope is Scope.NOW


async def test_without_a_mail_server_the_operator_is_told(nursery):
    channel = EmailChannel(EmailSettings(), ChannelTools(lambda: None))
    context = RecordingContext()
    await nursery.start(channel.run, context)
    assert context.healths[-1].state is HealthState.SICK
    assert isinstance(await channel.send_code(code()), Unsent)

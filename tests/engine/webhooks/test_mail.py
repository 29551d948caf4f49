"""The owner of an endpoint that had to be disabled is told, by a mail that is not lost either."""

from __future__ import annotations

from contextlib import contextmanager
from email import message_from_string
from email.policy import default
from urllib.parse import urlsplit

import pytest
import trio
from aiosmtpd.controller import Controller
from benchmarks.processes import free_port

from risala.config.model import MailSection
from risala.drivers.mail.smtp import SmtpMailer
from risala.engine.model.callers import Caller, CallerKind, Role, key_holder
from risala.engine.rules.webhooks.schedule import ReceiverAnswer
from risala.plugins.mail import Mail, MailNotSentError

URL = "https://example.com/hook"
GONE = ReceiverAnswer(410, None, "")


class FakeMailer:
    def __init__(self, failures: int = 0) -> None:
        self.failures = failures
        self.tried_s: list[float] = []
        self.sent: list[Mail] = []

    async def send(self, mail: Mail) -> None:
        await trio.lowlevel.checkpoint()
        self.tried_s.append(trio.current_time())
        if len(self.tried_s) <= self.failures:
            raise MailNotSentError("The server is away.")
        self.sent.append(mail)


async def disable(house, **wish) -> str:
    house.outbound.plan[URL] = GONE
    endpoint, _ = await house.endpoint(**wish)
    await house.happen()
    await trio.sleep(1)
    assert not (await house.endpoint_shown(endpoint))["enabled"]
    return endpoint


async def test_the_owner_is_told_once(open_house, quick, leap):
    mailer = FakeMailer()
    async with open_house(mailer=mailer) as house:
        endpoint = await disable(house, notify="owner@example.org")
        await leap(3600)
        (mail,) = mailer.sent
        assert mail.to == "owner@example.org"
        assert endpoint not in mail.subject
        assert f"Point de réception : {urlsplit(URL).hostname}\n" in mail.text.replace("\xa0", " ")
        assert URL in mail.text
        assert "410" in mail.text
        assert "rejouées" in mail.text  # nobody knows their language


async def test_owners_are_told_in_their_language_besides_the_address_that_it_names(
    open_house, quick
):
    mailer = FakeMailer()
    async with open_house(mailer=mailer) as house:
        for email, language, role in (
            ("fr@example.org", "fr", "owner"),
            ("ar@example.org", "ar", "owner"),
            ("dev@example.org", "en", "developer"),
        ):
            await house.perform("user.create", email=email, language=language)
            organization_id = house.principal.organization_id
            await house.perform(
                "member.add", organization_id=organization_id, email=email, role=role
            )
        await disable(house, notify="fr@example.org")
        await trio.sleep(60)
        told = {mail.to: mail.subject for mail in mailer.sent}
        assert sorted(told) == ["ar@example.org", "fr@example.org"]
        assert told["fr@example.org"].startswith("Votre point de réception")
        assert told["ar@example.org"].startswith("تم تعطيل")


async def test_a_mail_that_is_owed_survives_a_restart(open_house, quick):
    async with open_house(mailer=FakeMailer(failures=99)) as house:
        await disable(house, notify="owner@example.org")
    mailer = FakeMailer()
    async with open_house(mailer=mailer) as house:
        await trio.sleep(600)
        assert len(mailer.sent) == 1


async def test_nobody_to_tell(open_house, quick, capsys):
    async with open_house() as house:
        endpoint = await disable(house, notify="owner@example.org")
        assert (await house.endpoint_shown(endpoint))["disabledReason"] == "gone"
        await trio.sleep(1)
    assert "people.mail.unsent" in capsys.readouterr().out
    mailer = FakeMailer()
    async with open_house(mailer=mailer, mail=MailSection(operator="op@example.org")) as house:
        await disable(house)
        await trio.sleep(1)
        assert [mail.to for mail in mailer.sent] == ["op@example.org"]


async def test_its_owners_own_wish_is_no_news(open_house, quick):
    mailer = FakeMailer()
    async with open_house(mailer=mailer) as house:
        endpoint, _ = await house.endpoint(notify="owner@example.org")
        await house.perform("webhook.disable", endpoint_id=endpoint)
        await trio.sleep(1000)
        assert mailer.sent == []


# -- SMTP --------------------------------------------------------------------------------------


class Inbox:
    def __init__(self) -> None:
        self.mails: list[tuple[str, list[str], str]] = []
        self.answer = "250 OK"

    async def handle_DATA(self, server, session, envelope):
        content = envelope.content.decode("utf-8", "replace")
        self.mails.append((envelope.mail_from, envelope.rcpt_tos, content))
        return self.answer


@contextmanager
def smtp_server():
    inbox, port = Inbox(), free_port()
    controller = Controller(inbox, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield inbox, MailSection(host="127.0.0.1", port=port, security="none")
    finally:
        controller.stop()


MAIL = Mail("owner@example.org", "Disabled: é", "مرحبا\nA line.\n")


async def test_a_mail_reaches_a_real_server():
    with smtp_server() as (inbox, settings):
        await SmtpMailer(settings).send(MAIL)
    ((sender, to, content),) = inbox.mails
    assert (sender, to) == ("risala@localhost", ["owner@example.org"])
    read = message_from_string(content, policy=default)
    assert read["subject"] == MAIL.subject
    assert read.get_content().replace("\r\n", "\n") == MAIL.text
    assert read["message-id"]
    assert content.isascii()


async def test_a_refusal_and_an_absence_are_told():
    with smtp_server() as (inbox, settings):
        inbox.answer = "554 No spam here"
        with pytest.raises(MailNotSentError, match="No spam here"):
            await SmtpMailer(settings).send(MAIL)
    with pytest.raises(MailNotSentError):
        await SmtpMailer(settings).send(MAIL)


async def test_no_password_in_the_clear_by_mistake():
    with smtp_server() as (inbox, settings):
        wants_tls = settings.model_copy(update={"security": "starttls", "user": "me"})
        with pytest.raises(MailNotSentError, match="STARTTLS"):
            await SmtpMailer(wants_tls).send(MAIL)
        assert inbox.mails == []


@pytest.mark.parametrize("to", ["a@b.c\nBcc: d@e.f", "a@b.c\r\nX: y"])
async def test_a_header_cannot_be_smuggled_in(to):
    with smtp_server() as (inbox, settings):
        with pytest.raises(MailNotSentError):
            await SmtpMailer(settings).send(Mail(to, "x", "y"))
        assert inbox.mails == []


async def test_who_disabled_an_endpoint_is_told(open_house):
    """By hand: a member's address or a key's id, and of operators only that it was one."""
    async with open_house() as house:
        endpoint, _ = await house.endpoint()
        this = {"organization_id": house.organization_id, "endpoint_id": endpoint}

        async def disabled_by(*callers: Caller) -> str | None:
            for caller in callers:
                for name in ("webhook.enable", "webhook.disable"):
                    await house.gateway.perform(name, this, caller)
            return (await house.perform("webhook.show", endpoint_id=endpoint))["disabledBy"]

        member = Caller(
            "aicha@baraka.example", CallerKind.DASHBOARD, Role.DEVELOPER, house.organization_id
        )
        operator = Caller("sidi@risala.example", CallerKind.CONSOLE, Role.OPERATOR)
        assert await disabled_by() is None
        assert await disabled_by(operator, member) == "aicha@baraka.example"
        key = key_holder("key_06H2H2JBV0000A8Y63BKHR7A9SEYNT8F", house.organization_id)
        assert await disabled_by(key) == key.who
        assert await disabled_by(operator) == "operator"
        await house.perform("webhook.enable", endpoint_id=endpoint)
        assert await disabled_by() is None

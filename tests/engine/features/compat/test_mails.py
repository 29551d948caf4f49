"""Messages by mail: who may send them, how many, what they say, and that each is sent once."""

import json

import pytest
import trio

from risala.config.model import LimitsSection, MailToSmsSection, Settings
from risala.engine.features.compat.rules import MailSenders, text_of
from risala.engine.model.errors import (
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    RateLimited,
    SenderNotApproved,
)

TABLES = (
    MailToSmsSection(senders=("alerts@example.com",), subject="only", characters_max=12),
    MailToSmsSection(senders=("@Example.com",)),
    MailToSmsSection(senders=("lost@example.org",), organization="org_none"),
    MailToSmsSection(senders=("name@example.org",), sender="Nobody"),
)
LIMITS = LimitsSection(mails_per_minute=2, mails_per_hour=3)


@pytest.fixture
async def house(open_house, autojump_clock):
    async with open_house(mail_to_sms=TABLES, limits=LIMITS) as opened:
        yield opened


@pytest.fixture
def mail(house):
    async def send(sender: str = "bob@example.com", digest: str = "1", **more):
        given = {"to": "36123456", "mail_from": sender, "text": "It is full.", "digest": digest}
        return await house.gateway.perform("message.mail", {"subject": "Disk", **given, **more})

    return send


async def text(house, told) -> str:
    shown = await house.gateway.perform("message.show", {"message_id": told["messageId"]})
    return shown["message"]["body"]


async def test_a_mail_is_sent_to_the_number(house, mail, autojump_clock):
    told = await mail("Bob@EXAMPLE.com")
    assert await text(house, told) == "Disk\nIt is full."
    (line, *_) = (await house.gateway.perform("audit.list", {"operation": "message.mail"}))["lines"]
    assert (line["operation"], line["after"]["mailFrom"]) == ("message.mail", "Bob@EXAMPLE.com")
    assert "It is full." not in json.dumps(line)


async def test_the_first_table_of_a_sender_counts(house, mail, autojump_clock):
    told = await mail("alerts@example.com", subject="** PROBLEM: router down **")
    assert await text(house, told) == "** PROBLE..."


@pytest.mark.parametrize(
    ("sender", "error"),
    [
        ("eve@other.example", Forbidden),
        ("bob@sub.example.com", Forbidden),
        ("example.com", Forbidden),
        ("eve@evil.example@example.com.evil.example", Forbidden),
        ("lost@example.org", NotFound),
        ("name@example.org", SenderNotApproved),
    ],
)
async def test_others_may_not(house, mail, sender, error, autojump_clock):
    with pytest.raises(error):
        await mail(sender)


async def test_without_tables_nobody_may(open_house, autojump_clock):
    given = {"to": "36123456", "mail_from": "a@b", "text": "x", "digest": "1"}
    async with open_house() as house:
        with pytest.raises(Conflict, match="mail_to_sms"):
            await house.gateway.perform("message.mail", given)
        settings = Settings(mail_to_sms=({"senders": ["@b"]},))
        house.engine.retune(settings)
        assert (await house.gateway.perform("message.mail", given))["messageId"]
        await house.gateway.perform("org.create", {"name": "Another"})
        with pytest.raises(Conflict, match="There are 2 organizations"):
            await house.gateway.perform("message.mail", given)


async def test_the_same_mail_to_one_number_is_sent_once(house, mail, autojump_clock):
    """A mail server tries again if it did not hear the answer."""
    told = await mail()
    assert await mail(text="of another try") == told
    assert await mail(to="+222 36 12 34 56") == told
    assert await mail(digest="2") != told
    assert await mail() == told  # the rate is used up, which a repeat does not need


async def test_the_rate_is_the_services(house, mail, autojump_clock):
    await mail(digest="1")
    await mail(digest="2", sender="BOB@example.com")
    with pytest.raises(RateLimited) as refused:
        await mail(digest="3")
    assert (refused.value.limit, refused.value.retry_after_s) == ("mail", 60)
    await mail(digest="3", sender="ann@example.com")
    await trio.sleep(60)
    await mail(digest="4")
    with pytest.raises(RateLimited) as refused:
        await mail(digest="5")  # the hour is full
    assert refused.value.retry_after_s == 3540


@pytest.mark.parametrize("given", [{"mail_from": ""}, {"automatic": True}])
async def test_bounces_and_automatic_replies_send_nothing_in_silence(
    house, mail, given, autojump_clock
):
    told = await mail(**given, sender="eve@other.example") if "automatic" in given else None
    told = told or await mail("")
    assert told["messageId"] is None
    assert told["ignored"].endswith("so nothing was sent.")
    assert (await house.gateway.perform("message.find", {"to": "36123456"}))["messages"] == []


@pytest.mark.parametrize(
    ("given", "path"),
    [({"to": "alerts"}, "to"), ({"to": "12"}, "to"), ({"text": "", "subject": ""}, "text")],
)
async def test_faults_of_a_mail(house, mail, given, path, autojump_clock):
    with pytest.raises(Invalid) as refused:
        await mail(**given)
    assert refused.value.path == path


def table(**more) -> MailToSmsSection:
    return MailToSmsSection(senders=("@a",), **more)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "Disk\nIt is full."),
        ({"subject": "off"}, "It is full."),
        ({"subject": "only"}, "Disk"),
        ({"characters_max": 16}, "Disk\nIt is full."),
        ({"characters_max": 15}, "Disk\nIt is f..."),
        ({"characters_max": 8}, "Disk..."),
        ({"characters_max": 2}, ".."),
    ],
)
def test_what_a_message_says(given, text):
    assert text_of("Disk", "It is full.", table(**given)) == text


def test_tables_change_while_the_service_runs():
    tables = MailSenders(Settings())
    assert not tables
    tables.retune(Settings(mail_to_sms=(table(),)))
    assert tables.of("x@A") == table()
    assert tables.of("x@b") is None

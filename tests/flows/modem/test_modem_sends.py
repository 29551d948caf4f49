"""From an HTTP request to a phone through a modem on a pseudo-terminal, and back."""

from __future__ import annotations

import pytest

from risala.sms.segment import split

pytestmark = pytest.mark.slow

TEXTS = {
    "GSM-7": "Votre code est 4711. @£$¥èéùìòÇØøÅå",
    "extension characters": "{[~]} ^ \\ | 10 € {[~]}",
    "Arabic": "رسالتك في الطريق، شكرا",
    "emoji": "Bravo 🎉👍🏽 family 👨‍👩‍👧‍👦",
    "1600 characters": ("رسالة طويلة جدا 🎉 " * 100)[:1600],
    "1600 of GSM-7": ("abc {x} é " * 160)[:1600],
}


def test_each_kind_of_text_arrives_as_it_was_sent(station, running):
    modem = station.modem("sim-1")
    service = running(modem)
    account = service.organization()
    sent = {name: service.send(account, body=text).json() for name, text in TEXTS.items()}
    for name, text in TEXTS.items():
        shown = service.wait_status(account, sent[name]["messageId"], "delivered")
        assert (shown["carrier"], shown["segments"]) == ("sim-1", len(split(text)))
        assert shown["deliveredAt"] is not None
    assert modem.texts() == dict.fromkeys(TEXTS.values(), 1)
    assert service.timeline(sent["emoji"]["messageId"])[-1] == "Delivered to the phone."
    service.assert_books_agree()
    service.assert_no_bug_logged()


def test_a_report_that_says_no_and_one_that_never_comes(station, running):
    modem = station.modem("sim-1", report_status="failed")
    service = running(modem)
    account = service.organization()
    message_id = service.send(account, body="to nobody").json()["messageId"]
    assert service.wait_status(account, message_id, "undelivered")["errorCode"]
    modem.configure(report_status="none")
    message_id = service.send(account, body="into the dark").json()["messageId"]
    service.wait_status(account, message_id, "sent")
    assert modem.texts()["into the dark"] == 1

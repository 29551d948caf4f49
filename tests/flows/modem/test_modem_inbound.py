"""What phones write to the SIM is stored and told, and only then deleted from the modem."""

from __future__ import annotations

import json

import pytest

from risala.lab.modem.simulator import Heard

pytestmark = pytest.mark.slow

LONG = "".join(f"part of a long message, number {number}; " for number in range(20))
ARABIC = "السلام عليكم، هل وصلت الرسالة؟ " * 8
PHONE = "+22236999999"


def bodies(service) -> list[str]:
    return [body for (body,) in service.rows("SELECT body FROM inbound ORDER BY rowid")]


def test_messages_are_stored_told_and_deleted(station, running, until):
    modem = station.modem("sim-1")
    service = running(modem)
    account = service.organization()
    service.perform("inbound.route", organization_id=account.organization_id)
    texts = ["Oui", LONG, ARABIC]
    for text in texts:
        modem.receive(PHONE, text, shuffle=True)
    until(lambda: len(bodies(service)) == 3, "three messages are stored")
    assert sorted(bodies(service)) == sorted(texts)

    told = [json.loads(event.body) for event in service.events()]
    events = [event for event in told if event["type"] == "sms.received"]
    assert sorted(event["text"] for event in events) == sorted(texts)
    assert {event["from"] for event in events} == {PHONE}
    until(lambda: modem.stored() == 0, "the modem's storages are empty")
    service.assert_no_bug_logged()


def test_what_comes_while_the_service_is_down_waits_in_the_modem(station, running, until):
    """Killed at once after a part came: nothing is lost, nothing is there twice."""
    modem = station.modem("sim-1")
    service = running(modem)
    modem.receive(PHONE, LONG)
    service.kill()
    modem.receive(PHONE, "while nobody listens")
    assert modem.stored() >= 1
    service.restart()
    until(lambda: len(bodies(service)) == 2, "both messages are stored")
    assert sorted(bodies(service)) == sorted([LONG, "while nobody listens"])
    until(lambda: modem.stored() == 0, "the modem's storages are empty")


def test_nothing_is_deleted_before_it_is_stored(station, running, until):
    stored_when_deleted = []

    def hear(event) -> None:
        if isinstance(event, Heard) and event.line.startswith("AT+CMGD="):
            stored_when_deleted.append(len(bodies(service)))

    modem = station.modem("sim-1", on_event=hear)
    service = running(modem)
    for number in range(5):
        modem.receive(PHONE, f"message {number}")
    until(lambda: len(bodies(service)) == 5 and modem.stored() == 0, "all are stored, and gone")
    assert len(stored_when_deleted) == 5
    assert all(stored >= n for n, stored in enumerate(stored_when_deleted, 1))


@pytest.mark.parametrize("written", ["22236999999", "36999999"])
def test_stop_from_a_number_that_the_network_writes_without_its_plus(
    station, running, until, written
):
    modem = station.modem("sim-1")
    service = running(modem)
    account = service.organization()
    service.perform("inbound.opt_outs", organization_id=account.organization_id, heeds=True)
    sent = service.send(account, to=PHONE, body="hello").json()["messageId"]
    until(lambda: service.show(account, sent)["status"] == "delivered", "the message is there")
    modem.receive(written, "STOP")
    until(lambda: bodies(service) == ["STOP"], "the answer is stored")
    refused = service.send(account, to=PHONE, body="hello")
    assert refused.json()["data"] == {"code": "RECIPIENT_OPTED_OUT"}
    service.assert_no_bug_logged()

"""`risala tail` beside a service that is killed and comes back."""

from __future__ import annotations

import json
import signal
import sys

import pytest

pytestmark = pytest.mark.slow


def follow(premises, service, *options):
    command = (sys.executable, "-m", "risala", "tail", "--data", str(service.data), *options)
    return premises.process(*command)


def told(process, kind):
    found = (json.loads(line) for line in list(process.lines))
    return [each for each in found if each["kind"] == kind]


def wait_told(process, kind, count=1):
    process.wait_line(lambda _: len(told(process, kind)) >= count)


def test_it_goes_on_where_it_was_when_the_service_comes_back(premises, until):
    simulator = premises.simulator("--receipt-delay-s", "0.05")
    service = premises.running(simulator)
    account, other = service.organization(), service.organization()
    events = follow(premises, service, "--events", "--json", "--org", account.organization_id)
    life = follow(premises, service, "--json", "--org", account.organization_id)
    people = follow(premises, service)
    for process in (events, life):
        wait_told(process, "ready")
    sent = [service.send(account, body=f"n{n}").json()["messageId"] for n in range(10)]
    until(lambda: service.send(other, body="somebody else's") and people.lines, "people see it")
    for message_id in sent:
        service.wait_status(account, message_id, "delivered")
    service.kill()
    for process in (events, life):
        wait_told(process, "away")
    service.restart()
    sent += [service.send(account, body=f"m{n}").json()["messageId"] for n in range(10)]
    for message_id in sent:
        service.wait_status(account, message_id, "delivered")
    for process in (events, life):
        wait_told(process, "ready", 2)

    def seen_delivered():
        return {each["messageId"] for each in told(life, "life") if each["status"] == "delivered"}

    until(lambda: seen_delivered() == set(sent), "tail has shown every message to its end")
    written = {row[0] for row in service.rows(
        "SELECT id FROM events WHERE organization_id = ?", account.organization_id
    )}  # fmt: skip
    until(lambda: len(told(events, "event")) >= len(written), "tail has shown every event")
    ids = [each["event"]["id"] for each in told(events, "event")]
    assert len(ids) == len(set(ids))
    assert set(ids) == written
    assert {each["organizationId"] for each in told(life, "life")} == {account.organization_id}
    assert told(life, "reset") == told(events, "reset") == []

    until(lambda: any("is back" in line for line in people.errors), "people are told")
    assert any("stopped; waiting" in line for line in people.errors)
    for process in (events, life, people):
        process.signal(signal.SIGINT)
        assert process.wait_exit() == 0
    assert service.stop() == 0


@pytest.mark.long
def test_it_holds_neither_a_stop_nor_a_start_up(premises):
    simulator = premises.simulator()
    # Longer than the test waits: a stop that waited for the stream would not end in time.
    service = premises.running(simulator, more="[http]\ngraceful_stop_s = 120")
    process = follow(premises, service, "--json")
    wait_told(process, "ready")
    assert service.stop() == 0
    wait_told(process, "away")
    service.restart()
    wait_told(process, "ready", 2)
    process.signal(signal.SIGTERM)
    assert process.wait_exit() == 0

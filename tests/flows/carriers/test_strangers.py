"""A thousand strangers at the addresses of carriers, at a real service: customers send, phones
work, nothing is stored, and the log stays silent."""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from functools import partial

import pytest
from benchmarks.processes import free_port
from benchmarks.scenarios import strangers
from benchmarks.scenarios.strangers import SETTINGS, registered
from benchmarks.strangers import kinds_of
from benchmarks.trees import HERE

from patience import until

pytestmark = [pytest.mark.slow, pytest.mark.long]

CONNECTIONS = 1000
SENT = 40
"""Messages of customers meanwhile, half of them by each phone."""
ONE, OTHER = "+22246{:06}", "+22247{:06}"
LATE_S = "86400"
"""After which the first phone would report that its texts arrived: not in this test."""
HEADERS_TELL = {"no token", "another phone's token", "a token that nobody has"}
"""Of these the head says enough, so that they never wait for a place."""


def phone_at(premises, service, carrier, receipt_s):
    url = f"{service.url}/carriers/{carrier}/mobile/v1"
    options = ("--token", strangers.TOKEN, "--receipt-delay-s", receipt_s, "--sent-delay-s", "0")
    command = (sys.executable, "-m", "risala", "simulate", "phone", url, *options, "--json")
    phone = premises.process(*command)
    phone.wait_line(lambda line: '"is_open": true' in line)
    return phone


def sent_ids(phone) -> list[str]:
    events = [json.loads(line) for line in list(phone.lines)]
    return [each["id"] for each in events if each["event"] == "TextSent"]


def stored(service) -> dict[str, int]:
    counts = ", ".join(f"(SELECT count(*) FROM {name})" for name in strangers.STORES)
    (row,) = service.rows(f"SELECT {counts}")
    return dict(zip(strangers.STORES, row, strict=True))


def notes(service) -> set[tuple[str, str]]:
    """What the drivers remember, but which messages their phones have fetched."""
    rows = service.rows("SELECT carrier, key FROM carrier_notes WHERE key NOT LIKE 'fetched/%'")
    return {(carrier, key) for carrier, key in rows}


@pytest.fixture
def house(premises):
    """A service with two phones that work, and an aggregator."""
    path = premises.path / "carriers.toml"
    path.write_text(SETTINGS, encoding="utf-8")
    port = free_port()
    service = premises.service("--config", str(path), "--port", str(port))
    service.environment["BENCH_PHONE_TOKEN"] = strangers.TOKEN
    service.start()
    one, other = (
        phone_at(premises, service, name, wait)
        for name, wait in (("one", LATE_S), ("other", "0.1"))
    )
    return service, one, other, port


def test_a_thousand_strangers_change_nothing_and_hold_nobody_up(house):
    service, one, other, port = house
    account = service.organization("100000")
    send = partial(service.send, account)
    first = send(to=ONE.format(0), body="not reported as delivered").json()["messageId"]
    service.wait_status(account, first, "sent")
    before = send(to=OTHER.format(0), body="before them").json()["messageId"]
    service.wait_status(account, before, "delivered")
    token = registered(port, "third")
    carriers = {"phone": "one", "aggregator": "aggregator"}
    job = {
        "port": port,
        "connections": CONNECTIONS,
        "every_s": strangers.EVERY_S,
        "floods": strangers.FLOODS,
        "carriers": {**carriers, "token": token, "message": sent_ids(one)[0]},
    }
    before, noted, lines = stored(service), notes(service), len(service.process.errors)
    with strangers.strangers(job, HERE) as crowd:
        sent = {
            number.format(turn): send(to=number.format(turn), body=f"text {turn}")
            for turn in range(1, SENT // 2 + 1)
            for number in (ONE, OTHER)
        }
        assert {answer.status_code for answer in sent.values()} == {200}
        for number, answer in sent.items():
            status = "sent" if number.startswith(ONE[:6]) else "delivered"
            service.wait_status(account, answer.json()["messageId"], status)
        until(lambda: len(sent_ids(one)) == SENT // 2 + 1, "each text has left the first phone")
    answers = defaultdict[str, Counter[str]](Counter)
    for name, count in crowd.answers.items():
        kind, _, status = name.rpartition(": ")
        answers[kind][status] += count
    assert answers.keys() == {kind.name for kind in kinds_of(job["carriers"])}
    assert set(answers.pop("no carrier's address")) == {"404"}
    for kind, statuses in answers.items():
        allowed = {"401"} if kind in HEADERS_TELL else {"401", "503", "closed"}
        assert statuses, kind
        assert set(statuses) <= allowed, (kind, statuses)
    # Of one kind all may have found the places taken, never of all kinds.
    assert any(answers[kind]["401"] for kind in answers.keys() - HEADERS_TELL)
    assert (stored(service), notes(service)) == (before, noted)
    assert service.show(account, first)["status"] == "sent"
    assert service.rows("SELECT count(*) FROM messages") == [(SENT + 2,)]
    assert len(sent_ids(other)) == SENT // 2 + 1
    # The third phone has no stream, and is told of for that.
    assert [line for line in service.process.errors[lines:] if '"third"' not in line] == []
    last = send(to=OTHER.format(0), body="after them").json()["messageId"]
    service.wait_status(account, last, "delivered")
    service.assert_books_agree()
    service.assert_no_bug_logged()

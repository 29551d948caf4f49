"""Whole services whose carriers are HTTP: a real Kannel, and another Risala. Texts go out, and
receipts and what people write come back."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode

import httpx2
import pytest
from benchmarks.processes import free_port

from kannel_daemons import start_kannel
from patience import HANG_S, until

pytestmark = [pytest.mark.slow, pytest.mark.long]

PHONE = "+22236123456"
TEXTS = ["Bonjour", "x" * 400, "سلام " * 30]
OPEN = "[webhooks]\nallow_insecure = true\n"
KANNEL = """
group = core
admin-port = {admin}
smsbox-port = {box}
admin-password = test
log-file = "{directory}/bearerbox.log"
log-level = 0
box-deny-ip = "*.*.*.*"
box-allow-ip = "127.0.0.1"
dlr-storage = internal

group = smsc
smsc = smpp
smsc-id = network
host = 127.0.0.1
port = {network}
smsc-username = kannel
smsc-password = test
system-type = ""
transceiver-mode = true
source-addr-autodetect = true

group = smsc
smsc = http
smsc-id = people
denied-smsc-id = network
system-type = kannel
port = {people}
connect-allow-ip = 127.0.0.1
smsc-username = shop
smsc-password = test
send-url = "http://127.0.0.1:9/"

group = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = {http}
log-file = "{directory}/smsbox.log"
log-level = 0

group = sendsms-user
username = risala
password = "{password}"
concatenation = true
max-messages = 10
forced-smsc = network

group = sms-service
keyword = default
catch-all = true
max-messages = 0
post-url = "{inbound}?id=%I&from=%p&to=%P"
"""


def settings(directory: Path, name: str, carrier: str, more: str = "") -> Path:
    path = directory / f"{name}.toml"
    path.write_text(f"{more}\n{carrier}", encoding="utf-8")
    return path


def http_carrier(name: str, **table: str) -> str:
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())
    return (
        f'[[carriers]]\nname = "{name}"\ndriver = "http"\nrate_per_s = 1000\n'
        f"[carriers.http]\nlook_s = 0.2\nanswer_s = 120\n{lines}"
    )


def written(service) -> list[dict]:
    """What people wrote, as the service has it."""
    return json.loads(service.command("inbound", "list", "--json").stdout)["messages"]


def test_a_real_kannel_is_a_carrier(premises):
    simulator = premises.simulator("--receipt-delay-s", "0.05")
    port, admin, box, http, people = (free_port() for _ in range(5))
    table = {
        "preset": "kannel",
        "url": f"http://127.0.0.1:{http}",
        "user": "risala",
        "password": "kannels-password",
    }
    path = settings(premises.path, "ours", http_carrier("kannel", **table))
    service = premises.service("--config", str(path), "--port", str(port))
    service.start()
    made = service.command("carriers", "rotate", "kannel", "--config", str(path))
    address = f"{service.url}/carriers/kannel/{made.stdout.split()[0].rpartition('/')[2]}"
    config = premises.path / "kannel.conf"
    filling = {
        "admin": admin,
        "box": box,
        "http": http,
        "people": people,
        "network": simulator.port,
        "directory": premises.path,
        "password": table["password"],
        "inbound": f"{address}/inbound",
    }
    config.write_text(KANNEL.format(**filling), encoding="utf-8")
    start_kannel(premises, config, box)
    settings(premises.path, "ours", http_carrier("kannel", **table, secret_address=address))
    applied = service.command("carriers", "apply", "--config", str(path))
    assert applied.returncode == 0, applied.stderr
    service.wait_ready()
    account = service.organization()
    sent = [service.send(account, body=text).json()["messageId"] for text in TEXTS]
    for message_id in sent:
        service.wait_status(account, message_id, "delivered")
    assert simulator.texts() == Counter(TEXTS)
    for sender, text in ((PHONE, "vote  7 et tout"), ("22236123457", "سلام عليكم")):
        coding = {} if text.isascii() else {"coding": "2"}
        who = {"username": "shop", "password": "test", "from": sender, "to": "1234"}
        query = urlencode({**who, "text": text, "charset": "UTF-8", **coding})
        answer = httpx2.get(f"http://127.0.0.1:{people}/?{query}", trust_env=False, timeout=HANG_S)
        answer.raise_for_status()
    until(lambda: len(written(service)) == 2, "what people wrote has come")
    came = {(each["from"], each["to"], each["text"]) for each in written(service)}
    assert came == {(PHONE, "1234", "vote  7 et tout"), ("+22236123457", "1234", "سلام عليكم")}
    everything = (
        "".join(service.process.lines) + service.command("carriers", "show", "kannel").stdout
    )
    assert "kannels-password" not in everything
    assert address.rpartition("/")[2] not in everything
    service.assert_books_agree()
    service.assert_no_bug_logged()


TOLD = ("sms.sent", "sms.delivered", "sms.failed", "sms.canceled", "sms.received")
"""The events by which another Risala learns what became of its messages."""


def through(service, account, carrier: str, port: int) -> dict[str, str]:
    """How a service at a port sends through another one, by an account there."""
    endpoint = service.perform(
        "webhook.create",
        organization_id=account.organization_id,
        url=f"http://127.0.0.1:{port}/carriers/{carrier}/event",
        types=list(TOLD),
    )
    return {
        "preset": "risala",
        "url": service.url,
        "token": account.secret_key,
        "signing_secret": endpoint["secret"],
    }


def messages(service) -> list[tuple[str, str | None, str | None]]:
    """Status, error and carrier's word of each message of a service."""
    with closing(sqlite3.connect(service.data / "risala.db")) as conn:
        return conn.execute("SELECT status, error_code, carrier_code FROM messages").fetchall()


class Circle:
    """Services that send through each other: each through the next, and the last through the
    first."""

    def __init__(self, premises, *names: str) -> None:
        self.ports = {name: free_port() for name in names}
        self.services, self.accounts = {}, {}
        nobody = '[carriers.http.send]\npath = "/{to}"\nfields = { text = "{text}" }\n'
        nobody += '[carriers.http.answer]\nid = "/id"\n'
        for name, port in self.ports.items():
            first = http_carrier("next", url="http://127.0.0.1:9") + nobody
            path = settings(premises.path, name, first, OPEN)
            options = ("--config", str(path), "--port", str(port))
            self.services[name] = premises.service(*options, data=name)
            self.services[name].start()
            self.accounts[name] = self.services[name].organization()
        for name, other in zip(names, (*names[1:], names[0]), strict=True):
            table = through(self.services[other], self.accounts[other], "next", self.ports[name])
            settings(premises.path, name, http_carrier("next", **table), OPEN)
        for service in self.services.values():
            assert service.stop() == 0
            service.start()
        for service in self.services.values():
            service.wait_ready()

    def balance(self, name: str) -> str:
        """Of the organization by which the one before sends through this one."""
        return self.services[name].balance(self.accounts[name])


def test_a_message_that_would_return_is_refused(premises):
    circle = Circle(premises, "a", "b")
    a, b = circle.services["a"], circle.services["b"]
    customer, before = a.organization(), circle.balance("a")
    b.perform("carriers.pause", carrier="next")
    sent = a.send(customer, body="Salam").json()["messageId"]
    a.wait_status(customer, sent, "sent")
    assert [status for status, *_ in messages(b)] == ["pending"]
    b.kill()  # what the message came through is on disk
    b.start()
    b.perform("carriers.resume", carrier="next")
    until(lambda: messages(b) == [("failed", "REJECTED", "400 LOOP")], "the first one refused it")
    until(lambda: a.show(customer, sent)["errorCode"] == "REJECTED", "it learns that")
    assert len(messages(a)) == 1
    assert circle.balance("a") == before
    for service in (a, b):
        service.assert_books_agree()
        service.assert_no_bug_logged()


def test_a_service_that_sends_through_itself_refuses_it(premises):
    circle = Circle(premises, "a")
    a = circle.services["a"]
    customer, before = a.organization(), circle.balance("a")
    sent = a.send(customer, body="Salam").json()["messageId"]
    shown = a.wait_status(customer, sent, "failed")
    assert (shown["errorCode"], shown["carrierCode"]) == ("REJECTED", "400 LOOP")
    tried = a.command("carriers", "try", "next", "36 12 34 56")
    assert tried.returncode == 1
    assert "400 LOOP" in tried.stdout
    assert len(messages(a)) == 1
    assert circle.balance("a") == before
    a.assert_books_agree()
    a.assert_no_bug_logged()


def test_another_risala_is_a_carrier(premises):
    simulator = premises.simulator("--receipt-delay-s", "0.05")
    # The big one: an SMSC, and a carrier by which people write to it.
    own = (
        http_carrier("people", url="http://127.0.0.1:9")
        + '[carriers.http.send]\npath = "/"\nfields = { to = "{to}", text = "{text}" }\n'
        + '[carriers.http.answer]\nid = "/id"\n'
        + '[carriers.http.inbound]\nsender = "/from"\nto = "/to"\ntext = "/text"\nid = "/id"\n'
    ).replace('driver = "http"\n', 'driver = "http"\nreceives_only = true\n')
    smsc = Path(premises.config(simulator.port, OPEN)).read_text(encoding="utf-8")
    path = settings(premises.path, "big", own, smsc)
    big = premises.service("--config", str(path), data="big")
    big.start()
    big.wait_ready()
    account = big.organization()
    # The small one sends through it.
    port = free_port()
    table = through(big, account, "big", port)
    path = settings(premises.path, "small", http_carrier("big", **table))
    small = premises.service("--config", str(path), "--port", str(port), data="small")
    small.start()
    small.wait_ready()
    customer = small.organization()
    sent = [small.send(customer, body=text).json()["messageId"] for text in TEXTS]
    for message_id in sent:
        shown = small.wait_status(customer, message_id, "delivered")
        assert re.fullmatch(r"sms_\w+", shown["providerMessageId"])
        assert shown["providerMessageId"] != message_id
    assert simulator.texts() == Counter(TEXTS)
    tried = small.command("carriers", "try", "big", "36 12 34 56", "--json")
    assert tried.returncode == 0, tried.stderr
    assert json.loads(tried.stdout)["outcome"] == "accepted"
    until(lambda: len(simulator.received()) == len(TEXTS) + 1, "the trial has reached the phone")
    refused = small.command("carriers", "try", "big", "+2225")
    assert refused.returncode == 1
    assert "400 invalid_phone_number" in refused.stdout
    # What people write to the big one comes to the small one, by the route and the webhook.
    big.perform("inbound.route", organization_id=account.organization_id, number="1234")
    made = big.command("carriers", "rotate", "people")
    secret = made.stdout.split()[0].rpartition("/")[2]
    answer = httpx2.post(
        f"{big.url}/carriers/people/{secret}/inbound",
        json={"id": "1", "from": PHONE, "to": "1234", "text": "Vote 7"},
        trust_env=False,
        timeout=HANG_S,
    )
    assert answer.status_code == 200
    until(lambda: written(small), "what people wrote has come")
    assert [(each["from"], each["to"], each["text"]) for each in written(small)] == [
        (PHONE, "1234", "Vote 7")
    ]
    for service in (big, small):
        service.assert_books_agree()
        service.assert_no_bug_logged()

"""Whole services whose carriers are HTTP: a real Kannel, and another Risala. Texts go out, and
receipts and what people write come back."""

from __future__ import annotations

import json
import re
from collections import Counter
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
    endpoint = big.perform(
        "webhook.create",
        organization_id=account.organization_id,
        url=f"http://127.0.0.1:{port}/carriers/big/event",
        types=["sms.sent", "sms.delivered", "sms.failed", "sms.canceled", "sms.received"],
    )
    table = {
        "preset": "risala",
        "url": big.url,
        "token": account.secret_key,
        "signing_secret": endpoint["secret"],
    }
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

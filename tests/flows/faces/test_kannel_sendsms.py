"""Kannel's own programs ask the sendsms face of the whole service: its test client, and a Kannel
whose carrier is Risala, as docs/how-to/come-from-kannel.md has it. And a Kannel fills the words of
its get-url as the shape of that name does."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import httpx2
import pytest
from benchmarks.processes import free_port

from kannel_daemons import hand_to_kannel, start_kannel
from patience import HANG_S, until
from risala.engine.model.records.inbound import Received
from risala.engine.rules.webhooks.kannel_words import filled
from smpp_peers.told_by_kannel import dlr_server

pytestmark = [pytest.mark.slow, pytest.mark.long]

GUIDE = Path(__file__).parents[3] / "docs/how-to/come-from-kannel.md"
SECTION = "[compat.kannel]\nenabled = true\n[webhooks]\nallow_insecure = true\n"
ASKS = Path("/usr/lib/kannel/test/test_http")
TEXTS = ["Bonjour", "x" * 400, "سلام " * 30]
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

{smsc}

group = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = {http}
log-file = "{directory}/smsbox.log"
log-level = 0

group = sendsms-user
username = test
password = test
concatenation = true
max-messages = 10

group = sms-service
keyword = default
text = "none"
"""


@pytest.fixture
def simulator(premises):
    return premises.simulator("--receipt-delay-s", "0.05")


@pytest.fixture
def service(premises, simulator):
    service = premises.running(simulator, more=SECTION)
    yield service
    service.assert_books_agree()
    service.assert_no_bug_logged()


@pytest.fixture
def password(service):
    account = service.organization()
    made = service.perform(
        "credential.create",
        organization_id=account.organization_id,
        face="kannel",
        username="shop",
    )
    return made["password"]


@pytest.fixture
def told():
    with dlr_server() as server:
        yield server


def test_kannels_test_client(service, simulator, password):
    if not ASKS.exists():
        pytest.skip("NOT TRIED: there is no kannel-extras; `make peers` gets it")
    url = f"{service.url}/cgi-bin/sendsms?from=RISALA&to=36123456&text=test&username=shop"
    for given, status in ((password, "202"), ("wrong", "403")):
        done = subprocess.run(
            (str(ASKS), "-v", "0", f"{url}&password={given}"),
            capture_output=True,
            text=True,
            timeout=HANG_S,
            check=False,
        )
        said = done.stdout + done.stderr
        assert f"HTTP/1.1 {status}" in said or status in said, said
    until(lambda: simulator.texts() == Counter(["test"]), "the phone has it, once")


def test_a_kannel_whose_carrier_is_risala(premises, service, simulator, password, told):
    receipts = free_port()
    smsc = re.search(r"```text\n(group = smsc\n.*?)```", GUIDE.read_text("utf-8"), re.S)[1]
    for written, here in (
        ("PASSWORD", password),
        ("http://127.0.0.1:8080", service.url),
        ("20100", str(receipts)),
    ):
        assert written in smsc
        smsc = smsc.replace(written, here)
    admin, box, http = free_port(), free_port(), free_port()
    config = premises.path / "kannel.conf"
    given = {"admin": admin, "box": box, "http": http, "directory": premises.path, "smsc": smsc}
    config.write_text(KANNEL.format(**given), encoding="utf-8")
    start_kannel(premises, config, box)
    for number, text in enumerate(TEXTS):
        dlr = f"http://127.0.0.1:{told.server_address[1]}/dlr?n={number}&state=%d&from=%p&to=%P"
        coding = "" if text.isascii() else "&coding=2&charset=UTF-8"
        query = (
            f"username=test&password=test&from=RISALA&to=%2B22236123456&text={quote(text)}{coding}"
            f"&dlr-mask=31&dlr-url={quote(dlr, safe='')}"
        )
        hand_to_kannel(http, query)
    until(
        lambda: len([each for each in told.of() if each["state"] == "1"]) >= 3,
        "Kannel has heard that they were delivered",
    )
    assert {each["n"] for each in told.of()} == {"0", "1", "2"}
    # What Kannel itself puts in for these escapes: the face puts in the same.
    assert {(each["from"], each["to"]) for each in told.of()} == {("+22236123456", "RISALA")}
    assert simulator.texts() == Counter(TEXTS)


WORDS = "p=%p&P=%P&q=%q&Q=%Q&a=%a&b=%b&A=%A&k=%k&s=%s&s2=%s&r=%r&t=%t&T=%T&i=%i&c=%c&C=%C&v=a%20b"
TEXTUAL = ("a", "b", "A", "k", "s", "s2", "r")
"""Those that are parts of the text, in Kannel's charset of it."""
PEOPLE_WRITE = [
    ("+22236123456", "vote  7 für A&B et tout", "UTF-8"),
    ("0022236123456", "{x} [y] ~ € * ' ( ) ! - _ . / : @ $ + = % # \" %p", "UTF-8"),
    ("+22236123456", "سلام عليكم", "UTF-16BE"),
]


def test_kannel_fills_the_words_of_get_url_as_the_shape_does(premises, told):
    phones, admin, box, http = (free_port() for _ in range(4))
    smsc = (
        "group = smsc\nsmsc = http\nsmsc-id = sim-1\nsystem-type = kannel\n"
        f"port = {phones}\nconnect-allow-ip = 127.0.0.1\nsmsc-username = shop\n"
        'smsc-password = test\nsend-url = "http://127.0.0.1:9/"'
    )
    given = {"admin": admin, "box": box, "http": http, "directory": premises.path, "smsc": smsc}
    url = f"http://127.0.0.1:{told.server_address[1]}/sms?{WORDS}"
    gets = f'catch-all = true\nmax-messages = 0\nget-url = "{url}"'
    config = premises.path / "kannel.conf"
    config.write_text(KANNEL.format(**given).replace('text = "none"', gets), encoding="utf-8")
    start_kannel(premises, config, box)
    for sender, text, charset in PEOPLE_WRITE:
        coding = {"coding": "2"} if charset == "UTF-16BE" else {}
        who = {"username": "shop", "password": "test", "from": sender, "to": "1234"}
        asked = urlencode({**who, "text": text, "charset": "UTF-8", **coding})
        httpx2.get(f"http://127.0.0.1:{phones}/?{asked}", trust_env=False).raise_for_status()
        until(lambda: told.targets, "Kannel asks for its URL")
        query = urlsplit(told.targets.pop()).query
        kannels = dict(parse_qsl(query, keep_blank_values=True, encoding="latin-1"))
        assert kannels["C"] == charset
        for name in TEXTUAL:
            kannels[name] = kannels[name].encode("latin-1").decode(charset, "replace")
        at_ms = int(kannels["T"]) * 1000
        received = Received("sms_1", "org_1", "sim-1", sender, "1234", text, at_ms)
        ours = dict(parse_qsl(filled(WORDS, received), keep_blank_values=True))
        assert (ours["c"], ours["C"]) == ("0", "UTF-8")
        # Kannel cuts words of UTF-16 between the two octets of a space.
        others = ("c", "C", "k") if coding else ("c", "C")
        assert {**ours, **{name: kannels[name] for name in others}} == kannels

"""Kannel's own programs ask the sendsms face of the whole service: its test client, and a Kannel
whose carrier is Risala, as docs/how-to/come-from-kannel.md has it."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path
from urllib.parse import quote

import pytest
from benchmarks.processes import free_port

from kannel_daemons import hand_to_kannel, start_kannel
from patience import HANG_S, until
from told_by_kannel import dlr_server

pytestmark = [pytest.mark.slow, pytest.mark.long]

GUIDE = Path(__file__).parents[3] / "docs/how-to/come-from-kannel.md"
SECTION = "[faces.kannel]\nenabled = true\n[webhooks]\nallow_insecure = true\n"
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

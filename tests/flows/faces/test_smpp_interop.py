"""ESMEs that we did not write, bound to the whole service: node-smpp, smpplib, smpp34, Kannel."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from urllib.parse import quote

import pytest
from benchmarks.processes import free_port

from kannel_daemons import hand_to_kannel, start_kannel
from patience import HANG_S, until
from processes import environment
from smpp_peers.node import node_smpp, run_esme
from smpp_peers.service import SECTION, credential, port_of
from smpp_peers.told_by_kannel import dlr_server

__all__ = ["node_smpp"]

pytestmark = [pytest.mark.slow, pytest.mark.long]

TEXTS = ["Bonjour", "é" * 200, "سلام عليكم " * 20, "x" * 160, "Prix: 5 £"]
SCRIPTS = Path(__file__).parent / "esmes"


@pytest.fixture
def simulator(premises):
    return premises.simulator("--receipt-delay-s", "0.05")


@pytest.fixture
def service(premises, simulator):
    service = premises.running(simulator, more=SECTION)
    yield service
    service.assert_books_agree()
    service.assert_no_bug_logged()


@pytest.mark.usefixtures("node_smpp")
async def test_node_smpp(service, simulator):
    account = service.organization()
    _, system_id, password = credential(service, account.organization_id)
    job = {"system_id": system_id, "password": password, "source_addr": "RISALA"}
    result = await run_esme(port_of(service), texts=TEXTS, **job)
    assert len(result["ids"]) == 1 + 2 + 4 + 1 + 1
    assert sorted(receipt["id"] for receipt in result["receipts"]) == sorted(result["ids"])
    assert {receipt["state"] for receipt in result["receipts"]} == {2}
    assert all("stat:DELIVRD" in receipt["text"] for receipt in result["receipts"])
    assert simulator.texts() == Counter(TEXTS)


@pytest.mark.parametrize(("script", "submits"), [("with_smpplib.py", 9), ("with_smpp34.py", 2)])
def test_a_client_in_python(service, simulator, script, submits):
    account = service.organization()
    _, system_id, password = credential(service, account.organization_id)
    texts = TEXTS if submits == len(TEXTS) + 4 else TEXTS[::4]
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / script), str(port_of(service)), system_id, password, *texts],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split()[-1] == str(submits)
    assert simulator.texts() == Counter(texts)


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
smsc-id = risala
host = 127.0.0.1
port = {port}
transceiver-mode = true
smsc-username = "{system_id}"
smsc-password = "{password}"
system-type = ""
reconnect-delay = 1
enquire-link-interval = 1

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
def heard():
    with dlr_server() as server:
        yield server


def test_kannel(premises, service, simulator, heard):
    account = service.organization()
    _, system_id, password = credential(service, account.organization_id)
    admin, box, http = free_port(), free_port(), free_port()
    config = premises.path / "kannel.conf"
    config.write_text(
        KANNEL.format(
            admin=admin,
            box=box,
            http=http,
            directory=premises.path,
            port=port_of(service),
            system_id=system_id,
            password=password,
        ),
        encoding="utf-8",
    )
    start_kannel(premises, config, box)
    texts = ["Bonjour", "x" * 400, "سلام " * 30]
    for number, text in enumerate(texts):
        dlr = quote(f"http://127.0.0.1:{heard.server_address[1]}/dlr?n={number}&state=%d", safe="")
        coding = "&coding=2&charset=UTF-8" if not text.isascii() else ""
        query = (
            f"username=test&password=test&from=RISALA&to=%2B22236123456&text={quote(text)}{coding}"
            f"&dlr-mask=3&dlr-url={dlr}"
        )
        hand_to_kannel(http, query)
    until(lambda: len(heard.of()) >= 3, "Kannel has its receipts")
    assert {each["state"] for each in heard.of()} == {"1"}
    assert simulator.texts() == Counter(texts)

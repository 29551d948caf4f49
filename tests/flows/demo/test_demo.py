"""``risala serve --demo``: the first minute of whoever tries Risala."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from patience import HANG_S, until

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
KEYS = {
    "base_url",
    "organization_id",
    "secret_key",
    "publishable_key",
    "test_secret_key",
    "test_publishable_key",
    "dashboard_url",
    "operator_url",
    "phones_url",
    "inbox",
    "outbox",
    "owner_email",
    "operator_email",
}
ARABIC_200 = ("رسالة عربية طويلة جدا " * 10)[:200]


@pytest.fixture(scope="module")
def demo(shared_premises):
    service = shared_premises.service("--demo")
    service.start()
    # The last line of the greeting: demo.json is there.
    service.process.wait_line(lambda line: line.startswith("Stop with"))
    return service


def test_demo_json_is_there_before_the_service_says_that_it_is_ready(premises):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    service = premises.service("--demo", "--port", str(port))
    service.launch()
    deadline = time.monotonic() + HANG_S
    while not ready(port):  # at once again: it must not slip through between two looks
        assert time.monotonic() < deadline
    assert (service.data / "demo.json").exists()


def ready(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
            return answer.status == 200
    except HTTPError as error:  # 503
        error.close()
        return False
    except OSError:  # nobody listens yet
        return False


@pytest.fixture
def facts(demo):
    return json.loads((demo.data / "demo.json").read_text(encoding="utf-8"))


def inbox(facts):
    lines = Path(facts["inbox"]).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def post(demo, facts, path, body):
    headers = {"x-api-key": facts["secret_key"]}
    answer = demo.client.post(path, json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


def wait_delivered(demo, facts, until, message_id):
    def delivered():
        shown = post(demo, facts, "/api/sms/get", {"messageId": message_id})
        return shown if shown["status"] == "delivered" else None

    return until(delivered, "delivered")


def test_it_is_ready_when_it_greets(demo):
    assert demo.get("/readyz").status_code == 200
    assert demo.get("/healthz").status_code == 200


def test_what_it_makes_stands_in_the_audit_trail(demo, facts):
    lines = json.loads(demo.command("audit-log", "--json").stdout)["lines"]
    # Looking over all organizations leaves a line too, and this command is a look.
    done = sorted(line["operation"] for line in lines if line["operation"] != "audit.list")
    assert done == [
        *("inbound.opt_outs", "inbound.route", *["key.create"] * 4),
        *("member.add", "org.create", "topup", "user.create"),
    ]
    assert facts["secret_key"] not in json.dumps(lines)


def test_the_printed_line_sends_a_message_that_is_delivered(demo, facts, until):
    line = demo.process.wait_line(lambda line: line.startswith("curl "))
    bash = shutil.which("bash")
    if bash is None or shutil.which("curl") is None:
        pytest.skip("no bash or curl on this machine")
    pasted = subprocess.run([bash, "-c", line], capture_output=True, timeout=HANG_S, check=True)
    answer = json.loads(pasted.stdout)
    assert answer["accepted"] is True
    assert answer["organizationId"] == facts["organization_id"]
    shown = wait_delivered(demo, facts, until, answer["messageId"])
    assert (shown["carrier"], shown["segments"], shown["price"]) == ("demo-smsc", 1, "0.50")
    # Its life is told on the screen, each step on a line of its own.
    end = answer["messageId"][-8:]
    demo.process.wait_line(lambda line: end in line and "  delivered" in line)
    steps = [line.split()[3] for line in demo.process.lines if f"…{end}" in line]
    assert steps == ["pending", "processing", "sent", "delivered"]
    assert any("reads, from RISALA: Salam from Risala" in line for line in demo.process.lines)
    (told,) = (each for each in inbox(facts) if each["text"] == "Salam from Risala")
    assert told["from"] == "RISALA"
    assert told["to"] == "+22236123456"


def test_an_arabic_text_of_three_segments_is_one_message(demo, facts, until):
    body = {"to": "+22246123456", "body": ARABIC_200}
    accepted = post(demo, facts, "/api/sms", body)
    shown = wait_delivered(demo, facts, until, accepted["messageId"])
    assert (shown["segments"], shown["encoding"], shown["price"]) == (3, "ucs2", "1.50")
    (told,) = (each for each in inbox(facts) if each["to"] == "+22246123456")
    assert set(told) == {"at", "carrier", "from", "to", "text", "segments"}
    assert (told["text"], told["segments"]) == (ARABIC_200, 3)


@pytest.mark.parametrize(
    ("digits", "status"), [("00", "delivered"), ("01", "failed"), ("02", "undelivered")]
)
def test_a_test_key_chooses_the_end_and_costs_nothing(demo, facts, until, digits, status):
    headers = {"x-api-key": facts["test_secret_key"]}
    balance = demo.perform("org.show", organization_id=facts["organization_id"])["balance"]
    before = len(inbox(facts))
    sent = demo.client.post(
        "/api/sms", json={"to": f"+222361234{digits}", "body": "test"}, headers=headers
    ).json()

    def ended():
        body = {"messageId": sent["messageId"]}
        shown = demo.client.post("/api/sms/get", json=body, headers=headers).json()
        return shown["status"] == status

    until(ended, status)
    after = demo.perform("org.show", organization_id=facts["organization_id"])["balance"]
    assert after == balance
    assert len(inbox(facts)) == before
    # Test and live are apart.
    live = {"x-api-key": facts["secret_key"]}
    body = {"messageId": sent["messageId"]}
    assert demo.client.post("/api/sms/get", json=body, headers=live).status_code == 404


def test_demo_json_tells_everything_to_its_owner_alone(demo, facts):
    assert set(facts) == KEYS
    assert facts["base_url"] == demo.url
    assert facts["secret_key"].startswith("sk_live_")
    assert facts["publishable_key"].startswith("pk_live_")
    assert facts["test_secret_key"].startswith("sk_test_")
    assert facts["test_publishable_key"].startswith("pk_test_")
    for path in (demo.data / "demo.json", Path(facts["inbox"]), demo.data / "control.sock"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(demo.data.stat().st_mode) == 0o700
    assert not (demo.data / "demo.tmp").exists()


def test_no_secret_is_in_the_log(demo, facts):
    told = "\n".join(demo.process.errors)
    for name in KEYS:
        if name.endswith("_key"):
            assert facts[name] not in told


def test_a_restart_on_the_same_data_reuses_its_keys(premises):
    service = premises.service("--demo")
    seen = []
    for _ in range(2):
        service.start()
        service.process.wait_line(lambda line: line.startswith("Stop with"))
        seen.append(json.loads((service.data / "demo.json").read_text(encoding="utf-8")))
        answer = service.client.post(
            "/api/sms",
            json={"to": "+22236123456", "body": "again"},
            headers={"x-api-key": seen[-1]["secret_key"]},
        )
        assert answer.status_code == 200
        assert service.stop() == 0
    at_its_port = {"base_url", "dashboard_url", "operator_url", "phones_url"}
    assert {k: v for k, v in seen[0].items() if k not in at_its_port} == {
        k: v for k, v in seen[1].items() if k not in at_its_port
    }
    assert len(service.rows("SELECT id FROM organizations")) == 1


def test_a_demo_whose_file_is_gone_begins_anew_and_gets_what_phones_write(premises):
    service = premises.service("--demo")
    organizations = []
    for _ in range(2):
        service.start()
        service.process.wait_line(lambda line: line.startswith("Stop with"))
        found = json.loads((service.data / "demo.json").read_text(encoding="utf-8"))
        organizations.append(found["organization_id"])
        (service.data / "demo.json").unlink()
        assert service.stop() == 0
    assert organizations[0] != organizations[1]
    rows = service.rows("SELECT organization_id FROM inbound_routes")
    assert rows == [(organizations[1],)]


def test_elsewhere_it_sends_to_numbers_of_home(premises, until):
    settings = premises.path / "france.toml"
    settings.write_text('[numbers]\ncountries = ["FR"]\n', encoding="utf-8")
    service = premises.service("--demo", "--config", str(settings))
    service.start()
    line = service.process.wait_line(lambda line: line.startswith("curl "))
    assert '"to": "+33612345678"' in line
    service.process.wait_line(lambda line: line.startswith("Stop with"))
    found = json.loads((service.data / "demo.json").read_text(encoding="utf-8"))
    body = {"to": "+33612345678", "body": "Salut"}
    sent = post(service, found, "/api/sms", body)
    wait_delivered(service, found, until, sent["messageId"])
    headers = {"x-api-key": found["test_secret_key"]}
    for digits, end in (("00", "delivered"), ("01", "failed"), ("02", "undelivered")):
        body = {"to": f"+336123456{digits}", "body": "Salut"}
        sent = service.client.post("/api/sms", json=body, headers=headers).json()

        def ended(sent=sent, end=end):
            asked = {"messageId": sent["messageId"]}
            shown = service.client.post("/api/sms/get", json=asked, headers=headers).json()
            return shown["status"] == end

        until(ended, end)
    assert [each["to"] for each in inbox(found)] == ["+33612345678"]


def test_without_data_it_takes_a_fresh_directory(premises):
    process = premises.process(sys.executable, "-m", "risala", "serve", "--demo", "--port", "0")
    line = process.wait_line(lambda line: line.startswith("Keys and addresses: "))
    facts_file = Path(line.removeprefix("Keys and addresses: "))
    try:
        assert facts_file.is_file()
        assert not (premises.path / "risala-data").exists()
    finally:
        process.end()
        shutil.rmtree(facts_file.parent)


@pytest.mark.skipif(shutil.which("make") is None, reason="no make on this machine")
def test_make_serve(premises, until):
    """As in the README; the set-up itself is left out: these tests run in what it made."""
    data = premises.path / "made"
    prefix = Path(sys.prefix)
    process = premises.process(
        "make",
        *("-o", str(prefix / ".stamp"), "serve", f"VENV={prefix}"),
        f"ARGS=--port 0 --data {data}",
        cwd=ROOT,
    )
    line = process.wait_line(lambda line: line.startswith("curl "))
    assert str(data) not in line
    facts = json.loads((data / "demo.json").read_text(encoding="utf-8"))
    assert facts["base_url"] in line
    # Ctrl-C reaches the whole group, as in a terminal.
    os.killpg(process.popen.pid, signal.SIGINT)
    process.wait_exit()
    until(lambda: not (data / "control.sock").exists(), "the service has stopped")
    assert not any("Traceback" in line for line in process.errors)


def test_mails_of_the_demo_are_lines_of_its_outbox(demo, facts):
    assert facts["owner_email"] == "owner@demo.example"
    path = Path(facts["outbox"])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    shown = json.loads(demo.command("user", "show", facts["operator_email"], "--json").stdout)
    assert shown["user"]["operator"]
    invited = demo.command(
        "member", "invite", facts["organization_id"], "guest@demo.example", "--role", "viewer"
    )
    assert invited.returncode == 0, invited.stderr
    until(lambda: path.read_text(encoding="utf-8"), "the mail is in the outbox")
    (line,) = path.read_text(encoding="utf-8").splitlines()
    mail = json.loads(line)
    assert set(mail) == {"at", "to", "subject", "text"}
    assert mail["to"] == "guest@demo.example"
    assert f"{facts['base_url']}/sign-in" in mail["text"]
    demo.process.wait_line(lambda line: "Mail to guest@demo.example" in line)

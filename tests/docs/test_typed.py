"""What the guides have one type is typed, and succeeds: each page in a directory of its own."""

from __future__ import annotations

import re
import shutil
import socket
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.request import urlopen

import pytest

from doc_blocks import ROOT
from patience import until
from programs.rapidpro import Channel, sendsms_query, serving

pytestmark = [pytest.mark.slow, pytest.mark.long]

OPEN = "[webhooks]\nallow_insecure = true\n"  # so that an endpoint may be on this machine
LOOPBACK = '[[carriers]]\nname = "mattel"\ndriver = "loopback"\n'
SHOP = 'risala org create "My shop"'


@dataclass(frozen=True)
class Guide:
    """A page whose commands need nothing but what is done before."""

    page: str
    before: tuple[str, ...] = ()
    settings: str = ""
    serves: bool = False
    """They are typed beside a running service."""
    words: dict[str, str] = field(default_factory=dict)


GUIDES = [
    Guide("docs/how-to/cap-a-days-spending.md", ("risala org create Chinguitel",)),
    Guide("docs/how-to/change-carriers.md", settings=LOOPBACK, serves=True),
    Guide(
        "docs/how-to/come-from-a-hosted-api.md",
        (SHOP,),
        OPEN,
        words={"https://shop.example/": "http://127.0.0.1:9000/"},
    ),
    Guide(
        "docs/how-to/come-from-an-android-gateway.md",
        (SHOP, "risala topup 10"),
        OPEN + LOOPBACK + "[compat.smsgate]\nenabled = true\n",
        serves=True,
    ),
    Guide("docs/how-to/come-from-jasmin.md", (SHOP,)),
    Guide(
        "docs/how-to/come-from-kannel.md",
        (SHOP, "risala topup 10"),
        f"{OPEN}[compat.kannel]\nenabled = true\n",
        serves=True,
        words={"https://shop.example/": "http://127.0.0.1:9000/"},
    ),
    *(
        Guide(
            page,
            (SHOP, "risala topup 10"),
            "[compat.playsms]\nenabled = true\n",
            serves=True,
        )
        for page in (
            "docs/how-to/connect/alertmanager.md",
            "docs/how-to/connect/apprise.md",
            "docs/how-to/connect/authentik.md",
            "docs/how-to/connect/chatwoot.md",
            "docs/how-to/connect/grafana.md",
            "docs/how-to/connect/home-assistant.md",
            "docs/how-to/connect/index.md",
            "docs/how-to/connect/keycloak.md",
            "docs/how-to/connect/kratos.md",
            "docs/how-to/connect/librenms.md",
            "docs/how-to/connect/logto.md",
            "docs/how-to/connect/meshcentral.md",
            "docs/how-to/connect/n8n.md",
            "docs/how-to/connect/nagios.md",
            "docs/how-to/connect/nextcloud.md",
            "docs/how-to/connect/odoo.md",
            "docs/how-to/connect/supabase.md",
            "docs/how-to/connect/uptime-kuma.md",
            "docs/how-to/connect/zitadel.md",
        )
    ),
    Guide("docs/how-to/come-from-twilio.md", (SHOP,), "[compat.twilio]\nenabled = true\n"),
    Guide("docs/how-to/keep-keys-safe.md", (SHOP,), serves=True),
    Guide("docs/how-to/keep-the-servers-keys.md", serves=True),
    Guide("docs/how-to/offer-smpp-to-customers.md", (SHOP,)),
    Guide("docs/how-to/people-and-sign-in.md", (SHOP,), serves=True),
    Guide(
        "docs/how-to/receive-messages.md",
        (SHOP, "risala org create Radio"),
        OPEN,
        words={"https://shop.example/": "http://127.0.0.1:9000/"},
    ),
    Guide("docs/how-to/send-through-an-http-aggregator.md", settings=LOOPBACK, serves=True),
    Guide("docs/how-to/run-the-console.md"),
    Guide("docs/how-to/take-payments.md", (SHOP,)),
    Guide(
        "docs/how-to/watch-it.md",
        (SHOP,),
        settings=LOOPBACK,
        serves=True,
    ),
    Guide("docs/how-to/run-as-a-service.md", settings=LOOPBACK, serves=True),
    Guide("docs/reference/operations.md", serves=True),
]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.page)
def test_a_guide(guide, play, tmp_path):
    page = play(guide.page, guide.words)
    (tmp_path / "risala.toml").write_text(guide.settings)
    if guide.serves:
        page.serve("risala serve")
    for command in guide.before:
        page.run(command)
    page.rest()


def test_back_up_and_restore(play, tmp_path):
    page = play(
        "docs/how-to/back-up-and-restore.md", {"/var/backups/risala": str(tmp_path / "kept")}
    )
    (tmp_path / "kept").mkdir()
    (tmp_path / "risala.toml").write_text(LOOPBACK)
    page.run(SHOP)
    page.compare(
        "text", "Wrote", page.type("sh", "backup /var/backups/risala/today.db\n"), figures=False
    )
    page.type("sh", "date +%F")
    page.type("sh", "--resend-pending")
    page.type("sh", "mkdir old")
    service = page.serve("risala serve")
    page.run("rm risala-data/risala.db*")
    assert page.type("sh", "readlink")[-1].startswith("Clean: 1 organization")
    service.interrupt()


def test_mobile_money_by_sms(play, tmp_path):
    page = play("docs/how-to/mobile-money-by-sms.md")
    parts = page.block("toml", "receives_only").text, page.block("toml", "patterns").text
    (tmp_path / "risala.toml").write_text("\n".join(parts))
    page.run(SHOP)
    page.serve("risala serve")
    page.rest()


def test_look_into_requests(play):
    page = play("docs/how-to/look-into-requests.md")
    demo = page.serve('make serve ARGS="--data /tmp/risala-demo"')
    demo.wait_line(lambda line: line.startswith("Stop with"))
    page.run("export RISALA_DATA=/tmp/risala-demo")
    for path, body in (
        ("/api/sms", '{"to": "+22236123456", "body": "Salam", "shade": 1}'),
        ("/api/sms/get", '{"messageId": "sms_0"}'),
        ("/api/sms", '{"to": "+22236123456", "body": "Salam"}'),
    ):
        page.run(
            "curl -s -o answer -H 'content-type: application/json'"
            """ -H "x-api-key: $(grep -o 'sk_live_[^"]*' /tmp/risala-demo/demo.json)" """
            f"""http://127.0.0.1:8080{path} -d '{body}'"""
        )
    until(lambda: " 200 " in "".join(page.run("risala log --limit 1")), "it is written down")
    said = page.type("sh", "--limit 3")
    page.compare("text", "METHOD", said, figures=False)
    (page.words["req_06DQDN5GJ8YRK1S5T8B2C7V3W4"],) = re.findall(
        r"req_[0-9A-Z]+", "".join(page.run("risala log --limit 1 --json"))
    )[:1]
    page.rest()
    demo.interrupt()


class Taking(BaseHTTPRequestHandler):
    """Answers 204 to whatever is posted."""

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(204)
        self.end_headers()


def test_receive_webhooks(play, tmp_path):
    (tmp_path / "risala.toml").write_text(OPEN)
    with HTTPServer(("127.0.0.1", 0), Taking) as receiver:
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        here = f"http://127.0.0.1:{receiver.server_port}/"
        meant = dict.fromkeys(("https://shop.example/", "http://127.0.0.1:3000/"), here)
        page = play("docs/how-to/receive-webhooks.md", meant)
        page.serve("risala serve")
        page.run(SHOP)
        page.rest()
        receiver.shutdown()


def test_several_carriers(play, tmp_path):
    page = play("docs/how-to/several-carriers.md")
    (tmp_path / "risala.toml").write_text(
        '[[carriers]]\nname = "mattel"\ndriver = "smpp"\nprefixes = ["+2223"]\n'
        '[carriers.smpp]\nhost = "127.0.0.1"\nport = 9\nsystem_id = "x"\n'
        '[[carriers]]\nname = "everything"\ndriver = "loopback"\nprefixes = ["+222"]\n'
    )
    page.run(SHOP)
    page.serve("risala serve")
    page.type("sh", "carriers pause")
    page.run("risala carriers pause mattel")
    page.type("console", "risala route")
    simulators = page.block("sh", "simulate smsc")
    for command, _ in simulators.commands:
        page.start(re.sub(r"--port \d+", "--port 0", command)).wait_line(
            lambda line: "127.0.0.1:" in line
        )
    page.compared.append(simulators)


def test_serve_other_countries(play, tmp_path):
    page = play("docs/how-to/serve-other-countries.md")
    (tmp_path / "risala.toml").write_text(page.block("toml", "[service]").text)
    service = page.serve("risala serve")
    page.rest()
    service.interrupt()


def test_upgrade(play, tmp_path):
    meant = {"/var/backups/risala": str(tmp_path), "/var/lib/risala": str(tmp_path)}
    page = play("docs/how-to/upgrade.md", meant)
    page.run(SHOP)
    page.rest()


def test_the_smsc_simulator(play):
    page = play("docs/reference/smsc-simulator.md")
    for part in ("simulate smsc\n", "simulate smsc --tls"):
        block = page.block("sh", part)
        *before, (last, _) = block.commands
        for command, _ in before:
            page.run(command)
        page.start(f"{last} --port 0").wait_line(lambda line: "127.0.0.1:" in line)
        page.compared.append(block)


def test_the_modem_simulator(play, tmp_path):
    page = play("docs/reference/modem-simulator.md", {"/tmp/modem": str(tmp_path / "modem")})
    block = page.block("sh", "--link")
    modem = page.start(f"{block.text.strip()} --lines")
    page.compared.append(block)
    until((tmp_path / "modem").exists, "the port is there")
    if shutil.which("gammu"):
        page.type("sh", "gammu")
        modem.wait_line(lambda line: "Bonjour" in line)
    else:
        page.compared.append(page.block("sh", "gammu"))


@pytest.mark.parametrize(
    ("readme", "ready"),
    [
        ("examples/scenarios/README.md", "127.0.0.1:"),
        ("examples/modem-scenarios/README.md", "/dev/pts/"),
    ],
)
def test_the_scenarios(play, readme, ready):
    page = play(readme, {"examples/": f"{ROOT}/examples/"})
    (block,) = page.left()
    port = " --port 0" if "smsc" in block.text else ""
    simulator = page.start(block.text.strip() + port)
    simulator.wait_line(lambda line: ready in line)
    page.compared.append(block)


@pytest.fixture
def stick(play, tmp_path):
    """Beside a page: a service with a simulated modem, and the terminal of the modem."""

    def plug(page, more=""):
        modem = page.start("risala simulate modem --link stick --lines", typed=True)
        until((tmp_path / "stick").exists, "the port is there")
        (tmp_path / "risala.toml").write_text(
            f'{more}[[carriers]]\nname = "sim-1"\ndriver = "modem"\n'
            f'[carriers.modem]\nport = "{tmp_path}/stick"\nussd_balance = {{ code = "*124#" }}\n'
        )
        page.serve("risala serve")
        page.run(SHOP)
        until(lambda: "is ready" in "".join(page.run("risala carriers")), "the modem is ready")
        return modem

    return plug


def test_first_real_sms(play, tmp_path):
    settings, port = tmp_path / "risala.toml", "/dev/serial/by-id/usb-HUAWEI_Mobile-if00-port0"
    meant = {port: str(tmp_path / "stick")}
    page = play("docs/how-to/first-real-sms.md", meant, MATTEL_PASSWORD="s3cret")
    carrier = page.start("risala simulate smsc --system-id risala --password s3cret --port 0")
    said = carrier.wait_line(lambda line: "127.0.0.1:" in line)
    page.type("sh", "--version")
    page.run("risala init")
    page.words["smsc.example.net"] = "127.0.0.1"
    page.words["2775"] = said.split(";")[0].split(":")[-1]
    explained = settings.read_text()
    settings.write_text(explained + page.here(page.block("toml", "[carriers.smpp]").text))
    page.type("sh", "doctor")
    page.type("console", "/dev/tcp")
    service = page.serve("risala serve")
    until(lambda: "Bound." in "".join(page.run("risala carriers")), "the carrier is bound")
    page.type("console", "risala carriers")
    page.type("sh", "My first real SMS")
    until(lambda: " delivered " in "".join(page.run("risala message list")), "it is delivered")
    page.type("console", "message list")
    page.type("console", "risala audit")
    service.interrupt()

    page.start("risala simulate modem --link stick --lines", typed=True)
    until((tmp_path / "stick").exists, "the port is there")
    assert "This modem can send." in "".join(page.type("sh", "risala modem probe /dev"))
    settings.write_text(explained + page.here(page.block("toml", "[carriers.modem]").text))
    page.start("risala serve").wait_line(lambda line: line.startswith("Risala is running at "))
    until(lambda: "is ready" in "".join(page.run("risala carriers")), "the modem is ready")
    page.run('risala send "36 12 34 56" "My first real SMS"')
    until(lambda: "sim-1" in page.run("risala message list --status delivered")[-2], "by modem")


def test_my_message_stays(play, tmp_path):
    page = play("docs/how-to/my-message-stays.md")
    carrier = page.start("risala simulate smsc --port 0")
    said = carrier.wait_line(lambda line: "127.0.0.1:" in line)
    (tmp_path / "risala.toml").write_text(
        '[[carriers]]\nname = "mattel"\ndriver = "smpp"\nrate_per_s = 10\n[carriers.smpp]\n'
        f'host = "127.0.0.1"\nport = {said.split(";")[0].split(":")[-1]}\nsystem_id = "risala"\n'
    )
    page.serve("risala serve")
    page.run(SHOP)
    page.run("risala topup 10")
    page.run("risala webhook create https://shop.example/")
    until(lambda: "Bound." in "".join(page.run("risala carriers")), "the carrier is bound")
    page.type("sh", "doctor\n")  # it fails once no carrier is up
    carrier.interrupt()
    until(lambda: "nothing listens" in "".join(page.run("risala carriers")), "it is down")
    page.run('risala send 36123456 "Where are you?"')
    page.rest()


def test_ask_by_ussd(play, stick):
    page = play("docs/how-to/ask-by-ussd.md")
    stick(page)
    page.rest()


@pytest.mark.parametrize("daemon", ["gammu-smsd", "smstools"])
def test_come_with_a_modem(play, stick, daemon):
    guides = {
        "gammu-smsd": "docs/how-to/come-from-gammu-smsd.md",
        "smstools": "docs/how-to/come-from-smstools.md",
    }
    page = play(guides[daemon])
    stick(page)
    page.run("risala topup 10")
    page.rest()


def test_connect_rapidpro(play, stick):
    channel = Channel()
    with serving(channel) as receiver:
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        here = f"http://127.0.0.1:{receiver.server_port}"
        page = play("docs/how-to/connect/rapidpro.md", {"https://rapidpro.example": here})
        modem = stick(page, OPEN + page.block("toml", "forced_sender").text)
        page.run("risala topup 10")
        page.run("risala inbound route")  # a modem does not say to which number
        page.rest()
        until(lambda: len(channel.messages) == 1, "the test event is there")
        (password,) = page.run("echo $PASS")
        query = sendsms_query("rapidpro", password, "1234", "+22236123456", "Bonjour", here)
        with urlopen(f"{page.words['http://127.0.0.1:8080']}/cgi-bin/sendsms?{query}") as answer:
            assert answer.status == 202
        modem.wait_line(lambda line: "Bonjour" in line)
        until(lambda: channel.statuses, "RapidPro is told")
        modem.popen.stdin.write("sms +22236123456 Vote 7 & é\n")
        modem.popen.stdin.flush()
        until(lambda: len(channel.messages) == 3, "the text is there, by both channels")
        for taken in [*channel.messages.values()][-2:]:
            assert (taken.urn, taken.text) == ("tel:+22236123456", "Vote 7 & é")
        assert {each["status"] for each in channel.statuses} <= {"1", "8"}
        receiver.shutdown()


def test_several_modems(play, tmp_path):
    page = play("docs/how-to/several-modems.md", {"/dev/modem-": f"{tmp_path}/modem-"})
    plugged = page.block("sh", "simulate modem")
    for command, _ in plugged.commands:
        page.start(command)
    page.compared.append(plugged)
    until(lambda: len([*tmp_path.glob("modem-*")]) == 2, "both ports are there")
    (tmp_path / "risala.toml").write_text(page.here(page.block("toml", "sim-2").text))
    page.serve("risala serve")
    page.run(SHOP)
    until(lambda: " ".join(page.run("risala carriers")).count("is ready") == 2, "both are ready")
    page.rest()


def test_answer_keywords(play, stick, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    page = play("docs/how-to/answer-keywords.md", {"127.0.0.1:9000": f"127.0.0.1:{port}"})
    modem = stick(page, OPEN)
    page.run("risala org create Radio && risala topup Radio 10")
    route, endpoint = (command for command, _ in page.block("sh", "inbound route").commands)
    page.run(route)
    page.run(f"export WEBHOOK_SECRET=$({endpoint})")
    page.compared.append(page.block("sh", "inbound route"))
    program = page.block("python", "Votes").text.replace("9000", str(port))
    (tmp_path / "votes.py").write_text(program)
    page.run("python3 votes.py >/dev/null 2>&1 & echo $! >pid")
    modem.popen.stdin.write("sms +22236123456 VOTE 7\n")
    modem.popen.stdin.flush()
    modem.wait_line(lambda line: "You voted for 7. Thank you!" in line)
    page.run("kill $(cat pid)")
    page.type("sh", "answer create")  # a rule would have come first

"""What docs/how-to/reverse-proxy.md and others have one write, before a live service."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from benchmarks.processes import free_port

from doc_blocks import ROOT, blocks_of
from patience import until
from processes import Process
from rehearsal import Rehearsal

pytestmark = [pytest.mark.slow, pytest.mark.long]

PAGE = ROOT / "docs/how-to/reverse-proxy.md"
PHONE = ROOT / "docs/how-to/an-old-phone-as-your-carrier.md"
LOGS = ROOT / "docs/how-to/rotate-logs.md"
SEARCHED = "/usr/sbin:/usr/bin:/usr/local/bin"
LOGROTATE = shutil.which("logrotate", path=SEARCHED)
PROXIES = [name for name in ("caddy", "nginx") if shutil.which(name, path=SEARCHED)]
NAME = "sms.example.mr"
READER = "fatima@example.com"


def block(page: Path, language: str) -> str:
    (found,) = (block for block in blocks_of(page) if block.language == language)
    return found.text


def start_caddy(place: Path, port: int, service: str) -> Process:
    site = block(PAGE, "caddy").replace(f"{NAME} {{", f"{NAME}:{port} {{\n\ttls internal")
    return run_caddy(place, site, service)


def run_caddy(place: Path, site: str, service: str) -> Process:
    options = "{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n"
    (place / "Caddyfile").write_text(options + site.replace("127.0.0.1:8080", service))
    command = [shutil.which("caddy", path=SEARCHED), "run", "--adapter", "caddyfile"]
    homes = {"XDG_DATA_HOME": str(place), "XDG_CONFIG_HOME": str(place), "HOME": str(place)}
    return Process([*command, "--config", str(place / "Caddyfile")], place, **homes)


def start_nginx(place: Path, port: int, service: str) -> Process:
    certificate = ["-keyout", "privkey.pem", "-out", "fullchain.pem", "-subj", f"/CN={NAME}"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *certificate],
        cwd=place,
        check=True,
        capture_output=True,
    )
    server = block(PAGE, "nginx").replace("listen 443", f"listen 127.0.0.1:{port}")
    server = server.replace(f"/etc/ssl/{NAME}", str(place)).replace("127.0.0.1:8080", service)
    temporary = "".join(
        f"{kind}_temp_path {place}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (place / "nginx.conf").write_text(
        f"daemon off;\nuser root;\npid {place}/pid;\nerror_log stderr;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{temporary}{server}}}\n"
    )
    command = [shutil.which("nginx", path=SEARCHED), "-p", str(place), "-c", "nginx.conf"]
    subprocess.run([*command, "-t"], check=True, capture_output=True)
    return Process(command, place)


START = {"caddy": start_caddy, "nginx": start_nginx}


@dataclass
class Outside:
    """Whoever asks by the proxy, from addresses of their own."""

    place: Path
    port: int

    def command(self, path: str, *more: str, comes_from: str = "127.0.0.2") -> list[str]:
        there = ["--resolve", f"{NAME}:{self.port}:127.0.0.1", "--interface", comes_from]
        jar = ["-b", "jar", "-c", "jar"]
        return ["curl", "-sk", *there, *jar, *more, f"https://{NAME}:{self.port}{path}"]

    def ask(self, path: str, *more: str, comes_from: str = "127.0.0.2") -> str:
        command = self.command(path, *more, comes_from=comes_from)
        return subprocess.run(command, cwd=self.place, capture_output=True, text=True).stdout

    def refusal(self, key: str, *more: str, comes_from: str) -> str:
        """Why an empty message is refused."""
        head = ["-H", f"x-api-key: {key}", "-H", "content-type: application/json", "-d", "{}"]
        return json.loads(self.ask("/api/sms", *head, *more, comes_from=comes_from))["code"]


@pytest.fixture
def rehearsal(tmp_path: Path) -> Iterator[Rehearsal]:
    one = Rehearsal(PAGE, tmp_path)
    yield one
    one.end()


@pytest.mark.parametrize("name", PROXIES)
def test_a_live_service_behind_it(name, rehearsal, tmp_path):
    (tmp_path / "risala.toml").write_text(block(PAGE, "toml"))
    (organization,) = re.findall(r"org_\w+", "".join(rehearsal.run("risala org create Shop")))
    (key,) = (
        line for line in rehearsal.run("risala key create --address 127.0.0.2") if "sk_" in line
    )
    rehearsal.run(f"risala topup 10 && risala user create {READER}")
    rehearsal.run(f"risala member add Shop {READER} --role owner")
    rehearsal.serve("risala serve")
    service = rehearsal.words["http://127.0.0.1:8080"].removeprefix("http://")
    outside = Outside(tmp_path, free_port())
    rehearsal.terminals.append(START[name](tmp_path, outside.port, service))
    until(lambda: "ok" in outside.ask("/healthz"), "it answers")

    # The address is the client's, whatever the client claims.
    assert outside.refusal(key, comes_from="127.0.0.2") == "BAD_REQUEST"
    claimed = ["-H", "X-Forwarded-For: 127.0.0.2"]
    assert outside.refusal(key, comes_from="127.0.0.3") == "FORBIDDEN"
    assert outside.refusal(key, *claimed, comes_from="127.0.0.3") == "FORBIDDEN"
    # A batch may be as large as the service takes it.
    big = tmp_path / "batch.json"
    big.write_text(json.dumps({"messages": [], "padding": "x" * 7_000_000}))
    head = ["-H", f"x-api-key: {key}", "-H", "content-type: application/json"]
    said = json.loads(outside.ask("/api/sms/batch", *head, "-d", f"@{big}"))
    assert said["code"] == "BAD_REQUEST"

    # Pages are shown, take their forms, and draw themselves anew.
    told = json.loads("".join(rehearsal.run(f"risala user sign-in {READER} --json")))
    link = told["url"].removeprefix(f"https://{NAME}")
    page = outside.ask(link)
    token = re.search(r'name="form_token" value="([^"]*)"', page)[1]
    outside.ask(link, "--data-urlencode", f"form_token={token}")
    live = Process(outside.command(f"/app/{organization}/overview/live", "-N"), tmp_path)
    rehearsal.terminals.append(live)
    live.wait_line(lambda line: line.startswith((":", "data", "event", "id")))
    seen = len(live.lines)
    rehearsal.run('risala send "36 12 34 56" Salam')
    live.wait_line(lambda _: any(line.startswith("data") for line in live.lines[seen:]))


@pytest.mark.skipif("caddy" not in PROXIES, reason="there is no caddy: make peers")
def test_a_phone_believes_a_ca_of_ones_own(rehearsal, tmp_path):
    """By the certificate at the place that the page names, and the address alone."""
    (tmp_path / "risala.toml").write_text("[http]\n")
    rehearsal.serve("risala serve")
    service = rehearsal.words["http://127.0.0.1:8080"].removeprefix("http://")
    port = free_port()
    site = block(PHONE, "caddy").replace("192.168.1.10", f"127.0.0.1:{port}")
    rehearsal.terminals.append(run_caddy(tmp_path, site, service))
    (below,) = re.findall(r"/\.local/share/(\S+root\.crt)", PHONE.read_text(encoding="utf-8"))
    command = ["curl", "-s", "--cacert", str(tmp_path / below), f"https://127.0.0.1:{port}/healthz"]
    until(lambda: b"ok" in subprocess.run(command, capture_output=True).stdout, "it answers")


@pytest.mark.skipif(LOGROTATE is None, reason="there is no logrotate: make peers")
def test_logs_are_put_aside(tmp_path):
    log = tmp_path / "risala.log"
    text = block(LOGS, "logrotate").replace("/var/log/risala/risala.log", str(log))
    (tmp_path / "rotate").write_text(text.replace("daily", "size 1"))
    (tmp_path / "rotate").chmod(0o600)
    with log.open("a") as writer:  # held open, as systemd does
        for line in ("before\n", "after\n"):
            writer.write(line)
            writer.flush()
            if line == "before\n":
                subprocess.run(
                    [LOGROTATE, "-s", str(tmp_path / "state"), str(tmp_path / "rotate")], check=True
                )
    assert log.read_text() == "after\n"
    assert (tmp_path / "risala.log.1").read_text() == "before\n"

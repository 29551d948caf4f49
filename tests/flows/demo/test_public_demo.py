"""The demo for strangers, ``deploy/container/demo.yaml``: its settings, its door, its day."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from benchmarks.processes import free_port
from deploy.container import build
from tests.flows.conftest import Premises, Service

from patience import HANG_S, until
from processes import Process
from risala.config.load import load_settings

pytestmark = pytest.mark.slow

PLACE = Path(__file__).parents[3] / "deploy/container"
TOLD = yaml.safe_load((PLACE / "demo.yaml").read_text())
DEMO, DOOR = TOLD["services"]["demo"], TOLD["services"]["door"]
URL = "https://demo.example"
BEFORE = {
    "host": "demo.example",
    "x-forwarded-proto": "https",
    "x-forwarded-for": "203.0.113.7",
    "origin": URL,
}
"""What a proxy with TLS says, which stands before the door."""
CADDY = shutil.which("caddy", path="/usr/sbin:/usr/bin:/usr/local/bin")


def environment() -> dict[str, str]:
    return {name: str(value) for name, value in DEMO["environment"].items() if "URL" not in name}


@pytest.fixture(scope="module")
def demo(shared_premises: Premises) -> Service:
    """The demo with the settings of that file, and of a careless operator who set mail, too."""
    service = shared_premises.service("--demo")
    own = {"RISALA_MAIL__HOST": "127.0.0.1", "RISALA_MAIL__PORT": "1"}
    own |= {"RISALA_HTTP__PUBLIC_URL": URL, "RISALA_HTTP__TRUSTED_PROXIES": '["127.0.0.1"]'}
    service.environment = {**environment(), **own}
    service.start()
    service.wait_ready()
    return service


def facts(service: Service) -> dict[str, Any]:
    return json.loads((service.data / "demo.json").read_text("utf-8"))


def test_the_file_says_what_is_closed():
    settings = load_settings(None, environ=environment())
    assert (settings.webhooks.ports, settings.webhooks.allow_insecure) == ((), False)
    assert TOLD["networks"]["inside"]["internal"] is True
    (subnet,) = TOLD["networks"]["inside"]["ipam"]["config"]
    assert settings.http.trusted_proxies == (subnet["subnet"],)
    assert (DEMO["networks"], "ports" in DEMO) == (["inside"], False)
    assert DEMO["image"] == build.NAME
    assert DOOR["ports"] == ["127.0.0.1:8080:8080"]
    for each in (DEMO, DOOR):
        assert (each["read_only"], each["cap_drop"]) == (True, ["ALL"])


@pytest.mark.parametrize(
    "url", ["https://example.com/in", "https://example.com:8443/in", "http://127.0.0.1:1/in"]
)
def test_no_webhook_can_be_made(demo, url):
    key = {"x-api-key": facts(demo)["secret_key"]}
    made = demo.client.post(
        "/api/webhooks/create", json={"url": url, "events": ["sms.delivered"]}, headers=key
    )
    assert made.status_code == 400, made.text
    assert "No request leaves this service" in made.text


def test_no_mail_leaves(demo):
    """Whatever the settings name: a mail is a line of the outbox."""
    owner = facts(demo)["owner_email"]
    page = demo.client.get("/sign-in", headers=BEFORE)
    token = page.text.partition('name="form_token" value="')[2].partition('"')[0]
    form = {"email": owner, "form_token": token}
    cookies = "; ".join(f"{name}={value}" for name, value in page.cookies.items())
    asked = demo.client.post("/sign-in", data=form, headers={**BEFORE, "cookie": cookies})
    assert asked.status_code == 303, asked.text
    outbox = demo.data / "outbox.jsonl"
    until(lambda: owner in outbox.read_text("utf-8"), "the code is in the outbox")


@pytest.fixture(scope="module")
def door(demo: Service, shared_premises: Premises) -> Iterator[httpx2.Client]:
    if CADDY is None:
        pytest.skip("needs Caddy")
    port = free_port()
    site = (PLACE / "demo.caddy").read_text()
    for what, here in (
        ("\n:8080 {", f"\nhttp://127.0.0.1:{port} {{"),
        ("demo:8080", demo.url.removeprefix("http://")),
        ("root * /demo", f"root * {demo.data}"),
    ):
        assert what in site
        site = site.replace(what, here)
    place = shared_premises.path
    (place / "Caddyfile").write_text(site)
    homes = {"XDG_DATA_HOME": str(place), "XDG_CONFIG_HOME": str(place), "HOME": str(place)}
    command = [CADDY, "run", "--adapter", "caddyfile", "--config", str(place / "Caddyfile")]
    process = Process(command, place, **homes)
    client = httpx2.Client(
        base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=HANG_S, verify=False
    )
    with client:
        try:
            until(lambda: _answers(client), "Caddy answers")
            yield client
        finally:
            process.end()


def test_strangers_see_the_keys_the_phones_and_the_mails(demo, door):
    assert door.get("/demo/demo.json").json() == facts(demo)
    for name in ("inbox.jsonl", "outbox.jsonl"):
        assert door.get(f"/demo/{name}").status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        *("/demo/risala.db", "/demo/", "/demo/demo.json/../risala.db", "/demo/server.key"),
        *("/hooks/hk_1", "/hooks/hk_1/secret", "/carriers/demo-smsc/receipt", "/metrics"),
        *("/operator/", "/operator/sign-in", "/OPERATOR/sign-in"),
    ],
)
def test_what_is_closed_is_not_found(door, path):
    assert door.get(path).status_code == 404


@pytest.mark.parametrize("path", ["//operator/sign-in", "/x/../operator/sign-in", "/%6Fperator/"])
def test_no_other_spelling_opens_what_is_closed(door, path):
    connection = HTTPConnection(door.base_url.host, door.base_url.port, timeout=HANG_S)
    connection.request("GET", path, headers={"x-forwarded-proto": "https"})
    assert connection.getresponse().status in (400, 404)
    connection.close()


def test_the_rest_is_the_demo(demo, door):
    key = {"x-api-key": facts(demo)["test_secret_key"]}
    body = {"to": "+22236123400", "body": "Hello"}
    assert door.post("/api/sms", json=body, headers=key).status_code == 200
    assert door.get("/sign-in", headers=BEFORE).status_code == 200
    assert door.get("/skill.md").status_code == 200


def _answers(client: httpx2.Client) -> bool:
    try:
        return client.get("/healthz").status_code == 200
    except httpx2.TransportError:
        return False


def test_a_day_begins_with_nothing_and_ends(tmp_path):
    """The script of the file, with a shorter day: what was there is gone, and it starts again."""
    shell, option, script = DEMO["entrypoint"]
    assert DEMO["restart"] == "always"
    assert "timeout 86400 risala serve --demo" in script
    data, tools = tmp_path / "data", tmp_path / "tools"
    tools.mkdir()
    (tools / "risala").write_text("#!/bin/sh\nls $RISALA_DATA >seen\nexec sleep 1000\n")
    (tools / "risala").chmod(0o755)
    script = script.replace("/var/lib/risala", str(data)).replace("86400", "0.2")
    for day in range(2):
        data.mkdir(exist_ok=True)
        (data / "risala.db").write_text(f"of day {day}")
        done = subprocess.run(
            [shell, option, script],
            cwd=tmp_path,
            env={"PATH": f"{tools}:{os.environ['PATH']}", "RISALA_DATA": str(data)},
            timeout=HANG_S,
            check=False,
        )
        assert done.returncode == 124, "its time was over"
        assert (tmp_path / "seen").read_text() == ""

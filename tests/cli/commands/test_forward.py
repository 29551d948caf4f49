"""`risala webhook listen` and `risala trigger`: events as an endpoint would get them."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from standardwebhooks import Webhook

from patience import until
from processes import Process
from risala.cli.commands.messaging import forward
from risala.cli.commands.messaging.trigger import TYPES
from risala.engine.model.events import FAMILIES, EventType
from risala.engine.rules.webhooks.signatures import new_secret


class Receiver:
    """Somebody's program on this machine."""

    def __init__(self) -> None:
        self.status = 200
        self.got: list[tuple[dict[str, str], bytes]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                outer.got.append(({k.lower(): v for k, v in self.headers.items()}, body))
                self.send_response(outer.status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/hook"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def state_home(monkeypatch, tmp_path) -> Path:
    home = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    return home


def verified(secret: str, got: tuple[dict[str, str], bytes]) -> dict:
    """The event, whose signature is checked as receivers check it."""
    headers, body = got
    assert headers["content-type"] == "application/json"
    assert headers["user-agent"].startswith("Risala/")
    event = Webhook(secret).verify(body, headers)
    assert headers["webhook-id"] == event["id"]
    return event


def test_each_type_can_be_triggered():
    assert set(TYPES) == {each.value for each in EventType}


@pytest.mark.slow
@pytest.mark.parametrize("kind", TYPES)
def test_an_example_is_signed_and_has_the_members_of_a_real_one(risala, receiver, kind):
    done = risala("trigger", kind, "--to", receiver.url, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["status"], told["error"]) == (200, None)
    event = verified(told["secret"], receiver.got[0])
    assert (event["id"], event["type"], event["test"]) == (told["id"], kind, True)
    printed = json.loads(risala("trigger", kind).stdout)
    assert set(printed) == set(event)
    assert event["organizationId"].startswith("org_")
    family = FAMILIES[EventType(kind)]
    assert EventType(kind) in family.TYPES


def test_an_example_is_in_the_currency_of_the_settings(risala, tmp_path):
    config = tmp_path / "francs.toml"
    config.write_text('[service]\ncurrency = "XOF"\n[pricing]\nper_segment = "25"\n')
    event = json.loads(risala("trigger", "balance.low", "--config", str(config)).stdout)
    assert (event["balance"], event["currency"]) == ("995", "XOF")
    assert json.loads(risala("trigger", "balance.low").stdout)["balance"] == "9.95"


def test_the_local_secret_stays_the_same_and_is_its_users_alone(state_home):
    first = forward.secret_of(None)
    assert forward.secret_of(None) == first
    (file,) = (state_home / "risala").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    given = new_secret()
    assert forward.secret_of(given) == given
    assert forward.secret_of(None) == first
    file.write_text("whsec_damaged\n")
    another = forward.secret_of(None)
    assert another != first
    assert forward.secret_of(None) == another


def test_a_secret_that_cannot_be_kept_is_made_all_the_same(state_home, capsys):
    state_home.write_text("no folder")
    assert forward.secret_of(None) != forward.secret_of(None)
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.slow
def test_what_is_not_taken_is_told(risala, receiver):
    receiver.status = 500
    done = risala("trigger", "sms.sent", "--to", receiver.url)
    assert done.exit_code == 1
    assert "HTTP 500" in done.stderr
    assert len(receiver.got) == 1
    done = risala("trigger", "sms.sent", "--to", receiver.url, "--secret", "guess")
    assert done.exit_code == 1
    assert "secret" in done.stderr
    assert risala("trigger", "sms.sent", "--to", "ftp://x").exit_code == 2
    assert risala("trigger", "sms.lost").exit_code == 2


CONFIG = """
[http]
port = 0
[[carriers]]
name = "loop"
driver = "loopback"
[webhooks]
allow_insecure = true
"""


@pytest.mark.slow
def test_events_come_to_a_developer_s_program_as_webhooks_bring_them(risala, receiver, tmp_path):
    (tmp_path / "risala.toml").write_text(CONFIG)
    place = ("--config", "risala.toml", "--data", "data")
    run = (sys.executable, "-m", "risala")
    served = Process((*run, "serve", *place), tmp_path)
    served.wait_line(lambda line: line.startswith("Risala is running"))
    assert risala("org", "create", "Shop", *place).exit_code == 0
    assert risala("topup", "100", *place).exit_code == 0
    listen = ("webhook", "listen", "--forward", receiver.url, "--events", "sms.sent", "--json")
    listening = Process((*run, *listen, *place), tmp_path)
    try:
        first = json.loads(listening.wait_line(lambda line: "listening" in line))

        # One that comes before the stream is followed would be missed: send until one is heard.
        def heard() -> bool:
            assert risala("send", "36123456", "Salam", *place).exit_code == 0
            return bool(receiver.got)

        until(heard, "an event was brought")
        event = verified(first["secret"], receiver.got[0])
        assert event["type"] == "sms.sent"
        line = json.loads(listening.wait_line(lambda line: event["id"] in line))
        assert (line["kind"], line["status"]) == ("event", 200)
        # Of those that are wanted each comes once, also one that is refused.
        receiver.status = 500
        count = len(receiver.got)
        message = json.loads(risala("send", "36123457", "Once", "--json", *place).stdout)
        until(lambda: any(message["messageId"].encode() in b for _, b in receiver.got), "refused")
        listening.wait_line(lambda line: '"status": 500' in line)
        ids = [headers["webhook-id"] for headers, _ in receiver.got]
        assert len(ids) == len(set(ids)) > count
        # An example to an endpoint of the service.
        receiver.status = 200
        run_hook = ("webhook", "create", receiver.url, "--json", *place)
        hook = json.loads(risala(*run_hook).stdout)
        told = ("--endpoint", hook["endpoint"]["id"], "--secret", hook["secret"], "--json", *place)
        assert risala("trigger", "balance.low", *told).exit_code == 0
        last = next(got for got in reversed(receiver.got) if b"balance.low" in got[1])
        assert verified(hook["secret"], last)["test"] is True
        receiver.got.remove(last)
        assert {json.loads(body)["type"] for _, body in receiver.got} == {"sms.sent"}
    finally:
        listening.end()
        served.end()


@pytest.mark.slow
def test_without_a_service_there_is_nothing_to_listen_to(risala, tmp_path):
    assert risala("org", "create", "Shop").exit_code == 0
    done = risala("webhook", "listen", "--forward", "http://127.0.0.1:9/")
    assert done.exit_code == 1
    assert "not running" in done.stderr

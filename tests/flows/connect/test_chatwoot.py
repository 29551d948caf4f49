"""The program of *Connect Chatwoot* brings texts into Chatwoot: it runs as the page has it, beside
the whole service, with a stand-in for the public API of an inbox (chatwoot 4.14.2,
``app/controllers/public/api/v1/inboxes``)."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from benchmarks.processes import free_port

from doc_blocks import ROOT, blocks_of
from patience import until

pytestmark = pytest.mark.slow

INBOX = "/public/api/v1/inboxes/gJ7xA"
TEXTS = ["Where is my order?", "أين طلبي؟"]
PAGE = ROOT / "docs/how-to/connect/chatwoot.md"


class Chatwoot(ThreadingHTTPServer):
    """Contacts of one inbox by their source, each with conversations."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), ChatwootInbox)
        self.contacts: dict[str, dict] = {}
        self.talks: dict[str, list[dict]] = {}
        self.texts: list[tuple[str, int, str]] = []


class ChatwootInbox(BaseHTTPRequestHandler):
    server: Chatwoot

    def do_GET(self) -> None:
        source = self.path.removeprefix(f"{INBOX}/contacts/").removesuffix("/conversations")
        self._tell(self.server.talks[source])

    def do_POST(self) -> None:
        given = json.loads(self.rfile.read(int(self.headers["content-length"])))
        match self.path.removeprefix(f"{INBOX}/contacts").split("/")[1:]:
            case []:
                source = given["source_id"]
                self.server.contacts.setdefault(source, given)
                self.server.talks.setdefault(source, [])
                self._tell({"source_id": source})
            case [source, "conversations"]:
                made = {"id": 40 + len(self.server.talks[source])}
                self.server.talks[source].append(made)
                self._tell(made)
            case [source, "conversations", talk, "messages"]:
                self.server.texts.append((source, int(talk), given["content"]))
                self._tell({"id": len(self.server.texts)})

    def _tell(self, content: object) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def chatwoot() -> Iterator[Chatwoot]:
    with Chatwoot() as server:
        threading.Thread(target=server.serve_forever).start()
        yield server
        server.shutdown()


def test_texts_come_into_one_conversation(premises, chatwoot, tmp_path):
    scenario = tmp_path / "phones.toml"
    scenario.write_text(
        f'[inbound]\nrate_per_s = 5\ntexts = {json.dumps(TEXTS)}\nsenders = ["+22236123456"]\n'
    )
    simulator = premises.simulator("--scenario", str(scenario))
    service = premises.running(simulator, more="[webhooks]\nallow_insecure = true\n")
    account = service.organization()
    whose = {"organization_id": account.organization_id}
    service.perform("inbound.route", **whose)
    port = free_port()
    url = f"http://127.0.0.1:{port}/"
    made = service.perform("webhook.create", url=url, types=["sms.received"], **whose)
    (program,) = (each.text for each in blocks_of(PAGE) if each.language == "python")
    (tmp_path / "chatwoot.py").write_text(program)
    running = subprocess.Popen(
        [sys.executable, str(tmp_path / "chatwoot.py")],
        env={
            "PORT": str(port),
            "RISALA_SECRET": made["secret"],
            "CHATWOOT_INBOX": f"http://127.0.0.1:{chatwoot.server_port}{INBOX}",
        },
    )
    try:
        until(lambda: {each[2] for each in chatwoot.texts} == {*TEXTS}, "the texts are there")
    finally:
        running.kill()
        running.wait()
    assert {each[:2] for each in chatwoot.texts} == {("22236123456", 40)}
    assert chatwoot.contacts["22236123456"]["phone_number"] == "+22236123456"

"""What the service talks to goes wrong: names, mail servers, receivers of webhooks, carriers."""

from __future__ import annotations

import json
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from aiosmtpd.controller import Controller

from bad_machine import HANG, Call
from patience import until

pytestmark = [pytest.mark.slow, pytest.mark.long]

_CLOSED = "Connection unexpectedly closed"


class Dead:
    """A server that takes connections, says something at the most, and nothing more."""

    def __init__(self, greeting: bytes = b"", *, resets: bool = False, port: int = 0) -> None:
        self._greeting, self._resets = greeting, resets
        self._socket = socket.create_server(("127.0.0.1", port))
        self.port: int = self._socket.getsockname()[1]
        self.connections = 0
        self._held: list[socket.socket] = []
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            if self._resets:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                client.close()
                continue
            if self._greeting:
                client.sendall(self._greeting)
            self._held.append(client)

    def close(self) -> None:
        if self._socket.fileno() < 0:
            return
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()
        for each in self._held:
            each.close()


@contextmanager
def dead(*arguments: object, **options: object) -> Iterator[Dead]:
    server = Dead(*arguments, **options)
    try:
        yield server
    finally:
        server.close()


class Listener:
    """A customer's server: notes what arrives."""

    def __init__(self) -> None:
        heard = self.heard = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                heard.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def events_of(self, message_id: str) -> int:
        return sum(each["messageId"] == message_id for each in list(self.heard))

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@contextmanager
def told(stand, port: int, host: str = "localhost") -> Iterator[str]:
    """An endpoint of webhooks there; its id."""
    endpoint = stand.service.perform(
        "webhook.create",
        organization_id=stand.account.organization_id,
        url=f"http://{host}:{port}/hook",
        types=["sms.sent"],
    )["endpoint"]["id"]
    try:
        yield endpoint
    finally:
        stand.service.perform("webhook.delete", endpoint_id=endpoint)


def failure(stand, endpoint: str) -> str:
    """Why its deliveries failed, as their log tells."""

    def found() -> str | None:
        page = stand.service.perform("webhook.deliveries", endpoint_id=endpoint)
        return next((each["error"] for each in page["deliveries"] if each["error"]), None)

    return until(found, "a delivery has failed")


def test_names_are_not_found(stand):
    with (
        stand.trial("names_unknown") as trial,
        closing(Listener()) as listener,
        told(stand, listener.port) as endpoint,
    ):
        with stand.machine.failing(Call.RESOLVE):
            sent = trial.send().json()["messageId"]
            trial.saw("the delivery's error", failure(stand, endpoint))
        trial.wait_whole()
        until(lambda: listener.events_of(sent), "the event arrives after all")


def test_looking_a_name_up_never_ends(stand):
    with (
        stand.trial("names_hang") as trial,
        closing(Listener()) as listener,
        told(stand, listener.port) as endpoint,
    ):
        before = stand.machine.hits(Call.RESOLVE)
        with stand.machine.failing(Call.RESOLVE, HANG):
            sent = [trial.send().json()["messageId"] for _ in range(20)]
            until(lambda: stand.machine.hits(Call.RESOLVE) > before, "a look-up hangs")
            trial.send()
            assert stand.service.perform("audit")["clean"]  # which needs a thread as well
        trial.saw("the delivery's error", failure(stand, endpoint))
        trial.wait_whole()
        until(lambda: listener.events_of(sent[0]), "the event arrives after all")


def test_the_receiver_of_webhooks_is_dead(stand):
    with stand.trial("receiver_dead") as trial, closing(Listener()) as listener:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        with told(stand, port) as refused, told(stand, listener.port) as well:
            sent = trial.send().json()["messageId"]
            trial.saw("the delivery's error", failure(stand, refused))
            until(lambda: listener.events_of(sent), "another endpoint waits for nobody")
            assert well
            trial.wait_whole()


class MailServer:
    """Takes mails, or not, as it is told."""

    def __init__(self) -> None:
        self.refuses_recipient = ""
        self.refuses_text = ""
        self.taken = 0

    async def handle_RCPT(self, server, session, envelope, address, options):
        if self.refuses_recipient:
            return self.refuses_recipient
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        if self.refuses_text:
            return self.refuses_text
        self.taken += 1
        return "250 OK"


@contextmanager
def mail_server(port: int) -> Iterator[MailServer]:
    server = MailServer()
    controller = Controller(server, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield server
    finally:
        controller.stop()


def test_the_mail_server_is_dead(stand):
    """Refuses, hangs, resets, and says no in the middle: each mail is tried again."""
    service = stand.service
    with stand.trial("mail_server_dead") as trial:

        def owe() -> None:
            shop = service.perform("org.create", name="Shop")["id"]
            invited = {"email": "sidi@example.com", "role": "viewer"}
            service.perform("member.invite", organization_id=shop, **invited)

        def reasons() -> list[str]:
            return [each["reason"] for each in trial.log("people.mail.failed")]

        owe()  # nobody listens
        until(lambda: len(reasons()) == 1, "the first mail has failed")
        with dead(resets=True, port=stand.mail_port):
            owe()
            until(lambda: len(reasons()) == 2, "the second mail has failed")
        with dead(port=stand.mail_port) as silent:
            owe()
            until(lambda: silent.connections, "the third mail is on its way")
            trial.send()
        until(lambda: len(reasons()) == 3, "the third mail has failed")
        with mail_server(stand.mail_port) as server:
            server.refuses_text = "451 later"
            owe()
            until(lambda: len(reasons()) == 4, "the fourth mail has failed")
            server.refuses_text, server.refuses_recipient = (
                "",
                "554 5.1.1 <sidi@example.com>: never",
            )
            owe()
            until(lambda: len(reasons()) == 5, "the fifth mail has failed")
            server.refuses_recipient = ""
            for reason in reasons():
                # A reset that comes while we write, and not while we read, has no words around it.
                told = reason.replace("sent: [Errno 104]", f"sent: {_CLOSED}: [Errno 104]")
                trial.saw("log", f"people.mail.failed: {told}")
            trial.saw_doctor("mail")
            trial.wait_whole()
            until(lambda: server.taken >= 5, "all mails are sent after all")


@pytest.fixture
def carrier(stand):
    """Its simulator's port, free; another simulator is there afterwards."""
    stand.service.wait_settled()
    stand.stop_simulator()
    yield stand.simulator.port
    stand.start_simulator()


def test_the_carrier_refuses_connections(stand, carrier):
    with stand.trial("carrier_refuses") as trial:
        trial.saw_not_ready()
        trial.send()
        trial.saw_carrier()
        stand.start_simulator()
        trial.wait_whole()


def test_the_carrier_takes_a_connection_and_says_nothing(stand, carrier):
    with stand.trial("carrier_mute") as trial, dead(port=carrier) as server:
        until(lambda: server.connections, "the driver has connected")
        trial.saw_not_ready()
        trial.send()
        trial.saw_carrier()
        server.close()
        stand.start_simulator()
        trial.wait_whole()


def test_the_carrier_resets_each_connection(stand, carrier):
    with stand.trial("carrier_resets") as trial, dead(resets=True, port=carrier) as server:
        until(lambda: server.connections > 2, "the driver tries again and again")
        trial.saw_not_ready()
        trial.send()
        trial.saw_carrier()
        server.close()
        stand.start_simulator()
        trial.wait_whole()


def test_the_carrier_falls_silent_after_its_bind(stand):
    with stand.trial("carrier_silent") as trial:
        trial.send_quietly()
        process = stand.simulator.popen
        process.send_signal(signal.SIGSTOP)
        try:
            sent = [trial.send().json()["messageId"] for _ in range(3)]
            rows = "SELECT count(*) FROM messages WHERE id IN (?, ?, ?) AND status = 'processing'"
            until(lambda: stand.service.rows(rows, *sent) == [(3,)], "they are with the carrier")
        finally:
            process.send_signal(signal.SIGCONT)
        trial.wait_whole()

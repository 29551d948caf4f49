"""A service that is killed while a mail is with the mail server: the mail comes after all."""

from __future__ import annotations

import asyncio
import socket
import threading
from email import message_from_string
from email.policy import default

import pytest
from aiosmtpd.controller import Controller

from patience import until

pytestmark = pytest.mark.slow


class SlowServer:
    """Takes a mail when it is let go, and not before."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.let_go = asyncio.Event()
        self.taken: list[str] = []

    async def handle_DATA(self, server, session, envelope):
        self.begun.set()
        await self.let_go.wait()
        self.taken.append(envelope.content.decode())
        return "250 OK"


@pytest.fixture
def mail_server():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = SlowServer()
    controller = Controller(server, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield server, port, lambda: controller.loop.call_soon_threadsafe(server.let_go.set)
    finally:
        controller.stop()


def test_a_kill_while_a_mail_is_on_its_way_loses_nothing(premises, mail_server):
    server, port, let_go = mail_server
    config = premises.path / "risala.toml"
    config.write_text(f'[mail]\nhost = "127.0.0.1"\nport = {port}\nsecurity = "none"\n')
    service = premises.service("--config", str(config))
    service.start()
    shop = service.perform("org.create", name="Shop")["id"]
    invited = {"organization_id": shop, "email": "sidi@example.com", "role": "viewer"}
    service.perform("member.invite", **invited)
    until(server.begun.is_set, "the mail server has the mail in its hands")
    service.kill()
    assert server.taken == []
    let_go()
    service.start()
    until(lambda: server.taken, "the mail was sent again")
    mail = message_from_string(server.taken[-1], policy=default)
    assert mail["to"] == "sidi@example.com"
    assert "Shop" in mail.get_content()
    until(lambda: service.rows("SELECT outcome FROM mails") == [("sent",)], "it is written down")
    assert service.stop() == 0

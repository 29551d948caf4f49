"""Secrets of every kind, planted in one service that is then used, and searched."""

from __future__ import annotations

import base64
import re
import socket
import threading
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

SMTP_PASSWORD = "planted-Smtp-Xq7Zk2Lw"
SMPP_PASSWORD = "plSmpp7q"
PIN = "73916428"
BODY = "planted text Zebrafink 4417"
HEADER = "Bearer planted-header-Jb5Rt8Yc"
URL_TOKEN = "planted-url-token-Wd3Mn6Pf"
WRONG_KEY = "sk_live_plantedWrongKeyQwertzuiopasdfgh"
WRONG_PASSWORD = "plantedWrongPasswordYxcvbnmasdf"


@dataclass
class Secrets:
    """What was planted, and where each may stand after all."""

    nowhere: dict[str, str] = field(default_factory=dict)
    """By what they are: kept as a hash, derived, or never kept."""
    database_alone: dict[str, str] = field(default_factory=dict)
    """Needed as they are: bodies until they are pruned, what signs, what is sent along."""

    def found_in(self, place: str, content: bytes, *, may_hold: Container[str] = ()) -> list[str]:
        """Which are in some octets, as they are or in another spelling; a place may hold some of
        those that the database has."""
        wanted = {
            what: value for what, value in self.database_alone.items() if what not in may_hold
        }
        return [
            f"{what} in {place}"
            for what, value in {**self.nowhere, **wanted}.items()
            if any(_is_in(each, content) for each in spellings(value))
        ]


def _is_in(spelled: bytes, content: bytes) -> bool:
    if not spelled.isdigit():
        return spelled in content
    # A code of some digits is within many a number: it counts where it stands alone.
    return re.search(rb"(?<![0-9a-zA-Z])%s(?![0-9a-zA-Z])" % spelled, content) is not None


def spellings(value: str) -> set[bytes]:
    """As it is, in an address, in base64 however it is cut, in hexadecimal."""
    plain = value.encode()
    if value.isdigit():
        return {plain}
    cuts = {
        base64.b64encode(b"\0" * before + plain)[4 if before else 0 :].rstrip(b"=")[:-2]
        for before in range(3)
    }
    return {plain, quote(value).encode(), plain.hex().encode(), value.encode("utf-16-be"), *cuts}


class MailServer:
    """Wants a password, and keeps what it takes; refuses every mail to ``refused.example``."""

    def __init__(self) -> None:
        self.mails: list[str] = []
        self.passwords: set[bytes] = set()
        self.came = threading.Condition()

    def log_in(self, server, session, envelope, mechanism, data):
        self.passwords.add(data.password)
        return AuthResult(success=True)

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.endswith("@refused.example"):
            return "550 no such mailbox, and the password was planted"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        with self.came:
            self.mails.append(envelope.content.decode())
            self.came.notify_all()
        return "250 OK"


@pytest.fixture
def mail_server() -> Iterator[tuple[MailServer, int]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = MailServer()
    controller = Controller(
        server,
        hostname="127.0.0.1",
        port=port,
        authenticator=server.log_in,
        auth_require_tls=False,
    )
    controller.start()
    try:
        yield server, port
    finally:
        controller.stop()


@pytest.fixture
def secrets() -> Secrets:
    return Secrets(
        nowhere={
            "the mail server's password": SMTP_PASSWORD,
            "the carrier's password": SMPP_PASSWORD,
            "the SIM's PIN": PIN,
            "a wrong key": WRONG_KEY,
            "a wrong password": WRONG_PASSWORD,
        },
        database_alone={
            "a message's text": BODY,
            "a webhook's header": HEADER,
            "a token in a webhook's address": URL_TOKEN,
        },
    )


@pytest.fixture
def settings():
    """Writes the settings' file."""

    def write(path: Path, smpp_port: int, mail_port: int) -> Path:
        path.write_text(
            "[log]\n"
            "[compat.kannel]\nenabled = true\n[compat.twilio]\nenabled = true\n"
            "[compat.playsms]\nenabled = true\n[compat.smsgate]\nenabled = true\n"
            "[webhooks]\nallow_insecure = true\n"
            f'[mail]\nhost = "127.0.0.1"\nport = {mail_port}\nsecurity = "none"\n'
            'user = "risala"\npassword_env = "RISALA_PLANTED_MAIL"\n'
            '[[carriers]]\nname = "mattel"\ndriver = "smpp"\n'
            f'[carriers.smpp]\nhost = "127.0.0.1"\nport = {smpp_port}\n'
            'system_id = "risala"\npassword_env = "RISALA_PLANTED_SMPP"\n'
            '[[carriers]]\nname = "sim"\ndriver = "modem"\nprefixes = ["+2224"]\n'
            '[carriers.modem]\nport = "/dev/planted-modem"\npin_env = "RISALA_PLANTED_PIN"\n',
            "utf-8",
        )
        return path

    return write


PLANTED = {
    "RISALA_PLANTED_MAIL": SMTP_PASSWORD,
    "RISALA_PLANTED_SMPP": SMPP_PASSWORD,
    "RISALA_PLANTED_PIN": PIN,
}
"""The environment of the service, and of commands that read its settings."""


@pytest.fixture
def planted() -> dict[str, str]:
    return dict(PLANTED)

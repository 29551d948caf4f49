"""Trying answers out on a machine: a modem on a serial line, and a mail server."""

import json
import signal
import socket
import sys
from contextlib import contextmanager

import pytest
import trio
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

from patience import HANG_S
from processes import Process
from risala.cli.first_run.trials import MachineTrials
from risala.http.first_run.answers import Wrong
from risala.http.first_run.questions import STEPS

STEP = {each.name: each for each in STEPS}


async def attempt(step: str, **answers: str) -> str:
    """What is wrong with the answers; empty: they work."""
    try:
        with trio.fail_after(HANG_S):
            await MachineTrials().attempt(STEP[step], answers, {})
    except Wrong as wrong:
        return str(wrong)
    return ""


@pytest.mark.slow
async def test_a_modem_is_asked_and_sends_nothing(tmp_path):
    port = tmp_path / "stick"
    command = [sys.executable, "-m", "risala", "simulate", "modem", "--link", str(port)]
    modem = Process([*command, "--json"], tmp_path)
    try:
        modem.wait_line(bool)
        assert await attempt("modem", modem_port=str(port)) == ""
        modem.signal(signal.SIGINT)
        modem.wait_exit()
    finally:
        modem.end()
    heard = [json.loads(line) for line in modem.lines]
    assert not [each for each in heard if "+CMGS" in each.get("line", "")]


@contextmanager
def mail_server():
    """A server that lets in one user, without encryption."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]

    def authenticate(server, session, envelope, mechanism, data):
        is_right = (data.login, data.password) == (b"u", b"right")
        return AuthResult(success=is_right, handled=False)

    server = Controller(
        None, hostname="127.0.0.1", port=port, authenticator=authenticate, auth_require_tls=False
    )
    server.start()
    try:
        yield str(port)
    finally:
        server.stop()


async def test_a_mail_server_is_tried_with_the_log_in():
    given = {"mail_host": "127.0.0.1", "mail_security": "none", "mail_user": "u"}
    with mail_server() as port:
        assert await attempt("mail", **given, mail_port=port, mail_password="right") == ""
        wrong = await attempt("mail", **given, mail_port=port, mail_password="wr0ng")
        assert wrong.startswith("The mail server refuses the user name or the password. It says: 5")
        assert "wr0ng" not in wrong
        plain = {**given, "mail_security": "starttls", "mail_port": port}
        assert (await attempt("mail", **plain)).startswith("Encryption fails.")
    assert "Nothing listens at 127.0.0.1" in await attempt("mail", **given, mail_port=port)


async def test_without_a_mail_server_nothing_is_tried():
    assert await attempt("mail", mail_host="") == ""


async def test_a_name_that_nobody_knows_is_told():
    found = await attempt("address", port="0", public_url="https://sms.invalid")
    assert found.startswith("The name sms.invalid is not known in the DNS.")

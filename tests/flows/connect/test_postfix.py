"""From `sendmail` to the phone in the lab: a real Postfix with the configuration of the page.

It runs beside the machine's own, in folders of its own, and without a port.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import textwrap
from pathlib import Path

import pytest

from doc_blocks import ROOT, blocks_of
from patience import HANG_S
from processes import Process, environment

POSTFIX = shutil.which("postfix", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
USER = "nobody"
"""Whom the service and the pipe run as here: Postfix starts no pipe as root."""
PAGE = ROOT / "docs/how-to/connect/mail.md"
SENDER = "alerts@monitoring.example"
AS_USER = ("setpriv", f"--reuid={USER}", "--regid=nogroup", "--clear-groups")
MAIN = """\
compatibility_level = 3.6
queue_directory = {here}/queue
data_directory = {here}/data
maillog_file = {here}/log
maillog_file_prefixes = {here}
myhostname = mx.example
mydestination = mx.example
inet_interfaces = loopback-only
inet_protocols = ipv4
alias_maps = texthash:{here}/aliases
alias_database =
virtual_alias_maps = inline:{{ oncall@example.com=36123456@sms.example }}
import_environment = MAIL_CONFIG TZ
"""
MASTER = """\
postlog unix-dgram n - n - 1 postlogd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
error unix - - n - - error
retry unix - - n - - error
showq unix n - n - - showq
mailbox unix - n n - - pipe user={user} argv=/usr/bin/tee -a {here}/bounces/file
"""


PATHS = os.pathsep.join((str(ROOT / "src"), sysconfig.get_path("purelib")))


def python_of_the_user() -> str | None:
    """A Python that another user may run, with all that the service needs; None: there is none.

    The one of the tests may be in a home that is closed to others.
    """
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for found in (sys.executable, f"/usr/bin/{version}"):
        tried = f"PYTHONPATH={PATHS} {found} -c 'import pydantic_core, risala.cli.main'"
        if subprocess.run([*AS_USER, "sh", "-c", tried], check=False).returncode == 0:
            return found
    return None


pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.skipif(
        POSTFIX is None, reason="NOT TRIED: there is no postfix; `make peers` gets it"
    ),
    pytest.mark.skipif(os.getuid() != 0, reason="NOT TRIED: only root may start a Postfix"),
]


def configuration(here: Path) -> tuple[str, str]:
    """The page's own lines for ``master.cf`` and ``main.cf``, with the places of the test."""
    master, main = (
        block.text
        for block in blocks_of(PAGE)
        if block.language == "text" and "Postfix" in (block.reason or "")
    )
    for told, ours in (
        ("user=risala", f"user={USER}"),
        ("/usr/local/bin/risala", f"{here}/risala"),
        ("/var/lib/risala", f"{here}/service/data"),
    ):
        assert told in master
        master = master.replace(told, ours)
    return master, main.replace(", …", "").replace(
        "{ sms.example=sms }",
        ("{ sms.example=sms, monitoring.example=mailbox, other.example=mailbox }"),
    )


class Machine:
    """A Postfix, a service, and an SMSC with its phones."""

    def __init__(self, here: Path, python: str) -> None:
        self.here = here
        command = f'PYTHONSAFEPATH=1 PYTHONPATH={PATHS} exec {python} -m risala "$@"'
        (here / "risala").write_text(f"#!/bin/sh\n{command}\n")
        (here / "risala").chmod(0o755)
        for name in ("service", "bounces"):
            (here / name).mkdir()
            shutil.chown(here / name, USER)
        smsc = [sys.executable, "-m", "risala", "simulate", "smsc", "--json", "--port", "0"]
        self.smsc = Process([*smsc, "--system-id", "me", "--password", "pw"], here)
        port = json.loads(self.smsc.wait_line(bool))["port"]
        (table,) = (each.text for each in blocks_of(PAGE) if each.language == "toml")
        (here / "risala.toml").write_text(
            table
            + '[[carriers]]\nname = "lab"\ndriver = "smpp"\n[carriers.smpp]\nhost = "127.0.0.1"\n'
            + f'port = {port}\nsystem_id = "me"\npassword_env = "LAB_PASSWORD"\n'
        )
        self.data = str(here / "service/data")
        self.service: Process | None = None

    def command(self, *arguments: str) -> None:
        subprocess.run(
            [*AS_USER, str(self.here / "risala"), *arguments, "--data", self.data],
            check=True, cwd=self.here, env=environment(), timeout=HANG_S,
        )  # fmt: skip

    def serve(self) -> None:
        options = ("--config", str(self.here / "risala.toml"), "--data", self.data, "--port", "0")
        self.service = Process(
            [*AS_USER, str(self.here / "risala"), "serve", *options], self.here, LAB_PASSWORD="pw"
        )
        self.service.wait_line(lambda line: line.startswith("Risala is running"))

    def stop(self) -> None:
        assert self.service is not None
        self.service.signal(signal.SIGTERM)
        assert self.service.wait_exit() == 0

    def postfix(self, *arguments: str) -> None:
        subprocess.run(
            [POSTFIX, "-c", str(self.here / "etc"), *arguments], check=True, timeout=HANG_S,
            capture_output=True,
        )  # fmt: skip

    def start_postfix(self) -> None:
        master, main = configuration(self.here)
        etc = self.here / "etc"
        etc.mkdir()
        for name in ("queue", "data"):
            (self.here / name).mkdir()
        shutil.chown(self.here / "data", "postfix")
        (self.here / "aliases").touch()
        (etc / "main.cf").write_text(MAIN.format(here=self.here) + main)
        (etc / "master.cf").write_text(MASTER.format(here=self.here, user=USER) + master)
        self.postfix("start")

    def mail(self, to: str, text: str, *, sender: str = SENDER, head: str = "") -> None:
        subprocess.run(
            ["/usr/sbin/sendmail", "-C", str(self.here / "etc"), "-f", sender, to],
            input=f"{head}\n{text}\n", text=True, check=True, timeout=HANG_S,
        )  # fmt: skip

    def logged(self, wanted: str) -> str:
        """The line of the mail server's log that has it."""
        follow = Process(["tail", "-n", "+1", "-F", str(self.here / "log")], self.here)
        try:
            return follow.wait_line(lambda line: re.search(wanted, line) is not None)
        finally:
            follow.end()

    def phone(self, text: str) -> dict[str, str]:
        """The message with this text, once a phone has it."""

        def is_it(line: str) -> bool:
            told = json.loads(line)
            return told["event"] == "MessageReceived" and told["message"]["text"] == text

        found: dict[str, str] = json.loads(self.smsc.wait_line(is_it))["message"]
        return found

    def received(self) -> list[str]:
        told = [json.loads(line) for line in self.smsc.lines]
        return [each["message"]["text"] for each in told if each["event"] == "MessageReceived"]

    def end(self) -> None:
        if (self.here / "queue/pid/master.pid").exists():
            self.postfix("stop")
        for each in (self.service, self.smsc):
            if each is not None:
                each.end()


@pytest.fixture(scope="module")
def machine():
    python = python_of_the_user()
    if python is None:
        pytest.skip(f"NOT TRIED: the user {USER} may not run this Python")
    with tempfile.TemporaryDirectory(prefix="risala-postfix-") as folder:
        here = Path(folder)
        here.chmod(0o755)  # Postfix's own users must reach their folders in it
        made = Machine(here, python)
        try:
            made.command("org", "create", "Shop")
            made.command("topup", "100")
            made.serve()
            made.start_postfix()
            yield made
        finally:
            made.end()


def test_a_mail_reaches_the_phone(machine):
    head = textwrap.dedent("""\
        Subject: =?utf-8?q?Disque_=C3=A0_90_=25?=
        MIME-Version: 1.0
        Content-Type: text/plain; charset=utf-8
        Auto-Submitted: auto-generated
    """)
    machine.mail("36123456@sms.example", "Ça déborde.\n-- \ncron", head=head)
    found = machine.phone("Disque à 90 %\nÇa déborde.")
    assert found["recipient"].endswith("22236123456")
    assert "status=sent (delivered via sms service)" in machine.logged(r"to=<36123456@sms")


@pytest.mark.parametrize(
    "to", ["+22246123456@sms.example", "0022246123456@sms.example", "oncall@example.com"]
)
def test_other_ways_to_write_the_number(machine, to):
    machine.mail(to, f"for {to}")
    digits = "22236123456" if to.startswith("oncall") else "22246123456"
    assert machine.phone(f"for {to}")["recipient"].endswith(digits)


REFUSED = {
    "no number": ("team@sms.example", SENDER, "The part of the address before the @"),
    "not allowed": ("36123457@sms.example", "eve@other.example", "eve@other.example may not send"),
}


@pytest.mark.parametrize(("to", "sender", "why"), REFUSED.values(), ids=REFUSED)
def test_a_refused_mail_comes_back_with_the_sentence(machine, to, sender, why):
    machine.mail(to, "never", sender=sender)
    assert "status=bounced" in machine.logged(re.escape(f"to=<{to}>"))
    assert why in machine.logged(re.escape(f"to=<{to}>"))
    machine.logged(re.escape(f"to=<{sender}>") + ".*status=sent")
    bounce = " ".join((machine.here / "bounces/file").read_text().split())
    assert why in bounce
    assert "never" not in machine.received()


def test_a_bounce_is_passed_over(machine):
    machine.mail("36123458@sms.example", "not delivered", sender="<>")
    line = machine.logged("to=<36123458@sms.example>")
    assert "status=sent (delivered via sms service (The mail is a bounce" in line
    machine.mail("36123458@sms.example", "away", head="Auto-Submitted: auto-replied\n")
    machine.logged("The mail is an automatic reply")
    assert not {"not delivered", "away"} & {*machine.received()}


def test_a_mail_waits_for_a_service_that_is_down_and_is_sent_once(machine):
    machine.stop()
    machine.mail("36123459@sms.example", "while it was down")
    line = machine.logged("to=<36123459@sms.example>")
    assert "status=deferred" in line
    assert f"the user {USER} may not ask it: the mail is tried again later" in line
    machine.serve()
    machine.postfix("flush")
    machine.phone("while it was down")
    machine.logged("to=<36123459@sms.example>.*status=sent")
    # As if the mail server had not heard the answer.
    mail = b"From: x\nMessage-ID: <twice@monitoring.example>\n\ntwice\n"
    command = [machine.here / "risala", "send", "--from-mail", "--data", machine.data]
    for _ in range(2):
        done = subprocess.run(
            [*AS_USER, *map(str, command), "--to=36123459@sms.example", f"--mail-from={SENDER}"],
            input=mail, check=False, capture_output=True, timeout=HANG_S,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    machine.mail("36123459@sms.example", "after it")
    machine.phone("after it")
    assert machine.received().count("twice") == 1

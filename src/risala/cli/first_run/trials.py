"""Trying out answers of the first run: a bind, a modem, a mail server, a name, a port."""

from __future__ import annotations

import errno
import smtplib
import socket
import ssl
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

import trio

from risala.config.outward import MailSection
from risala.http.first_run import asking as trials
from risala.http.first_run.asking import Choices, FirstRunStep
from risala.http.first_run.reading import YES, Answers, Wrong

_MODEM_S: Final = 45.0
"""Seconds for all checks of a modem: its SIM may still be looking for a network."""
_DNS_S: Final = 5.0
_BAUD: Final = 115200
_OTHER_PORT: Final = 10
"""Added to a port that is in use, for the one that is offered."""
_UNPRIVILEGED: Final = 1024


class MachineTrials:
    """:class:`risala.http.first_run.asking.Trials` of this machine.

    Args:
        is_running: a service runs with the settings that stand. What it holds is not tried again.
    """

    def __init__(self, *, is_running: bool = False) -> None:
        self._is_running = is_running
        self._modems: Choices | None = None
        self._looking = trio.Lock()

    async def modems(self) -> Choices:
        async with self._looking:
            if self._modems is None:
                self._modems = await _modems()
            return self._modems

    async def attempt(self, step: FirstRunStep, answers: Answers, standing: Answers) -> None:
        if self._is_running and not _changes(step, answers, standing):
            return
        match step.name:
            case "smpp":
                await _bind(answers)
            case "modem":
                await _modem(answers)
            case "address":
                await _address(answers, standing, is_running=self._is_running)
            case "mail" if answers.get("mail_host"):
                await _mail(answers)


def _changes(step: FirstRunStep, answers: Answers, standing: Answers) -> bool:
    return any(answers.get(each.name) != standing.get(each.name) for each in step.questions)


async def _modems() -> Sequence[tuple[str, str]]:
    from risala.drivers.modem.doctor.ports import ask_all, candidates
    from risala.drivers.modem.port.host import Host

    host = Host()
    found = await ask_all(candidates(host), _BAUD, holders=host.holders)
    return [
        (each.port, each.modem or each.description or each.text)
        for each in found
        if each.answers or each.served
    ]


async def _bind(answers: Answers) -> None:
    from risala.drivers.smpp.bind_check import check_bind
    from risala.drivers.smpp.settings import SmppSettings

    settings = SmppSettings.model_validate(
        {
            "host": answers.get("smpp_host", ""),
            "port": int(answers.get("smpp_port", "")),
            "system_id": answers.get("smpp_system_id", ""),
            "password": answers.get("smpp_password", ""),
            "tls": answers.get("smpp_tls", "") == YES,
        }
    )
    said = await check_bind(settings)
    if said is not None:
        raise Wrong(said=said)


async def _modem(answers: Answers) -> None:
    from risala.drivers.modem.doctor.bench import Bench
    from risala.drivers.modem.doctor.doctor import examine
    from risala.drivers.modem.notefile import NoteFile, notes_path
    from risala.drivers.modem.port.host import Host
    from risala.drivers.modem.ready.pin import PinMemory
    from risala.drivers.modem.settings import ModemSettings

    table = {"port": answers.get("modem_port", ""), "pin": answers.get("modem_pin") or None}
    settings = ModemSettings.model_validate(table)
    bench = Bench(
        settings, memory=PinMemory(NoteFile(notes_path())), types_anyway=False, host=Host()
    )
    found = await examine(bench, _MODEM_S)
    if found.can_send is False:
        raise Wrong(said=found.verdict)


async def _address(answers: Answers, standing: Answers, *, is_running: bool) -> None:
    port = int(answers.get("port", ""))
    if port and not (is_running and answers.get("port", "") == standing.get("port")):
        _port_is_free(port)
    host = urlsplit(answers.get("public_url", "")).hostname
    if not host:
        return
    with trio.move_on_after(_DNS_S) as late:
        try:
            await trio.socket.getaddrinfo(host, None)
        except (OSError, UnicodeError):
            raise Wrong(trials.NAME_UNKNOWN, host=host) from None
    if late.cancelled_caught:
        raise Wrong(trials.NAME_UNKNOWN, host=host)


def _port_is_free(port: int) -> None:
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind(("127.0.0.1", port))
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EPERM) and port < _UNPRIVILEGED:
                raise Wrong(trials.PORT_LOW) from None
            raise Wrong(trials.PORT_TAKEN, port=port, other=port + _OTHER_PORT) from None


async def _mail(answers: Answers) -> None:
    from risala.drivers.mail.smtp import SmtpMailer, smtp_reason

    host, port = answers.get("mail_host", ""), int(answers.get("mail_port", ""))
    settings = MailSection.model_validate(
        {
            "host": host,
            "port": port,
            "security": answers.get("mail_security", ""),
            "user": answers.get("mail_user") or None,
        }
    )
    try:
        await SmtpMailer(settings).check(answers.get("mail_password", ""))
    except smtplib.SMTPAuthenticationError as error:
        raise Wrong(trials.MAIL_LOGIN, smtp_reason(error)) from None
    except (ssl.SSLError, smtplib.SMTPNotSupportedError) as error:
        raise Wrong(trials.MAIL_TLS, smtp_reason(error)) from None
    except socket.gaierror:
        raise Wrong(trials.MAIL_UNKNOWN, host=host) from None
    except ConnectionRefusedError:
        raise Wrong(trials.MAIL_REFUSED, host=host, port=port) from None
    except TimeoutError:
        raise Wrong(trials.MAIL_SILENT, host=host, port=port) from None
    except (OSError, smtplib.SMTPException, ValueError) as error:
        raise Wrong(trials.MAIL_OTHER, smtp_reason(error)) from None

"""Trying out answers of the first run: a bind, a modem, a mail server, a name, a port."""

from __future__ import annotations

import errno
import smtplib
import socket
import ssl
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlsplit

import trio
from pydantic import ValidationError

from risala.cli.first_run.settings import table_of
from risala.config.outward import MailSection
from risala.http.first_run.answers import Answers, Wrong
from risala.http.first_run.questions import Choices, FirstRunStep
from risala.http.web.languages import N_

_NOWHERE: Final = "https://sms.example.com/carriers/aggregator"
_MODEM_S: Final = 45.0
"""Seconds for all checks of a modem: its SIM may still be looking for a network."""
_DNS_S: Final = 5.0
_BAUD: Final = 115200
_OTHER_PORT: Final = 10
"""Added to a port that is in use, for the one that is offered."""
_UNPRIVILEGED: Final = 1024

_NAME_UNKNOWN: Final = N_(
    "The name {host} is not known in the DNS. Make an entry for it that leads to this machine."
)
_PORT_LOW: Final = N_("Ports below 1024 need special rights. Choose one such as 8080.")
_PORT_TAKEN: Final = N_(
    "Port {port} is in use by another program. Choose another one, such as {other}."
)
_MAIL_FAULTS: Final = (
    (
        smtplib.SMTPAuthenticationError,
        N_("The mail server refuses the user name or the password. It says:"),
    ),
    (
        (ssl.SSLError, smtplib.SMTPNotSupportedError),
        N_("Encryption fails. Usual are STARTTLS with port 587 and TLS with port 465. In detail:"),
    ),
    (
        socket.gaierror,
        N_("The mail server {host} is not known. Compare the name with what your provider wrote."),
    ),
    (
        ConnectionRefusedError,
        N_("Nothing listens at {host}:{port}. Usual ports are 587 with STARTTLS and 465 with TLS."),
    ),
    (
        TimeoutError,
        N_("{host}:{port} does not answer. The port is wrong, or a firewall is between."),
    ),
    (Exception, N_("The mail server does not accept this. It says:")),
)
"""What is told of each fault; behind a colon come the server's own words."""


class MachineTrials:
    """:class:`risala.http.first_run.progress.Trials` of this machine.

    Args:
        is_running: a service runs with the settings that stand. What it holds is not tried again.
    """

    def __init__(self, *, is_running: bool = False) -> None:
        self._is_running = is_running
        self._modems: Choices | None = None
        self._looking = trio.Lock()

    async def choices(self, question: str) -> Choices:
        if question == "http_preset":
            return _aggregators()
        async with self._looking:
            if self._modems is None:
                self._modems = await _modems()
            return self._modems

    def needs(self, preset: str) -> Sequence[str]:
        from risala.drivers.http.presets import names
        from risala.drivers.http.presets import preset as shape_of

        return shape_of(preset).needs if preset in names() else ()

    async def attempt(self, step: FirstRunStep, answers: Answers, standing: Answers) -> None:
        names = [each.name for each in step.questions]
        is_changed = any(answers.get(name) != standing.get(name) for name in names)
        if not step.has_to_try(answers) or (self._is_running and not is_changed):
            return
        match step.name:
            case "smpp":
                await _bind(table_of("carriers.smpp", answers))
            case "account":
                await _account(table_of("carriers.http", answers))
            case "modem":
                await _modem(table_of("carriers.modem", answers))
            case "hilink":
                await _stick(table_of("carriers.hilink", answers))
            case "address":
                is_held = self._is_running and answers.get("port") == standing.get("port")
                table = table_of("http", answers)
                port = 0 if is_held else table.get("port", 0)
                await _address(port, table.get("public_url", ""))
            case "mail":
                await _mail(table_of("mail", answers))


async def _modems() -> Choices:
    from risala.drivers.modem.doctor.ports import ask_all, candidates
    from risala.drivers.modem.port.host import Host

    host = Host()
    modems = await ask_all(candidates(host), _BAUD, holders=host.holders)
    return [
        (each.port, each.modem or each.description or each.text)
        for each in modems
        if each.answers or each.served
    ]


def _aggregators() -> Choices:
    from risala.drivers.http.presets import names, preset

    presets = [(name, preset(name)) for name in names()]
    return sorted(((name, each.title) for name, each in presets), key=lambda each: each[1].lower())


async def _bind(table: dict[str, Any]) -> None:
    from risala.drivers.smpp.bind_check import check_bind
    from risala.drivers.smpp.settings import SmppSettings

    reason = await check_bind(SmppSettings.model_validate(table))
    if reason is not None:
        raise Wrong(remark=reason)


async def _account(table: dict[str, Any]) -> None:
    from risala.drivers.http.account import HttpAccount
    from risala.drivers.http.settings import HttpSettings
    from risala.plugins.contract import HealthState

    try:
        # Our own address is an answer of a later step.
        settings = HttpSettings.model_validate({"secret_address": _NOWHERE, **table})
        account = await trio.to_thread.run_sync(HttpAccount, "", settings)
    except ValidationError as error:
        raise _unfit(error) from None
    try:
        health = await account.health()
    finally:
        await account.aclose()
    if health.state is not HealthState.UP:
        raise Wrong(remark=health.text)


async def _modem(table: dict[str, Any]) -> None:
    from risala.drivers.modem.doctor.bench import Bench
    from risala.drivers.modem.doctor.doctor import examine
    from risala.drivers.modem.notefile import NoteFile, notes_path
    from risala.drivers.modem.port.host import Host
    from risala.drivers.modem.ready.pin import PinMemory
    from risala.drivers.modem.settings import ModemSettings

    settings, memory = ModemSettings.model_validate(table), PinMemory(NoteFile(notes_path()))
    bench = Bench(settings, memory=memory, types_anyway=False, host=Host())
    report = await examine(bench, _MODEM_S)
    if report.can_send is False:
        raise Wrong(remark=report.verdict)


def _unfit(error: ValidationError) -> Wrong:
    """What is wrong with a carrier's settings, in the words of its driver."""
    faults = [each["msg"].removeprefix("Value error, ") for each in error.errors()]
    return Wrong(remark="; ".join(faults))


async def _stick(table: dict[str, Any]) -> None:
    from risala.drivers.hilink.examining import check_stick
    from risala.drivers.hilink.settings import HilinkSettings

    try:
        settings = HilinkSettings.model_validate(table)
    except ValidationError as error:
        raise _unfit(error) from None
    if (reason := await check_stick(settings)) is not None:
        raise Wrong(remark=reason)


async def _address(port: int, url: str) -> None:
    if port:
        _port_is_free(port)
    host = urlsplit(url).hostname
    if not host:
        return
    with trio.move_on_after(_DNS_S), suppress(OSError, UnicodeError):
        await trio.socket.getaddrinfo(host, None)
        return
    raise Wrong(_NAME_UNKNOWN, host=host)


def _port_is_free(port: int) -> None:
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind(("127.0.0.1", port))
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EPERM) and port < _UNPRIVILEGED:
                raise Wrong(_PORT_LOW) from None
            raise Wrong(_PORT_TAKEN, port=port, other=port + _OTHER_PORT) from None


async def _mail(table: dict[str, Any]) -> None:
    from risala.drivers.mail.smtp import SmtpMailer, smtp_reason

    password = table.pop("password", "")
    settings = MailSection.model_validate(table)
    try:
        await SmtpMailer(settings).check(password)
    except (OSError, smtplib.SMTPException, ValueError) as error:
        sentence = next(text for kind, text in _MAIL_FAULTS if isinstance(error, kind))
        reason = smtp_reason(error) if sentence.endswith(":") else ""
        raise Wrong(sentence, reason, host=settings.host, port=settings.port) from None

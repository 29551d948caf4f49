"""``risala send --from-mail``: what a mail server's pipe calls with each mail.

It prints nothing where the mail is sent. Otherwise it prints one sentence on stderr, which the mail
server puts into its log or into the bounce, and ends with a code of ``sysexits.h``, by which the
mail server bounces the mail or tries again later.
"""

from __future__ import annotations

import getpass
import os
import sys
from typing import TYPE_CHECKING, Final, NoReturn

import click

from risala.cli.commands.messaging.mail_options import end
from risala.cli.commands.messaging.mail_reader import (
    MAIL_BYTES_MAX,
    ReadMail,
    UnreadableMail,
    read_mail,
)
from risala.cli.reach.options import Options
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output
from risala.engine.features.compat import records

if TYPE_CHECKING:
    from risala.engine.features.compat.records import MailedMessage
    from risala.engine.model.records.asks import Reply

_RECIPIENT: Final = "RECIPIENT"
"""The variable in which mail servers give their pipes the recipient: qmail's way, which Exim and
OpenSMTPD follow."""
_SENDER: Final = "SENDER"
_NULL_SENDERS: Final = frozenset({"", "<>", "mailer-daemon"})
"""Bounces have no sender. Postfix writes the last one for it by default."""
_CODES: Final = {
    400: os.EX_DATAERR,
    401: os.EX_NOPERM,
    402: os.EX_UNAVAILABLE,
    403: os.EX_NOPERM,
    404: os.EX_CONFIG,
    409: os.EX_CONFIG,
}
"""By the status of a refusal. All others pass, so that the mail server tries again."""
_SILENT: Final = (
    "Risala does not answer, or the user {user} may not ask it: the mail is tried again later."
)


def send_mail(options: Options, recipient: str | None, mail_from: str | None) -> None:
    """Send the mail on stdin."""
    try:
        mail = read_mail(sys.stdin.buffer.read(MAIL_BYTES_MAX + 1))
    except UnreadableMail as error:
        end(os.EX_DATAERR, str(error))
    arguments = {
        "to": _number_in(_recipient(recipient, mail)),
        "mail_from": _envelope_sender(mail_from, mail),
        "subject": mail.subject,
        "text": mail.text,
        "digest": mail.digest,
        "automatic": mail.is_automatic,
    }
    try:
        reply = options.ask_service(lambda session: session.ask(records.MAIL, **arguments))
    except CommandRefused as refused:
        _refuse(refused)
    if reply is None:
        end(os.EX_TEMPFAIL, _SILENT.format(user=_user()))
    _tell(options, reply)


def _tell(options: Options, reply: Reply[MailedMessage]) -> None:
    if not output.show(options.json, reply.json) and reply.value.ignored is not None:
        click.echo(reply.value.ignored, err=True)


def _recipient(option: str | None, mail: ReadMail) -> str:
    address = os.environ.get(_RECIPIENT) if option is None else option
    if address is not None:
        return address
    if len(mail.recipients) != 1:
        end(
            os.EX_USAGE,
            "The mail does not say for which number it is: let the mail server name the recipient "
            "by --to.",
        )
    return mail.recipients[0]


def _envelope_sender(option: str | None, mail: ReadMail) -> str:
    """The sender in the envelope; empty for a bounce. Never the one in ``From``, which anybody may
    write."""
    address = os.environ.get(_SENDER) if option is None else option
    if address is None:
        address = mail.return_path
    if address is None:
        text = "The mail has no envelope: let the mail server name the sender by --mail-from."
        end(os.EX_USAGE, text)
    bare = address.strip().removeprefix("<").removesuffix(">")
    return "" if bare.partition("@")[0].lower() in _NULL_SENDERS else bare


def _number_in(address: str) -> str:
    """The part of an address before the ``@``."""
    local = address.strip().removeprefix("<").removesuffix(">").rpartition("@")[0]
    return (local or address).strip('"')


def _refuse(refused: CommandRefused) -> NoReturn:
    code, message = _CODES.get(refused.status or 0, os.EX_TEMPFAIL), refused.message
    if refused.data.get("code") == "SENDER_NOT_APPROVED":
        code = os.EX_CONFIG
    if any(issue.get("path") == ["to"] for issue in refused.data.get("issues", ())):
        code = os.EX_NOUSER
        message = message.replace("`to`", "The part of the address before the @")
    end(code, message)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())

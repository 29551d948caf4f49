"""``risala send --from-mail``: what a mail server's pipe calls with each mail.

It prints nothing where the mail is sent. Otherwise it prints one sentence on stderr, which the mail
server puts into its log or into the bounce, and ends with a code of ``sysexits.h``, by which the
mail server bounces the mail or tries again later.
"""

from __future__ import annotations

import functools
import getpass
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

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
_LEFT_OUT: Final = (None, False, "live")
"""Values of arguments and options that are not given."""
_ALONE: Final = (
    "With --from-mail give only --to, --mail-from and where the service is: its settings say the "
    "rest."
)
_SILENT: Final = (
    "Risala does not answer, or the user {user} may not ask it: the mail is tried again later."
)


def end(code: int, message: str) -> NoReturn:
    """The mail is not sent.

    Args:
        code: of ``sysexits.h``.
    """
    click.echo(output.clean(" ".join(message.split())), err=True)
    raise SystemExit(code)


class SendCommand(click.Command):
    """``send``, whose wrong usage by a mail server has that one's code."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_by_mail = "--from-mail" in args
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if is_by_mail:
                end(os.EX_USAGE, error.format_message())
            raise


def or_from_mail(by_hand: Callable[..., None]) -> Callable[..., None]:
    """Give the command ``send`` its options for mail servers."""

    @click.option(
        "--from-mail", is_flag=True, help="Send the mail on stdin; for a mail server's pipe."
    )
    @click.option(
        "--to",
        "recipient",
        metavar="ADDRESS",
        help="The mail's recipient, whose part before the @ is the number.",
    )
    @click.option("--mail-from", metavar="ADDRESS", help="The sender in the mail's envelope.")
    @functools.wraps(by_hand)
    def command(
        *,
        from_mail: bool,
        recipient: str | None,
        mail_from: str | None,
        **given: Any,  # noqa: ANN401 -- click's values
    ) -> None:
        if from_mail:
            options = Options(given.pop("data"), given.pop("config"), given.pop("as_json"))
            if any(value not in _LEFT_OUT for value in given.values()):
                end(os.EX_USAGE, _ALONE)
            _send_mail(options, recipient, mail_from)
            return
        context = click.get_current_context()
        if recipient is not None or mail_from is not None:
            raise click.UsageError("--to and --mail-from belong to --from-mail.", context)
        for parameter in context.command.params:
            if isinstance(parameter, click.Argument) and given[parameter.name or ""] is None:
                raise click.MissingParameter(ctx=context, param=parameter)
        by_hand(**given)

    return command


def _send_mail(options: Options, recipient: str | None, mail_from: str | None) -> None:
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


def _recipient(given: str | None, mail: ReadMail) -> str:
    found = os.environ.get(_RECIPIENT) if given is None else given
    if found is not None:
        return found
    if len(mail.recipients) != 1:
        end(
            os.EX_USAGE,
            "The mail does not say for which number it is: let the mail server name the recipient "
            "by --to.",
        )
    return mail.recipients[0]


def _envelope_sender(given: str | None, mail: ReadMail) -> str:
    """The sender in the envelope; empty for a bounce. Never the one in ``From``, which anybody may
    write."""
    found = os.environ.get(_SENDER) if given is None else given
    if found is None:
        found = mail.return_path
    if found is None:
        text = "The mail has no envelope: let the mail server name the sender by --mail-from."
        end(os.EX_USAGE, text)
    bare = found.strip().removeprefix("<").removesuffix(">")
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

"""The options of ``risala send`` for the pipe of a mail server."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any, Final, NoReturn

import click

from risala.cli.reach.options import Options
from risala.cli.show import output
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import duty

_LEFT_OUT: Final = (None, False, "live")
"""Values of arguments and options that are not given."""
_ALONE: Final = (
    "With --from-mail give only --to, --mail-from and where the service is: its settings say the "
    "rest."
)
_NO_MAILS: Final = "This service sends no mails as messages."


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
        **values: Any,  # noqa: ANN401 -- click's values
    ) -> None:
        if from_mail:
            options = Options(values.pop("data"), values.pop("config"), values.pop("as_json"))
            if any(value not in _LEFT_OUT for value in values.values()):
                end(os.EX_USAGE, _ALONE)
            _sent(options, recipient, mail_from)
            return
        context = click.get_current_context()
        if recipient is not None or mail_from is not None:
            raise click.UsageError("--to and --mail-from belong to --from-mail.", context)
        for parameter in context.command.params:
            if isinstance(parameter, click.Argument) and values[parameter.name or ""] is None:
                raise click.MissingParameter(ctx=context, param=parameter)
        by_hand(**values)

    return command


def _sent(options: Options, recipient: str | None, mail_from: str | None) -> None:
    """Have the feature that takes mails send the one on stdin."""
    send_mail = duty(Duty.MAIL)
    if send_mail is None:
        end(os.EX_CONFIG, _NO_MAILS)
    send_mail(options, recipient, mail_from)

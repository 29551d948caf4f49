"""Commands that ask for one operation and print its answer: declared, not written."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from inspect import signature
from typing import TYPE_CHECKING, Any, Concatenate, TypeVar

import click

from risala.cli.commands.accounts.organizations import organization_id
from risala.cli.reach.options import Options, common
from risala.cli.show import output
from risala.engine.model.records.asks import Ask, Reply

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

R = TypeVar("R")
Json = dict[str, Any]


def without_missing(arguments: Json) -> Json:
    """The arguments that were given, for an operation that knows missing ones from empty ones."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in arguments.items()
        if value not in (None, ())
    }


async def _arguments(session: GatewaySession, values: Json) -> Json:
    """The operation's arguments. A repeatable option that is not given counts as missing."""
    arguments: Json = {
        name: (list(value) or None) if isinstance(value, tuple) else value
        for name, value in values.items()
    }
    if "org" in arguments:
        arguments["organization_id"] = await organization_id(session, arguments.pop("org"))
    if (only := arguments.pop("only_org", None)) is not None:
        arguments["organization_id"] = await organization_id(session, only)
    return arguments


def asks(
    ask: Ask[R],
    *,
    creates: bool = False,
    arguments: Callable[[GatewaySession, Json], Awaitable[Json]] = _arguments,
) -> Callable[[Callable[Concatenate[R, ...], None]], Callable[..., None]]:
    """Make a command of the function that prints an answer.

    The command's options and arguments have the names of the operation's arguments; ``org`` is the
    name or id of an organization, ``only_org`` too, but nothing is looked up where that is missing.
    With ``--json`` the answer is printed as it is. Otherwise the function gets it, and those of the
    arguments that it names; ``running`` is whether a service runs.

    Args:
        arguments: the operation's arguments from the command's, where these differ.
    """

    def declare(tell: Callable[Concatenate[R, ...], None]) -> Callable[..., None]:
        _, *named = signature(tell).parameters

        @common
        @functools.wraps(tell)
        def command(options: Options, /, **values: Any) -> None:  # noqa: ANN401 -- click's values
            async def work(session: GatewaySession) -> tuple[Reply[R], bool]:
                return await session.ask(ask, **await arguments(session, values)), session.running

            reply, running = options.run(work, creates=creates)
            if not output.show(options.json, reply.json):
                known = {**values, "running": running}
                tell(reply.value, **{name: known[name] for name in named})

        return command

    return declare


def mode_option(for_what: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """``--test``: test mode instead of live."""
    return click.option("--test", "mode", flag_value="test", default="live", help=for_what)


def says(
    group: click.Group,
    name: str,
    argument: Callable[[Callable[..., None]], Callable[..., None]],
    ask: Ask[R],
    done: Callable[[R], str],
    *,
    does: str,
    example: str,
) -> None:
    """Declare a command that asks for an operation on one thing, and says in a line what was done.

    Args:
        argument: the click argument with the thing's id.
        done: the line.
        does: the command's help.
        example: the arguments of its example.
    """
    path = f"{group.name} {name}"

    @group.command(name, help=f"{does}\n\n\b\nExample: risala {path} {example}")
    @argument
    @asks(ask)
    def _(value: R) -> None:
        output.said(output.clean(done(value)))

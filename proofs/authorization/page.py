"""The reference page, from the tables of the code and what is expected of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import click

from proofs.authorization.expected import (
    API,
    ASKED,
    BESIDE_PAGES,
    FACES,
    IN,
    OF_AGENTS,
    PLACES,
    SIGN_IN,
    SOCKET,
    THINGS,
    VISITED,
    WITHOUT_DATA,
    Door,
)
from risala.cli.main import cli
from risala.engine.gateway.table import OPERATIONS
from risala.engine.model.callers import OperatorRole, Role
from risala.engine.rules.roles import OPERATORS as FOR_OPERATORS
from risala.engine.rules.roles import READERS, USERS
from risala.http.dashboard.app import ROUTES as CUSTOMERS
from risala.http.operator.app import ROUTES as OPERATORS
from risala.http.web.face import PageAccess
from risala.http.web.routes import PageRoute

_HEAD: Final = """\
# Who may do what

<!-- Written by `python -m proofs.authorization`; change `proofs/authorization/expected.py`. -->

Every address, page, operation and command, with who comes in. Tests go to each of them as each
caller (`tests/proofs/authorization`, `tests/engine/operations`) and compare; one that is not here
fails them. What each operation takes is in [Operations](operations.md); why it is so, in the
[security model](../discussion/security-model.md) and the
[threat model](threat-model.md).

*in*: the door is open, and the answer is about the request. A number is the status of the refusal;
*sign-in*: sent to sign in. A caller who is refused has changed nothing.
"""
_KINDS: Final = {
    Door.OPEN: "anybody",
    Door.LOCAL: "programs on this machine; anybody, where it has an address of its own",
    Door.CODES: "a publishable or a secret key",
    Door.SECRET: "a secret key",
    Door.CREDENTIAL: "a credential of that face",
    Door.SIGNED: "a provider who has signed what is said",
}
_MEMBERS: Final = (Role.VIEWER, Role.DEVELOPER, Role.OWNER)


def render() -> str:
    """The whole page."""
    return "\n".join((_HEAD, *_api(), *_pages(), *_operations(), *_commands()))


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(header) + " |"
    yield "|" + "---|" * len(header)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def _word(status: int) -> str:
    return {IN: "in", SIGN_IN: "sign-in"}.get(status, str(status))


def _api() -> Iterator[str]:
    yield "## The API and its faces\n"
    doors = (Door.OPEN, Door.CODES, Door.SECRET)
    yield from _table(
        ("Who asks", *(_KINDS[door] for door in doors)),
        ((asker.value, *(_word(told[door]) for door in doors)) for asker, told in ASKED.items()),
    )
    things = ", ".join(f"`{name}` ({what})" for name, what in THINGS.items())
    yield f"Another organization's, or the other mode's: {things} is 404, like what is not there.\n"
    addresses = sorted({**API, **FACES, **OF_AGENTS, **BESIDE_PAGES}.items())
    yield from _table(("Address", "For"), ((f"`{path}`", _KINDS[door]) for path, door in addresses))
    yield "A face's credential that is wrong or revoked is refused in that face's own words.\n"


def _pages() -> Iterator[str]:
    yield "## Pages\n"
    accesses = tuple(PageAccess)
    yield from _table(
        ("Who comes", *(access.value for access in accesses)),
        (
            (who.value, *(_word(told[access]) if access in told else "" for access in accesses))
            for who, told in VISITED.items()
        ),
    )
    places = ", ".join(f"`<{name}>` ({what})" for name, what in PLACES.items() if name != "org")
    yield (
        "A form without the mark of the session that it is sent by, with another session's, or from"
        " another site is 403, no matter who sends it. Of another organization, under one's own:"
        f" {places} is 404.\n"
    )
    for title, routes in (("Customers' pages", CUSTOMERS), ("The console", OPERATORS)):
        yield f"### {title}\n"
        yield from _table(("Page", "Reads", "Posts"), _rows(routes))


def _rows(routes: Sequence[PageRoute]) -> Iterator[Sequence[str]]:
    found: dict[str, dict[str, str]] = {}
    for route in routes:
        once = " (once)" if route.once else ""
        needed = None if route.needs is None else OPERATIONS[route.needs.name]
        who = "" if needed is None else f": {_operators(needed.operators)}"
        found.setdefault(route.path, {})[route.method] = route.access.value + who + once
    for path, told in sorted(found.items()):
        yield (f"`{path}`", told.get("GET", ""), told.get("POST", ""))


def _operators(roles: frozenset[OperatorRole]) -> str:
    """The operators who may, as words."""
    if roles == READERS:
        return "every operator"
    return ", ".join(role.value for role in OperatorRole if role in roles)


def _operations() -> Iterator[str]:
    yield "## Operations\n"
    yield (
        "By whichever face: dashboard, console, control socket, command line, and those that the"
        " API has for a secret key, which is a developer. In the console, an operator's [role]"
        "(../how-to/share-the-work-among-operators.md) decides; at the machine everybody is an"
        " administrator. Another organization's members are told 404.\n"
    )
    yield from _table(
        (
            "Operation",
            *(role.value for role in _MEMBERS),
            "of a suspended organization",
            "operators",
        ),
        (_operation(name) for name in sorted(OPERATIONS)),
    )
    yield from _operator_roles()


def _operator_roles() -> Iterator[str]:
    yield "## What each operator may change\n"
    yield (
        "Operations that change something, or show texts, by role. All operators may read what"
        " the table above gives to every operator.\n"
    )
    changing = [each for each in OPERATIONS.values() if each.changes or each.shows_texts]
    yield from _table(
        ("Role", "May"),
        (
            (
                role.value,
                "everything"
                if role is OperatorRole.ADMINISTRATOR
                else ", ".join(
                    f"`{each.name}`"
                    for each in sorted(changing, key=lambda each: each.name)
                    if each.roles >= FOR_OPERATORS
                    and role in each.operators
                    and each.operators != READERS
                )
                or "nothing",
            )
            for role in OperatorRole
        ),
    )


def _operation(name: str) -> Sequence[str]:
    operation = OPERATIONS[name]
    if operation.roles == USERS:
        return (f"`{name}`", *["in, of oneself"] * len(_MEMBERS), "in, of oneself", "–")
    told = ["in" if role in operation.roles else "403" for role in _MEMBERS]
    reads = not operation.changes or operation.tops_up
    held = "403" if "in" not in told else "in" if reads else "403, but what only reads"
    if held == "403, but what only reads" and Role.VIEWER not in operation.roles:
        held = "403"
    return (f"`{name}`", *told, held, _operators(operation.operators))


def _commands() -> Iterator[str]:
    yield "## Commands and the control socket\n"
    paths = ", ".join(f"`{path}`" for path in SOCKET)
    yield (
        f"The control socket answers {paths} to anybody who may open it: its file is the service's"
        " user's alone (0600), in a directory of theirs (0700). A command is its operator by the"
        " same rights, with or without a service.\n"
    )
    yield from _table(("Command", "For"), map(_command, sorted(commands())))


def _command(name: str) -> Sequence[str]:
    why = WITHOUT_DATA.get(name)
    return (f"`{name}`", "operator" if why is None else f"anybody: {why}")


def commands() -> Mapping[str, click.Command]:
    """All commands, by how they are typed."""
    return dict(_leaves(cli, click.Context(cli), ""))


def _leaves(
    command: click.Command, context: click.Context, name: str
) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield name, command
        return
    for each in command.list_commands(context):
        found = command.get_command(context, each)
        assert found is not None
        inner = click.Context(found, parent=context, info_name=each)
        yield from _leaves(found, inner, f"{name} {each}".strip())


def places(routes: Iterable[PageRoute]) -> frozenset[str]:
    """The names of what stands in addresses."""
    return frozenset(name for route in routes for name in re.findall("<(.*?)>", route.path))

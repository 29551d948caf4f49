"""Which organization a command means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from risala.cli.refused import Refused

if TYPE_CHECKING:
    from risala.cli.session import Session

org_option = click.option(
    "--org", metavar="ORG", help="Its id or name; may be omitted while there is only one."
)


async def organization_id(session: Session, given: str | None) -> str:
    """The id for what was given: an id, a name that only one has, or nothing.

    Raises:
        Refused: none, or more than one, is meant.
    """
    if given is not None and given.startswith("org_"):
        return given
    found: list[dict[str, Any]] = (await session.perform("org.list"))["organizations"]
    if given is not None:
        found = [each for each in found if each["name"] == given]
    match found, given:
        case [only], _:
            return str(only["id"])
        case [], None:
            raise Refused("There is no organization yet; make one with `risala org create NAME`.")
        case [], _:
            raise Refused(f"There is no organization named {given!r}; see `risala org list`.")
        case _, None:
            raise Refused(f"There are {len(found)} organizations; say which with --org.")
        case _:
            raise Refused(f"{len(found)} organizations are named {given!r}; use the id of one.")

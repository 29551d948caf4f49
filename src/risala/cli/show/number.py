"""Phone numbers as people write them."""

from __future__ import annotations

from typing import NamedTuple

import click


class TypedNumber(NamedTuple):
    """A number that was typed; which numbers are served is known once the settings' file is."""

    text: str
    hint: str
    """The name of the parameter, for an error."""


def number_option(
    _: click.Context, parameter: click.Parameter, text: str | None
) -> TypedNumber | None:
    """A click callback: a number, which the command gets in its one form."""
    if text is None:
        return None
    named = isinstance(parameter, click.Option)
    return TypedNumber(text, parameter.opts[0] if named else parameter.human_readable_name)

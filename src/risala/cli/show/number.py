"""Phone numbers as people write them."""

from __future__ import annotations

import click

from risala.sms.address import normalise_number


def number_option(_: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
    """A click callback: the number in its one form."""
    if text is None:
        return None
    try:
        return normalise_number(text)
    except ValueError as error:
        named = isinstance(parameter, click.Option)
        hint = parameter.opts[0] if named else parameter.human_readable_name
        raise click.BadParameter(str(error), param_hint=hint) from error

"""Setting up a service: its settings, its first operator, its first message."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from risala.cli.reach.options import CONFIG_NAME
from risala.cli.reach.refused import CommandRefused, refusals
from risala.cli.show import output


@click.command()
@click.argument("path", type=click.Path(path_type=Path), default=CONFIG_NAME)
@click.option(
    "--yes", is_flag=True, help="Ask nothing: take what --file says, what stands, and the defaults."
)
@click.option(
    "--file",
    "answers",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The answers, a line of TOML for each question. For --yes.",
)
@click.option(
    "--country",
    metavar="CC",
    help="The country's two letters, such as KE. Default: what stands, else the country of this"
    " machine's time zone or language. Where these name none, --yes needs it.",
)
@click.option("--web", is_flag=True, help="Ask on a page, for a browser on this machine.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="The port of that page. Default: a free one.",
)
@click.option("--no-try", is_flag=True, help="Take answers without trying them out.")
@click.option(
    "--template", is_flag=True, help="Ask nothing: only write a file with every setting explained."
)
@click.option("--force", is_flag=True, help="The same, over an existing file.")
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="RISALA_DATA",
    metavar="DIR",
    help="The data directory (RISALA_DATA; default: the settings', ./risala-data).",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def init(
    path: Path,
    yes: bool,
    answers: Path | None,
    country: str | None,
    web: bool,
    port: int,
    no_try: bool,
    template: bool,
    force: bool,
    data: Path | None,
    as_json: bool,
) -> None:
    """Set up a service: ask about it, and write the answers to PATH (default: ./risala.toml).

    Each answer is tried out. Then the service starts, sends an SMS to your own phone, and a link
    signs you in. Run it again to change answers: everything else in the file stays.

    Without a terminal it asks nothing, and writes a file with every setting explained: name your
    country there, in numbers.countries.

    \b
    Examples:
      risala init
      risala init --web
      risala init --country KE
      risala init --yes --file answers.toml /etc/risala/risala.toml
      risala init --template
    """
    if answers is not None and not yes:
        raise click.UsageError("--file goes with --yes.")
    if yes and web:
        raise click.UsageError("Give --yes or --web, not both.")
    is_template = template or force or not (yes or web or _is_terminal())
    if country is not None and is_template:
        raise click.UsageError(
            "--country is an answer, and --template asks nothing. Give --yes or --web, or set"
            " numbers.countries in the file."
        )
    with refusals(as_json):
        if is_template:
            _write_template(path, force=force)
            if not output.show(as_json, {"path": str(path)}):
                output.said(f"Wrote {path}. It explains every setting and its default.")
            return
        # Imported here: it imports the pages, the drivers and the client.
        from risala.cli.first_run.running import FirstRun

        first_run = FirstRun(
            path.absolute(), data, country=country, tries=not no_try, as_json=as_json
        )
        if yes:
            first_run.by_file(answers)
        elif web:
            first_run.by_page(port)
        else:
            first_run.by_conversation()


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _write_template(path: Path, *, force: bool) -> None:
    from risala.config.template import render_template

    try:
        flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if force else os.O_EXCL)
        with open(os.open(path, flags, 0o644), "w", encoding="utf-8") as file:
            file.write(render_template())
    except FileExistsError:
        raise CommandRefused(f"{path} already exists. Use --force to overwrite it.") from None
    except OSError as error:
        raise CommandRefused(f"{path} cannot be written: {error.strerror}.") from error

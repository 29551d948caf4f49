"""``risala modem report``: what a maintainer needs to know of a modem, in a file that may be
public."""

from __future__ import annotations

import getpass
import json
import platform
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.commands.upkeep.modem_ways import asking
from risala.cli.reach.logs import log_to_stderr
from risala.cli.reach.options import Options, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output

if TYPE_CHECKING:
    from risala.cli.commands.upkeep.modem_examining import ModemExamined

FORM: Final = 1
"""The form of the file; another number where a program that reads it would err."""
DEFAULT_FILE: Final = "modem-report.json"
_OWN: Final = ("imei", "imsi", "iccid", "number", "smsc")
"""Facts that are somebody's: the report says only which of them the modem tells."""
_NOBODY: Final = ("root", "admin", "localhost")
"""Names that everybody has."""


@click.command()
@click.argument("port")
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    default=DEFAULT_FILE,
    show_default=True,
    metavar="FILE",
    help="Where to write it. With --json it is printed instead.",
)
@asking
@common
def report(options: Options, /, port: str, target: Path, **asking_options: Any) -> None:  # noqa: ANN401
    """Write what a maintainer needs to know of a modem, without what is yours.

    The file has maker, model, firmware, registration, checks, and what the modem, ModemManager or
    the HiLink stick answers. It has no phone numbers, IMEI, IMSI, ICCID, PIN, texts, answers of
    USSD, cells, or names of people and machines. Read it before you send it.

    \b
    Examples:
      risala modem report /dev/ttyUSB0
      risala modem report http://192.168.8.1 --to stick.json
      risala modem report modemmanager
    """
    from risala.cli.commands.upkeep.modem_examining import examined

    log_to_stderr()
    if not options.json and target.exists():
        raise CommandRefused(f"{target} is there already: move it away, or name another by --to.")
    examination = examined(options, port, **asking_options, for_report=True)
    if examination.can_send is None:
        raise CommandRefused(
            f"{examination.verdict} Stop the service for the time of the report: it has the port."
        )
    written = written_of(examination)
    if output.show(options.json, written):
        return
    text = json.dumps(written, ensure_ascii=False, indent=2)
    try:
        target.write_text(f"{text}\n", "utf-8")
    except OSError as error:
        raise CommandRefused(f"{target} cannot be written: {error.strerror}.") from None
    output.said(f"Written: {target}. Read it, then send it as “Known modems” of the docs says.")


def written_of(examination: ModemExamined) -> dict[str, Any]:
    """The report, as JSON."""
    from risala import __version__
    from risala.cli.show.redacted import Redaction

    facts = {name: value for name, value in examination.facts.items() if name not in _OWN}
    which = [name for name in _OWN if examination.facts.get(name)]
    hidden = Redaction([*examination.secrets, *_names()]).of(
        {
            "canSend": examination.can_send,
            "modem": facts,
            "tells": which,
            "checks": examination.named_checks,
            "answers": examination.answers,
        }
    )
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    head = {"report": FORM, "risala": __version__, "system": system, "driver": examination.way}
    return {**head, **hidden}


def _names() -> list[str]:
    """The names of this machine and its user."""
    host = socket.gethostname()
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = ""
    names = {host, host.partition(".")[0], user, Path.home().name}
    return [each for each in names if each not in _NOBODY]

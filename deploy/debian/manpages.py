"""Man pages from the command line itself: one for ``risala``, one for each of its commands.

A group's page has a section for each of its commands. Run by the Python that has Risala::

    python -m deploy.debian.manpages FOLDER DATE VERSION
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Final

import click

COMMON: Final = ("data", "config", "as_json", "json")
"""Options of nearly every command. A group's page has them once."""
TERM: Final = ".TP 8"
"""An option or a file; its text is indented by eight columns."""
PAGE_TERM: Final = ".TP 20"
"""The name of another page, which nearly always has less than twenty columns."""
BESIDE: Final = "\\fBrisala\\fP(1) has what all commands share: exit codes, environment, files."
EXIT_CODES: Final = (
    ("0", "Done."),
    ("1", "Refused. One sentence on standard error says why."),
    ("2", "Wrong usage."),
)
ENVIRONMENT: Final = (
    ("RISALA_DATA", "The data directory, as --data."),
    ("RISALA_CONFIG", "The file of the settings, as --config."),
    ("RISALA_SECTION__SETTING", "One setting, instead of the file's: RISALA_HTTP__PORT=8081."),
    ("NO_COLOR", "No colours. A pipe never gets any."),
)
FILES: Final = (
    ("/etc/risala/risala.toml", "The settings of the service."),
    ("/etc/risala/secrets", "Passwords that the settings name, for root's eyes alone."),
    ("/var/lib/risala", "The data of the service."),
    ("/var/backups/risala", "The backup of each night."),
)


def escaped(text: str) -> str:
    """Text as roff prints it: no character commands, and an ASCII minus where one is typed."""
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")


def line(text: str) -> str:
    """A line of text, which a leading dot or apostrophe does not make a request."""
    return "\\&" + text if text.startswith((".", "'")) else text


def prose(text: str) -> str:
    """A paragraph; what stands between backticks is bold."""
    parts = re.split(r"`([^`]+)`", " ".join(text.split()))
    return line("".join(_part(part, bold=index % 2 == 1) for index, part in enumerate(parts)))


def _part(part: str, bold: bool) -> str:
    return f"\\fB{escaped(part)}\\fP" if bold else escaped(part)


def synopsis(words: str) -> str:
    """A usage line: what is typed is bold, what stands for something is in italics."""
    found = re.split(r"([A-Z][A-Z0-9_]+)", words)
    return "".join(
        f"\\fI{escaped(part)}\\fP" if index % 2 else f"\\fB{escaped(part)}\\fP"
        for index, part in enumerate(found)
        if part
    )


class Help:
    """A command's docstring, taken apart."""

    def __init__(self, command: click.Command) -> None:
        blocks = re.split(r"\n\s*\n", cleandoc(command.help or command.short_help or ""))
        self.paragraphs: list[tuple[str, bool]] = []
        """Each with whether its lines stay as they are."""
        self.examples: list[str] = []
        for block in blocks:
            kept = block.lstrip().startswith("\b")
            text = block.replace("\b\n", "").strip("\n")
            if kept and text.lstrip().startswith("Examples:"):
                self.examples = [each.strip() for each in text.splitlines()[1:]]
            elif text.startswith("Example: "):
                self.examples = [" ".join(text.split()).removeprefix("Example: ")]
            elif text.strip():
                self.paragraphs.append((text, kept))

    @property
    def summary(self) -> str:
        """The first sentence, for the line that ``apropos`` lists."""
        first = " ".join(self.paragraphs[0][0].split()) if self.paragraphs else ""
        return re.split(r"(?<=[^.])\.(?: |$)", first, maxsplit=1)[0].replace("`", "")

    def described(self) -> Iterator[str]:
        for text, kept in self.paragraphs:
            yield ".PP"
            if kept:
                yield from (".nf", *(line(escaped(each)) for each in text.splitlines()), ".fi")
            else:
                yield prose(text)


def examples(commands: list[str]) -> Iterator[str]:
    yield from (".nf", *(line(f"\\fB{escaped(each)}\\fP") for each in commands), ".fi")


def options(command: click.Command, context: click.Context, common: bool) -> list[str]:
    """The lines of a command's options; ``common``: those of nearly every command."""
    told: list[str] = []
    for parameter in command.get_params(context):
        if (parameter.name in COMMON) is not common or "--help" in parameter.opts:
            continue
        record = parameter.get_help_record(context)
        if record and record[1]:  # an argument is told of in the description
            told += [TERM, synopsis_of_option(record[0]), prose(record[1])]
    return told


def synopsis_of_option(text: str) -> str:
    """``-h, --help`` or ``--name TEXT``: what is typed is bold."""
    words = re.split(r"(\s+)", text)
    return "".join(
        f"\\fB{escaped(word)}\\fP"
        if word.startswith("-")
        else (escaped(word) if word.isspace() or word == "/" else f"\\fI{escaped(word)}\\fP")
        for word in words
        if word
    )


def usage(command: click.Command, path: str) -> str:
    context = click.Context(command, info_name=path)
    return " ".join([path, *command.collect_usage_pieces(context)])


def leaves(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """The commands below a group, each with its path; without the group itself."""
    if not isinstance(command, click.Group):
        return
    context = click.Context(command, info_name=path)
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        if inner is None or inner.hidden:
            continue
        if isinstance(inner, click.Group):
            yield from leaves(inner, f"{path} {name}")
        else:
            yield f"{path} {name}", inner


def head(path: str, summary: str, date: str, version: str) -> Iterator[str]:
    name = escaped(path.replace(" ", "-"))
    yield '.\\" Written from the command line by deploy/debian/manpages.py.'
    yield f'.TH "{name.upper()}" "1" "{date}" "Risala {version}" "Risala"'
    # No hyphenation, no stretched lines: names of options are to be found and copied.
    yield from (".nh", ".ad l", ".SH NAME", f"{name} \\- {escaped(summary)}")


def page(command: click.Command, name: str, date: str, version: str) -> str:
    """The page of one command of ``risala``."""
    path = f"risala {name}"
    told, context = Help(command), click.Context(command, info_name=path)
    inner = list(leaves(command, path))
    lines = [*head(path, told.summary, date, version), ".SH SYNOPSIS"]
    alone = not isinstance(command, click.Group) or command.invoke_without_command
    for each, one in [*([(path, command)] if alone else []), *inner]:
        lines += [synopsis(usage(one, each)), ".br"]
    lines += [".SH DESCRIPTION", *told.described()]
    if own := options(command, context, common=False):
        lines += [".SH OPTIONS", *own]
    if inner:
        lines.append(".SH COMMANDS")
    for each, one in inner:
        lines += section(each, one)
    everywhere = [command, *(one for _, one in inner)]
    shared = {
        told: None
        for one in everywhere
        for told in _threes(options(one, click.Context(one, info_name=path), common=True))
    }
    lines += [".SH COMMON OPTIONS", *(text for three in shared for text in three)]
    lines += [TERM, synopsis_of_option("-h, --help"), "Show a shorter text."]
    if told.examples:
        lines += [".SH EXAMPLES", *examples(told.examples)]
    lines += [".SH SEE ALSO", BESIDE]
    return "\n".join(lines) + "\n"


def section(path: str, command: click.Command) -> Iterator[str]:
    """A command of a group, in the group's page."""
    told = Help(command)
    yield f'.SS "{escaped(path)}"'
    yield synopsis(usage(command, path))
    yield from told.described()
    yield from options(command, click.Context(command, info_name=path), common=False)
    if told.examples:
        yield from (".PP", "For example:", ".PP", *examples(told.examples))


def _threes(lines: list[str]) -> Iterator[tuple[str, ...]]:
    for start in range(0, len(lines), 3):
        yield tuple(lines[start : start + 3])


def main_page(group: click.Group, date: str, version: str) -> str:
    told, context = Help(group), click.Context(group, info_name="risala")
    lines = [*head("risala", told.summary.removeprefix("Risala "), date, version), ".SH SYNOPSIS"]
    lines += [synopsis(usage(group, "risala")), ".SH DESCRIPTION"]
    lines += [each for each in told.described() if "Exit codes:" not in each]
    lines += [".SH OPTIONS", *options(group, context, common=False), ".SH COMMANDS"]
    for name, command in commands(group):
        lines += [PAGE_TERM, f"\\fBrisala\\-{escaped(name)}\\fP(1)"]
        lines.append(prose(Help(command).summary + "."))
    for title, rows in (
        ("EXIT STATUS", EXIT_CODES),
        ("ENVIRONMENT", ENVIRONMENT),
        ("FILES", FILES),
    ):
        lines.append(f".SH {title}")
        for term, text in rows:
            lines += [TERM, f"\\fB{escaped(term)}\\fP", prose(text)]
    lines += [".SH EXAMPLES", *examples(told.examples), ".SH SEE ALSO"]
    lines.append("The units \\fBrisala.service\\fP, \\fBrisala\\-backup.timer\\fP and")
    lines.append("\\fBrisala\\-standby.service\\fP; /usr/share/doc/risala/README.Debian;")
    lines.append("\\fBsystemctl\\fP(1), \\fBjournalctl\\fP(1)")
    return "\n".join(lines) + "\n"


def commands(group: click.Group) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group, info_name="risala")
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None and not command.hidden:
            yield name, command


def pages(date: str, version: str) -> dict[str, str]:
    """All pages by the names of their files."""
    from risala.cli.main import cli

    made = {"risala.1": main_page(cli, date, version)}
    for name, command in commands(cli):
        made[f"risala-{name}.1"] = page(command, name, date, version)
    return made


def main(folder: str, date: str, version: str) -> None:
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for name, text in pages(date, version).items():
        (place / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

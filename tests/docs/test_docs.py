"""What the documentation says is there: commands, targets, code."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest
from proofs import operations

from cases import sweep
from doc_blocks import LANGUAGE_LINE, PAGES, ROOT, blocks_of, prose
from risala.cli.main import cli

FIRST = ROOT / "docs/index.md"
INDEX = ROOT / "docs/all.md"
LINKS_MAX = 25
"""On the first page: a reader looks at all of them to find theirs."""
LISTED = re.compile(r"^(?:-|\d+\.) \[[^]]+\]\(([^)#\s]+)\)", re.M)
"""What docs/conf.py takes for an entry of the tree."""
SHELL = ("sh", "console", "ini")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


# -- the tree ----------------------------------------------------------------------------------


@cache
def listed() -> set[Path]:
    return {(INDEX.parent / link).resolve() for link in LISTED.findall(prose(INDEX))}


@sweep("page", [page for page in PAGES if page not in (FIRST, INDEX)], named=name_of)
def test_every_page_is_in_the_tree(page):
    path = os.path.relpath(page, INDEX.parent)
    assert page in listed(), (
        f"{name_of(page)} is in no list of docs/all.md, so nobody finds it: add a line "
        f"`- [Title]({path}): what it is for` there, beneath the heading of its reader"
    )


def test_the_first_page_can_be_looked_over():
    assert len(re.findall(r"\]\(", LANGUAGE_LINE.sub("", prose(FIRST)))) <= LINKS_MAX


# -- phrases -----------------------------------------------------------------------------------

ODD = (
    r"\b(?:that|which|who) (?:is|are|was) none\b",
    r"\bwhoever\b",
    r"\banew\b",
    r"\bnobody's\b",
    r"\bthat there (?:is|are) (?:not|none)\b",
)
"""What readers stumbled over. Say who does it, and use the common word: *again*, *anybody who*."""
AS_WRITTEN = (
    "CHANGELOG.md",
    "docs/decisions/",
    "docs/reference/found.md",
    "docs/reference/evidence.md",
    "docs/reference/glossary.md",
)
"""What was said at a time, what targets wrote, and the page that forbids these words."""
PLAIN = [page for page in PAGES if not name_of(page).startswith(AS_WRITTEN)]


def odd_phrases(page: Path) -> list[str]:
    text = prose(page)
    return [found[0] for odd in ODD for found in re.finditer(odd, text, re.I)]


@sweep("page", PLAIN, named=name_of)
def test_no_phrase_that_readers_stumble_over(page):
    assert odd_phrases(page) == []


def test_an_odd_phrase_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Whoever starts anew has a modem that is none.\n\n```sh\nwhoever\n```\n")
    assert odd_phrases(page) == ["that is none", "Whoever", "anew"]


# -- commands ----------------------------------------------------------------------------------


def risala_commands(line: str) -> Iterator[list[str]]:
    """The words of each ``risala …`` in a line of shell, without the word itself."""
    # Not the user of `-u risala`, an entry point, or the directory /var/lib/risala.
    for found in re.finditer(
        r"(?:^|[\s(=])(?<!-u )(?<!--entrypoint )(?:\S*/?bin/)?risala (.*)", line
    ):
        words = shlex.shlex(found[1], posix=True, punctuation_chars=True)
        words.whitespace_split = True
        taken: list[str] = []
        for word in words:
            if word in (";", "&", "&&", "|", "||", ">", "<", ")"):
                break
            taken.append(word)
        yield taken


def fault_of(words: list[str]) -> str | None:
    """What the command line does not know in these words; None where it knows everything."""
    command: click.Command = cli
    context = click.Context(cli)
    rest = [*words]
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        found = command.get_command(context, rest[0])
        if found is None:
            return f"no command {rest[0]!r}"
        command = found
        rest.pop(0)
    if isinstance(command, click.Group) and not rest and not command.invoke_without_command:
        return "a group alone"
    known = {name for parameter in command.get_params(context) for name in parameter.opts}
    unknown = [word for word in rest if word.startswith("--") and word not in known]
    return f"no option {unknown[0]}" if unknown else None


COMMANDS = [
    (block.page, line, words)
    for page in PAGES
    for block in blocks_of(page)
    if block.language in SHELL
    for line in block.typed
    for words in risala_commands(line.split(" # ")[0])
]


@sweep(("page", "line", "words"), COMMANDS, named=lambda c: f"{name_of(c[0])}: {c[2]}")
def test_every_command_is_there(page, line, words):
    assert fault_of(words) is None, f"{name_of(page)}: {line}"


def test_commands_are_found_at_all():
    words = [words for _, _, words in COMMANDS]
    assert ["message", "show", "sms_…"] in words
    assert ["key", "create"] in words, "also within $(…)"
    assert ["serve"] in words, "also behind a variable, and in a systemd unit"


@pytest.mark.parametrize(
    "words", [["sned"], ["org", "crate", "x"], ["serve", "--prot", "1"], ["org"]], ids=str
)
def test_a_command_that_is_not_there_is_noticed(words):
    assert fault_of(words)


def test_every_make_target_is_there():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w./$()-]+):(?!=)", makefile, re.M))
    targets = {target.replace("$(VENV)", ".venv") for target in targets}
    for page in PAGES:
        shells = [block for block in blocks_of(page) if block.language in SHELL]
        typed = [line for block in shells for line in block.typed]
        typed += re.findall(r"`([^`\n]+)`", prose(page))
        for line in typed:
            for target in re.findall(r"^(?:sudo )?make (?:[A-Z]+=\S+ )*([\w./-]+)", line):
                assert target in targets, f"{name_of(page)}: {line}"


DAILY = ["serve", "test", "lint", "format", "generated", "same", "docs"]


def test_make_help_lists_each_target_that_has_a_sentence():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    told = set(re.findall(r"^([\w-]+):(?!=).*## ", makefile, re.M))
    done = subprocess.run(
        ("make", "--no-print-directory", "help"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    daily, _, others = done.stdout.partition("\n\n")
    assert [line.split()[0] for line in daily.splitlines()] == DAILY
    assert sorted([*DAILY, *(line.split()[0] for line in others.splitlines())]) == sorted(told)
    assert {"serve", "test", "lint", "help"} <= told


def test_the_readme_names_the_two_commands():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(r"^make serve\b", readme, re.M)
    assert re.search(r"^make test\b", readme, re.M)


WORDS_BEFORE_MAX = 130
"""A reader is to reach the first command within a minute."""


def test_the_readme_comes_to_its_first_command_soon():
    before = (ROOT / "README.md").read_text(encoding="utf-8").partition("```sh")[0]
    shown = re.sub(r"<!--.*?-->|\]\([^)]*\)", " ", before, flags=re.DOTALL)
    assert len(shown.split()) <= WORDS_BEFORE_MAX


# -- the changelog -----------------------------------------------------------------------------


def test_every_fragment_has_a_kind_that_towncrier_knows():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["towncrier"]
    kinds = "|".join(kind["directory"] for kind in settings["type"])
    names = [path.name for path in (ROOT / "changes").iterdir() if path.name != ".gitignore"]
    form = rf"\+[a-z0-9-]+\.({kinds})\.md|\d+\.\d+\.\d+\.md"
    assert [n for n in names if not re.fullmatch(form, n)] == []


def test_notes_of_a_version_leave_its_heading_to_the_release():
    for notes in (ROOT / "changes").glob("[0-9]*.md"):
        assert not re.search("^##? ", notes.read_text("utf-8"), re.M), notes


@pytest.mark.slow
def test_the_changelog_can_be_built():
    done = subprocess.run(
        [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "1.0.0"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "## 1.0.0" in done.stdout
    assert "<!-- towncrier release notes start -->" in (ROOT / "CHANGELOG.md").read_text()


def test_the_page_of_operations_is_the_registry():
    page = (ROOT / "docs/reference/operations.md").read_text(encoding="utf-8")
    assert page == operations.render(), "`make generated` writes it"

"""Pages of the reference that are written from the source: ``python -m proofs.reference``.

The command line: each command has its usage, the text of its ``--help`` and a row for each option.
The page begins with ``proofs/commands.md``, which says what is true of all;
``tests/cli/test_reference.py`` compares it. The sentences of error codes: each in three languages;
``tests/engine/model/test_lines.py`` compares it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

import click

from risala.cli.main import cli
from risala.engine.model.cause_sentences import CAUSE_SENTENCES
from risala.http.common.error_words import WORDS

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs/reference/cli.md"
HEAD: Final = ROOT / "proofs/commands.md"
SENTENCES: Final = ROOT / "docs/reference/error-sentences.md"
_EVERYWHERE: Final = {"data", "config", "json", "help", "as_json", "org"}
"""Options that the page's beginning explains once."""
_BACKTICKED: Final = re.compile(r"(`[^`]*`)")
GUIDES: Final = {
    "alerts": "../how-to/watch-it.md#alerts",
    "approval": "../how-to/share-the-work-among-operators.md#have-a-second-operator-confirm",
    "audit": "../how-to/prove-the-audit-trail.md",
    "audit-log": "operations.md#the-audit-trail",
    "backup": "../how-to/back-up-and-restore.md",
    "carriers": "../how-to/change-carriers.md",
    "console": "../how-to/share-the-work-among-operators.md#see-who-tries-and-shut-the-console",
    "conversation": "../how-to/receive-messages.md#answer",
    "country": "../how-to/serve-other-countries.md",
    "credential": "../how-to/keep-keys-safe.md#for-other-systems",
    "hook": "../how-to/connect/index.md",
    "inbound": "../how-to/receive-messages.md",
    "init": "../how-to/first-real-sms.md#the-short-way-answer-questions",
    "kept": "../how-to/what-an-organization-keeps.md",
    "key": "../how-to/keep-keys-safe.md",
    "log": "../how-to/look-into-requests.md",
    "mailing": "../how-to/write-to-everyone-on-a-list.md",
    "message": "message-states.md",
    "modem": "../how-to/usb-modem.md",
    "payer": "../how-to/send-for-yourself.md",
    "payment": "../how-to/take-payments.md",
    "phone": "phone-driver.md",
    "plugins": "plugin-hooks.md",
    "provider": "../how-to/sign-in-to-your-organization.md",
    "restore": "../how-to/back-up-and-restore.md#restore",
    "retention": "../how-to/forget-what-is-old.md",
    "rotate-key": "../how-to/keep-the-servers-keys.md",
    "route": "../how-to/several-carriers.md#where-would-it-go",
    "secrets": "../how-to/keep-the-servers-keys.md",
    "send": "message-states.md",
    "sinks": "../how-to/send-events-elsewhere.md",
    "smpp": "smpp-server.md",
    "standby": "../how-to/warm-standby.md",
    "tail": "../how-to/watch-it.md#follow-what-happens",
    "upgrade": "../how-to/upgrade.md",
    "user": "../how-to/people-and-sign-in.md",
    "verify": "../how-to/verify-a-phone-number.md",
    "webhook": "../how-to/receive-webhooks.md",
}
"""Where the reader goes on, by the first word of a command."""


def leaves(command: click.Command, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Each command that does something, with its words; also a group that does something alone."""
    if not isinstance(command, click.Group):
        yield path, command
        return
    if path and command.invoke_without_command:
        yield path, command
    context = click.Context(command)
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        if inner is not None and not inner.hidden:
            yield from leaves(inner, f"{path} {name}".strip())


def render() -> str:
    """The page as Markdown."""
    parts = [HEAD.read_text("utf-8")]
    for noun, commands in groupby(leaves(cli), key=lambda each: each[0].split()[0]):
        parts.append(f"\n## `{noun}`\n")
        if noun in GUIDES:
            parts.append(f"\n[The guide]({GUIDES[noun]}).\n")
        parts += [_section(path, command) for path, command in commands]
    return "".join(parts)


def _section(path: str, command: click.Command) -> str:
    arguments = [each for each in command.params if isinstance(each, click.Argument)]
    options = [
        each
        for each in command.params
        if isinstance(each, click.Option) and not each.hidden and each.name not in _EVERYWHERE
    ]
    context = click.Context(command)
    words = [each.make_metavar(context) for each in arguments]
    usage = " ".join([path, *words, *(["[OPTIONS]"] if options else [])])
    parts = [f"\n### `{usage}`\n\n{_told(command)}\n"]
    if options:
        parts.append("\n| Option | |\n|---|---|\n")
        parts += [_row(each, context) for each in options]
    return "".join(parts)


def _told(command: click.Command) -> str:
    """The text of ``--help`` without its examples, which a terminal shows."""
    text = inspect.cleandoc(command.help or "").partition("\b\n")[0]
    paragraphs = [" ".join(each.split()) for each in text.split("\n\n") if each.strip()]
    return "\n\n".join(_plain(each) for each in paragraphs)


def _row(option: click.Option, context: click.Context) -> str:
    names = ", ".join([*option.opts, *option.secondary_opts])
    if not option.is_flag and not option.count:
        names += f" {option.make_metavar(context)}".replace("INTEGER RANGE", "N")
    told = _plain(" ".join((option.help or "").split())).replace("|", "\\|")
    names = names.replace("|", "\\|")
    return f"| `{names}` | {told} |\n"


def _plain(text: str) -> str:
    """What Markdown would take for its own, as it stands."""
    pieces = _BACKTICKED.split(text)
    return "".join(
        piece if piece.startswith("`") else re.sub(r"([<*_\[\]])", r"\\\1", piece)
        for piece in pieces
    )


_SENTENCES_HEAD: Final = """# Sentences of error codes

<!-- Written by `python -m proofs.reference`; change `engine/model/cause_sentences.py`
and `http/common/error_words.py`. -->

What pages, commands and events say for each word of [the error codes](error-codes.md).

| Word | English | Français | العربية |
|---|---|---|---|
"""


_WORDS_HEAD: Final = """
## Words of `data.code`

What a refusal of [the HTTP API](http-api.md#errors) says where its status does not say enough.

| `data.code` | Status | When | What to do |
|---|---|---|---|
"""


def render_sentences() -> str:
    """The page of causes' sentences, in three languages, and of refusals' words, as Markdown."""
    rows = (
        f"| `{cause}` | {said['en']} | {said['fr']} | {said['ar']} |\n"
        for cause, said in CAUSE_SENTENCES.items()
    )
    words = (
        f"| `{name}` | {word.status} | {word.when} | {word.remedy} |\n"
        for name, word in sorted(WORDS.items(), key=lambda each: each[1].status)
    )
    return _SENTENCES_HEAD + "".join(rows) + _WORDS_HEAD + "".join(words)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
    SENTENCES.write_text(render_sentences(), encoding="utf-8")

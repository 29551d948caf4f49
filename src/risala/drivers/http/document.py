"""The reference page of the driver from its code: ``python -m risala.drivers.http.document FILE``.

The tables are the models' fields; what they mean stands below them.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Collection, Iterator
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import Final, get_args

from pydantic import BaseModel

from risala.drivers.http import shape
from risala.drivers.http.presets import CALLS, MESSAGES, names, preset
from risala.drivers.http.settings import CallSettings, HttpSettings
from risala.drivers.http.templates import HOLES
from risala.drivers.http.words import DEFAULT_STATUSES

_HEAD: Final = """\
# Carriers over HTTP

<!-- Written by `python -m risala.drivers.http.document`; change `drivers/http` instead. -->

`driver = "http"` sends by an aggregator's HTTP API. [Send through an HTTP
aggregator](../how-to/send-through-an-http-aggregator.md) sets one up. *Experimental*: the
settings may still change until the release after the first that has them.

A **preset** is a file that says how one aggregator's API is called. `risala carriers presets`
lists them. Each field of a preset can be overridden in a table of the same name, such as
`[carriers.http.send]`; an empty text takes a field away. Without a preset, the tables say all.
Faults stop the start, each in a sentence with its field.

Redirects are not followed. An address inside an answer is never called. Of an answer, at most 64
KiB are read.
"""
_TABLES: Final = (
    ("auth", shape.AuthShape),
    ("send", shape.SendShape),
    ("answer", shape.AnswerShape),
    ("receipt", shape.ReceiptShape),
    ("inbound", shape.InboundShape),
    ("receipt.poll", shape.PollShape),
    ("proof", shape.ProofShape),
    ("query", shape.QueryShape),
    ("look", shape.LookShape),
)
_CALLS: Final = """\
`channel = "voice"` [brings codes by a call](../how-to/send-codes-by-channels.md#calls). Its table
`[channels.NAME.voice]` has the settings of an HTTP carrier, and:
"""
_SOURCES: Final = """\
## Sources

Where a value is in what a carrier tells:

| Source | Names |
|---|---|
| `/messages/0/id` | a JSON pointer; `*` is the first item of a list that has what follows |
| `status` | a field of a form or query, or a member of a JSON object |
| `header:NAME` | a header |
| `last:/a/url` | the last part of the address that is at a pointer |
| `body:` | the whole body |
| `match:PATTERN` | the first group of a pattern, in the body's first thousand characters |
| `=word` | the word itself |

`|` separates alternatives: the first that is there. `match:` is the last of them.
"""
_VERDICTS: Final = """\
## What an answer means

In `answer.words` and `answer.statuses`, a word or a status (`404`, `4xx`) stands for one of
these. A word counts before the status.

| WordVerdict | The message |
|---|---|
| `yes` | is the carrier's, if the answer has an id |
| `slow` | keeps its place; sending slows down, by `Retry-After` if it is there |
| `final CAUSE` | has failed: no carrier would take it |
| `carrier CAUSE` | goes to another carrier |
| `now CAUSE` | is tried again |
| `recipient CAUSE` | is tried again; nothing is said against the carrier |
| `uncertain` | may have been taken: see [Uncertainty](../discussion/uncertainty.md) |

A cause is a word of [Error codes](error-codes.md). A word of `receipt.words` stands for a state,
and maybe a cause: `UNDELIVERABLE ABSENT`.

What left and has no answer is uncertain; what found no connection has not left, and keeps its
place. HTML where JSON is expected, a word that the preset does not know, and a yes without an id
are no yes.

A preset may leave a status out. Then it means:

| Status | |
|---|---|
"""


def render_reference() -> str:
    """The whole page."""
    parts = [
        _HEAD,
        _presets(MESSAGES, "Presets"),
        _notes(MESSAGES),
        _presets(CALLS, "Presets for calls"),
        _CALLS,
        _fields(CallSettings, ("caller", "name", "ring_s")),
        _notes(CALLS),
        "## Settings\n\nIn `[carriers.http]`:\n\n" + _fields(HttpSettings),
    ]
    for name, model in _TABLES:
        meaning = (model.__doc__ or "").strip()
        parts.append(f"## `{name}`\n\n{meaning}\n\n{_fields(model)}")
    parts += [_holes(), _SOURCES, _verdicts()]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _presets(folder: str, title: str) -> str:
    rows = [
        f"## {title}",
        "",
        "| Preset | Aggregator | Needs | Follows | Read on |",
        "|---|---|---|---|---|",
    ]
    for name in names(folder):
        each = preset(name, folder)
        needs = ", ".join(f"`{need}`" for need in each.needs)
        source = each.source.replace("|", "\\|")
        rows.append(f"| `{name}` | {each.title} | {needs} | {source} | {each.read} |")
    return "\n".join(rows)


def _notes(folder: str) -> str:
    """What is entered where, for each aggregator."""
    head = [
        "## What to enter where",
        "*ADDRESS* is what `risala carriers rotate NAME` prints; for those that sign their calls, "
        "`https://YOUR-NAME/carriers/NAME`.",
    ]
    parts = head if folder == MESSAGES else []
    for name in names(folder):
        each = preset(name, folder)
        parts += [f"### {each.title}", "\n".join(f"- {note}" for note in each.notes)]
    return "\n\n".join(parts)


def _holes() -> str:
    rows = [f"| `{{{name}}}` | {meaning} |" for name, meaning in HOLES.items()]
    rows.append("| `{values.NAME}` | a word of the setting `values` |")
    head = (
        "## Holes\n\nWhat fills the holes of `send`, `auth` and paths. `{NAME#}` alone is a number "
        "in JSON.\n\n| Hole | |\n|---|---|"
    )
    return "\n".join([head, *rows])


def _verdicts() -> str:
    rows = [f"| {status} | `{verdict}` |" for status, verdict in DEFAULT_STATUSES.items()]
    rows.append("| any other | `uncertain` |")
    return _VERDICTS + "\n".join(rows)


def _fields(model: type[BaseModel], only: Collection[str] = ()) -> str:
    meanings = _meanings(model)
    rows = [
        f"| `{name}` | {_default(model, name)} | {meanings.get(name, '')} |"
        for name in only or model.model_fields
    ]
    return "\n".join(["| Field | Default | |", "|---|---|---|", *rows])


def _default(model: type[BaseModel], name: str) -> str:
    field = model.model_fields[name]
    if field.is_required():
        return "required"
    default = field.default
    if name == "statuses":
        return "[below](#what-an-answer-means)"
    if isinstance(default, bool):
        return "`true`" if default else "`false`"
    if isinstance(default, int | float):
        return f"`{default:g}`" if default < 1e5 else f"`{default:.0f}`"
    if isinstance(default, str) and default:
        return f"`{default}`"
    if isinstance(default, tuple) and default and isinstance(default[0], str):
        return ", ".join(f"`{each}`" for each in default)
    return "–"


def _meanings(model: type[BaseModel]) -> dict[str, str]:
    """The sentences below the fields of a model and of its bases, and the words they may be."""
    meanings: dict[str, str] = {}
    for each in reversed(model.__mro__):
        if issubclass(each, BaseModel) and each is not BaseModel:
            meanings |= dict(_below(each))
    for name, field in model.model_fields.items():
        words = [word for word in get_args(field.annotation) if isinstance(word, str)]
        if words and not any(f"`{word}`" in meanings.get(name, "") for word in words):
            listed = " or ".join(f"`{word}`" for word in words)
            meanings[name] = f"{listed}. {meanings.get(name, '')}".strip()
    return {name: text.replace("|", "\\|") for name, text in meanings.items()}


def _below(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    tree = ast.parse(dedent(inspect.getsource(model))).body[0]
    assert isinstance(tree, ast.ClassDef)
    for pair in pairwise(tree.body):
        match pair:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(words))),
            ):
                yield name, " ".join(inspect.cleandoc(words).split())


def main() -> None:
    """Write the page to the file named on the command line, or to standard output."""
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(render_reference(), encoding="utf-8")
    else:
        sys.stdout.write(render_reference())


if __name__ == "__main__":
    main()

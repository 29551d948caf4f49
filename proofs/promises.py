"""What other software relies on, as a table: what 1.x promises not to take away.

``python -m proofs.promises FILE`` writes the table of this version. A release stores it below
``tests/promises``; from then on a test compares each later version with it
(``docs/reference/stability.md``).
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import inspect
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click

from risala.cli.commands.messaging.example_events import PREFIXES, example
from risala.cli.main import cli
from risala.config import schema
from risala.engine.features.hooks.rules.presets import presets
from risala.engine.gateway.table import OPERATIONS
from risala.engine.kernel.arguments import ArgumentKind
from risala.engine.model.events import EventType, event_body
from risala.engine.model.records.record import RecordField, is_list, is_map, members_of, of_item
from risala.http.api.openapi.document import document
from risala.plugins import hookspecs
from risala.plugins.document import PAGES

Promises = dict[str, str]
"""What something is called → what it is. Callers must give what ends in ``!``."""
Found = Iterator[tuple[str, str]]

MUST: Final = "!"
_NESTED_MAX: Final = 8
"""How deep the bodies of the API are followed: deeper than any of them is."""


def promises() -> Promises:
    """Everything of this version."""
    found: Promises = {}
    for part in (_api, _events, _settings, _commands, _operations, _hooks, _plugins):
        for name, what in part():
            assert name not in found, name
            found[name] = what
    return found


def broken(old: Promises, new: Promises) -> list[str]:
    """What is no longer as it was promised, as sentences."""
    gone = [f"{name} is gone." for name in old if name not in new and not _optional(name) & {*new}]
    changed = [
        f"{name} was {what}, and is {new[name]}."
        for name, what in old.items()
        if name in new and new[name] != what and not _has_more_values(what, new[name])
    ]
    required = [
        f"{name} must be given now."
        for name in new
        if name.endswith(MUST) and name not in old and _is_asked_in_old(name, old)
    ]
    return sorted([*gone, *changed, *required])


WIDER: Final = {("`en`, `fr` or `ar`", "language of codes, such as `fr`")}
"""Kinds of arguments, and others that have all their values and more."""


def _has_more_values(old: str, new: str) -> bool:
    """Whether an argument may be what it was, one of some values (in backquotes) for instance, and
    something else too."""
    before, after = (_closed(each) for each in (old, new))
    is_among = bool(before) and before <= after
    return is_among or new.startswith(f"{old}; or ") or (old, new) in WIDER


def _closed(kind: str) -> set[str]:
    """The values of a closed list; empty: the kind is another one."""
    values = kind.split(", ")
    is_closed = all(each[:1] == each[-1:] == "`" and each.count("`") == 2 for each in values)
    return {*values} if is_closed else set()


def _optional(name: str) -> set[str]:
    """The names of what had to be given, if it need not be given any longer."""
    if not name.endswith(MUST):
        return set()
    thing, _, last = name.removesuffix(MUST).rpartition(" ")
    return {f"{thing} {last}", f"{thing} [{last}]"}  # as click writes an argument


def _is_asked_in_old(name: str, old: Promises) -> bool:
    """Whether the thing that now wants this argument, or its member, was there before."""
    thing, takes, argument = name.partition(" takes ")
    outer = argument.rpartition(".")[0]
    if outer:  # callers that know nothing of a new member give nothing within it
        return not {f"{thing} takes {outer}{end}" for end in ("", MUST)}.isdisjoint(old)
    return (thing if takes else name.rpartition(" ")[0]) in old


# -- the API


def _api() -> Found:
    whole = document()
    for path, methods in whole["paths"].items():
        for method, operation in methods.items():
            name = f"api {method.upper()} {path}"
            yield name, "an endpoint"
            for status in operation.get("responses", {}):
                yield f"{name} answers {status}", "a status"
            body = _content(operation.get("requestBody"))
            if body is not None:
                yield from _shape(whole, body, f"{name} takes ", 0)
            for status in ("200", "201", "202"):
                answer = _content(operation.get("responses", {}).get(status))
                if answer is not None:
                    yield from _shape(whole, answer, f"{name} {status} has ", 0, is_given=False)


def _content(holder: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    media = (holder or {}).get("content", {}).get("application/json", {})
    found: Mapping[str, Any] | None = media.get("schema")
    return found


def _shape(
    whole: Mapping[str, Any],
    node: Mapping[str, Any],
    name: str,
    depth: int,
    *,
    is_given: bool = True,
) -> Found:
    """The members of a body: with ``is_given``, of one that callers make."""
    node = _resolved(whole, node)
    if depth > _NESTED_MAX:
        return
    if "items" in node:
        yield from _shape(whole, node["items"], name, depth + 1, is_given=is_given)
    required = set(node.get("required", ()))
    for member, inner in node.get("properties", {}).items():
        end = MUST if is_given and member in required else ""
        whole_name = f"{name}{member}"
        yield f"{whole_name}{end}", _kind(whole, inner)
        yield from _shape(whole, inner, f"{whole_name}.", depth + 1, is_given=is_given)


def _resolved(whole: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, Any]:
    while True:
        if "$ref" in node:
            found: Any = whole
            for part in node["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            node = found
        elif "properties" in node:  # `anyOf` beside them says which of them go together
            return node
        elif some := [each for each in node.get("anyOf", ()) if each.get("type") != "null"]:
            node = some[0]
        else:
            return node


def _kind(whole: Mapping[str, Any], node: Mapping[str, Any]) -> str:
    kind = _resolved(whole, node).get("type", "anything")
    return kind if isinstance(kind, str) else " or ".join(sorted(kind))


def _events() -> Found:
    identities = dict.fromkeys(PREFIXES, "id")
    for each in EventType:
        yield f"event {each.value}", "an event"
        body = event_body(example(each, 0, "org_1", identities), "evt_1")
        yield from _json(json.loads(body), f"event {each.value} has ")


def _json(value: object, name: str) -> Found:
    if isinstance(value, dict):
        for member, inner in value.items():
            yield f"{name}{member}", "a member"
            if member != "metadata":  # the customer's own words
                yield from _json(inner, f"{name}{member}.")


# -- what operators write


def _settings() -> Found:
    tables = (
        *schema.tables(),
        *schema.tables_by_name(),
        *schema.listed_tables(),
        schema.carrier_table(),
    )
    for table in tables:
        for setting in table.settings:
            yield f"setting {'.'.join(setting.path)}", "a setting"


def _commands() -> Found:
    with click.Context(cli, info_name="risala") as context:
        yield from _command(cli, "command risala", context)


def _command(command: click.Command, name: str, context: click.Context) -> Found:
    yield name, "a command"
    for each in command.params:
        if isinstance(each, click.Option):
            for spelled in (*each.opts, *each.secondary_opts):
                yield f"{name} {spelled}{MUST if each.required else ''}", "an option"
        else:
            yield (
                f"{name} {each.make_metavar(context)}{MUST if each.required else ''}",
                "an argument",
            )
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            assert found is not None
            with click.Context(found, info_name=inner, parent=context) as deeper:
                yield from _command(found, f"{name} {inner}", deeper)


def _operations() -> Found:
    """What ``--json`` prints, and plugins' commands ask for."""
    for name, operation in OPERATIONS.items():
        yield f"operation {name}", "an operation"
        for field, about in operation.arguments.model_fields.items():
            kind = next(each.text for each in about.metadata if isinstance(each, ArgumentKind))
            end = MUST if about.is_required() else ""
            yield f"operation {name} {about.alias or field}{end}", kind
        yield from _record(operation.result, f"operation {name} has ", 0)


def _record(shape: type[Any], name: str, depth: int) -> Found:
    if depth > _NESTED_MAX or not dataclasses.is_dataclass(shape):
        return
    for field in members_of(shape):
        yield f"{name}{field.json_name}", "a member"
        inner = _inner(field)
        if isinstance(inner, type):
            yield from _record(inner, f"{name}{field.json_name}.", depth + 1)


def _inner(field: RecordField) -> object:
    if is_list(field.kind):
        return of_item(field.kind).kind
    return of_item(field.kind, -1).kind if is_map(field.kind) else field.kind


def _hooks() -> Found:
    for each in presets():
        yield f"hook {each.name}", "a preset"
        for proof in each.proofs:
            yield f"hook {each.name} by {proof.value}", "a proof"


# -- what plugins import


def _plugins() -> Found:
    for name, hook in inspect.getmembers(hookspecs, inspect.isfunction):
        if name.startswith("risala_"):
            yield f"plugin hook {name}", ", ".join(inspect.signature(hook).parameters)
    seen = set()
    for page in PAGES:
        for chapter in page.chapters:
            for name in chapter.names:
                if (chapter.module, name) not in seen:
                    seen.add((chapter.module, name))
                    thing = getattr(importlib.import_module(chapter.module), name)
                    yield from _thing(thing, f"plugin {chapter.module}.{name}")


def _thing(thing: object, name: str) -> Found:
    yield name, "a name"
    if not isinstance(thing, type):
        return
    if issubclass(thing, enum.Enum):
        for word in thing:
            yield f"{name}.{word.name}", str(word.value)
        return
    fields = dataclasses.fields(thing) if dataclasses.is_dataclass(thing) else ()
    known = {each.name for each in fields} | {
        annotated for each in thing.__mro__ for annotated in inspect.get_annotations(each)
    }
    for each in sorted(known):
        if not each.startswith("_"):
            yield f"{name}.{each}", "an attribute"
    for method, function in inspect.getmembers(thing, inspect.isfunction):
        if not method.startswith("_") and method not in known:
            given = [each for each in inspect.signature(function).parameters if each != "self"]
            yield f"{name}.{method}()", ", ".join(given)


def main() -> int:
    """Write the table of this version."""
    found = json.dumps(promises(), indent=0, ensure_ascii=False, sort_keys=True)
    Path(sys.argv[1]).write_text(f"{found}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

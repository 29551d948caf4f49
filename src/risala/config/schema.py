"""Descriptions of each setting in plain words: for faults, the template and the reference.

They come from pydantic's JSON schema of :class:`risala.config.model.Settings`, so that no sentence
about a setting is written twice.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, Final

from pydantic import BaseModel

from risala.config.delivery import CarrierSection
from risala.config.kinds import Section
from risala.config.model import Settings

Node = dict[str, Any]
"""One place of the JSON schema, references resolved."""

ENVIRONMENT_PREFIX: Final = "RISALA_"
NESTING: Final = "__"

_UNITS: Final = (
    ("_per_s", "per second"),
    ("_s", "seconds"),
    ("_days", "days"),
    ("_bytes", "bytes"),
)


@cache
def root() -> Node:
    """The schema of all settings, each with the docstring below it as its description.

    Pydantic itself would read them from the source at each start of every process.
    """
    schema = Settings.model_json_schema()
    models: dict[str, type[BaseModel]] = {each.__name__: each for each in _below(Section)}
    models |= {"Settings": Settings, "CarrierSection": CarrierSection}
    for name, node in (("Settings", schema), *schema["$defs"].items()):
        if (model := models.get(name)) is not None:
            for field, words in _words_below(model).items():
                if field in names_in(node):
                    node["properties"][field]["description"] = words
    return schema


def _below(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for each in model.__subclasses__():
        yield each
        yield from _below(each)


def _words_below(model: type[BaseModel]) -> dict[str, str]:
    """The docstrings below the fields of a model, and of its base classes."""
    meanings: dict[str, str] = {}
    for each in reversed(model.__mro__):
        if not issubclass(each, BaseModel) or each is BaseModel:
            continue
        tree = ast.parse(textwrap.dedent(inspect.getsource(each))).body[0]
        assert isinstance(tree, ast.ClassDef)
        for pair in pairwise(tree.body):
            match pair:
                case (
                    ast.AnnAssign(target=ast.Name(id=field)),
                    ast.Expr(value=ast.Constant(value=str(words))),
                ):
                    meanings[field] = inspect.cleandoc(words)
    return meanings


def resolve(node: Node) -> Node:
    """``node`` with its ``$ref`` followed, and without the null that an optional setting allows."""
    for choice in node.get("anyOf", ()):
        if choice.get("type") != "null":
            node = {key: value for key, value in node.items() if key != "anyOf"} | choice
    if reference := node.get("$ref"):
        target = root()["$defs"][reference.rpartition("/")[2]]
        node = target | {key: value for key, value in node.items() if key != "$ref"}
    return node


def node_at(path: Sequence[str | int]) -> Node | None:
    """The schema at a key path; None: the model has no such setting."""
    node = root()
    for step in path:
        child = node.get("items") if isinstance(step, int) else names_in(node).get(step)
        if child is None:
            return None
        node = resolve(child)
    return node


def names_in(node: Node) -> dict[str, Node]:
    """The settings of a table; empty for anything else."""
    return dict(node.get("properties", {}))


def unit_of(name: str) -> str:
    """The unit at the end of a name, such as ``seconds`` or ``per second``; empty: no unit."""
    return next((unit for suffix, unit in _UNITS if name.endswith(suffix)), "")


def key_of(path: Sequence[str | int]) -> str:
    """A key path as people write it: ``carriers[0].rate_per_s``."""
    steps = (f"[{step}]" if str(step).isdecimal() else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


def variable_of(path: Sequence[str | int]) -> str:
    """The environment variable of a setting: ``RISALA_HTTP__PORT``."""
    return ENVIRONMENT_PREFIX + NESTING.join(str(step).upper() for step in path)


def allowed(node: Node) -> str:
    """The values of a setting: ``a whole number from 0 to 65535``."""
    if "words" in node:
        return str(node["words"])
    if "enum" in node:
        return "one of " + ", ".join(f'"{choice}"' for choice in node["enum"])
    match node.get("type"):
        case "integer":
            return "a whole number" + _range(node)
        case "number":
            return "a number" + _range(node)
        case "boolean":
            return "true or false"
        case "array" if resolve(node["items"]).get("type") == "object":
            return "a list of tables, each begun by a line in double brackets"
        case "array":
            return "a list; each item is " + allowed(resolve(node["items"]))
        case "object":
            return "a table"
    return "a path in quotes" if node.get("format") == "path" else "text in quotes"


def _range(node: Node) -> str:
    low, high = node.get("minimum"), node.get("maximum")
    if low is not None and high is not None:
        return f" from {low} to {high}"
    parts = (
        f"at least {low}" if low is not None else "",
        f"above {node['exclusiveMinimum']}" if "exclusiveMinimum" in node else "",
        f"at most {high}" if high is not None else "",
    )
    words = " and ".join(part for part in parts if part)
    return f" {words}" if words else ""


@dataclass(frozen=True, slots=True)
class Setting:
    """One line of the file."""

    path: tuple[str, ...]
    node: Node

    @property
    def name(self) -> str:
        return self.path[-1]

    @property
    def meaning(self) -> str:
        return " ".join(self.node.get("description", "").split())

    @property
    def allowed(self) -> str:
        return allowed(self.node)

    @property
    def unit(self) -> str:
        return unit_of(self.name)


@dataclass(frozen=True, slots=True)
class Table:
    """One table of the file with its own lines; tables within it follow as separate tables."""

    path: tuple[str, ...]
    node: Node
    settings: tuple[Setting, ...]

    @property
    def meaning(self) -> str:
        return " ".join(self.node.get("description", "").split())


def tables() -> Iterator[Table]:
    """All tables in the order of the file, except carriers and tables whose names the operator
    chooses."""
    for name, child in names_in(root()).items():
        node = resolve(child)
        if node["type"] == "object" and not _is_by_name(node):
            yield from _tables((name,), node | {"description": _own_words(child)})


def tables_by_name() -> Iterator[Table]:
    """One of each kind of table whose names the operator chooses, called ``NAME``."""
    for name, child in names_in(root()).items():
        node = resolve(child)
        if node["type"] == "object" and _is_by_name(node):
            one = resolve(node["additionalProperties"])
            path = (name, "NAME")
            settings = (Setting((*path, key), resolve(each)) for key, each in _named(one))
            yield Table(path, one, tuple(settings))


def listed_tables() -> Iterator[Table]:
    """One of each kind of table that the file may have many of, except the carriers."""
    for name, child in names_in(root()).items():
        node = resolve(child)
        if node["type"] == "array" and name != "carriers":
            yield _one_of(name)


def _is_by_name(node: Node) -> bool:
    return not names_in(node) and isinstance(node.get("additionalProperties"), dict)


def carrier_table() -> Table:
    """The table of one carrier; a nested table (``on_uncertain_code``) is written inline."""
    return _one_of("carriers")


def _one_of(tables_name: str) -> Table:
    node = resolve(root()["properties"][tables_name]["items"])
    settings = (Setting((tables_name, name), resolve(child)) for name, child in _named(node))
    return Table((tables_name,), node, tuple(settings))


def _tables(path: tuple[str, ...], node: Node) -> Iterator[Table]:
    children = [(name, resolve(child)) for name, child in _named(node)]
    plain = [(name, child) for name, child in children if child.get("type") != "object"]
    yield Table(path, node, tuple(Setting((*path, name), child) for name, child in plain))
    for name, child in children:
        if child.get("type") == "object":
            yield from _tables((*path, name), child)


def _named(node: Node) -> list[tuple[str, Node]]:
    return list(names_in(node).items())


def _own_words(child: Node) -> str:
    """The meaning of a table: its class's docstring, which is longer than the field's."""
    target = root()["$defs"][child["$ref"].rpartition("/")[2]]
    return str(target.get("description", ""))

"""The members of the HTTP API in the reference, from its models: ``python -m proofs.members``.

For each path what a request takes and an answer has, as ``/openapi.json`` tells programs.
``tests/http/api/test_reference.py`` compares.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from risala.http.api.openapi.document import document

PAGE: Final = Path(__file__).parents[1] / "docs/reference/http-members.md"
_HEAD: Final = """\
# Members of the HTTP API

<!-- Written by `python -m proofs.members`; change the models in `src/risala/http/api/` instead. -->

What each request takes, and what its answer with 200 has; [HTTP API](http-api.md) tells what the
paths do, and how errors look. The service tells the same to programs, `/openapi.json`, with the
numbers of the country that it is in.

Members in **bold** are required in requests. In answers *maybe* are those that are not always
there. Times are ISO 8601: with `Z` or an offset in requests, in UTC in answers. Amounts are
decimal strings. `null`: not known, or not there.
"""
_PARTS: Final = "\n## Parts\n\nWhat stands within others.\n"
Node = dict[str, Any]


class Members:
    """The page, and which named parts it still has to tell."""

    def __init__(self) -> None:
        self._document = document()
        self._schemas: dict[str, Node] = self._document["components"]["schemas"]
        self._inner: list[str] = []
        self._bodies = {
            of["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[
                2
            ]: path
            for path, of in self._api()
        }
        self._answers = Counter(
            of["responses"]["200"]["content"]["application/json"]["schema"].get("$ref", "")
            for _, of in self._api()
        )

    def render(self) -> str:
        parts = [_HEAD, *(self._path(path, of) for path, of in self._api())]
        parts.append(_PARTS)
        told: set[str] = set()
        while named := [name for name in self._inner if name not in told]:
            told |= set(named)
            parts += [self._part(name) for name in dict.fromkeys(named)]
        return "".join(parts)

    def _api(self) -> Iterator[tuple[str, Node]]:
        for path, methods in self._document["paths"].items():
            if path.startswith("/api/"):
                yield path, methods["post"]

    def _path(self, path: str, operation: Node) -> str:
        asked = operation["requestBody"]["content"]["application/json"]["schema"]
        answered = operation["responses"]["200"]["content"]["application/json"]["schema"]
        takes = self._rows(self._named(asked), required="**`{}`**", optional="`{}`")
        text = f"\n## `POST {path}`\n\n{operation['summary']}.\n"
        text += f"\n| Takes | | |\n|---|---|---|\n{takes}" if takes else "\nTakes `{}`.\n"
        if self._answers[answered.get("$ref", "")] > 1:
            return f"{text}\nAnswers a {self._kind(answered)}.\n"
        node = self._named(answered)
        either = [node] if "properties" in node else [self._named(each) for each in node["anyOf"]]
        tables = (f"\n| Answers | | |\n|---|---|---|\n{self._rows(each)}" for each in either)
        return text + "\nOr:\n".join(tables)

    def _part(self, name: str) -> str:
        node = self._schemas[name]
        told = " ".join(node.get("description", "").split())
        return f"\n### `{name}`\n\n{told}\n\n| Member | | |\n|---|---|---|\n{self._rows(node)}"

    def _rows(self, node: Node, required: str = "`{}`", optional: str = "`{}`, *maybe*") -> str:
        needed = node.get("required", ())
        rows = ""
        for name, member in node.get("properties", {}).items():
            shown = (required if name in needed else optional).format(name)
            meaning = " ".join(member.get("description", "").split())
            cells = [shown, self._kind(member), meaning]
            rows += "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
        return rows

    def _named(self, node: Node) -> Node:
        while reference := node.get("$ref"):
            node = self._schemas[reference.rpartition("/")[2]]
        return node

    def _kind(self, node: Node) -> str:
        """What a member may be, in a few words."""
        if reference := node.get("$ref"):
            name = reference.rpartition("/")[2]
            if "properties" not in self._schemas[name]:
                return "word"
            if name in self._bodies:
                path = self._bodies[name]
                return f"[{path}](#post-{path.replace('/', '')})"
            self._inner.append(name)
            return f"[{name}](#{name.lower()})"
        if choices := [each for each in node.get("anyOf", ()) if each.get("type") != "null"]:
            return " or ".join(self._kind(each) for each in choices)
        if words := [word for word in node.get("enum", ()) if word is not None]:
            return ", ".join(f"`{word}`" for word in words)
        if "const" in node:
            return f"`{str(node['const']).lower()}`"
        kinds = node.get("type", "any")
        kind = (
            next((each for each in kinds if each != "null"), "any")
            if isinstance(kinds, list)
            else kinds
        )
        match kind:
            case "array":
                return f"list of {self._kind(node['items'])}{_between(node, 'Items', '')}"
            case "string" if node.get("format") == "date-time":
                return "time"
            case "string":
                return f"string{_between(node, 'Length', ' characters')}"
            case "integer":
                return f"integer{_range(node)}"
        return str(kind)


def _between(node: Node, what: str, unit: str) -> str:
    least, most = node.get(f"min{what}"), node.get(f"max{what}")
    if most is None:
        return ""
    return f", {least} to {most}{unit}" if least else f", at most {most}{unit}"


def _range(node: Node) -> str:
    least, most = node.get("minimum"), node.get("maximum")
    return "" if most is None else f", {least} to {most}"


def render() -> str:
    """The page as Markdown."""
    return re.sub(" +\n", "\n", Members().render())


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")

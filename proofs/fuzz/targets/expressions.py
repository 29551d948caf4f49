"""Every regular expression of the source: none may take for ever over any text.

They are read out of the source, so that a new one is tried as soon as it is written.
"""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import risala
from proofs.fuzz.target import FuzzTarget, Script

SOURCE: Final = Path(risala.__file__).parent
TEXT_CHARACTERS: Final = 4000
"""Characters of a text: twice what a message, a template or a line of a modem may have."""
CPU_S_MAX: Final = 1.0
"""Seconds of this thread's own time. By the square of its length a text takes a fifth of that, by
the cube hours."""
_SEARCHES: Final = frozenset({"search", "sub", "subn", "findall", "finditer", "split", None})


@dataclass(frozen=True, slots=True)
class Expression:
    """One regular expression, and how it is used."""

    place: str
    pattern: re.Pattern[Any]
    method: str | None
    """None: it is kept whole, and may be used in any way."""

    def try_on(self, text: str) -> None:
        subject: Any = text if isinstance(self.pattern.pattern, str) else text.encode()
        if self.method in _SEARCHES:
            for _ in self.pattern.finditer(subject):
                pass
        if self.method not in _SEARCHES or self.method is None:
            self.pattern.match(subject)
            self.pattern.fullmatch(subject)


@cache
def expressions() -> tuple[Expression, ...]:
    """Those that are written as they are, in their order; what is put together of pieces is tried
    where its pieces are."""
    return tuple(_found())


def _found() -> Iterator[Expression]:
    for path in sorted(SOURCE.rglob("*.py")):
        source = path.read_text("utf-8")
        if "re.compile" not in source:
            continue
        tree = ast.parse(source)
        used = {
            id(node.value): node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)
        }
        for node in ast.walk(tree):
            if _is_compiling(node):
                assert isinstance(node, ast.Call)
                place = f"{path.relative_to(SOURCE)}:{node.lineno}"
                pattern = _pattern(node)
                if pattern is not None:
                    yield Expression(place, pattern, used.get(id(node)))


def _is_compiling(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile"


def _pattern(call: ast.Call) -> re.Pattern[Any] | None:
    """None where it is put together when the module is loaded."""
    try:
        written = ast.literal_eval(call.args[0])
    except ValueError:
        return None
    flags = re.RegexFlag(0)
    for each in call.args[1:]:
        for name in ast.walk(each):
            if isinstance(name, ast.Attribute):
                flags |= re.RegexFlag[name.attr]
    return re.compile(written, flags)


def _expressions(octets: bytes) -> None:
    script = Script(octets)
    known = expressions()
    expression = known[(script.number() << 8 | script.number()) % len(known)]
    before, again = script.text(), script.text() or "a"
    behind = script.text()
    text = before + again * ((TEXT_CHARACTERS - len(before) - len(behind)) // len(again)) + behind
    text = text.encode("utf-8", "replace").decode()
    began = time.thread_time()
    expression.try_on(text)
    took_s = time.thread_time() - began
    assert took_s < CPU_S_MAX, f"{expression.place}: {took_s:.1f} s"


def _seeds() -> Iterator[bytes]:
    pumps = (b"a", b"1", b" ", b"0 ", b"a-", b"a.", b"\r\n", b'"', b"=", b"{{", b"a:", b",")
    for number in range(len(expressions())):
        for pump in pumps:
            head = bytes((number >> 8, number & 255))
            yield head + b"\0" + bytes((len(pump),)) + pump + b"\1\0"


TARGETS: Final = (
    FuzzTarget(
        "expressions",
        "each regular expression of the source, over 4,000 characters that begin, repeat and end as"
        " they like, within a second of its own thread",
        _expressions,
        _seeds,
        octets_max=120,
        words=(b"a", b"1", b" ", b"\t", b"=", b'"', b"+222", b":", b"\n", b"{", b"}"),
    ),
)

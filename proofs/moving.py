"""``make move ARGS="OLD=NEW …"``: gives modules other places, everywhere they are named.

Each is written as it is imported, without ``risala.``: ``engine.journal.keys=engine.keys``. A
package moves with all that is below it. Imports, and paths in catalogues, guards, mutants, bounds
and documents are rewritten; a shorter name that may mean a moved module is printed.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PACKAGE: Final = "risala"
SOURCE: Final = f"src/{PACKAGE}"
_TEXT: Final = (
    *(".py", ".po", ".pot", ".md", ".txt", ".toml", ".html", ".js", ".cfg", ".yml", ".json"),
    *("Makefile", ".importlinter"),
)
_OF_THEIR_TIME: Final = ("docs/reference/evidence.md", "CHANGELOG.md")
"""What was measured, and what is said of releases, stays as it was."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make move", description=__doc__)
    parser.add_argument("moves", nargs="+", metavar="OLD=NEW")
    asked = parser.parse_args().moves
    moves = dict(each.split("=", 1) for each in asked)
    for line in move(ROOT, moves):
        print(line)
    subprocess.run(("make", "-s", "format"), cwd=ROOT, check=True)
    return 0


def move(root: Path, moves: Mapping[str, str]) -> list[str]:
    """Move them in a tree that Git knows; lines of what a person has to look at."""
    modules: dict[str, str] = {}
    for old, new in moves.items():
        modules |= _modules(root, old, new)
    for old, new in moves.items():
        _rename(root, old, new)
    for path in _files(root):
        text = path.read_text("utf-8")
        changed = rewritten(text, modules, is_python=path.suffix == ".py")
        if changed != text:
            path.write_text(changed, encoding="utf-8")
    return list(_leftovers(root, modules))


def _modules(root: Path, old: str, new: str) -> dict[str, str]:
    """A module, or a package with all that is below it: by old names the new ones."""
    place = root / SOURCE / old.replace(".", "/")
    if place.with_suffix(".py").is_file():
        return {old: new}
    if not place.is_dir():
        raise SystemExit(f"There is no module {old}.")
    below = (each.relative_to(place).with_suffix("") for each in place.rglob("*.py"))
    names = ("." + ".".join(each.parts) for each in below if each.name != "__init__")
    return {old: new, **{f"{old}{name}": f"{new}{name}" for name in names}}


def _rename(root: Path, old: str, new: str) -> None:
    source, target = (root / SOURCE / each.replace(".", "/") for each in (old, new))
    if not source.is_dir():
        source, target = source.with_suffix(".py"), target.with_suffix(".py")
    target.parent.mkdir(parents=True, exist_ok=True)
    for folder in target.relative_to(root / SOURCE).parents:
        marker = root / SOURCE / folder / "__init__.py"
        if not marker.exists():
            marker.write_text("")
            subprocess.run(("git", "add", str(marker)), cwd=root, check=True)
    subprocess.run(("git", "mv", str(source), str(target)), cwd=root, check=True)


def _files(root: Path) -> Iterator[Path]:
    listed = subprocess.run(
        ("git", "ls-files"), cwd=root, check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    for name in listed.splitlines():
        path = root / name
        is_told = name in _OF_THEIR_TIME or name.startswith("changes/")
        if name.endswith(_TEXT) and not (is_told or path.is_symlink()) and path.is_file():
            yield path


def rewritten(text: str, modules: Mapping[str, str], *, is_python: bool) -> str:
    """A text with the new names of these modules."""
    if is_python:
        text = _imports(text, modules)
    names = "|".join(re.escape(each) for each in sorted(modules, key=len, reverse=True))
    text = re.sub(
        rf"\b{PACKAGE}\.({names})(?![\w])", lambda found: f"{PACKAGE}.{modules[found[1]]}", text
    )
    paths = {f"{path_of(old)}": path_of(new) for old, new in modules.items()}
    known = "|".join(re.escape(each) for each in sorted(paths, key=len, reverse=True))
    return re.sub(rf"(?<![\w.-])({known})(?=\.py\b|/)", lambda found: paths[found[1]], text)


def path_of(name: str) -> str:
    return name.replace(".", "/")


def _imports(text: str, modules: Mapping[str, str]) -> str:
    """``from package import module``, where the package stays or the module has another name."""
    lines = text.split("\n")
    found = [each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.ImportFrom)]
    for node in sorted(found, key=lambda each: each.lineno, reverse=True):
        package = (node.module or "").removeprefix(PACKAGE).lstrip(".")
        if node.level or not (node.module or "").startswith(PACKAGE):
            continue
        moved = [each for each in node.names if f"{package}.{each.name}".lstrip(".") in modules]
        if not moved:
            continue
        indent = " " * node.col_offset
        new = [
            indent + _import(modules[f"{package}.{each.name}".lstrip(".")], each) for each in moved
        ]
        stay = [each for each in node.names if each not in moved]
        if stay:
            names = ", ".join(ast.unparse(each) for each in stay)
            new.insert(0, f"{indent}from {node.module} import {names}")
        end = node.end_lineno or node.lineno
        lines[node.lineno - 1 : end] = new
    return "\n".join(lines)


def _import(module: str, alias: ast.alias) -> str:
    package, _, name = module.rpartition(".")
    called = alias.asname or alias.name
    renamed = f" as {called}" if called != name else ""
    return f"from {PACKAGE}{'.' if package else ''}{package} import {name}{renamed}"


def _leftovers(root: Path, modules: Mapping[str, str]) -> Iterable[str]:
    """Places that may mean a moved module by the end of its path."""
    ends = {"/".join(each.split(".")[-2:]) + ".py": each for each in modules if "." in each}
    words = re.compile("|".join(re.escape(each) for each in ends))
    gone = {end: name for end, name in ends.items() if not _is_there(root, end)}
    for path in _files(root):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            for end in words.findall(line):
                if end in gone:
                    yield f"{path.relative_to(root)}:{number}: {line.strip()[:120]}"


def _is_there(root: Path, end: str) -> bool:
    return any((root / SOURCE).glob(f"**/{end}"))


if __name__ == "__main__":
    sys.exit(main())

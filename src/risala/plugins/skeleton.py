"""Writes the skeleton of a plugin: a package that does something, and whose tests pass."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Final

from risala.plugins.manager import PluginManager
from risala.plugins.version import CONTRACT

KINDS: Final[Mapping[str, str]] = {
    "driver": "driver",
    "payment": "payment method",
    "mailer": "mailer",
    "sink": "event sink",
}
"""What can be begun, by the word for it, and what it is called."""
_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_CHARACTERS_MAX: Final = 32
_FILES: Final = {
    "pyproject.toml": "../pyproject.toml.txt",
    "README.md": "README.md.txt",
    "src/@module@.py": "module.py.txt",
    "tests/test_@module@.py": "test_module.py.txt",
}
"""What is written, and from which template beside those of the kind."""


class SkeletonRefusedError(Exception):
    """Nothing was written; ``str()`` says why."""


def write_skeleton(name: str, kind: str, folder: Path | None = None) -> tuple[Path, list[Path]]:
    """Write a package for a plugin of this name and kind.

    Args:
        folder: where it goes; ``risala-NAME`` in this folder unless told.

    Returns:
        The folder, and the files in it.

    Raises:
        SkeletonRefusedError: the name cannot be one, there is something already, or it cannot be
            written.
    """
    words = _words(name, kind)
    place = folder if folder is not None else Path(f"risala-{name}")
    files: list[Path] = []
    try:
        if place.exists() and (not place.is_dir() or any(place.iterdir())):
            raise SkeletonRefusedError(f"{place} is there already, and not empty.")
        for path, template in _FILES.items():
            file = place / _filled(path, words)
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("x", encoding="utf-8") as written:
                written.write(_filled(_template(kind, template), words))
            files.append(file)
    except OSError as error:
        raise SkeletonRefusedError(f"{place} cannot be written: {error.strerror}.") from error
    return place, files


def _words(name: str, kind: str) -> dict[str, str]:
    """What stands for each mark of a template."""
    if kind not in KINDS:
        raise SkeletonRefusedError(f"There is no kind {kind!r}; there are {', '.join(KINDS)}.")
    if not _NAME.fullmatch(name) or len(name) > _CHARACTERS_MAX:
        raise SkeletonRefusedError(
            f"{name!r} cannot be the name of a plugin: up to {_CHARACTERS_MAX} lower-case letters "
            "and digits, with hyphens between them, beginning with a letter."
        )
    if name in _taken():
        raise SkeletonRefusedError(f"{name!r} is built in; take another name.")
    camel = "".join(part.capitalize() for part in name.split("-"))
    module = f"risala_{name.replace('-', '_')}"
    return {
        "@name@": name,
        "@module@": module,
        "@Class@": camel,
        "@kind@": KINDS[kind],
        "@contract@": str(CONTRACT),
    }


def _taken() -> set[str]:
    """Names of the built-in plugins, and of all that they bring."""
    manager = PluginManager()
    manager.load(installed=())
    return {name for each in manager.plugins() for name in (each.name, *each.names)}


def _template(kind: str, name: str) -> str:
    root = resources.files("risala.plugins") / "skeletons"
    place = root / name.removeprefix("../") if name.startswith("../") else root / kind / name
    return place.read_text(encoding="utf-8")


def _filled(text: str, words: Mapping[str, str]) -> str:
    for mark, word in words.items():
        text = text.replace(mark, word)
    return text

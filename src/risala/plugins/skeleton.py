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
    "channel": "channel",
}
"""The kinds of plugin that it can write, by their word, and their names."""
_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_CHARACTERS_MAX: Final = 32
_FILES: Final = {
    "pyproject.toml": "../pyproject.toml.txt",
    "README.md": "README.md.txt",
    "src/@module@.py": "module.py.txt",
    "tests/test_@module@.py": "test_module.py.txt",
}
"""The files, and the template of each, besides those of the kind."""
_HTTP: Final = "driver-http"
"""The folder of the templates of a driver over HTTP. They are those of the tutorial's driver."""
_HTTP_FILES: Final = {
    "pyproject.toml": "pyproject.toml.txt",
    "README.md": "README.md.txt",
    "src/@module@/__init__.py": "init.py.txt",
    "src/@module@/plugin.py": "plugin.py.txt",
    "src/@module@/settings.py": "settings.py.txt",
    "src/@module@/api.py": "api.py.txt",
    "src/@module@/driver.py": "driver.py.txt",
    "tests/@word@_stand_in.py": "stand_in.py.txt",
    "tests/test_conformance.py": "test_conformance.py.txt",
    "tests/test_driver.py": "test_driver.py.txt",
}


class SkeletonRefusedError(Exception):
    """Nothing was written; ``str()`` says why."""


def write_skeleton(
    name: str, kind: str, folder: Path | None = None, *, http: bool = False
) -> tuple[Path, list[Path]]:
    """Write a package for a plugin of this name and kind.

    Args:
        folder: where it goes; ``risala-NAME`` in this folder unless told.
        http: the driver is the tutorial's, over HTTP with a carrier's stand-in, and not the small
            one whose carrier is a file.

    Returns:
        The folder, and the files in it.

    Raises:
        SkeletonRefusedError: the name cannot be one, there is something already, or it cannot be
            written.
    """
    words = _words(name, kind)
    if http and kind != "driver":
        raise SkeletonRefusedError(
            f"A {KINDS[kind]} over HTTP cannot be begun yet, only a driver. Leave out --http."
        )
    table, templates = (_HTTP_FILES, _HTTP) if http else (_FILES, kind)
    place = folder if folder is not None else Path(f"risala-{name}")
    files: list[Path] = []
    try:
        if place.exists() and (not place.is_dir() or any(place.iterdir())):
            raise SkeletonRefusedError(f"{place} is there already, and not empty.")
        for path, template in table.items():
            file = place / _filled(path, words)
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("x", encoding="utf-8") as written:
                written.write(_filled(_template(templates, template), words))
            files.append(file)
    except OSError as error:
        raise SkeletonRefusedError(f"{place} cannot be written: {error.strerror}.") from error
    return place, files


def _words(name: str, kind: str) -> dict[str, str]:
    """The value of each mark of a template."""
    if kind not in KINDS:
        raise SkeletonRefusedError(f"There is no kind {kind!r}; there are {', '.join(KINDS)}.")
    if not _NAME.fullmatch(name) or len(name) > _CHARACTERS_MAX:
        raise SkeletonRefusedError(
            f"{name!r} cannot be the name of a plugin: up to {_CHARACTERS_MAX} lower-case letters "
            "and digits, with hyphens between them, beginning with a letter."
        )
    if name in _used_names():
        raise SkeletonRefusedError(f"{name!r} is built in; take another name.")
    camel = "".join(part.capitalize() for part in name.split("-"))
    word = name.replace("-", "_")
    return {
        "@name@": name,
        "@word@": word,
        "@NAME@": word.upper(),
        "@module@": f"risala_{word}",
        "@Class@": camel,
        "@kind@": KINDS[kind],
        "@contract@": str(CONTRACT),
    }


def _used_names() -> set[str]:
    """Names of the built-in plugins, and of all that they bring."""
    manager = PluginManager()
    manager.load(installed=())
    return {name for each in manager.plugins() for name in (each.name, *each.names)}


def _template(folder: str, name: str) -> str:
    root = resources.files("risala.plugins") / "skeletons"
    place = root / name.removeprefix("../") if name.startswith("../") else root / folder / name
    return place.read_text(encoding="utf-8")


def _filled(text: str, words: Mapping[str, str]) -> str:
    for mark, word in words.items():
        text = text.replace(mark, word)
    return text

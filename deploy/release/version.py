"""Where the version stands, and how it becomes another."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FORM: Final = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
DEVELOPED: Final = ".dev0"
"""What follows the version that the source becomes next: pip and dpkg sort it before that one."""


def semantic(version: str) -> str:
    """As npm writes it: ``1.1.0.dev0`` is ``1.1.0-dev.0``."""
    return version.replace(DEVELOPED, "-dev.0")


@dataclass(frozen=True)
class Place:
    """A file that names the version: ``pattern`` has it between two groups, ``form`` writes it."""

    path: str
    pattern: str
    form: Callable[[str], str] = str

    def named(self, text: str, version: str) -> tuple[str, int]:
        """The text with another version, and how often it names one."""
        return re.subn(self.pattern, rf"\g<1>{self.form(version)}\g<2>", text)


_WHEEL: Final = r"(risala_client-)[\d.]+(?:\.dev\d+)?(-py3-none-any\.whl)"
PLACES: Final = (
    Place("src/risala/__init__.py", r'(__version__ = ").+(")'),
    Place("src/risala/client/version.py", r'(VERSION: Final = ").+(")'),
    Place("clients/python/pyproject.toml", r'(?m)(^version = ").+?(")'),
    Place("clients/javascript/package.json", r'("version": ").+(")', semantic),
    Place("clients/javascript/risala.js", r'(export const VERSION = ").+(")', semantic),
    # Pages that are written by hand; `make generated` sees to the others.
    Place("clients/python/README.md", _WHEEL),
    Place("clients/python/reference-head.md", _WHEEL),
    Place("docs/quick-start/python.md", _WHEEL),
    Place("docs/reference/http-api.md", _WHEEL),
)
"""The clients have the version of the service that serves them."""


def numbers(version: str) -> tuple[int, ...]:
    """A version to compare by.

    Raises:
        SystemExit: it is not three numbers.
    """
    if not FORM.fullmatch(version):
        raise SystemExit(f"{version!r} is no version. Write three numbers, such as 1.0.0.")
    return tuple(map(int, version.split(".")))


def planned(version: str) -> tuple[int, ...]:
    """The numbers of the release that the source becomes, or is, by its own version."""
    return numbers(version.removesuffix(DEVELOPED))


def current(top: Path) -> str:
    """The version of the source."""
    (place, *_) = PLACES
    found = re.search(place.pattern, (top / place.path).read_text("utf-8"))
    assert found is not None
    return found[0].removeprefix(found[1]).removesuffix(found[2])


def set_version(top: Path, version: str) -> None:
    """Name another version wherever it stands.

    Raises:
        SystemExit: a file does not name it any more.
    """
    for place in PLACES:
        path = top / place.path
        text, count = place.named(path.read_text("utf-8"), version)
        if not count:
            raise SystemExit(f"{place.path} names no version: mend deploy/release/version.py.")
        path.write_text(text, "utf-8")

"""``secrets``, the file of passwords beside the settings: a line ``NAME=value`` for each.

It has the form of systemd's ``EnvironmentFile``, by which the service's unit gives it to the
service. Without systemd it is read from here: only the variables that the settings name, and never
over one that is set.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

SECRETS_NAME: Final = "secrets"
_LINE: Final = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)=(.*?)\s*", re.DOTALL)
_ESCAPED: Final = re.compile(r'\\([\\"$`])')
_taken: dict[str, str] = {}
"""What this process took from the file; a changed file may replace it."""


def secrets_path(settings: Path) -> Path:
    """The file with the passwords of a settings file."""
    return settings.parent / SECRETS_NAME


def read_secrets(path: Path) -> dict[str, str]:
    """The variables of the file; empty if there is none, or it is not ours to read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    matches = (_LINE.fullmatch(line) for line in text.splitlines())
    return {each[1]: _unquoted(each[2]) for each in matches if each is not None}


def with_secrets(text: str, changes: Mapping[str, str]) -> str:
    """The text of the file with these variables set; its other lines stay.

    Raises:
        ValueError: a value has a line end or another control character.
    """
    if any(not value.isprintable() for value in changes.values()):
        raise ValueError("a password must have no line ends or control characters")
    rest = dict(changes)
    lines = []
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        name = None if match is None else match[1]
        lines.append(f"{name}={_quoted(rest.pop(name))}" if name in rest else line)
    lines += [f"{name}={_quoted(value)}" for name, value in rest.items()]
    return "\n".join(lines) + "\n"


def take_secrets(settings: Path, tree: Mapping[str, object]) -> None:
    """Set the variables that the settings name (``password_env = "NAME"``) and nothing else set."""
    names = set(_named(tree))
    if not names:
        return
    for name, value in read_secrets(secrets_path(settings)).items():
        if name in names and os.environ.get(name) in (None, "", _taken.get(name)):
            os.environ[name] = _taken[name] = value


def _named(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if str(key).endswith("_env") and isinstance(item, str):
                yield item
            else:
                yield from _named(item)
    elif isinstance(value, list):
        for item in value:
            yield from _named(item)


def _quoted(value: str) -> str:
    if "'" not in value:
        return f"'{value}'"
    return '"' + re.sub(r'([\\"$`])', r"\\\1", value) + '"'


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1]
    if len(text) > 1 and text[0] == text[-1] == '"':
        return _ESCAPED.sub(r"\1", text[1:-1])
    return text

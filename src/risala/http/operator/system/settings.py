"""The settings in use, as an operator may see them on a page: without secrets, and of a foreign
address only the host, as its path may be a secret."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from risala.config.model import Settings
from risala.config.secrets import redact
from risala.dataclass import dataclass

_USUAL: Final = Settings()


@dataclass(frozen=True, slots=True)
class ShownSetting:
    name: str
    """Its name in the file: ``http.port``."""
    value: str
    """Empty: it is not set."""
    is_usual: bool
    """The default."""


def shown_settings(settings: Settings) -> list[ShownSetting]:
    """All of them, in the order of the file."""
    usual = dict(_flat("", _USUAL.model_dump(mode="json")))
    return [
        ShownSetting(name, _text(redact({name: value})[name]), usual.get(name) == value)
        for name, value in _flat("", settings.model_dump(mode="json"))
    ]


def _flat(before: str, table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        name = f"{before}{key}"
        if isinstance(value, Mapping):
            yield from _flat(f"{name}.", value)
        else:
            yield name, value


def _text(value: object) -> str:
    if value is None or value in ("", []):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return _address(str(value))


def _address(text: str) -> str:
    """A text; a foreign address without its path."""
    parts = urlsplit(text) if "://" in text else None
    if parts is None or (parts.path in ("", "/") and not parts.query):
        return text
    return f"{parts.scheme}://{parts.hostname}/…"

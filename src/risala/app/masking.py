"""Masks phone numbers anywhere in lines of the log.

Readers of logs need no more of a number than its last digits. Ids, times and sizes are left as they
are: a number is only a text that looks like a Mauritanian one, or begins with a ``+``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from typing import Any, Final

SHOWN_DIGITS: Final = 4
"""As in the audit trail: enough to recognise a known number, too few to find out another."""
_OURS: Final = r"222[\s.-]?[2-4](?:[\s.-]?[0-9]){7}"
_LOCAL: Final = r"[2-4][0-9](?:[\s.]?[0-9]{2}){3}|[2-4][0-9]{7}"
_NUMBER: Final = re.compile(
    rf"(?<![\w+:/=&?-])(?:(?:\+|00)(?:{_OURS})|{_OURS}|{_LOCAL})(?![\w-]|[.:][0-9])"
    rf"|(?<![\w+])\+[1-9][0-9](?:[\s.-]?[0-9]){{5,13}}(?![0-9])"
    r"|(?<=[:/=&?])(?:\+|%2B|00)?222[2-4][0-9]{7}(?![0-9])",
    re.IGNORECASE,
)
"""Numbers as people and carriers write them: with the country's code or without, grouped or not,
also within addresses. Digits within a word, a time, a version or an id do not match."""
_LEFT: Final = frozenset({"exc_info", "stack_info"})
"""The keys that become a traceback, which has no values (:mod:`risala.app.tracebacks`)."""
_DIGIT: Final = re.compile(r"[0-9]")


def masked(text: str) -> str:
    """A text whose phone numbers are their last digits: ``…3456``."""
    if _DIGIT.search(text) is None:
        return text
    return _NUMBER.sub(_last_digits, text)


def _last_digits(found: re.Match[str]) -> str:
    digits = "".join(_DIGIT.findall(found[0]))
    return f"…{digits[-SHOWN_DIGITS:]}"


def mask(_: Any, __: str, event: MutableMapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401 -- as structlog has it
    """A processor of structlog: masks the whole line, with values of any type."""
    return {
        name: value if name in _LEFT or name.startswith("_") else _mask_value(value)
        for name, value in event.items()
    }


def _mask_value(value: Any) -> Any:  # noqa: ANN401 -- whatever was logged
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, Mapping):
        return {_mask_value(name): _mask_value(each) for name, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_mask_value(each) for each in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return masked(str(value))

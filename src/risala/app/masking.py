"""Takes phone numbers out of lines of the log, wherever in them they stand.

Nobody who reads logs, or whom they are handed on to, needs more of a number than its last digits.
Ids, times and sizes are left as they are: a number is only what looks like one of Mauritania's, or
is written with a ``+``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from typing import Any, Final

SHOWN_DIGITS: Final = 4
"""As in the audit trail: enough for somebody who knows the number, too few for anybody else."""
_OURS: Final = r"222[\s.-]?[2-4](?:[\s.-]?[0-9]){7}"
_LOCAL: Final = r"[2-4][0-9](?:[\s.]?[0-9]{2}){3}|[2-4][0-9]{7}"
_NUMBER: Final = re.compile(
    rf"(?<![\w+:/=&?-])(?:(?:\+|00)(?:{_OURS})|{_OURS}|{_LOCAL})(?![\w-]|[.:][0-9])"
    rf"|(?<![\w+])\+[1-9][0-9](?:[\s.-]?[0-9]){{5,13}}(?![0-9])"
    r"|(?<=[:/=&?])(?:\+|%2B|00)?222[2-4][0-9]{7}(?![0-9])",
    re.IGNORECASE,
)
"""Numbers as people and carriers write them: with the country's code and without, in groups and in
one, and within addresses. Within a word, or where a time, a version or an id goes on, there is
none."""
_LEFT: Final = frozenset({"exc_info", "stack_info"})
"""What becomes a traceback, which has no values (:mod:`risala.app.tracebacks`)."""
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
    """A processor of structlog: the whole line, whatever its values are made of."""
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

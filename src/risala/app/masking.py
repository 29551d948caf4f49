"""Masks phone numbers anywhere in lines of the log.

Readers of logs need no more of a number than its last digits. Ids, times and sizes are left as they
are: a number is only a text that looks like one of a served country, or begins with a ``+``.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, Final

from risala.sms.numbering.plan import DEFAULT, NumberingPlan

SHOWN_DIGITS: Final = 4
"""As in the audit trail: enough to recognise a known number, too few to find out another."""
_LEFT: Final = frozenset({"exc_info", "stack_info"})
"""The keys that become a traceback, which has no values (:mod:`risala.app.tracebacks`)."""
_DIGIT: Final = re.compile(r"[0-9]")


class Masking:
    """Masks the numbers of a plan, and all that begin with a ``+``."""

    def __init__(self, plan: NumberingPlan) -> None:
        self._plan = plan
        self._number = _numbers_of(plan)

    def masked(self, text: str) -> str:
        """A text whose phone numbers are their last digits: ``…3456``."""
        if _DIGIT.search(text) is None:
            return text
        return self._number.sub(self._last_digits, text)

    def __call__(self, _: Any, __: str, event: MutableMapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401 -- as structlog has it
        """A processor of structlog: masks the whole line, with values of any type."""
        return {
            name: value if name in _LEFT or name.startswith("_") else self._mask_value(value)
            for name, value in event.items()
        }

    def _last_digits(self, match: re.Match[str]) -> str:
        digits = "".join(_DIGIT.findall(match[0]))
        if match.lastgroup == "local" and not self._is_of_home(digits):
            return match[0]
        return f"…{digits[-SHOWN_DIGITS:]}"

    def _is_of_home(self, digits: str) -> bool:
        return self._plan.home.read(digits) is not None

    def _mask_value(self, value: Any) -> Any:  # noqa: ANN401 -- whatever was logged
        if isinstance(value, str):
            return self.masked(value)
        if isinstance(value, Mapping):
            return {self._mask_value(name): self._mask_value(each) for name, each in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self._mask_value(each) for each in value]
        if value is None or isinstance(value, bool | int | float):
            return value
        return self.masked(str(value))


def _numbers_of(plan: NumberingPlan) -> re.Pattern[str]:
    """Numbers as people and carriers write them: with the country's code or without, grouped or
    not, also within addresses. Digits within a word, a time, a version or an id do not match."""
    known = [(each.calling_code, places) for each in plan.countries for places in each.digit_places]
    ours = "|".join(
        rf"{code}[\s.-]?{_first(places)}(?:[\s.-]?[0-9]){{{len(places) - 1}}}"
        for code, places in known
    )
    plain = "|".join(f"{code}{_first(places)}[0-9]{{{len(places) - 1}}}" for code, places in known)
    local = "|".join(_written_at_home(places) for places in plan.home.digit_places)
    return re.compile(
        rf"(?<![\w+:/=&?-])(?:(?:\+|00)(?:{ours})|{ours}|(?P<local>{local}))(?![\w-]|[.:][0-9])"
        rf"|(?<![\w+])\+[1-9][0-9](?:[\s.-]?[0-9]){{5,13}}(?![0-9])"
        rf"|(?<=[:/=&?])(?:\+|%2B|00)?(?:{plain})(?![0-9])",
        re.IGNORECASE,
    )


def _first(places: Sequence[str]) -> str:
    return f"[{places[0]}]"


def _written_at_home(places: Sequence[str]) -> str:
    """Pairs of digits, or no groups; where any digit may be the first, in groups of any size, and
    with a 0 in front."""
    rest = len(places) - 1
    if places[0] == string.digits:
        return rf"0?[0-9](?:[\s.]?[0-9]){{{rest}}}"
    pairs = rf"{_first(places)}[0-9](?:[\s.]?[0-9]{{2}}){{{rest // 2}}}"
    return rf"{pairs}|{_first(places)}[0-9]{{{rest}}}"


masked: Final = Masking(DEFAULT).masked
"""For processes that know no settings."""

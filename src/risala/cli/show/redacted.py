"""Takes out of a report what is nobody else's business. Pure.

What a report has was chosen field by field; this is the second fence. It hides what is known to be
secret, and whatever looks like a number of a person, a card or a device, wherever it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

HIDDEN: Final = "…"
SECRET_CHARACTERS_MIN: Final = 3
"""Shorter ones are in any word."""
NUMBER_DIGITS_MIN: Final = 7
"""The fewest digits that are hidden: the numbers of phones have as many."""
_NUMBER: Final = re.compile(rf"\+?(?:[0-9][ ()/-]{{0,2}}){{{NUMBER_DIGITS_MIN - 1},}}[0-9]")
_PLACES: Final = (
    (re.compile(r"/dev/serial/by-id/[^\s,;:”]+"), f"/dev/serial/by-id/{HIDDEN}"),
    (re.compile(r"/(?:home|root|Users)/[^\s,;:”]+"), f"/home/{HIDDEN}"),
    (re.compile(r"\b(socket|https?|rfc2217)://[^\s,;”]+"), rf"\1://{HIDDEN}"),
    (re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+"), HIDDEN),
)
_DIGITS: Final = re.compile(r"[0-9]+")


class Redaction:
    """Hides in a report.

    Args:
        secrets: what is known and must not be in it: PIN, numbers, names of people and machines.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        bare = {each.strip().removeprefix("+") for each in secrets}
        known = sorted((each for each in bare if len(each) >= SECRET_CHARACTERS_MIN), key=len)
        self._known = [_pattern(each) for each in reversed(known)]

    def of(self, value: Any) -> Any:  # noqa: ANN401 -- whatever JSON has
        """The same without them. Names of fields are ours, and stay."""
        match value:
            case str():
                return self._text(value)
            case bool() | None:
                return value
            case int():
                return HIDDEN if len(str(abs(value))) >= NUMBER_DIGITS_MIN else value
            case Mapping():
                return {name: self.of(each) for name, each in value.items()}
            case list() | tuple():
                return [self.of(each) for each in value]
            case _:
                return value

    def _text(self, text: str) -> str:
        for pattern, instead in _PLACES:
            text = pattern.sub(instead, text)
        for known in self._known:
            text = known.sub(HIDDEN, text)
        return _NUMBER.sub(HIDDEN, text)


def _pattern(secret: str) -> re.Pattern[str]:
    """Digits are hidden within others too; a name only as a word of its own."""
    words = re.escape(secret)
    if _DIGITS.fullmatch(secret):
        return re.compile(words)
    return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)

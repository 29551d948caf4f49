"""Arguments of the operator's operations, checked as they are taken."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from risala.engine.model.errors import Invalid
from risala.engine.model.money import minor_units
from risala.engine.services import Services

Json = dict[str, Any]
Operation = Callable[[Services, "Arguments"], Awaitable[Json]]

AMOUNT_MAX: Final = 10**14
"""A trillion ouguiyas: what is more is a slip of the hand, and SQLite's integers stay exact."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of one operation, checked as they are taken."""

    values: Json

    def text(self, name: str) -> str:
        value = self.values.get(name)
        if not isinstance(value, str) or not value:
            raise Invalid(name, "missing", f"`{name}` is required.")
        if not is_text(value):
            text = f"NUL and lone surrogates are not allowed in `{name}`."
            raise Invalid(name, "invalid_characters", text)
        return value

    def texts(self, name: str) -> list[str]:
        """A list of texts; empty where it is not given."""
        value = self.values.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise Invalid(name, "invalid_list", f"`{name}` must be a list of texts.")
        return [Arguments({name: each}).text(name) for each in value]

    def text_or_none(self, name: str) -> str | None:
        return None if self.values.get(name) is None else self.text(name)

    def flag_or_none(self, name: str) -> bool | None:
        value = self.values.get(name)
        if value is not None and not isinstance(value, bool):
            raise Invalid(name, "invalid_flag", f"`{name}` must be true or false.")
        return value

    def rate_or_none(self, name: str) -> float | None:
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1e5:
            raise Invalid(name, "invalid_rate", f"`{name}` must be a number above 0.")
        return float(value)

    def whole_or_none(self, name: str) -> int | None:
        value = self.values.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise Invalid(name, "invalid_number", f"`{name}` must be a whole number.")
        return value

    def moment_or_none(self, name: str) -> int | None:
        """UTC epoch milliseconds of an ISO 8601 time with its offset."""
        text = self.text_or_none(name)
        if text is None:
            return None
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is None:
            example = "2026-11-21T08:30:00Z"
            raise Invalid(name, "invalid_time", f"`{name}` must be a time like {example}.")
        return round(moment.timestamp() * 1000)

    def amount_or_none(self, name: str) -> int | None:
        text = self.text_or_none(name)
        if text is None:
            return None
        try:
            amount = minor_units(text)
        except ValueError as error:
            raise Invalid(name, "invalid_amount", f"`{name}`: {error}.") from error
        if amount > AMOUNT_MAX:
            raise Invalid(name, "invalid_amount", f"`{name}` is larger than anyone has.")
        return amount

    def signed_amount(self, name: str) -> int:
        """Minor units, not zero, of an amount with or without a sign."""
        text = self.text(name)
        sign = -1 if text.startswith("-") else 1
        amount = Arguments({name: text.removeprefix("-" if sign < 0 else "+")}).amount_or_none(name)
        if not amount:
            raise Invalid(name, "invalid_amount", f"`{name}` must not be 0.")
        return sign * amount


def is_text(value: str) -> bool:
    """Whether carriers and databases can keep it: no NUL, no lone surrogate."""
    return "\0" not in value and not any("\ud800" <= each <= "\udfff" for each in value)

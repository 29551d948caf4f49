"""Rows by name: the fields of a value are the columns that it is read from, in their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Rows(Generic[T]):
    """Reads one kind of value; made once, beside the statements that name :attr:`columns`."""

    def __init__(
        self,
        shape: type[T],
        sources: dict[str, str] | None = None,
        **convert: Callable[[Any], object],
    ) -> None:
        """
        Args:
            shape: a dataclass.
            sources: the expressions of those fields that are not columns of the same name.
            convert: what makes a field of what SQLite gives, for those where it is another.
        """
        names = [field.name for field in fields(shape)]  # type: ignore[arg-type]
        known = sources or {}
        self._shape = shape
        self._convert = [(names.index(name), make) for name, make in convert.items()]
        self.columns = ", ".join(known.get(name, name) for name in names)

    def of(self, row: Sequence[Any]) -> T:
        """The value of a row that was selected by :attr:`columns`."""
        if not self._convert:
            return self._shape(*row)
        values = [*row]
        for place, make in self._convert:
            values[place] = make(values[place])
        return self._shape(*values)

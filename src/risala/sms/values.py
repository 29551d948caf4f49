"""Frozen values, made quickly for frequent use; and which counts are worth a line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, field, fields, make_dataclass
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")


def quickly(kind: Callable[P, T]) -> Callable[P, T]:
    """Makes the values of a frozen dataclass with slots in a third of the time.

    A frozen dataclass sets its own fields by a call for each of them. For the values that every
    message creates, that takes longer than using them. So each begins as a value of an unfrozen
    class with the same slots, and becomes one of ``kind`` once its fields are set.

    Args:
        kind: the class. It has no ``__post_init__``, and every field is an argument of its call.
    """
    frozen: Any = kind

    def freeze(self: object) -> None:
        self.__class__ = frozen

    shape: list[tuple[str, Any, Any]] = []
    for each in fields(frozen):
        if each.default_factory is not MISSING:
            same = field(default_factory=each.default_factory)
        else:
            same = field(default=each.default)  # MISSING in the original stays MISSING
        shape.append((each.name, each.type, same))
    namespace = {"__post_init__": freeze}
    loose = make_dataclass(frozen.__name__, shape, namespace=namespace, slots=True)
    return cast("Callable[P, T]", loose)


def is_round_count(count: int) -> bool:
    """True for 1, 10, 100 and so on: something that happens again and again is told at these."""
    while count >= 10 and count % 10 == 0:
        count //= 10
    return count == 1

"""``dataclass`` as the standard library has it, but cheaper to define when it is frozen.

The standard library writes and compiles six methods for each frozen dataclass (until Python 3.12).
The engine has more than six hundred: that was a third of the time of a start, and 6 MiB of memory.
Here all of them share five methods, and only ``__init__`` is compiled for each, as it is what a
busy service calls. It is compiled with the class, not with the first instance: that may be made
when memory has just run out.

It differs in three ways: ``InitVar`` and ``order`` are not known, and a class of this kind and one
of the standard library's frozen ones do not inherit from each other. Both are refused when the
class is defined.
"""

# ruff: noqa: ANN401 -- what is said here holds for classes of any shape
from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls: Any = None, /, *, frozen: bool = False, **options: Any) -> Any:
        """Make a dataclass of a class: see :func:`dataclasses.dataclass`."""
        if cls is None:
            return lambda later: dataclass(later, frozen=frozen, **options)
        if frozen and options.get("eq", True):
            return _frozen(cls, **options)
        return dataclasses.dataclass(cls, frozen=frozen, **options)


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _eq(self: Any, other: Any) -> bool:
    if other.__class__ is self.__class__:
        compared = self.__compared__
        return bool(compared(self) == compared(other))
    return cast("bool", NotImplemented)


def _hash(self: Any) -> int:
    return hash(self.__compared__(self))


def _refuse_to_set(self: Any, name: str, value: object) -> None:
    if "__dataclass_fields__" in type(self).__dict__ or name in self.__dataclass_fields__:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)  # a class below, which is no dataclass itself


def _refuse_to_delete(self: Any, name: str) -> None:
    if "__dataclass_fields__" in type(self).__dict__ or name in self.__dataclass_fields__:
        raise FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


_SHARED: Final[dict[str, Callable[..., Any]]] = {
    "__repr__": _repr,
    "__eq__": _eq,
    "__hash__": _hash,
    "__setattr__": _refuse_to_set,
    "__delattr__": _refuse_to_delete,
    "__getstate__": _get_state,
    "__setstate__": _set_state,
}
"""What each class has if it does not define it itself."""


def _frozen(cls: type, **options: Any) -> Any:
    if options.get("order"):
        raise TypeError(f"{cls.__name__}: order is not known here; define __lt__")
    own = vars(cls)
    for name, method in _SHARED.items():
        # A class that defines __eq__ gets None for its __hash__ from Python.
        if own.get(name) is None:
            setattr(cls, name, method)
    if cls.__doc__ is None:
        cls.__doc__ = cls.__name__  # or the signature would be made out for it
    is_init_ours = "__init__" not in own
    made: Any = dataclasses.dataclass(cls, **{**options, "init": False, "repr": False, "eq": False})
    if len(made.__dataclass_fields__) > len(fields(made)) and _has_init_var(made):
        raise TypeError(f"{cls.__name__}: InitVar is not known here; use the standard library's")
    compared = [each.name for each in fields(made) if each.compare]
    made.__compared__ = staticmethod(attrgetter(*compared) if compared else _nothing)
    if is_init_ours:
        made.__init__ = _init_of(made)
    return made


def _has_init_var(made: Any) -> bool:
    known = {each.name for each in fields(made)}
    others = (each for name, each in made.__dataclass_fields__.items() if name not in known)
    return any("InitVar" in str(each.type) for each in others)


def _nothing(_: object) -> None:
    """What a class without fields compares."""


_FACTORY: Final = object()
"""The default of an argument whose value a function makes."""
_NAMES: Final[dict[str, Any]] = {"_set": object.__setattr__, "_FACTORY": _FACTORY}
"""What each ``__init__`` names; one table for most of them."""


def _init_of(cls: type) -> Callable[..., None]:
    """``__init__`` with an argument for each field, which sets it."""
    known: dict[str, Any] = {}  # what the head names
    inner: dict[str, Any] = {}  # what the body names
    placed: list[str] = []
    named: list[str] = []
    body: list[str] = []
    for each in fields(cls):
        value = each.name
        if each.default_factory is not MISSING:
            inner[f"_make_{each.name}"] = each.default_factory
            made = f"_make_{each.name}()"
            value = f"{made} if {each.name} is _FACTORY else {each.name}" if each.init else made
        elif not each.init and each.default is MISSING:
            continue  # __post_init__ sets it
        elif not each.init:
            value = f"_default_{each.name}"
        body.append(f' _set(self, "{each.name}", {value})')
        if each.init:
            (named if each.kw_only else placed).append(_argument(each, known))
        elif each.default is not MISSING:
            inner[f"_default_{each.name}"] = each.default
    if hasattr(cls, "__post_init__"):
        body.append(" self.__post_init__()")
    arguments = ", ".join(["self", *placed, *(["*", *named] if named else [])])
    source = f"def __init__({arguments}):\n" + "\n".join(body or [" pass"])
    known["_FACTORY"] = _FACTORY
    names = {**_NAMES, **inner} if inner else _NAMES
    exec(source, names, known)  # noqa: S102 -- as dataclasses does: names of fields, no more
    init: Callable[..., None] = known["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def _argument(each: Field[Any], known: dict[str, Any]) -> str:
    if each.default_factory is not MISSING:
        return f"{each.name}=_FACTORY"
    if each.default is MISSING:
        return each.name
    known[f"_default_{each.name}"] = each.default
    return f"{each.name}=_default_{each.name}"

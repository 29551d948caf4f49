# What the mutated files import, in types that mypy can look at without mutmut's own environment.
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])
MutantDict: TypeAlias = dict[str, Callable[..., Any]]

def wrap_in_trampoline(
    mutants_dict: MutantDict, is_classmethod: bool = False
) -> Callable[[_F], _F]: ...

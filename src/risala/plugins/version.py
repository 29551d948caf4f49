"""The version of the contract with plugins: for which one a plugin is made, and what has aged.

A module says it by ``risala_contract = "1.1"``. The second number grows when something is added,
the first when something goes that a plugin may rely on. What is to go is a row of
:data:`DEPRECATIONS` for as long as the first number stays: it works, and whoever uses it is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

ATTRIBUTE: Final = "risala_contract"


class ContractVersion(NamedTuple):
    """Two numbers, compared in their order."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


FIRST: Final = ContractVersion(1, 0)
"""Drivers, mailers and payment methods. What a plugin that says nothing is taken to be made for:
there was no way to say it then."""
CONTRACT: Final = ContractVersion(1, 1)
"""With event sinks, message policies, commands, pages of the console and faces; and a plugin says
what it is made for."""


@dataclass(frozen=True, slots=True)
class Deprecation:
    """Something that works until the contract's next first number."""

    since: ContractVersion
    what: str
    """What is meant, as a sentence about a plugin: ``it does not say …``."""
    instead: str
    """What to do, as a sentence."""
    applies: Callable[[object], bool]
    """Whether a plugin, as its module or object is, uses it."""


def _says_nothing(plugin: object) -> bool:
    return getattr(plugin, ATTRIBUTE, None) is None


DEPRECATIONS: Final[tuple[Deprecation, ...]] = (
    Deprecation(
        ContractVersion(1, 1),
        "it does not say for which contract it is made",
        f'Write `{ATTRIBUTE} = "{CONTRACT}"` into its module.',
        _says_nothing,
    ),
)
"""All of them, the oldest first. ``docs/reference/plugin-hooks.md`` has the same table."""

_VERSION: Final = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})")


@dataclass(frozen=True, slots=True)
class Made:
    """For which contract a plugin is made."""

    contract: str | None = None
    """As it says; None: it does not."""
    fault: str = ""
    """Why it cannot be used; empty: it can."""
    warnings: tuple[str, ...] = ()


def made_for(plugin: object, contract: ContractVersion = CONTRACT) -> Made:
    """What a plugin says of itself, compared with the contract that is in force."""
    said: object = getattr(plugin, ATTRIBUTE, None)
    version = FIRST
    if said is not None:
        found = _VERSION.fullmatch(said) if isinstance(said, str) else None
        if found is None:
            text = f'its {ATTRIBUTE} is no version: write two numbers in quotes, "{contract}"'
            return Made(None, text)
        version = ContractVersion(int(found[1]), int(found[2]))
    told = None if said is None else str(version)
    if version.major != contract.major:
        text = f"it is made for the contract {version}, and this Risala has {contract}"
        return Made(told, text)
    if version > contract:
        text = f"it is made for the contract {version}, and this Risala has {contract}: upgrade it"
        return Made(told, text)
    return Made(told, "", tuple(_warnings(plugin, version, contract, said is not None)))


def _warnings(
    plugin: object, version: ContractVersion, contract: ContractVersion, says_it: bool
) -> list[str]:
    found = []
    if says_it and version < contract:
        found.append(f"it is made for the contract {version}; this one is {contract}")
    found += [
        f"{each.what}, which the contract {each.since.major + 1}.0 asks for. {each.instead}"
        for each in DEPRECATIONS
        if each.applies(plugin)
    ]
    return found

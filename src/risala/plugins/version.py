"""The version of the contract with plugins: each plugin's version, and deprecations.

A module says it by ``risala_contract = "1.1"``. The second number grows when something is added,
the first when something that a plugin may use is removed. A part to be removed is a row of
:data:`DEPRECATIONS` as long as the first number stays: it works, and plugins that use it are named.
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
"""Drivers, mailers and payment methods. A plugin that says nothing counts as made for this version,
in which it could not say it."""
CONTRACT: Final = ContractVersion(1, 1)
"""With event sinks, message policies, commands, pages of the console and faces; and a plugin says
what it is made for."""


@dataclass(frozen=True, slots=True)
class Deprecation:
    """Something that works until the contract's next first number."""

    since: ContractVersion
    what: str
    """A sentence about a plugin that uses it: ``it does not say …``."""
    instead: str
    """What to do, as a sentence."""
    applies: Callable[[object], bool]
    """Whether a plugin's module or object uses it."""


def _says_nothing(plugin: object) -> bool:
    return getattr(plugin, ATTRIBUTE, None) is None


def _has_old_hook(plugin: object) -> bool:
    return hasattr(plugin, "risala_register_faces")


DEPRECATIONS: Final[tuple[Deprecation, ...]] = (
    Deprecation(
        ContractVersion(1, 1),
        "it does not say for which contract it is made",
        f'Write `{ATTRIBUTE} = "{CONTRACT}"` into its module.',
        _says_nothing,
    ),
    Deprecation(
        ContractVersion(1, 1),
        "it has `risala_register_faces` in place of `risala_register_compat`",
        "Call it by its new name.",
        _has_old_hook,
    ),
)
"""All deprecated parts, the oldest first. ``docs/reference/plugin-hooks.md`` has the same table."""

_VERSION: Final = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})")


@dataclass(frozen=True, slots=True)
class Made:
    """The contract that a plugin is made for."""

    contract: str | None = None
    """As it says; None: it does not."""
    fault: str = ""
    """Why it cannot be used; empty: it can."""
    warnings: tuple[str, ...] = ()


def made_for(plugin: object, contract: ContractVersion = CONTRACT) -> Made:
    """The contract that a plugin names, compared with the present one."""
    written: object = getattr(plugin, ATTRIBUTE, None)
    version = FIRST
    if written is not None:
        match = _VERSION.fullmatch(written) if isinstance(written, str) else None
        if match is None:
            text = f'its {ATTRIBUTE} is no version: write two numbers in quotes, "{contract}"'
            return Made(None, text)
        version = ContractVersion(int(match[1]), int(match[2]))
    contract_text = None if written is None else str(version)
    if version.major != contract.major:
        text = f"it is made for the contract {version}, and this Risala has {contract}"
        return Made(contract_text, text)
    if version > contract:
        text = f"it is made for the contract {version}, and this Risala has {contract}: upgrade it"
        return Made(contract_text, text)
    return Made(contract_text, "", tuple(_warnings(plugin, version, contract, written is not None)))


def _warnings(
    plugin: object, version: ContractVersion, contract: ContractVersion, says_it: bool
) -> list[str]:
    warnings = []
    if says_it and version < contract:
        warnings.append(f"it is made for the contract {version}; this one is {contract}")
    warnings += [
        f"{each.what}, which the contract {each.since.major + 1}.0 asks for. {each.instead}"
        for each in DEPRECATIONS
        if each.applies(plugin)
    ]
    return warnings

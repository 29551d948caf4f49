"""The differences between two sets of carriers' settings, and their effect on carriers. Pure.

Values of secrets are never shown: only that they differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from risala.config.model import CarrierSection
from risala.config.secrets import is_secret_key, redact
from risala.engine.model.records.carriers.rereading import CarrierChange, Effect, FieldChange

_NOTHING: Final = object()
"""Marks a setting that is missing; one that is None is present."""


IsSecret = Callable[[str, str], bool]
"""Whether a key of a driver's own table holds a secret: driver, key."""


def declared_nowhere(driver: str, key: str) -> bool:
    """For settings whose secrets are known only by the names of their keys."""
    return False


def differences(
    before: Sequence[CarrierSection],
    after: Sequence[CarrierSection],
    is_secret: IsSecret = declared_nowhere,
) -> tuple[CarrierChange, ...]:
    """The changed and removed carriers, in the former order, then the added ones."""
    was, will = {each.name: each for each in before}, {each.name: each for each in after}
    changes: list[CarrierChange] = []
    for name in [*was, *(name for name in will if name not in was)]:
        old, new = was.get(name), will.get(name)
        effect = effect_of(old, new)
        if effect is None:
            continue
        if old is None or new is None:
            changes.append(CarrierChange(name, "added" if old is None else "removed", effect, ()))
        else:
            changes.append(
                CarrierChange(name, "changed", effect, field_changes(old, new, is_secret))
            )
    return tuple(changes)


def effect_of(before: CarrierSection | None, after: CarrierSection | None) -> Effect | None:
    """The effect on a carrier; None: none, its settings are unchanged."""
    was = before is not None and before.enabled
    will = after is not None and after.enabled
    if before == after:
        return None
    if was and not will:
        return Effect.LEAVES
    if will and not was:
        return Effect.STARTS
    if before is None or after is None or not will:
        return Effect.NONE
    is_other_driver = before.driver != after.driver or before.settings != after.settings
    return Effect.RESTARTS if is_other_driver else Effect.AT_ONCE


def field_changes(
    before: CarrierSection, after: CarrierSection, is_secret: IsSecret
) -> tuple[FieldChange, ...]:
    """The settings that differ."""
    was, will = _leaves(before), _leaves(after)

    def hidden(name: str) -> bool:
        driver, dot, key = name.partition(".")
        return is_secret_key(name) or bool(dot and is_secret(driver, key))

    return tuple(
        _change(name, was.get(name), will.get(name), hidden(name))
        for name in [*was, *(name for name in will if name not in was)]
        if was.get(name, _NOTHING) != will.get(name, _NOTHING)
    )


def _change(name: str, before: object, after: object, is_hidden: bool) -> FieldChange:
    if is_hidden:
        return FieldChange(name, None, None, True)
    return FieldChange(name, redact(before), redact(after), False)


def _leaves(section: CarrierSection) -> Mapping[str, object]:
    return dict(_walk("", section.model_dump(mode="json")))


def _walk(prefix: str, tree: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from _walk(f"{prefix}{name}.", value)
        else:
            yield f"{prefix}{name}", value

"""Which settings differ, and which of them a running service applies at once. Pure.

Those are ``log.level``, everything under ``pricing``, prices abroad and of channels,
``limits.sms_per_s``, which numbers get codes and how soon, who may send by mail, when there is an
alert and who gets it by mail, and the carriers.
All others are built into something that runs; a change of them waits for a restart.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic import SecretBytes, SecretStr

from risala.config.model import AlertsSection, CarrierSection, Settings
from risala.config.secrets import is_secret_key, redact
from risala.dataclass import dataclass
from risala.engine.model.records.carriers.rereading import (
    CarrierChange,
    Effect,
    FieldChange,
    SettingChange,
)

_LIMITS: Final = (
    *("sms_per_s", "verify_networks", "verify_prefixes"),
    *("verify_cooldown_s", "verify_cooldown_max_s"),
)
_CALLED: Final = ("webhook_url", "webhook_secret_env")
"""Settings of alerts that are read only at the start: the addresses to call, and their secret."""
AT_ONCE: Final = (
    *("log.level", "pricing.per_segment", "pricing.low_balance"),
    *(f"limits.{name}" for name in _LIMITS),
    *(f"alerts.{name}" for name in AlertsSection.model_fields if name not in _CALLED),
)
_CHANNEL_PRICE: Final = re.compile(r"channels\.[^.]+\.price")
_LISTED: Final = ("prices.", "mail_to_sms.")
"""The beginnings of keys of tables of which there may be many: prices abroad, by their prefixes,
and who may send by mail."""


@dataclass(frozen=True, slots=True)
class SettingsChanges:
    """All differences, except the carriers'."""

    at_once: tuple[SettingChange, ...]
    waiting: tuple[str, ...]
    """Keys of those that wait for a restart. Their values are not shown: one may be a secret."""


def settings_changes(before: Settings, after: Settings) -> SettingsChanges:
    """The differences, except the carriers'."""
    was, will = flat(before), flat(after)
    changed = sorted(key for key in was.keys() | will.keys() if was.get(key) != will.get(key))
    at_once = [
        key
        for key in changed
        if key in AT_ONCE
        or key.startswith(_LISTED)
        # The price of a channel that is there before and after; a new one waits as a whole.
        or (_CHANNEL_PRICE.fullmatch(key) and key in was and key in will)
    ]
    return SettingsChanges(
        tuple(SettingChange(key, was.get(key), will.get(key)) for key in at_once),
        tuple(key for key in changed if key not in at_once),
    )


def merged(before: Settings, after: Settings) -> Settings:
    """``before`` with what is applied at once taken from ``after``: the settings from now on."""
    return before.model_copy(
        update={
            "log": before.log.model_copy(update={"level": after.log.level}),
            "pricing": after.pricing,
            "prices": after.prices,
            "channels": before.channels.priced_as(after.channels),
            "mail_to_sms": after.mail_to_sms,
            "limits": before.limits.model_copy(
                update={name: getattr(after.limits, name) for name in _LIMITS}
            ),
            "alerts": after.alerts.model_copy(
                update={name: getattr(before.alerts, name) for name in _CALLED}
            ),
            "carriers": after.carriers,
        }
    )


def flat(settings: Settings) -> dict[str, Any]:
    """Every setting by its key, except the carriers'."""
    tree = settings.model_dump()
    del tree["carriers"]
    tree["prices"] = {each.prefix: each.price for each in settings.prices}
    tree["mail_to_sms"] = {
        str(number): each.model_dump() for number, each in enumerate(settings.mail_to_sms)
    }
    return dict(_leaves("", tree))


def _leaves(prefix: str, tree: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _leaves(f"{prefix}{name}.", value)
        else:
            yield f"{prefix}{name}", value


def fingerprint(settings: Settings, key: bytes) -> str:
    """A text that differs for different settings. Keyed, because it is shown, and a short secret in
    the settings could be guessed from it."""
    text = json.dumps(_plain(settings.model_dump()), sort_keys=True)
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()[:32]


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, SecretStr | SecretBytes):
        return str(value.get_secret_value())
    return value if isinstance(value, int | float | bool | None) else str(value)


# The differences between two sets of carriers' settings, and their effect on carriers. Pure.
#
# Values of secrets are never shown: only that they differ.

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
    was, will = (dict(_leaves("", each.model_dump(mode="json"))) for each in (before, after))

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

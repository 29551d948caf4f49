"""Which settings differ, and which of them a running service applies at once. Pure.

Those are ``log.level``, everything under ``pricing``, prices abroad, ``limits.sms_per_s``, which
numbers get codes and how soon, who may send by mail, when there is an alert and who gets it by
mail, and the carriers.
All others are built into something that runs; a change of them waits for a restart.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import SecretBytes, SecretStr

from risala.config.model import AlertsSection, Settings
from risala.dataclass import dataclass
from risala.engine.model.records.carriers.rereading import SettingChange

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
    at_once = [key for key in changed if key in AT_ONCE or key.startswith(_LISTED)]
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

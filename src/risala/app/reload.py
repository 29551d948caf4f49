"""Reads the settings anew while the service runs, and applies those that can change at once.

These are ``log.level``, everything under ``pricing``, ``limits.sms_per_s``, and each carrier's
``rate_per_s``. The certificate of https is read again from its files. All other settings are built
into something that runs; a change of them is logged, and waits for a restart. A file with a fault
changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import structlog

from risala.config.faults import ConfigError
from risala.config.model import Settings

log = structlog.get_logger(__name__)

_AT_ONCE: Final = ("log.level", "pricing.per_segment", "pricing.low_balance", "limits.sms_per_s")
_RATE: Final = "rate_per_s"


class Reloader:
    """Knows the settings that are in force, and applies changed ones."""

    def __init__(
        self,
        settings: Settings,
        load: Callable[[], Settings],
        apply: Callable[[Settings], None],
    ) -> None:
        self._in_force = settings
        self._load = load
        self._apply = apply

    def reload(self) -> None:
        """Read the settings, apply what changed, and log what was applied and what waits."""
        try:
            new = self._load()
        except ConfigError as error:
            faults = [str(fault) for fault in error.faults]
            log.error("settings.refused", faults=faults, text="Nothing was changed.")
            return
        before, after = flat(self._in_force), flat(new)
        changed = sorted(
            key for key in before.keys() | after.keys() if before.get(key) != after.get(key)
        )
        at_once = [key for key in changed if _changes_at_once(key, before, after)]
        self._in_force = merged(self._in_force, new)
        self._apply(self._in_force)
        for key in at_once:
            log.warning("settings.changed", key=key, before=before[key], now=after[key])
        # Only the settings' names are logged: a value may be a secret.
        waiting = [key for key in changed if key not in at_once]
        if waiting:
            log.warning("settings.need_restart", keys=waiting)
        if not changed:
            log.warning("settings.unchanged")


def _changes_at_once(key: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    if key in _AT_ONCE:
        return True
    # A rate of a carrier that is new or gone is not just a rate that changed.
    is_rate = key.startswith("carriers[") and key.endswith(f"].{_RATE}")
    return is_rate and key in before and key in after


def merged(old: Settings, new: Settings) -> Settings:
    """``old`` with what may change at once taken from ``new``: what is in force from now on."""
    rates = {carrier.name: carrier.rate_per_s for carrier in new.carriers}
    return old.model_copy(
        update={
            "log": old.log.model_copy(update={"level": new.log.level}),
            "pricing": new.pricing,
            "limits": old.limits.model_copy(update={"sms_per_s": new.limits.sms_per_s}),
            "carriers": tuple(
                carrier.model_copy(
                    update={_RATE: rates.get(carrier.name, carrier.rate_per_s)},
                )
                for carrier in old.carriers
            ),
        }
    )


def flat(settings: Settings) -> dict[str, Any]:
    """Every setting by its key; carriers by their name, their own table as one value."""
    tree = settings.model_dump()
    carriers = tree.pop("carriers")
    found = dict(_leaves("", tree))
    for carrier in carriers:
        found |= {f"carriers[{carrier['name']}].{key}": value for key, value in carrier.items()}
    return found


def _leaves(prefix: str, tree: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _leaves(f"{prefix}{name}.", value)
        else:
            yield f"{prefix}{name}", value

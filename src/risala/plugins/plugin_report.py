"""Which plugins there are, as JSON: for ``risala plugins``, whether the service runs or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from risala.plugins.kinds import KINDS
from risala.plugins.manager import PluginFault, PluginInfo
from risala.plugins.version import CONTRACT


@dataclass(frozen=True, slots=True)
class PluginHealth:
    """How something that a plugin brought does in the running service."""

    kind: str
    """The key of its kind: ``event_sinks``."""
    word: str
    """The plugin's name for it: ``jsonl``."""
    name: str
    """What it is called here: ``archive``."""
    state: str
    text: str
    """What is wrong, or was the last time; empty: nothing."""


def wire(
    plugins: Sequence[PluginInfo],
    faults: Sequence[PluginFault],
    health: Sequence[PluginHealth] | None,
) -> dict[str, Any]:
    """All of it as JSON.

    Args:
        health: None where no service runs.
    """
    return {
        "contract": str(CONTRACT),
        "running": health is not None,
        "plugins": [_one(each, health) for each in plugins],
        **{
            kind.key: [
                {"name": name, "summary": summary}
                for each in plugins
                for name, summary in each.brings.get(kind.key, {}).items()
            ]
            for kind in KINDS
        },
        "faults": [{"name": each.name, "reason": each.reason} for each in faults],
    }


def _one(found: PluginInfo, health: Sequence[PluginHealth] | None) -> dict[str, Any]:
    return {
        "name": found.name,
        "source": found.source,
        "version": found.version,
        "contract": found.contract,
        "state": found.state,
        **{kind.key: list(found.brings.get(kind.key, {})) for kind in KINDS},
        "disabled": found.disabled,
        "fault": found.fault,
        "warnings": list(found.warnings),
        "health": None if health is None else _health_of(found.brings, health),
    }


def _health_of(
    brings: Mapping[str, Mapping[str, str]], health: Sequence[PluginHealth]
) -> list[dict[str, str]]:
    return [
        {"kind": each.kind, "word": each.word, "name": each.name}
        | {"state": each.state, "text": each.text}
        for each in health
        if each.word in brings.get(each.kind, {})
    ]

"""Which plugins there are: for ``risala plugins``, whether the service runs or not."""

from __future__ import annotations

from collections.abc import Sequence

from risala.engine.model.records.upkeep.plugins import (
    Contribution,
    PluginHealth,
    PluginsReport,
    PluginView,
    UnusablePlugin,
)
from risala.plugins.kinds import KINDS
from risala.plugins.manager import PluginFault, PluginInfo
from risala.plugins.version import CONTRACT


def plugins_report(
    plugins: Sequence[PluginInfo],
    faults: Sequence[PluginFault],
    health: Sequence[PluginHealth] | None,
) -> PluginsReport:
    """All of it.

    Args:
        health: None where no service runs.
    """
    return PluginsReport(
        contract=str(CONTRACT),
        running=health is not None,
        plugins=tuple(_one(each, health) for each in plugins),
        faults=tuple(UnusablePlugin(each.name, each.reason) for each in faults),
        **{
            kind.key: tuple(
                Contribution(name, summary)
                for each in plugins
                for name, summary in each.brings.get(kind.key, {}).items()
            )
            for kind in KINDS
        },
    )


def _one(plugin: PluginInfo, health: Sequence[PluginHealth] | None) -> PluginView:
    own = (each for each in health or () if each.word in plugin.brings.get(each.kind, {}))
    return PluginView(
        name=plugin.name,
        source=plugin.source,
        version=plugin.version,
        contract=plugin.contract,
        state=plugin.state,
        disabled=plugin.disabled,
        fault=plugin.fault,
        warnings=plugin.warnings,
        health=None if health is None else tuple(own),
        **{kind.key: tuple(plugin.brings.get(kind.key, {})) for kind in KINDS},
    )

"""Every hook that a plugin may implement, with its exact signature."""

from __future__ import annotations

from collections.abc import Callable

import pluggy

from risala.plugins.contract import DriverFactory

hookspec = pluggy.HookspecMarker("risala")
hookimpl = pluggy.HookimplMarker("risala")


@hookspec
def risala_register_drivers(register: Callable[[DriverFactory], None]) -> None:
    """Register the drivers of this plugin: call ``register`` once for each.

    Called once at start-up, before anything is connected. Do no work here: a driver is built only
    when the configuration names it.
    """

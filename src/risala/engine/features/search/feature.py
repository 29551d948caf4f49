"""The search over everything: what each noun and feature declares as findable."""

from __future__ import annotations

from typing import Final

from risala.engine.model.features import Feature, elsewhere, later

FEATURE: Final = Feature(
    name="search",
    operations=(later("features.search.operations:OPERATIONS"),),
    views=("search.find",),
    dashboard=(elsewhere("http.dashboard.search:ROUTES"),),
    console=(elsewhere("http.operator.search:ROUTES"),),
    commands={"search": elsewhere("cli.commands.messaging.search:search")},
)

"""Figures of an organization and of the whole service, and the first pages that show them."""

from __future__ import annotations

from typing import Final

from risala.engine.model.features import Feature, elsewhere, later

FEATURE: Final = Feature(
    name="overview",
    operations=(later("features.overview.operations:OPERATIONS"),),
    dashboard=(
        elsewhere("http.dashboard.overview:ROUTES"),
        elsewhere("http.dashboard.start.page:ROUTES"),
    ),
    console=(elsewhere("http.operator.overview:ROUTES"),),
    shown={
        "system": elsewhere("http.operator.overview:of_system"),
        "carriers": elsewhere("http.operator.latest:of_carriers"),
        "carrier": elsewhere("http.operator.latest:of_carrier"),
    },
)

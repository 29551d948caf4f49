"""Asked and entered: what became of codes, counted by day, network, country, carrier, channel, key
and language."""

from __future__ import annotations

from typing import Final

from risala.engine.model.features import Feature, elsewhere, later

_COUNTS: Final = "features.code_figures.stored.counts:"
FEATURE: Final = Feature(
    name="code_figures",
    needs=("alerts",),
    access=later("features.code_figures.counting:lately"),
    operations=(later("features.code_figures.operations:OPERATIONS"),),
    views=("codes.figures",),
    tables=("code_counts", "code_times", "code_totals"),
    cleared=later(_COUNTS + "clear"),
    metrics=later("features.code_figures.counting:of_codes"),
    measured=later("features.code_figures.entering:measured"),
    tasks=later("features.code_figures.counting:tasks"),
    shown={"carrier": elsewhere("http.operator.codes:of_carrier")},
    dashboard=(elsewhere("http.dashboard.verify.figures:ROUTES"),),
    console=(elsewhere("http.operator.codes:ROUTES"),),
    commands={"verify figures": elsewhere("cli.commands.messaging.code_figures:figures")},
)

"""Statements of a month: what each day cost, by what it was sent, and what was paid."""

from __future__ import annotations

from typing import Final

from risala.engine.model.features import Feature, elsewhere, later

FEATURE: Final = Feature(
    name="statements",
    operations=(later("features.statements.operations:OPERATIONS"),),
    views=("statement.get",),
    dashboard=(
        elsewhere("http.dashboard.billing.months:ROUTES"),
        elsewhere("http.dashboard.billing.receipts:ROUTES"),
    ),
    console=(elsewhere("http.operator.organizations.months:ROUTES"),),
    commands={"statement": elsewhere("cli.commands.accounts.statements:statement")},
    shown={
        "billing": elsewhere("http.dashboard.billing.months:shown"),
        "receipt": elsewhere("http.dashboard.billing.receipts:shown"),
        "organization_statement": elsewhere("http.operator.organizations.months:shown"),
    },
)

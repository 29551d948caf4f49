"""Mailings: one text to the people of a table."""

from __future__ import annotations

from typing import Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.feature_work import Duty, WalkKind
from risala.engine.model.features import Feature, elsewhere, later

_OPERATIONS: Final = "features.mailings.operations."
_STORED: Final = "features.mailings.stored."
FEATURE: Final = Feature(
    name="mailings",
    needs=("tables", "lists"),
    findable=later("features.mailings.operations.mailings:FOUND"),
    operations=(
        later(_OPERATIONS + "mailings:OPERATIONS"),
        later(_OPERATIONS + "rows:OPERATIONS"),
    ),
    views=("mailing.person", "mailing.report", "mailing.rows", "mailing.workbook"),
    images={AuditImage.MAILING: later(_STORED + "mailings:mailing")},
    exported={
        "mailings": later(_STORED + "exported:mailings_of"),
        "mailing-rows": later(_STORED + "exported:mailing_rows"),
    },
    counted=later(_STORED + "exported:count_rows"),
    tables=("mailings", "mailing_rows"),
    ends=later(_STORED + "forgetting:mark_mailings"),
    stores={"mailings": later(_STORED + "mailings:STORED")},
    holds_uploads=later(_STORED + "mailings:uploads"),
    walks={WalkKind.MAILINGS: later(_STORED + "forgetting:walk_old")},
    oldest={"mailings": later(_STORED + "forgetting:oldest")},
    shifts=later(_STORED + "mailings:SHIFTS"),
    cleared=later(_STORED + "forgetting:clear_mailings"),
    erased=later(_STORED + "forgetting:take_number_from_rows"),
    figures={"mailing_rows": later(_STORED + "forgetting:count_rows_with")},
    duties={Duty.RESTORED: later(_STORED + "restored:pause")},
    metrics=later("features.mailings.figures:of_mailings"),
    tasks=later("features.mailings.service:tasks"),
    rests_without=(),
    dashboard=(
        elsewhere("http.dashboard.mailings.listing:ROUTES"),
        elsewhere("http.dashboard.mailings.one:ROUTES"),
        elsewhere("http.dashboard.mailings.acts:ROUTES"),
        elsewhere("http.dashboard.mailings.rows:ROUTES"),
        elsewhere("http.dashboard.mailings.report:ROUTES"),
    ),
    commands={"mailing": elsewhere("cli.commands.messaging.mailing:mailing")},
    takes={
        "columns of a file": elsewhere("http.dashboard.mailings.acts:columns"),
        "many people": elsewhere("http.dashboard.mailings.acts:draft"),
    },
)

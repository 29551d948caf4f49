"""Mailings: one text to the people of a table."""

from __future__ import annotations

from typing import Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.features import Feature, later
from risala.engine.model.records.upkeep.retention import WalkKind

FEATURE: Final = Feature(
    name="mailings",
    needs=("lists",),
    operations=(
        later("operations.mailings.mailings:OPERATIONS"),
        later("operations.mailings.rows:OPERATIONS"),
    ),
    images={AuditImage.MAILING: later("journal.mailings.mailings:mailing")},
    exported={
        "mailings": later("journal.upkeep.exported_mailings:mailings_of"),
        "mailing-rows": later("journal.upkeep.exported_mailings:mailing_rows"),
    },
    ends=later("journal.mailings.forgetting:mark_mailings"),
    metrics=later("upkeep.house_metrics:of_mailings"),
    tasks=later("features.mailings.tasks:tasks"),
    tables=("mailings", "mailing_rows"),
    counted=later("journal.upkeep.exported_mailings:count_rows"),
    walks={WalkKind.MAILINGS: later("journal.mailings.forgetting:walk_old")},
    oldest={"mailings": later("journal.mailings.forgetting:oldest")},
    cleared=later("journal.mailings.forgetting:clear_mailings"),
    erased=later("journal.mailings.forgetting:take_number_from_rows"),
)

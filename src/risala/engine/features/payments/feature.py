"""Payments by customers, and what banks write about them."""

from __future__ import annotations

from typing import Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.features import Feature, later
from risala.engine.model.records.upkeep.retention import WalkKind

FEATURE: Final = Feature(
    name="payments",
    operations=(
        later("operations.paying.payments:OPERATIONS"),
        later("operations.console.payments:OPERATIONS"),
        later("operations.paying.payers:OPERATIONS"),
        later("operations.paying.texts:OPERATIONS"),
    ),
    images={
        AuditImage.BANK_BALANCE: later("journal.payments.texts:balance"),
        AuditImage.BANK_TEXT: later("journal.payments.texts:text"),
        AuditImage.PAYMENT: later("journal.payments.payments:payment"),
    },
    exported={"payments": later("journal.payments.payments:exported")},
    metrics=later("upkeep.house_metrics:of_payments"),
    tasks=later("features.payments.tasks:tasks"),
    tables=("payments", "credited", "bank_texts", "bank_balances"),
    walks={WalkKind.BANK_TEXTS: later("journal.payments.texts:forget_words")},
)

"""Recipient lists and saved texts."""

from __future__ import annotations

from typing import Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.features import Feature, later

FEATURE: Final = Feature(
    name="lists",
    operations=(
        later("operations.mailings.lists:OPERATIONS"),
        later("operations.mailings.texts:OPERATIONS"),
    ),
    images={
        AuditImage.RECIPIENT_LIST: later("journal.mailings.recipient_lists:recipient_list"),
        AuditImage.SAVED_TEXT: later("journal.mailings.saved_texts:saved_text"),
    },
    exported={
        "lists": later("journal.upkeep.exported_mailings:lists"),
        "list-people": later("journal.upkeep.exported_mailings:list_people"),
        "saved-texts": later("journal.upkeep.exported_mailings:saved_texts"),
    },
    ends=later("journal.mailings.forgetting:mark_lists"),
    deleted=("saved_texts",),
    tables=("recipient_lists", "list_people", "saved_texts"),
    counted=later("journal.upkeep.exported_mailings:count_people"),
    cleared=later("journal.mailings.forgetting:clear_lists"),
    erased=later("journal.mailings.forgetting:take_number_from_lists"),
)

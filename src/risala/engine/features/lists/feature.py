"""Recipient lists, and saved texts."""

from __future__ import annotations

from typing import Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.features import Feature, elsewhere, later

_LISTS: Final = "features.lists.stored:"
_TEXTS: Final = "features.lists.stored_texts:"
FEATURE: Final = Feature(
    name="lists",
    needs=("tables",),
    findable=later("features.lists.operations:FOUND"),
    operations=(later("features.lists.operations:OPERATIONS"),),
    views=("list.show",),
    images={
        AuditImage.RECIPIENT_LIST: later(_LISTS + "recipient_list"),
        AuditImage.SAVED_TEXT: later(_TEXTS + "saved_text"),
    },
    exported={
        "lists": later(_LISTS + "export_lists"),
        "list-people": later(_LISTS + "export_people"),
        "saved-texts": later(_TEXTS + "export_texts"),
        "list-opt-outs": later("features.lists.stored_opt_outs:export"),
    },
    counted=later(_LISTS + "count_people"),
    tables=("recipient_lists", "list_people", "list_opt_outs", "saved_texts"),
    deleted=("saved_texts",),
    stores={"lists": later(_LISTS + "STORED")},
    ends=later(_LISTS + "mark_lists"),
    cleared=later(_LISTS + "clear_lists"),
    erased=later(_LISTS + "take_number_from_lists"),
    figures={"lists": later(_LISTS + "count_lists_with")},
    dashboard=(
        elsewhere("http.dashboard.lists.listing:ROUTES"),
        elsewhere("http.dashboard.lists.one:ROUTES"),
        elsewhere("http.dashboard.lists.texts:ROUTES"),
    ),
    commands={
        "list": elsewhere("cli.commands.messaging.recipient_lists:recipient_list"),
        "text": elsewhere("cli.commands.messaging.saved_texts:saved_text"),
    },
)

"""Opt-outs that speak: words by language, one confirmation, HELP, who comes back, and lists."""

from __future__ import annotations

from typing import Final

from risala.engine.model.feature_work import Duty
from risala.engine.model.features import Feature, elsewhere, later

_HERE: Final = "features.opt_out_words."
_STORED: Final = _HERE + "stored.settings:"
_COMMANDS: Final = "cli.commands.messaging.opt_out_words:"
FEATURE: Final = Feature(
    name="opt_out_words",
    findable=later(_HERE + "operations:FOUND"),
    needs=("lists", "tables", "answers"),
    operations=(later(_HERE + "operations:OPERATIONS"),),
    views=("opt_outs.demands",),
    exported_settings={"optOutWords": later(_STORED + "export")},
    duties={Duty.OPT_OUTS: later(_HERE + "stored.heeding:WORK")},
    deleted=("opt_out_words",),
    tables=("opt_out_words", "opt_out_demands"),
    dashboard=(elsewhere("http.dashboard.opt_out_words:ROUTES"),),
    api_paths=(
        *("/api/opt-outs/get", "/api/opt-outs/update", "/api/opt-outs/answer"),
        *("/api/opt-outs/words/add", "/api/opt-outs/words/remove"),
        *("/api/opt-outs/lists/add", "/api/opt-outs/lists/remove"),
    ),
    api_handlers=elsewhere("http.api.management.opt_outs:handlers"),
    api_reference=elsewhere("http.api.openapi.opt_outs:REFERENCE"),
    console=(elsewhere("http.operator.opt_out_demands:ROUTES"),),
    commands={
        "inbound words": elsewhere(_COMMANDS + "words"),
        "inbound add-word": elsewhere(_COMMANDS + "add_word"),
        "inbound remove-word": elsewhere(_COMMANDS + "remove_word"),
        "inbound answer": elsewhere(_COMMANDS + "answer"),
        "inbound demands": elsewhere(_COMMANDS + "demands"),
        "inbound demand": elsewhere(_COMMANDS + "demand"),
        "list opt-out": elsewhere(_COMMANDS + "list_opt_out"),
        "list opt-in": elsewhere(_COMMANDS + "list_opt_in"),
    },
)

"""Notes: a sentence that an organization keeps about itself, for its members."""

from __future__ import annotations

from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.features import Feature, elsewhere, later
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, N_, UNAUDITED, Label, Maximum, Moment

NOTE_MAX: Final = 500
"""Characters of a note: what fits on a page without scrolling."""


@dataclass(frozen=True, slots=True)
class Note:
    organization_id: Annotated[str, UNAUDITED]
    text: Annotated[str, AUDITED, Label(N_("Note")), Maximum(NOTE_MAX)] = ""
    changed_at: Annotated[Moment | None, UNAUDITED] = None
    """None: nobody has written one."""


NOTE: Final = Ask("organization.note", Note)
FEATURE: Final = Feature(
    name="notes",
    operations=(later("features.notes.operations:OPERATIONS"),),
    exported_settings={"note": later("features.notes.stored:note_of")},
    tables=("organization_notes",),
    deleted=("organization_notes",),
    dashboard=(elsewhere("http.dashboard.notes:ROUTES"),),
    commands={"org note": elsewhere("cli.commands.accounts.note:org_note")},
)

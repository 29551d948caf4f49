"""What people do with notes."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import PlainValidator

from risala.engine.features.notes.feature import NOTE, NOTE_MAX, Note
from risala.engine.features.notes.stored import NoteRepository
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import ArgumentKind, OfOrganization, any_text, fault, maybe
from risala.engine.kernel.operation import Call, Operations
from risala.engine.rules.roles import DEVELOPERS, READERS, VIEWERS


def _note(value: object) -> str:
    note = any_text(value).strip()
    if len(note) > NOTE_MAX:
        raise fault("too_long", f"`{{name}}` can have at most {NOTE_MAX} characters.")
    return note


class WriteNote(OfOrganization):
    """Show an organization's note, after changing it if a text is given."""

    text: Annotated[
        str | None,
        PlainValidator(maybe(_note)),
        ArgumentKind(f"text, at most {NOTE_MAX} characters, also empty"),
    ] = None


OPERATIONS: Final = Operations()


@OPERATIONS(
    NOTE,
    roles=VIEWERS,
    operators=READERS,
    reserved={"text": DEVELOPERS},
    owner=owners.named,
    changes=Note,
)
async def _write(call: Call[WriteNote]) -> Note:
    organization_id, text = call.arguments.organization_id, call.arguments.text
    call.services.accounts.organization(organization_id)
    notes = call.stored(NoteRepository)
    if text is None:
        return notes.note_of(organization_id)
    by = call.audit(organization_id=organization_id, details={"note": text})
    return await notes.put(by, Note(organization_id, text, call.now_ms))

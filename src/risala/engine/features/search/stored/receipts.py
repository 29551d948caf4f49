"""Finds receipts of money that came in, by their reference or note.

An organization's are read by the index of what came by hand, which charges are not in; the
console's by the index of references, whole ones alone.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.store.searching import containing
from risala.engine.model.records.search import SearchHit, SearchWords
from risala.engine.model.states import Mode

KIND: Final = "receipt"
LOOKED_MAX: Final = 5000
"""Receipts of an organization that are looked at, the newest first: of many years."""
_OWN: Final = """
SELECT seq, reference, note, at, NULL, NULL FROM (
  SELECT seq, reference, note, at, kind FROM entry INDEXED BY entry_by_hand
  WHERE organization = (SELECT no FROM organizations WHERE id = ?) AND kind >= 2
  ORDER BY seq DESC LIMIT ?
) WHERE kind = 2 AND ({} OR reference LIKE ?) LIMIT ?
"""
_REFERENCE: Final = "CASE WHEN reference GLOB 'pay_*' THEN '' ELSE reference END"
"""What is no id of ours: of an id only the end is looked for."""
_EVERYWHERE: Final = """
SELECT seq, reference, NULL, at, o.id, o.name FROM entry INDEXED BY entry_credited_once
  JOIN organizations o ON o.no = entry.organization
WHERE kind = 2 AND reference = ? COLLATE NOCASE LIMIT ?
"""
"""Notes are the operators' own words, which the console's search does not read."""


def find_receipts(conn: sqlite3.Connection, words: SearchWords) -> list[SearchHit]:
    """The newest that fit; test keys find none, because tests cost nothing."""
    if words.of_mode and words.mode == Mode.TEST.value:
        return []
    most = words.most + 1
    if words.organization_id is None:
        rows = conn.execute(_EVERYWHERE, (words.text, most))
    else:
        hit, values = containing((_REFERENCE, "coalesce(note, '')"), words.text)
        end = f"%{words.id_end}" if words.id_end else ""
        own = (words.organization_id, LOOKED_MAX, *values, end, most)
        rows = conn.execute(_OWN.format(hit), own)
    return [
        SearchHit(
            kind=KIND,
            id=f"receipt {seq}",
            title=reference,
            at=at,
            page=f"billing/receipts/{seq}" if of is None else f"organizations/{of}/statement",
            note=note,
            organization=name,
        )
        for seq, reference, note, at, of, name in rows
    ]

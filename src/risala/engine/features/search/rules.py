"""Reads what somebody typed into a search. Pure."""

from __future__ import annotations

from risala.engine.model.finding import SearchWords
from risala.engine.model.ids import is_id, is_id_end
from risala.engine.model.records.asks import NumberPart
from risala.sms.numbering.plan import NumberingPlan


def read_words(
    plan: NumberingPlan, text: str, organization_id: str | None, mode: str, *, of_mode: bool
) -> SearchWords:
    """What a text may be: a part of a number, an id or the end of one, and always words.

    Args:
        text: with single spaces.
        organization_id: None: all organizations are searched.
    """
    digits, part = plan.digits_of(text), None
    if digits is not None and len(digits) >= plan.part_min:
        part = NumberPart(digits, plan.ranges_of(digits))
    is_end = is_id_end(text) or is_id(text, text.partition("_")[0])
    return SearchWords(text, organization_id, mode, of_mode, part, text if is_end else "")

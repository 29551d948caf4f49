"""Notices that receipts write message ids in another form than the answers. Pure.

An operator has no other sign why all messages stay ``sent``: a receipt with an unknown id may
simply belong to another customer of the carrier.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from risala.drivers.smpp.protocol.receipt import IdForm, other_forms

IDS_MAX: Final = 2000
"""Answers whose ids are remembered: receipts mostly come within seconds."""
RECEIPTS_MIN: Final = 5
"""Receipts in a row without any id known from an answer, before another form is suggested: one
short number may be another's hexadecimal by chance."""


class IdWatch:
    """Watches one carrier's ids, which the settings have read in the form ``form``."""

    def __init__(self, form: IdForm) -> None:
        self._form = form
        self._answered: OrderedDict[str, None] = OrderedDict()
        self._seen: IdForm | None = None
        self._in_a_row = 0

    def answered(self, carrier_id: str) -> None:
        """A submit was answered with this id."""
        self._answered[plain_id(carrier_id)] = None
        if len(self._answered) > IDS_MAX:
            self._answered.popitem(last=False)

    def better_form(self, receipt_id: str) -> IdForm | None:
        """Learn from a receipt's id. Returns the form in which receipts would match the answers,
        once that is certain enough; else None."""
        if self._knows(receipt_id, self._form):
            self._in_a_row = 0
            return None
        found = next((form for form in IdForm if self._knows(receipt_id, form)), None)
        if found is None:
            return None
        self._in_a_row = self._in_a_row + 1 if found is self._seen else 1
        self._seen = found
        return found if self._in_a_row >= RECEIPTS_MIN else None

    def _knows(self, receipt_id: str, form: IdForm) -> bool:
        if plain_id(receipt_id) in self._answered:
            return True
        return any(plain_id(one) in self._answered for one in other_forms(receipt_id, form))


def plain_id(carrier_id: str) -> str:
    """An id as the engine compares them: case and leading zeros do not matter."""
    return carrier_id.casefold().lstrip("0")

"""Conflicting edits: a form shows the values stored meanwhile before it is saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from markupsafe import Markup

from risala.dataclass import dataclass
from risala.engine.model.errors import EditConflict, EngineError
from risala.engine.model.money import minor_units
from risala.http.web.forms import SentForm

VERSION_FIELD: Final = "version"
"""The hidden field of a form that edits."""


@dataclass(frozen=True, slots=True)
class StandsNow:
    """A field whose stored value differs from the typed one."""

    label: Markup | str
    now: Markup | str
    """The stored value; empty: nothing."""


@dataclass(frozen=True, slots=True)
class StoredField:
    """A field of a form as it is stored now."""

    label: Markup | str
    value: str
    """As the form would send it back; of boxes, the ticked ones, one a line."""
    shown: Markup | str | None = None
    """As shown to the reader; None: the value itself."""
    is_amount: bool = False
    """An amount of money: 100 and 100.00 are the same."""

    def is_typed_in(self, form: SentForm, name: str) -> bool:
        """Whether the form has the same in this field."""
        if not self.is_amount:
            several = form.all(name)
            typed = form.text(name) if len(several) < 2 else "\n".join(several)
            return typed == self.value
        return _minor(form.amount(name)) == _minor(self.value)


def _minor(amount: str) -> int | str:
    """Minor units; a text that is no amount, or is empty, is returned unchanged."""
    try:
        return minor_units(amount)
    except ValueError:
        return amount


def as_seen(form: SentForm) -> dict[str, int]:
    """The version that a form was drawn with, for the operation that it asks for."""
    text = form.text(VERSION_FIELD)
    return {VERSION_FIELD: int(text)} if text.isascii() and text.isdigit() else {}


def edit(
    error: EngineError | None,
    form: SentForm | None,
    version: int | None,
    now: Mapping[str, StoredField],
) -> dict[str, object]:
    """The ``version`` of an edit's form, and the stored values (``stands``) that changed meanwhile.

    Args:
        version: of ``now``, both read after the refusal.
        now: by the names of the form's fields.

    Only a form that shows the other's values carries their version, since its reader has seen them.
    A form that was refused for another reason keeps the version that it was drawn with.
    """
    if form is None:
        return {"version": version, "stands": ()}
    if not isinstance(error, EditConflict):
        return {"version": form.text(VERSION_FIELD), "stands": ()}
    changed = tuple(
        StandsNow(each.label, each.value if each.shown is None else each.shown)
        for name, each in now.items()
        if not each.is_typed_in(form, name)
    )
    return {"version": version, "stands": changed}

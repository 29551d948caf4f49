"""Fields of forms as their record declares them: label, hint, maximum and input type.

The look of a field is in the templates (``parts.declared``); its definition is next to its type.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from markupsafe import Markup

from risala.dataclass import dataclass
from risala.engine.model.records.fields import Hint, Label, Maximum, Typed
from risala.engine.model.records.record import RecordField, fields_of, is_list
from risala.http.web.editing.edit_conflict import StoredField
from risala.http.web.forms import SentForm
from risala.http.web.languages import Words

LINES: Final = 3
"""Rows of a field that takes a value a line."""


@dataclass(frozen=True, slots=True)
class DeclaredField:
    """One field, as a template draws it."""

    name: str
    label: Markup
    value: str
    hint: Markup | None
    rows: int | None
    """None: one line."""
    maxlength: int | None
    placeholder: str | None
    dir: str | None
    is_box: bool = False
    """Whether the field is a box, ticked or not by :attr:`value`."""


TICKED: Final = "yes"
"""The value of a ticked box; a box that is not ticked sends nothing."""


@dataclass(frozen=True, slots=True)
class DeclaredForm:
    """The fields of a record that one form has."""

    shape: type
    names: tuple[str, ...]

    def _fields(self) -> Iterable[RecordField]:
        by_name = {each.name: each for each in fields_of(self.shape)}
        return (by_name[name] for name in self.names)

    def stored(self, words: Words, record: object) -> dict[str, StoredField]:
        """Each field as it is stored."""
        return {
            each.name: StoredField(_label(words, each), _text(getattr(record, each.name)))
            for each in self._fields()
        }

    def drawn(
        self, words: Words, record: object | None, typed: SentForm | None
    ) -> list[DeclaredField]:
        """The fields with the typed values, else with the stored ones."""
        return [_drawn(words, each, record, typed) for each in self._fields()]

    def labels(self, words: Words) -> dict[str, Markup]:
        """The label of each field, for the summary of a refused form."""
        return {each.name: _label(words, each) for each in self._fields()}

    def given(self, form: SentForm) -> dict[str, object]:
        """The value of each field in a form; an empty one is null, a box true or false."""
        return {each.name: _given(form, each) for each in self._fields()}


def _drawn(
    words: Words, field: RecordField, record: object | None, typed: SentForm | None
) -> DeclaredField:
    hint, most, way = field.note(Hint), field.note(Maximum), field.note(Typed) or Typed()
    stored = None if record is None else getattr(record, field.name)
    return DeclaredField(
        field.name,
        _label(words, field),
        _text(stored) if typed is None else typed.text(field.name),
        None if hint is None else words(hint.text),
        LINES if is_list(field.kind) else None,
        None if most is None else most.characters,
        way.example,
        "ltr" if way.left_to_right else None,
        field.kind is bool,
    )


def _given(form: SentForm, field: RecordField) -> object:
    if field.kind is bool:
        return form.ticked(field.name)
    if is_list(field.kind):
        return list(form.lines(field.name))
    return form.text(field.name) or None


def _label(words: Words, field: RecordField) -> Markup:
    label = field.note(Label)
    if label is None:
        raise LookupError(f"the field {field.name} has no label, and a form has it")
    return words(label.text)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return TICKED if value else ""
    if isinstance(value, tuple):
        return "\n".join(map(str, value))
    return "" if value is None else str(value)

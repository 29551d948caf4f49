"""The filters of a list, which are in the address of its page: each is understood, or refused.

A filter that is left out because nobody understands it would show other rows as the answer. So each
route says which it has (``PageRoute.filters``), the app checks them before the view is called, and
what the engine refuses of them becomes the same page: what was typed, what is wrong with it, and
the form to type it anew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from enum import Enum, auto
from typing import Final
from urllib.parse import urlencode

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.model.errors import Invalid
from risala.http.web.formats import Formats
from risala.http.web.forms import SentForm
from risala.http.web.languages import N_, Words
from risala.http.web.page_request import PageRequest
from risala.sms.numbering.plan import NumberingPlan

MODES: Final = ("live", "test")
TYPED_MAX: Final = 60
"""Characters of what was typed that the page of a refusal shows, as many as a search may have."""
UNKNOWN: Final = N_("This is not one of the choices.")
NO_DAY: Final = N_("This is not a date. A date looks like {example}.")
_DAY_EXAMPLE: Final = Markup('<bdi dir="ltr">2026-11-28</bdi>')
"""In an isolate: in a sentence that runs from the right its parts would change places."""
NO_PLACE: Final = N_("There is no such place in the list. Begin at its first page.")


class FilterKind(Enum):
    WORDS = auto()
    """Anything: the operation says what it takes."""
    CHOICE = auto()
    DAY = auto()
    PLACE = auto()
    """The cursor where a page of the list begins."""
    COUNT = auto()
    """The cursor as a number of rows or entries."""
    ADDRESS = auto()
    """The cursor as an e-mail address."""


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter of a list."""

    name: str
    """In the address."""
    label: str = N_("Place in the list")
    kind: FilterKind = FilterKind.WORDS
    arguments: tuple[str, ...] = ()
    """What the operation calls it, where that differs."""
    choices: Collection[str] = field(default=())

    def fault_of(self, text: str, formats: Formats) -> str | None:
        """A sentence of the catalogue about what is wrong with a text; None: nothing, so far."""
        match self.kind:
            case FilterKind.CHOICE if text not in self.choices:
                return UNKNOWN
            case FilterKind.DAY if formats.midnight(text, 1) is None:
                return NO_DAY
            case FilterKind.COUNT if not is_seq(text):
                return NO_PLACE
            case FilterKind.ADDRESS if "@" not in text:
                return NO_PLACE
        return None

    @property
    def is_typed(self) -> bool:
        """Whether the reader types it again."""
        return self.kind in (FilterKind.WORDS, FilterKind.DAY)


def choice(name: str, label: str, choices: Collection[str]) -> Filter:
    return Filter(name, label, FilterKind.CHOICE, (), tuple(choices))


def typed(name: str, label: str, *arguments: str) -> Filter:
    return Filter(name, label, FilterKind.WORDS, arguments)


def days() -> tuple[Filter, Filter]:
    """A period, from one day to another."""
    return (
        Filter("since", N_("Since"), FilterKind.DAY),
        Filter("until", N_("Until"), FilterKind.DAY),
    )


def cursors(*names: str) -> tuple[Filter, ...]:
    """The cursors where a page begins; both ways, if no names are given."""
    return tuple(Filter(each, kind=FilterKind.PLACE) for each in names or ("before", "after"))


def counts(*names: str) -> tuple[Filter, ...]:
    """The cursors where a page begins, as numbers of rows or entries."""
    return tuple(Filter(each, kind=FilterKind.COUNT) for each in names or ("before", "after"))


def addresses() -> tuple[Filter, ...]:
    """The cursors where a page begins, both ways, as e-mail addresses."""
    return tuple(Filter(each, kind=FilterKind.ADDRESS) for each in ("before", "after"))


MODE: Final = choice("mode", N_("Data"), MODES)


@dataclass(frozen=True, slots=True)
class RefusedFilter:
    """A filter that is not understood, as its reader sees it."""

    name: str
    label: Markup
    typed: str
    fault: Markup
    type: str
    """The type of the field to type it again; empty: no field, and the filter is left out."""


def refused(
    filters: Iterable[Filter], form: SentForm, formats: Formats
) -> tuple[RefusedFilter, ...]:
    """The filters of an address that are not understood."""
    faults = ((each, each.fault_of(form.text(each.name), formats)) for each in filters)
    return tuple(
        _shown(each, form, formats.words, formats.words(fault, example=_DAY_EXAMPLE))
        for each, fault in faults
        if fault is not None and form.text(each.name)
    )


def refused_by(
    error: Invalid,
    filters: Iterable[Filter],
    form: SentForm,
    words: Words,
    faults: Mapping[str, Markup],
) -> tuple[RefusedFilter, ...]:
    """The filters that an operation refused; empty: the error is about something else.

    Args:
        faults: the sentences of the error, by the names that the operation has.
    """
    names = {fault.path.partition(".")[0] for fault in error.faults}
    return tuple(
        _shown(
            each,
            form,
            words,
            next(faults[name] for name in (each.name, *each.arguments) if name in faults)
            if each.is_typed
            else words(NO_PLACE if each.kind is FilterKind.PLACE else UNKNOWN),
        )
        for each in filters
        if form.text(each.name) and names.intersection((each.name, *each.arguments))
    )


def _shown(one: Filter, form: SentForm, words: Words, fault: Markup) -> RefusedFilter:
    field_type = {FilterKind.WORDS: "search", FilterKind.DAY: "date"}.get(one.kind, "")
    return RefusedFilter(
        one.name, words(one.label), form.text(one.name)[:TYPED_MAX], fault, field_type
    )


async def filters_refused(request: PageRequest, unknown: Sequence[RefusedFilter]) -> TrioResponse:
    """The page of a list whose filters are not understood. Those that are stay."""
    names = {each.name for each in unknown}
    kept = [
        (name, text)
        for name, values in request.form.fields.items()
        for text in values
        if name not in names and text
    ]
    return await request.wrong(
        "filters_refused.html",
        {each.name: each.fault for each in unknown},
        {"refused": unknown, "kept": kept},
    )


def number_filter(plan: NumberingPlan, text: str, *, whole: str) -> dict[str, str]:
    """What a search text means where numbers are searched: a number, digits of one, or words.

    Args:
        whole: what the operation calls a whole number.
    """
    try:
        return {whole: plan.read(text)}
    except ValueError:
        return {"contains" if plan.digits_of(text) is None else "digits": text}


# Lists by key-set: newer and older from the current place, without page numbers or a total; and
# the filters of a list, which are in its address.

_SEQ_DIGITS_MAX: Final = 18
"""No entry has a number with more digits."""


def is_seq(text: str) -> bool:
    """Whether it can be the number of an entry, for lists with such cursors."""
    return text.isascii() and text.isdigit() and len(text) <= _SEQ_DIGITS_MAX


@dataclass(frozen=True, slots=True)
class Pager:
    """The targets of the two buttons of a list; None: the end."""

    newer: str | None
    older: str | None


def pager_of(
    path: str, query: Mapping[str, str], *, newer: str | int | None, older: str | int | None
) -> Pager:
    """The pager of a list at ``path`` with the filters ``query``; cursors as in reads."""
    kept = {name: value for name, value in query.items() if name not in ("before", "after")}

    def address(name: str, cursor: str | int | None) -> str | None:
        return None if cursor is None else f"{path}?{urlencode({**kept, name: cursor})}"

    return Pager(newer=address("after", newer), older=address("before", older))


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter that holds, and the address without it."""

    label: Markup
    without: str


def chips(
    labels: Mapping[str, Markup], kept: Mapping[str, str], at: Callable[..., str], page: str
) -> list[Chip]:
    """A chip for each label.

    Args:
        labels: the label of each filter, by its name in the address.
        kept: the filters of the address, without the place in the list.
    """
    return [
        Chip(label, at(page, **{each: text for each, text in kept.items() if each != name}))
        for name, label in labels.items()
    ]

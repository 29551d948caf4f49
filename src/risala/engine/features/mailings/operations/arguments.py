"""Arguments that several operations on mailings take."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.features.mailings.records import PACE_MAX, Mailing
from risala.engine.features.mailings.service import mailing_service
from risala.engine.features.tables.operations import MaybeSheet
from risala.engine.features.tables.records import (
    CELL_CHARACTERS_MAX,
    COLUMNS_MAX,
    NAME_MAX,
    ROWS_MAX,
    Chosen,
)
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    Flag,
    MaybeFlag,
    Text,
    any_text,
    fault,
    maybe,
    name_text,
    one_of,
    text,
    whole,
)
from risala.engine.kernel.operation import Call
from risala.engine.model.errors import Conflict, Forbidden
from risala.engine.services import Services
from risala.sms.limits import TEXT_CHARACTERS_MAX

ENCODINGS: Final = ("utf-8", "utf-16", "windows-1252", "windows-1256", "macintosh", "ibm850")
"""Encodings in which spreadsheets of French, Arabic and English write."""
SEPARATORS: Final = {";": "semicolon", ",": "comma", "\t": "tab", "|": "bar"}
"""What separates the cells of a row."""
PASTED_CHARACTERS_MAX: Final = 800_000
"""Characters of pasted lines: as many as a request may have, some 60,000 numbers. More is a
file."""
NOT_RUNNING: Final = "the service is not running. Start the service first."


def whole_between(least: int, most: int) -> Any:  # noqa: ANN401 -- a parser, as pydantic takes them
    """A parser of a whole number with bounds."""

    def parse_whole(value: object) -> int:
        number = whole(value)
        if not least <= number <= most:
            raise fault("out_of_range", f"`{{name}}` is {least} to {most}.")
        return number

    return parse_whole


def _message(value: object) -> str:
    message = any_text(value)
    if len(message) > TEXT_CHARACTERS_MAX:
        raise fault("too_long", f"`{{name}}` has at most {TEXT_CHARACTERS_MAX} characters.")
    return message


def _pasted(value: object) -> str:
    lines = text(value)
    if len(lines) > PASTED_CHARACTERS_MAX:
        sentence = f"`{{name}}` has at most {PASTED_CHARACTERS_MAX} characters. Upload a file."
        raise fault("too_long", sentence)
    return lines


def _separator(value: object) -> str:
    separator = text(value)
    if separator not in SEPARATORS:
        raise fault("invalid_separator", "`{name}` is a semicolon, a comma, a tab or a bar.")
    return separator


def _cells(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or len(value) > COLUMNS_MAX:
        raise fault("invalid_list", f"`{{name}}` must be a list of at most {COLUMNS_MAX} texts.")
    cells = tuple(any_text(each) for each in value)
    if any(len(each) > CELL_CHARACTERS_MAX for each in cells):
        raise fault("too_long", f"A cell has at most {CELL_CHARACTERS_MAX} characters.")
    return cells


MaybeName = Annotated[
    str | None,
    PlainValidator(maybe(name_text(NAME_MAX))),
    ArgumentKind(f"text, at most {NAME_MAX} characters"),
]
MaybeMessage = Annotated[
    str | None,
    PlainValidator(maybe(_message)),
    ArgumentKind(f"text, at most {TEXT_CHARACTERS_MAX} characters"),
]
MaybePasted = Annotated[
    str | None, PlainValidator(maybe(_pasted)), ArgumentKind("text: a row on each line")
]
MaybePace = Annotated[
    int | None,
    PlainValidator(maybe(whole_between(1, PACE_MAX))),
    ArgumentKind(f"whole number of 1 to {PACE_MAX}"),
]
MaybeFromHour = Annotated[
    int | None, PlainValidator(maybe(whole_between(0, 23))), ArgumentKind("hour, 0 to 23")
]
MaybeToHour = Annotated[
    int | None, PlainValidator(maybe(whole_between(1, 24))), ArgumentKind("hour, 1 to 24")
]
RowNumber = Annotated[
    int, PlainValidator(whole_between(1, 2 * ROWS_MAX)), ArgumentKind("number of a row")
]
"""A file may have empty lines between its rows."""
MaybeRow = Annotated[
    int | None,
    PlainValidator(maybe(whole_between(0, 2 * ROWS_MAX))),
    ArgumentKind("number of a row"),
]
Cells = Annotated[
    tuple[str, ...], PlainValidator(_cells), ArgumentKind("list of texts, one for each column")
]


class ReadAs(Arguments):
    """How a file is to be read. What is not given is found by looking."""

    encoding: Annotated[
        str | None,
        PlainValidator(maybe(one_of("invalid_encoding", ENCODINGS))),
        ArgumentKind(", ".join(f"`{each}`" for each in ENCODINGS)),
    ] = None
    separator: Annotated[
        str | None,
        PlainValidator(maybe(_separator)),
        ArgumentKind("a semicolon, a comma, a tab or a bar"),
    ] = None
    sheet: MaybeSheet = None
    has_header: MaybeFlag = None
    """Whether its first row has the columns' names."""
    number_column: Annotated[
        int | None,
        PlainValidator(maybe(whole_between(0, COLUMNS_MAX - 1))),
        ArgumentKind("place of a column, from 0"),
    ] = None
    """The column with the phone numbers."""
    with_hidden: Flag = False
    """Whether rows and columns are read that the sheet hides."""

    @property
    def chosen(self) -> Chosen:
        return Chosen(
            self.encoding,
            self.separator,
            self.sheet,
            self.has_header,
            self.number_column,
            self.with_hidden,
        )


class OfMailing(Arguments):
    """Names one mailing."""

    mailing_id: Text


def meant(call: Call[Any]) -> Mailing:
    """The mailing that a call is about. Raises ``NotFound``."""
    return call.part(mailing_service).mailing(call.arguments.mailing_id)


def need_service(call: Call[Any], what: str) -> None:
    """Refuse what only a running service does; ``what`` cannot be done.

    Raises:
        Conflict: a command has opened the engine alone.
    """
    if not call.services.delivery.running:
        raise Conflict(f"{what} because {NOT_RUNNING}")


def need_texts(call: Call[Any]) -> None:
    """Refuse to show people and their texts to an operator in the console.

    Raises:
        Forbidden: the caller sees no texts.
    """
    if call.hides_texts:
        raise Forbidden("These are customers' numbers and texts. Only members see them.")


def of_mailing(services: Services, arguments: OfMailing) -> str:
    """The organization of a mailing. Raises ``NotFound``."""
    return services.part(mailing_service).mailing(arguments.mailing_id).organization_id

"""What is wrong with a row of a table, as pages say it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from markupsafe import Markup

from risala.engine.features.tables.records import RowFault
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import not_served

FAULTS: Final[Mapping[RowFault, str]] = {
    RowFault.NUMBER: N_("This is not a phone number."),
    RowFault.NUMBER_MISSING: N_("The number is missing."),
    RowFault.NUMBER_UNSERVED: N_("This is not a number that is served here."),
    RowFault.NUMBER_SHORTENED: N_(
        "A spreadsheet has shortened this number, and its last digits are lost. Format the column "
        "as text, then enter the number again."
    ),
    RowFault.TWO_NUMBERS: N_("These are two numbers. Leave only one of them."),
    RowFault.EXTENSION: N_(
        "This number has an extension, which no message reaches. Leave only the number."
    ),
    RowFault.OTHER_COLUMN: N_(
        "Another column has this person’s number. Copy it here, or choose that column."
    ),
    RowFault.NOT_SERVED: N_("This number is of a country that is not open here."),
    RowFault.COUNTRY: N_("This country is not open to your organization."),
    RowFault.OPTED_OUT: N_("This person does not want your messages any more."),
    RowFault.DOUBLE: N_("An earlier row has the same number."),
    RowFault.CELLS: N_("This row has more cells than the file has columns."),
    RowFault.VALUE_MISSING: N_("The text needs a value here."),
    RowFault.CHARACTERS: N_("This contains a character that phones cannot show."),
    RowFault.TOO_LONG: N_("With these values, the text is too long."),
    RowFault.EMPTY: N_("The text is empty."),
    RowFault.POLICY: N_("A rule of ours does not let this message through."),
    RowFault.SENDER: N_("The sender is not allowed for this message."),
    RowFault.OTHER: N_("The message was refused."),
}


def fault_sentence(request: PageRequest, fault: RowFault, abroad: str | None) -> Markup:
    """What is wrong with a row.

    Args:
        abroad: the ISO 3166-1 letters of the country of its number, if that is not served.
    """
    if abroad is None:
        return request.words(FAULTS[fault])
    return not_served(request.words, request.plan, abroad)

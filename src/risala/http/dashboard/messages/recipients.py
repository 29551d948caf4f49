"""Who a new message goes to: what was typed, chosen or sent into the composer's one field."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.lists.records import RecipientList
from risala.engine.model.errors import Invalid
from risala.http.web.forms import SentForm
from risala.sms.numbering.written import entries
from risala.sms.typed import Purpose, typed

_is_number: Final = re.compile(r"[^\d]*(?:\d[^\d]*){7,}").fullmatch
"""What is meant to be a number, whatever letters are in it: a list's name has fewer digits."""


@dataclass(frozen=True, slots=True)
class Recipients:
    """One number, or one of the sources of a mailing."""

    number: str | None = None
    numbers: str | None = None
    """Many numbers, one a line."""
    list_id: str | None = None
    upload: str | None = None

    @property
    def source(self) -> dict[str, str]:
        """The source, as an argument of ``mailing.create``; empty for one number."""
        found = {"numbers": self.numbers, "list_id": self.list_id, "upload": self.upload}
        return {name: value for name, value in found.items() if value is not None}


def recipients_of(form: SentForm, lists: Sequence[RecipientList]) -> Recipients:
    """What a form means.

    Raises:
        Invalid: it names nobody, more than one of them, or a list that does not exist.
    """
    written, chosen, upload = form.text("to"), form.text("list"), upload_of(form)
    if sum(map(bool, (written, chosen, upload))) > 1:
        raise Invalid("to", "several_sources", "Numbers, a list or a file: only one of them.")
    if upload:
        return Recipients(upload=upload)
    if chosen:
        return Recipients(list_id=chosen)
    name = typed(written, Purpose.HEADING)
    named = [each.id for each in lists if typed(each.name, Purpose.HEADING) == name]
    if named:
        return Recipients(list_id=named[0])
    found = entries(written)
    if not found:
        raise Invalid("to", "missing", "`to` is required.")
    if len(found) > 1:
        return Recipients(numbers="\n".join(found))
    if any(letter.isalpha() for letter in written) and not _is_number(written):
        raise Invalid("to", "unknown_list", "There is no list of this name.")
    return Recipients(number=found[0])


def upload_of(form: SentForm) -> str:
    """The upload of the file that came with the form, or with the form before it; or empty."""
    return form.file.upload_id if form.file is not None else form.text("upload")


def file_name_of(form: SentForm) -> str:
    """The name of that file."""
    return form.file.name if form.file is not None else form.text("upload_name")

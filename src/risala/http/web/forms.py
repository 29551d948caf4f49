"""The fields of a form, and the marks that it must carry to be accepted."""

from __future__ import annotations

import base64
import binascii
import re
import secrets
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import field
from typing import Final
from urllib.parse import parse_qs

from quart.wrappers import Request

from risala.dataclass import dataclass
from risala.engine.model.errors import Refusal
from risala.http.common.problems import Problem, plain
from risala.sms.currencies import DECIMALS_MAX, USUAL, decimals
from risala.sms.typed import Purpose, typed

MARK_FIELD: Final = "form_token"
ONCE_FIELD: Final = "once"
FIELDS_MAX: Final = 200
"""More than any of our forms has; the size of the body bounds their content."""
UNSENT_AGE_MAX_MS: Final = 30 * 60_000
"""Longer than a code by e-mail takes; then a kept form can no longer be seen."""
UNSENT_MAX: Final = 200
"""Forms that are kept; one more takes the place of the oldest."""
UNSENT_CHARACTERS_MAX: Final = 20_000
"""The limit of one form: a long message to many numbers. All together are some 16 MB at most."""
_FORM: Final = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file that came with a form, and is stored."""

    upload_id: str
    name: str
    """As its sender's machine calls it."""


@dataclass(frozen=True, slots=True)
class SentForm:
    """The fields of a form, as they were sent."""

    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    file: SentFile | None = None
    """Only where the route takes one (``PageRoute.takes_file``)."""
    file_refusal: Refusal | None = None
    """Why the file that came with it was not stored."""

    def text(self, name: str, default: str = "") -> str:
        """The field without the spaces around it; a field that is not sent has the default."""
        values = self.fields.get(name)
        return default if not values else values[-1].strip()

    def filled(self, *names: str) -> dict[str, str]:
        """The fields of these names that are not empty, by name."""
        return {name: text for name in names if (text := self.text(name))}

    def amount(self, name: str) -> str:
        """An amount of money in the format of operations, from the format of any language; a text
        that is no amount stays unchanged, and is refused later."""
        return amount_text(self.text(name))

    def all(self, name: str) -> tuple[str, ...]:
        """The values of a field that may occur several times: ticked boxes."""
        return self.fields.get(name, ())

    def lines(self, name: str) -> list[str]:
        """The values of a field with one value a line."""
        return [line.strip() for line in self.text(name).splitlines() if line.strip()]

    def ticked(self, name: str) -> bool:
        return bool(self.fields.get(name))


_THOUSANDS: Final = re.compile(r"[\u066c']")
"""Separators of thousands besides spaces, points and commas."""
_AMOUNT: Final = {
    places: re.compile(
        rf"(\d{{1,3}}(?:([.,])\d{{3}}(?:\2\d{{3}})*)?|\d+)(?:([.,])(\d{{1,{places}}}))?", re.ASCII
    )
    for places in range(USUAL, DECIMALS_MAX + 1)
}
"""An amount, by the decimals of the currency."""
_ONE_COMMA: Final = re.compile(r"(\d{1,3})[.,](\d{3})", re.ASCII)
"""A thousand where a currency has no decimals; three decimals where it has three."""


def amount_text(text: str) -> str:
    """``1 234,50``, ``1.234,50``, ``1,234.50`` and ``١٢٣٤٫٥٠`` as ``1234.50``.

    ``1,234`` is ambiguous: a thousand or three decimals. It stays unchanged, and so does every
    other text that is no amount. But in dinars it is 1.234, as pages write it, and in francs CFA,
    which have no decimals, a thousand.
    """
    places = decimals()
    plain = _THOUSANDS.sub("", typed(text, Purpose.MONEY)).replace("\u066b", ".")
    one = _ONE_COMMA.fullmatch(plain)
    if one is not None and places != USUAL:
        return f"{one[1]}.{one[2]}" if places else one[1] + one[2]
    match = _AMOUNT[max(places, USUAL)].fullmatch(plain)
    if match is None:
        return text
    whole, grouped, decimal, part = match.groups()
    if grouped is not None and (decimal == grouped or (decimal is None and places)):
        return text
    digits = whole.replace(grouped, "") if grouped else whole
    return f"{digits}.{part}" if part else digits


_LINE_END: Final = re.compile(r"\r\n?")


def line_ends(text: str) -> str:
    """A browser sends a line break as two characters, whatever the user typed."""
    return _LINE_END.sub("\n", text)


def form_of(query: str) -> SentForm:
    """A form from the query of an address.

    Raises:
        Problem: it is malformed, or has too many fields.
    """
    try:
        return SentForm(_fields(query))
    except ValueError:  # not UTF-8, or too many
        raise Problem(400, "This is no form of ours.") from None


async def read_form(request: Request) -> SentForm:
    """The form that a POST carries.

    Raises:
        Problem: it is malformed, or has too many fields.
    """
    if request.mimetype != _FORM:
        raise plain(415)
    raw = await request.get_data(cache=False, as_text=False, parse_form_data=False)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise Problem(400, "This is no form of ours.") from None
    return form_of(text)


def _fields(text: str) -> dict[str, tuple[str, ...]]:
    fields = parse_qs(text, keep_blank_values=True, max_num_fields=FIELDS_MAX, errors="strict")
    return {name: tuple(map(line_ends, values)) for name, values in fields.items()}


def masked(token: str) -> str:
    """A token as written into a page: different each time.

    Pages are compressed, and the compressed size would reveal a token that stays the same.
    """
    plain_bytes = token.encode()
    mask = secrets.token_bytes(len(plain_bytes))
    hidden = bytes(a ^ b for a, b in zip(plain_bytes, mask, strict=True))
    return base64.urlsafe_b64encode(mask + hidden).decode()


def unmasked(shown: str) -> str:
    """The reverse of :func:`masked`; empty for any other text."""
    try:
        both = base64.urlsafe_b64decode(shown.encode())
    except (ValueError, binascii.Error):
        return ""
    half = len(both) // 2
    if len(both) != 2 * half:
        return ""
    secret = bytes(a ^ b for a, b in zip(both[:half], both[half:], strict=True))
    return secret.decode("ascii", "replace")


@dataclass(frozen=True, slots=True)
class UnsentForm:
    """A form that was sent after the session of its page had ended."""

    path: str
    """The path that it was sent to."""
    fields: tuple[tuple[str, str], ...] = field(repr=False)
    """Name and value, without the marks of the page that it came from."""
    at_ms: int
    in_session: bool = False
    """Whether its reader had already signed in again, in another tab."""
    asked_fresh: bool = False
    """Whether its reader was asked to show once more who they are."""


class UnsentForms:
    """The forms, by a name that one browser alone has. All on one loop."""

    def __init__(self) -> None:
        self._forms: OrderedDict[str, UnsentForm] = OrderedDict()

    def keep(
        self,
        path: str,
        form: SentForm,
        now_ms: int,
        *,
        in_session: bool = False,
        asked_fresh: bool = False,
    ) -> str | None:
        """The name of the kept form; None: it is too long, and was not kept."""
        marks = (MARK_FIELD, ONCE_FIELD)
        fields = tuple(
            (name, value)
            for name, values in form.fields.items()
            if name not in marks
            for value in values
        )
        if sum(len(name) + len(value) for name, value in fields) > UNSENT_CHARACTERS_MAX:
            return None
        name = secrets.token_urlsafe(16)
        self._forms[name] = UnsentForm(path, fields, now_ms, in_session, asked_fresh)
        while len(self._forms) > UNSENT_MAX:
            self._forms.popitem(last=False)
        return name

    def find(self, name: str, now_ms: int) -> UnsentForm | None:
        """The form kept by a name; None: it is unknown, or too old."""
        form = self._forms.get(name)
        if form is None or now_ms - form.at_ms <= UNSENT_AGE_MAX_MS:
            return form
        del self._forms[name]
        return None

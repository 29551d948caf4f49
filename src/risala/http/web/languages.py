"""The languages of the pages: which one a reader gets, and its catalogue.

Templates and code are in English; the other languages are in ``locale/LANGUAGE``, one catalogue for
each part of the pages (``keys.po`` for the keys), so that two people who work on two pages do not
edit the same file. Catalogues are read as text for the first page: nothing is compiled, and a
translator who changes a line needs no tool.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from markupsafe import Markup, escape
from werkzeug.datastructures import LanguageAccept

from risala.dataclass import dataclass
from risala.engine.model.people import Language
from risala.http.web.cached import as_markup
from risala.sms.numbering.plan import NumberingPlan

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

LOCALE: Final = Path(__file__).parent / "locale"


def direction_of(language: Language) -> str:
    return "rtl" if language is Language.ARABIC else "ltr"


OWN_NAMES: Final = {
    Language.FRENCH: "Français",
    Language.ARABIC: "العربية",
    Language.ENGLISH: "English",
}
"""The name of each language in that language: never translated."""
USUAL: Final = Language.FRENCH
"""For an unknown reader."""
_CITIES_KEPT: Final = 256
"""Names of cities that are kept: customers of a country have few time zones."""


def in_language(language: Language, texts: Mapping[str, str]) -> str:
    """A text written in several languages; in English if this one is missing."""
    return texts.get(language.value) or texts.get("en", "")


def language_named(name: str | None) -> Language | None:
    """The language of a code; None: not supported."""
    try:
        return Language(name or "")
    except ValueError:
        return None


def preferred(accepted: LanguageAccept) -> Language:
    """The language of ``Accept-Language``, else :data:`USUAL`."""
    for tag, quality in accepted:  # the one that is liked best comes first
        language = language_named(tag.partition("-")[0].lower())
        if language is not None and quality > 0:
            return language
    return USUAL


@lru_cache(_CITIES_KEPT)
def city_of(zone: str, language: Language) -> str:
    """The city that gives a time zone its name: ``نواكشوط`` for Africa/Nouakchott in Arabic."""
    # Imported here: the command line shows no page.
    from babel.dates import get_timezone_location

    return get_timezone_location(zone, locale=language.value, return_city=True)


def countries_of(plan: NumberingPlan, language: Language) -> list[str]:
    """The names of the countries that are served."""
    return [country_name(language, each.code, each.name) for each in plan.countries]


def country_name(language: Language, code: str, english: str) -> str:
    """A country by its ISO 3166-1 code, as a language calls it."""
    from babel import Locale

    return str(Locale(language.value).territories.get(code, english))


def listed(language: Language, names: Sequence[str]) -> str:
    """Alternatives in one text: ``Sénégal ou Mali``."""
    from babel.lists import format_list

    return format_list(names, "or", locale=language.value)


@lru_cache(_CITIES_KEPT)
def symbol_of(currency: str, language: Language) -> str:
    """A currency as a language writes it: ``F CFA`` for XOF, ``د.ت`` for TND in Arabic; the code,
    where it has no sign."""
    from babel.numbers import get_currency_symbol

    # Marks of direction are left out: the sign stands in an isolate already, as all units do. So is
    # a full stop at its end: a sentence that ends in it has its own.
    return get_currency_symbol(currency, locale=language.value).strip("\u200e\u200f").rstrip(".")


_FRENCH_SPACES: Final = re.compile(r" (?=[:;?!%»])|(?<=«) ")
"""Places where French needs a no-break space; a translator types an ordinary one."""
_GROUPS: Final = re.compile(r"(?<=\d) (?=\d)")
_HOLE: Final = re.compile(r"\{([a-z_]+)\}")


class _Sentence(NamedTuple):
    """A sentence as it is drawn."""

    whole: Markup
    pieces: tuple[str, ...]
    """Text, the name of a hole, text, and so on."""


class Words:
    """The sentences of one language. They are escaped, and so are the values filled in."""

    def __init__(self, language: Language, catalogue: NullTranslations) -> None:
        self.language = language
        self._catalogue = catalogue
        self._found = lru_cache(_FOUND_MAX)(self._find)
        self._drawn = lru_cache(_FOUND_MAX)(self._draw)

    def __call__(self, sentence: str, **holes: object) -> Markup:
        """A sentence of the catalogue, with its holes (``{name}``) filled."""
        return _filled(self._found(None, sentence), holes)

    def among(self, context: str, sentence: str, **holes: object) -> Markup:
        """A sentence or word that has several meanings: ``context`` selects one."""
        return _filled(self._found(context, sentence), holes)

    def counted(self, one: str, many: str, count: int, **holes: object) -> Markup:
        """The form of a sentence for a count: two forms in French and English, six in Arabic."""
        return _filled(self._drawn(self._catalogue.ngettext(one, many, count)), holes)

    def _find(self, context: str | None, sentence: str) -> _Sentence:
        if context is None:
            return self._draw(self._catalogue.gettext(sentence))
        return self._draw(self._catalogue.pgettext(context, sentence))

    def _draw(self, sentence: str) -> _Sentence:
        text = _GROUPS.sub("\u00a0", sentence)
        if self.language is Language.FRENCH:
            text = _FRENCH_SPACES.sub("\u00a0", text)
        shown = escape(text)
        return _Sentence(shown, tuple(_HOLE.split(shown)))


_FOUND_MAX: Final = 4096
"""Sentences that are kept as they are drawn: more than there are, half a megabyte a language."""


def _filled(sentence: _Sentence, holes: dict[str, object]) -> Markup:
    if not holes:
        return sentence.whole
    # Faster than `Markup.format` or a search for placeholders: a page has a hundred of these.
    drawn = [*sentence.pieces]
    for place in range(1, len(drawn), 2):
        filling = holes[drawn[place]]
        drawn[place] = filling if type(filling) is Markup else escape(filling)
    # The sentence is escaped, and so are its values.
    return as_markup("".join(drawn))


def N_(sentence: str) -> str:
    """Marks a sentence in a table for the catalogue; it is translated later."""
    return sentence


def NC_(context: str, sentence: str) -> str:
    """Marks a word in a table for the catalogue; :meth:`Words.among` translates it later."""
    return sentence


@cache
def load_words(language: Language) -> Words:
    """All catalogues of a language as one; slow the first time, so do it in a thread."""
    city_of("UTC", language)  # reads the language's own data from the disk
    if language is Language.ENGLISH:
        return Words(language, NullTranslations())
    return Words(language, _joined(language, sorted((LOCALE / language).glob("*.po"))))


ARABIC_FORMS: Final = (
    "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3"
    " : n%100>=11 ? 4 : 5)"
)
"""The forms of a counted sentence in Arabic, in the order of CLDR: zero, one, two, few, many (11 to
99), other (100 to 102). Babel's own order has the last two the other way round."""


def empty_catalogue(language: Language) -> Catalog:
    """A catalogue with the language's order of counted forms."""
    # Imported here: the command line never translates a page.
    from babel.messages.catalog import Catalog

    catalogue = Catalog(locale=language.value)
    if language is Language.ARABIC:
        catalogue.mime_headers = [("Plural-Forms", ARABIC_FORMS)]
    return catalogue


def _joined(language: Language, paths: Iterable[Path]) -> GNUTranslations:
    # Imported here: the command line never translates a page.
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    whole = empty_catalogue(language)
    for path in paths:
        with path.open("rb") as file:
            for message in read_po(file, locale=language.value):
                if message.id:
                    whole.add(message.id, message.string, context=message.context)
    compiled = io.BytesIO()
    write_mo(compiled, whole)
    compiled.seek(0)
    return GNUTranslations(compiled)


# The states of things as readers see them: a word and a shape for each.


@dataclass(frozen=True, slots=True)
class StateLook:
    word: str
    shape: str
    """The name of the shape in the sprite."""
    turns: bool = False
    """The shape points along the line, and so the other way in Arabic."""


STATES: Final = {
    # Of a message.
    "pending": StateLook(NC_("state", "Pending"), "s-pending"),
    "processing": StateLook(NC_("state", "Processing"), "s-processing", turns=True),
    "sent": StateLook(NC_("state", "Sent"), "s-sent"),
    "delivered": StateLook(NC_("state", "Delivered"), "s-delivered"),
    "undelivered": StateLook(NC_("state", "Undelivered"), "s-undelivered", turns=True),
    "failed": StateLook(NC_("state", "Failed"), "s-failed"),
    "canceled": StateLook(NC_("state", "Canceled"), "s-canceled"),
    "uncertain": StateLook(NC_("state", "Uncertain"), "s-uncertain"),
    # Of sender names and verifications.
    "approved": StateLook(NC_("state", "Approved"), "s-sent"),
    "denied": StateLook(NC_("state", "Denied"), "s-failed"),
    "waiting": StateLook(NC_("state", "Waiting"), "s-pending"),
    "expired": StateLook(NC_("state", "Expired"), "s-expired"),
    # Of carriers, keys, endpoints.
    "up": StateLook(NC_("state", "Up"), "s-on"),
    "down": StateLook(NC_("state", "Down"), "s-down"),
    "paused": StateLook(NC_("state", "Paused"), "s-paused"),
    "draining": StateLook(NC_("state", "Draining"), "s-drain"),
    "disabled": StateLook(NC_("state", "Disabled"), "s-off"),
}
ENTRY_KINDS: Final = {
    "charge": N_("Messages"),
    "refund": N_("Refund"),
    "topup": N_("Top-up"),
    "adjustment": N_("Adjustment"),
}
"""The kinds of entries of a statement."""

_NETWORKS: Final = {"mauritel": "Mauritel", "mattel": "Mattel", "chinguitel": "Chinguitel"}


def network_name(name: str) -> str:
    """A mobile network as it calls itself."""
    return _NETWORKS.get(name, name)

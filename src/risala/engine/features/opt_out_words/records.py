"""Words of opt-outs, and the answers to them: what operations answer, and the asks for them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.features.opt_out_words.words import WordRole
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED, Count, Moment

WORDS_MAX: Final = 30
"""An organization's own words."""
WORD_MAX: Final = 20
"""Characters of a word, as those of an inbound route."""
TEXT_MAX: Final = 320
"""Characters of an answer: two parts in the alphabet of phones."""
DEMANDS_MAX: Final = 100
"""Networks and countries that ask for something."""
ANSWERED: Final = ("stop", "start", "help")
"""What an organization may have answered: a word of a list is one of STOP or START."""
NOTE_MAX: Final = 200
"""Characters of a note why somebody gets messages again."""


class Back(StrEnum):
    """Who takes an opt-out back."""

    PERSON = "person"
    """Whoever texts START, also if the opt-out was noted by hand."""
    OWN = "own"
    """Whoever texts START; what was noted by hand is taken back by hand."""
    HAND = "hand"
    """Members alone, with a note."""


class ConfirmationRule(StrEnum):
    """What a network says of the confirmation of an opt-out."""

    FREE = "free"
    REQUIRED = "required"
    FORBIDDEN = "forbidden"


class WordSource(StrEnum):
    """Why a word counts."""

    ALWAYS = "always"
    SET = "set"
    OWN = "own"
    DEMANDED = "demanded"


@dataclass(frozen=True, slots=True)
class OwnWord:
    """A word of an organization."""

    word: Annotated[str, AUDITED]
    """Folded."""
    role: Annotated[WordRole, AUDITED]
    language: Annotated[str, AUDITED]
    """The language of the answer to the word."""
    list_id: Annotated[str | None, AUDITED] = None
    """The list that it names."""


@dataclass(frozen=True, slots=True)
class OwnAnswer:
    """An answer in an organization's own words."""

    role: Annotated[WordRole, AUDITED]
    language: Annotated[str, AUDITED]
    text: Annotated[str, AUDITED]


@dataclass(frozen=True, slots=True)
class OptOutSettings:
    """What an organization chose for opt-outs."""

    organization_id: Annotated[str, UNAUDITED]
    sets: Annotated[tuple[str, ...], AUDITED] = ()
    """Languages whose usual words count, that of most recipients first."""
    answered: Annotated[tuple[str, ...], AUDITED] = ()
    """What is answered: ``stop`` (one of a list too), ``start``, ``help``."""
    back: Annotated[Back, AUDITED] = Back.PERSON
    words: Annotated[tuple[OwnWord, ...], AUDITED] = ()
    texts: Annotated[tuple[OwnAnswer, ...], AUDITED] = ()


@dataclass(frozen=True, slots=True)
class CountedWord:
    """A word that counts now."""

    word: str
    role: WordRole
    language: str
    source: WordSource
    list_id: str | None
    list_name: str | None
    routed: bool
    """Whether a route of the operator gives texts that begin with it to an organization."""


@dataclass(frozen=True, slots=True)
class SentAnswer:
    """An answer as it would be sent."""

    role: WordRole
    language: str
    written: str
    """With its variables."""
    text: str
    parts: Count
    own: bool
    """False: the usual one."""
    is_sent: bool
    """Whether words of this kind are answered."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What a network or a country asks for, by the first digits of its numbers."""

    prefix: Annotated[str, AUDITED]
    confirmation: Annotated[ConfirmationRule, AUDITED]
    sets: Annotated[tuple[str, ...], AUDITED]
    """Languages whose words count for its numbers."""
    set_at: Annotated[Moment, UNAUDITED]
    set_by: Annotated[str, UNAUDITED]


@dataclass(frozen=True, slots=True)
class OptOutWords:
    """The words and answers of an organization, and what they come to."""

    settings: Annotated[OptOutSettings, AUDITED]
    heeds: Annotated[bool, UNAUDITED]
    """Whether opt-outs apply: no word counts otherwise."""
    words: Annotated[tuple[CountedWord, ...], UNAUDITED]
    answers: Annotated[tuple[SentAnswer, ...], UNAUDITED]
    demands: Annotated[tuple[Demand, ...], UNAUDITED]
    """What networks and countries demand, which stands above the settings."""


@dataclass(frozen=True, slots=True)
class Demands:
    """What networks and countries ask for, by prefix."""

    demands: Annotated[tuple[Demand, ...], AUDITED]


@dataclass(frozen=True, slots=True)
class ListRecipient:
    """A number whose opt-out of a list was noted or taken back."""

    list_id: Annotated[str, AUDITED]
    number: Annotated[str, UNAUDITED]


WORDS: Final = Ask("opt_outs.words", OptOutWords)
ADD_WORD: Final = Ask("opt_outs.add_word", OptOutWords)
REMOVE_WORD: Final = Ask("opt_outs.remove_word", OptOutWords)
ANSWER: Final = Ask("opt_outs.answer", OptOutWords)
DEMANDS: Final = Ask("opt_outs.demands", Demands)
DEMAND: Final = Ask("opt_outs.demand", Demands)
LIST_OUT: Final = Ask("opt_outs.list_out", ListRecipient)
LIST_BACK: Final = Ask("opt_outs.list_back", ListRecipient)

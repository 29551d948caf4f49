"""In which of three languages a text is, as far as one sees it at once. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Final

from risala.engine.model.people import Language
from risala.engine.rules.keywords import LOOKED_AT_MAX, folded

_FRENCH: Final = frozenset(
    (
        *("bonjour", "bonsoir", "salut", "merci", "svp", "stp", "oui", "non", "arret", "aide"),
        *("je", "j", "vous", "tu", "il", "elle", "nous", "mon", "ma", "mes", "votre", "vos"),
        *("le", "la", "les", "des", "du", "une", "un", "et", "ou", "est", "sont", "pas"),
        *("que", "quoi", "quel", "quelle", "quand", "comment", "combien", "pourquoi"),
        *("horaire", "horaires", "heure", "heures", "prix", "solde", "ouvert", "fermer", "ferme"),
        *("commande", "rendez", "pour", "avec", "dans", "sur", "avez", "suis", "veux"),
    )
)
_ENGLISH: Final = frozenset(
    (
        *("hello", "hi", "thanks", "thank", "please", "yes", "no", "help", "end", "quit"),
        *("i", "you", "he", "she", "we", "they", "my", "your", "the", "a", "an", "and", "or"),
        *("is", "are", "not", "do", "does", "what", "which", "when", "how", "why", "where", "who"),
        *("hours", "hour", "price", "prices", "balance", "open", "close", "closed", "order"),
        *("appointment", "for", "with", "in", "on", "at", "to", "of", "have", "am", "want"),
    )
)
"""Words that only one of the two has, folded; ``stop`` and ``info`` are words of both."""


def language_of(text: str) -> Language | None:
    """The language that a text is in; None: its script and its words do not say it.

    Arabic is told by its script; French and English by which of them has more of the words.
    """
    text = text[:LOOKED_AT_MAX]
    letters = [each for each in text if each.isalpha()]
    arabic = sum("ARABIC" in unicodedata.name(each, "") for each in letters)
    if 2 * arabic > len(letters):
        return Language.ARABIC
    words = "".join(each if each.isalnum() else " " for each in folded(text)).split()
    french, english = sum(w in _FRENCH for w in words), sum(w in _ENGLISH for w in words)
    if french == english:
        return None
    return Language.FRENCH if french > english else Language.ENGLISH


def chosen(texts: Mapping[Language, str], text: str) -> str:
    """The answer's text in the language of the text; else the first, which is the default.

    Args:
        texts: at least one.
    """
    language = language_of(text)
    if language is not None and language in texts:
        return texts[language]
    return next(iter(texts.values()))

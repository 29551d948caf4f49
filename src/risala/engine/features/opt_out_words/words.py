"""The words of opt-outs that the field uses, by language, and the answers to them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from risala.engine.rules.keywords import folded


class WordRole(StrEnum):
    """What a word does that somebody texts alone."""

    STOP = "stop"
    """The person gets no more messages of the organization."""
    START = "start"
    """The person gets them again."""
    HELP = "help"
    """The person is told who writes, and how it ends."""
    LIST = "list"
    """Names a list: behind a word of :attr:`STOP` or :attr:`START`, only that list is meant."""


LANGUAGES: Final = ("en", "fr", "ar")
"""Languages of sets and of answers."""
SETS: Final[Mapping[str, Mapping[WordRole, tuple[str, ...]]]] = {
    "en": {
        WordRole.STOP: (
            *("STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT"),
        ),
        WordRole.START: ("START", "YES", "UNSTOP"),
        WordRole.HELP: ("HELP", "INFO"),
    },
    "fr": {
        WordRole.STOP: ("STOP", "ARRET", "ARRETER", "DESABONNER", "DESINSCRIRE", "FIN"),
        WordRole.START: ("START", "OUI", "REPRENDRE"),
        WordRole.HELP: ("AIDE", "CONTACT", "INFO"),
    },
    "ar": {
        WordRole.STOP: ("توقف", "إيقاف", "إلغاء", "قف"),
        WordRole.START: ("ابدأ", "اشتراك", "نعم"),
        WordRole.HELP: ("مساعدة", "معلومات"),
    },
}
"""The usual words of a language, as people read them. Those that networks, CTIA's code and the
large services ask for are among them."""
ALWAYS: Final[Mapping[str, tuple[WordRole, str]]] = {
    "stop": (WordRole.STOP, ""),
    "arret": (WordRole.STOP, "fr"),
    "توقف": (WordRole.STOP, "ar"),
    "start": (WordRole.START, ""),
}
"""Words that count wherever opt-outs are respected: their role, and the language that they are of;
empty: of several. An organization cannot give them another role."""
ANSWERS: Final[Mapping[WordRole, Mapping[str, str]]] = {
    WordRole.STOP: {
        "en": "{{organization}}: you get no more messages from us.",
        "fr": "{{organization}} : vous ne recevez plus nos messages.",
        "ar": "{{organization}}: لن تصلك رسائلنا بعد الآن.",
    },
    WordRole.START: {
        "en": "{{organization}}: you get our messages again. Send {{stop}} to end them.",
        "fr": "{{organization}} : vous recevez de nouveau nos messages. Pour ne plus en recevoir,"
        " envoyez {{stop}}.",
        "ar": "{{organization}}: ستصلك رسائلنا من جديد. أرسل {{stop}} لإيقافها.",
    },
    WordRole.HELP: {
        "en": "{{organization}}: send {{stop}} to get no more messages from us.",
        "fr": "{{organization}} : envoyez {{stop}} pour ne plus recevoir nos messages.",
        "ar": "{{organization}}: أرسل {{stop}} كي لا تصلك رسائلنا.",
    },
    WordRole.LIST: {
        "en": "{{organization}}: you get no more messages of {{list}}.",
        "fr": "{{organization}} : vous ne recevez plus les messages de {{list}}.",
        "ar": "{{organization}}: لن تصلك رسائل {{list}} بعد الآن.",
    },
}
"""The answers of an organization that wrote none of its own. They have only letters that leave a
text short: those of the alphabet of phones, where the language has them."""
AGAIN: Final[Mapping[str, str]] = {
    "en": " Send {{start}} to get them again.",
    "fr": " Envoyez {{start}} pour les recevoir de nouveau.",
    "ar": " أرسل {{start}} لتصلك من جديد.",
}
"""What follows the answer to a word of STOP or of a list, unless only a member takes an opt-out
back."""
STOPS: Final[Mapping[str, str]] = {"en": "STOP", "fr": "STOP", "ar": "توقف"}
STARTS: Final = "START"
"""The words that answers tell people to send: those that always count."""
VARIABLES: Final = ("organization", "list", "stop", "start")
"""What an answer may name, in two braces each."""


def words_of(language: str) -> Mapping[str, WordRole]:
    """The words of a set, folded, and what each does."""
    return _FOLDED[language]


_FOLDED: Final = {
    language: {folded(word): role for role, words in roles.items() for word in words}
    for language, roles in SETS.items()
}

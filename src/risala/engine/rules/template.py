"""The text of a code SMS: templates, their placeholders, the lines for autofill, and what of a
caller's words may stand in it. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from risala.sms.code_texts.catalogue import has_link
from risala.sms.unseen import cheapest

CODE: Final = "{{code}}"
EXPIRY: Final = "{{expiry_minutes}}"
TEMPLATE_MAX: Final = 480
"""Characters of a template: a longer one is a mistake, and costs several segments for each code."""
DEFAULT_LOCALE: Final = "en"

_PLACEHOLDER: Final = re.compile(r"\{\{.*?\}\}")
_APP_HASH: Final = re.compile(r"[A-Za-z0-9+/]{11}")
_HOST: Final = re.compile(
    r"(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}|localhost"
)


def template_fault(template: str) -> str | None:
    """What is wrong with a template, as a sentence; None if nothing."""
    if CODE not in template:
        return f"The template must contain {CODE}."
    if len(template) > TEMPLATE_MAX:
        return f"A template can have at most {TEMPLATE_MAX} characters."
    unknown = sorted(set(_PLACEHOLDER.findall(template)) - {CODE, EXPIRY})
    if unknown:
        return f"The template can use {CODE} and {EXPIRY}, but not {', '.join(unknown)}."
    if any(ord(character) < 32 and character != "\n" for character in template):
        return "The template must not contain control characters."
    return None


def is_app_hash(text: str) -> bool:
    """An Android SMS Retriever hash: 11 characters of base64."""
    return bool(_APP_HASH.fullmatch(text))


def is_origin(text: str) -> bool:
    """A host name for a domain-bound code (``@host #code``), in lower case."""
    return bool(_HOST.fullmatch(text))


def freeze(template: str, expiry_minutes: int, app_hash: str | None, origin: str | None) -> str:
    """The text as it is stored: complete except for the code."""
    lines = [cheapest(template.replace(EXPIRY, str(expiry_minutes)))]
    if app_hash:
        lines.append(app_hash)
    if origin:
        # Domain-bound codes must be the last line.
        lines.append(f"@{origin} #{CODE}")
    return "\n".join(lines)


def render(frozen: str, code: str) -> str:
    """The text as it is sent. Never to be stored, logged or shown."""
    return frozen.replace(CODE, code)


# -- what callers add


VARIABLES_MAX: Final = 10
REPORTS: Final = ("approved", "failed")
"""What a caller may say of a code of its own."""

_JOINERS: Final = "\u200c\u200d"
"""Persian names are written with them."""
_HIDDEN: Final = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
"""Unicode's categories of control characters, marks of direction, line breaks, and what is no
character."""
VARIABLE: Final = re.compile(r"\{\{(?!code\}\}|expiry_minutes\}\})([a-z][a-z0-9_]{0,39})\}\}")


def word_of(text: str) -> str:
    """A caller's word in the form in which it is sent, stored and compared."""
    return unicodedata.normalize("NFC", text.strip())


def word_fault(word: str, *, links: bool = False) -> str | None:
    """Why a word may not stand in a text, as the end of a sentence; None: it may.

    Args:
        links: whether it may be or contain a link.
    """
    if any(unicodedata.category(each) in _HIDDEN and each not in _JOINERS for each in word):
        return "must be one line without control characters and marks of direction."
    if not links and has_link(word):
        return "must not be or contain a link."
    if "{{" in word or "}}" in word:
        return "must not contain placeholders."
    return None


def variables_of(template: str) -> list[str]:
    """The names of a template's variables."""
    return [*dict.fromkeys(VARIABLE.findall(template))]

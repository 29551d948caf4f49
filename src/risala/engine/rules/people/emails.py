"""E-mail addresses: one form for each, and nothing in it that could break a mail's header."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

import idna

from risala.sms.typed import Purpose, typed

ADDRESS_MAX: Final = 254
"""RFC 5321 §4.5.3.1.3: a path of 256 octets, less its brackets."""
LOCAL_MAX: Final = 64
"""RFC 5321 §4.5.3.1.1."""
# RFC 5322's dot-atom: quoted forms and other scripts are rare, and often refused.
_LOCAL: Final = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")


def normalised(text: str) -> str | None:
    """The one form of an address: lower case, its domain as the name service writes it.

    None if it is no address. Most servers ignore the case of the part before the ``@``; here it
    cannot be used to get a second account.
    """
    local, at, domain = text.strip().rpartition("@")
    if not at or len(local) > LOCAL_MAX or not _LOCAL.fullmatch(local):
        return None
    try:
        name = idna.encode(domain, uts46=True, std3_rules=True).decode("ascii").lower()
    except idna.IDNAError:
        return None
    address = f"{local.lower()}@{name}"
    if len(address) > ADDRESS_MAX or "." not in name or name.endswith("."):
        return None
    return address


def typed_address(text: str) -> str | None:
    """As :func:`normalised`, for what a person typed or pasted: without marks that nobody sees.

    Never for what a program says: to an identity provider, two names that only such a mark tells
    apart may be two people.
    """
    return normalised(typed(text, Purpose.ADDRESS))


def domain_of(address: str) -> str:
    """The domain of an address in its one form."""
    return address.rpartition("@")[2]


_ONE_WRITING: Final = {"HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "CJK", "HANGUL", "BOPOMOFO"}
"""Scripts that one language writes side by side."""


def spelled(domain: str) -> str:
    """A domain in the letters that people read, which ``xn--…`` stands for."""
    try:
        return idna.decode(domain)
    except idna.IDNAError:
        return domain


def letters_by_script(domain: str) -> dict[str, str]:
    """The letters of a domain, by the script that they belong to: ``{"cyrillic": "а", "latin":
    "bcnk"}``; empty if all are of one script.

    A letter of another script looks like the one of a name that everybody knows.
    """
    by_script: dict[str, list[str]] = {}
    for letter in dict.fromkeys(filter(str.isalpha, spelled(domain))):
        script = unicodedata.name(letter, "unknown").split()[0]
        by_script.setdefault("EAST ASIAN" if script in _ONE_WRITING else script, []).append(letter)
    if len(by_script) < 2:
        return {}
    return {script.lower(): "".join(letters) for script, letters in sorted(by_script.items())}


def masked_email(address: str) -> str:
    """An address for a reader who need not know whose it is: ``a…@example.com``."""
    name, _, domain = address.rpartition("@")
    return f"{name[:1]}…@{domain}"

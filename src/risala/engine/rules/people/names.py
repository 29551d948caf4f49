"""What people call things: the one rule for all names, and what it adds for those in mails. Pure.

A name is one line without control characters, and without marks that nobody sees but those that
its script needs: an operator reads a customer's names, and a customer those of a file that somebody
else wrote. Who types a name can be asked for another one (:func:`as_name`); a file cannot be asked
(:func:`name_in_file`).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from risala.sms.typed import Purpose, typed
from risala.sms.unseen import with_needed

_CONTROLS: Final = ("Cc", "Cs", "Co")
"""Categories of what nothing shows, and of what each typeface shows as it likes."""
_READ_TIMES: Final = 4
"""A name is looked at up to so many times its longest length: marks that are removed come with
it."""
NOT_SHOWN: Final = "A name must not contain invisible characters or direction marks."
_ADDRESS: Final = re.compile(r"://|\bwww\.|(?<![\w-])[\w-]{2,}\.[^\W\d_]{2,}|@\w", re.IGNORECASE)
"""What mail programs and phones turn into a link: also a bare domain, and an e-mail address. A row
of letters is looked at once, from its beginning: its length is not bounded here."""


class UnfitName(ValueError):
    """Nothing can have this name."""


class NameTooLong(UnfitName):
    """A name has more characters than it may have."""


def as_name(text: str, characters_max: int) -> str:
    """What somebody typed as a name, as it is kept; empty: nothing of it is seen.

    Raises:
        NameTooLong: it has more characters than ``characters_max``.
        UnfitName: it has control characters, or ones for private use.
    """
    if len(text) > _READ_TIMES * characters_max:
        raise NameTooLong
    name = typed(text, Purpose.NAME)
    if len(name) > characters_max:
        raise NameTooLong
    if _has_control(name):
        raise UnfitName(NOT_SHOWN)
    return name


def name_in_mails(text: str, characters_max: int) -> str:
    """:func:`as_name` of what others read in our mails: it has no link.

    Raises:
        NameTooLong: as there.
        UnfitName: as there, or it has a web or e-mail address.
    """
    name = as_name(text, characters_max)
    if fault := name_fault(name):
        raise UnfitName(fault)
    return name


def name_in_file(text: str, characters_max: int) -> str:
    """A name from a file, or of a file, as it is kept: what :func:`as_name` refuses is left out. It
    may be empty."""
    beginning = text[: _READ_TIMES * characters_max]
    kept = "".join(each for each in beginning if each.isspace() or not _has_control(each))
    return typed(typed(kept, Purpose.NAME)[:characters_max], Purpose.NAME)


def _has_control(name: str) -> bool:
    return any(unicodedata.category(each) in _CONTROLS for each in name)


def name_fault(name: str) -> str | None:
    """What is wrong with a name, as a sentence; None: nothing. Its length is not checked.

    A stranger's organization invites by a mail from our sender: its name must have no link, and no
    marks that make a line read otherwise.
    """
    if _has_control(name) or with_needed(name) != name:
        return NOT_SHOWN
    if _ADDRESS.search(name):
        return "A name must not contain a web or e-mail address. Remove the dot or the @."
    return None

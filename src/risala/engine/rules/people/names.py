"""Names of organizations and people, which others read in our mails and on our pages. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from risala.sms.unseen import with_needed

_CONTROLS: Final = ("Cc", "Cs", "Co")
"""Categories of what nothing shows, and of what each typeface shows as it likes."""
NOT_SHOWN: Final = "A name must not contain invisible characters or direction marks."
_ADDRESS: Final = re.compile(r"://|\bwww\.|(?<![\w-])[\w-]{2,}\.[^\W\d_]{2,}|@\w", re.IGNORECASE)
"""What mail programs and phones turn into a link: also a bare domain, and an e-mail address. A row
of letters is looked at once, from its beginning: its length is not bounded here."""


def has_control(name: str) -> bool:
    """Whether a name has control characters or ones for private use."""
    return any(unicodedata.category(each) in _CONTROLS for each in name)


def name_fault(name: str) -> str | None:
    """What is wrong with a name, as a sentence; None: nothing. Its length is not checked.

    A stranger's organization invites by a mail from our sender: its name must have no link, and no
    marks that make a line read otherwise.
    """
    if has_control(name) or with_needed(name) != name:
        return NOT_SHOWN
    if _ADDRESS.search(name):
        return "A name must not contain a web or e-mail address. Remove the dot or the @."
    return None

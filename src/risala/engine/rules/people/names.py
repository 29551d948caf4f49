"""Names of organizations and people, which others read in our mails and on our pages. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_CONTROL: Final = "C"
"""Categories Cc, Cf, Co, Cs: among them each mark that turns the reading direction."""
_JOINERS: Final = frozenset("\u200c\u200d")
"""Persian and some emoji need them; they show nothing alone."""
_ADDRESS: Final = re.compile(r"://|\bwww\.|(?<![\w-])[\w-]{2,}\.[^\W\d_]{2,}|@\w", re.IGNORECASE)
"""What mail programs and phones turn into a link: also a bare domain, and an e-mail address. A row
of letters is looked at once, from its beginning: its length is not bounded here."""


def name_fault(name: str) -> str | None:
    """What is wrong with a name, as a sentence; None: nothing. Its length is not checked.

    A stranger's organization invites by a mail from our sender: its name must have no link, and no
    marks that make a line read otherwise.
    """
    if any(unicodedata.category(each)[0] == _CONTROL for each in name if each not in _JOINERS):
        return "A name must not contain invisible characters or direction marks."
    if _ADDRESS.search(name):
        return "A name must not contain a web or e-mail address. Remove the dot or the @."
    return None

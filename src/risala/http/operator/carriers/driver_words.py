"""What our own drivers say of their links, in the reader's language.

Drivers speak English, and those of others say what they like: a text that is not here whole stays
as it is, as a quotation in English.
"""

from __future__ import annotations

import re
from typing import Final

from markupsafe import Markup

from risala.http.web.languages import N_, Words

SPOKEN: Final = (
    N_("Not connected yet."),
    N_("The driver is not running."),
    N_("Bound."),
    N_("Bound to receive, but not to send."),
    N_("Bound to send, but not to receive: receipts wait at the carrier."),
    N_("Connecting to {peer}."),
    N_("The link to {peer} ended: {reason}."),
    N_("No connection to {peer}: {reason}."),
    N_("The carrier says that the password is wrong. Correct it in this carrier's settings."),
    N_("The carrier does not know this system_id. Correct it in this carrier's settings."),
    N_("The network denies this SIM; ask its operator."),
    N_("Searching for a network."),
    N_("{modem} is ready on {network}."),
    N_("The SIM wants its PIN. Set pin_env."),
    N_("{port} is not there: unplugged, or starting. Waiting for it."),
    N_("The modem does not answer."),
)
"""The drivers' sentences, with holes for what differs."""


def _pattern(sentence: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\{([a-z]+)\\}", r"(?P<\1>.+?)", re.escape(sentence)))


_PATTERNS: Final = tuple((sentence, _pattern(sentence)) for sentence in SPOKEN)


def driver_said(words: Words, text: str) -> Markup:
    """A driver's text as a quotation, in the reader's language where it is one of ours."""
    for sentence, pattern in _PATTERNS:
        found = pattern.fullmatch(text)
        if found is not None:
            holes = {
                name: Markup("<bdi>{}</bdi>").format(what)
                for name, what in found.groupdict().items()
            }
            return Markup("<q>{}</q>").format(words(sentence, **holes))
    return Markup('<q dir="auto" lang="en">{}</q>').format(text)

"""What mailings say of themselves: their states, what they wait for, and what is wrong with a
row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from risala.engine.features.mailings.records import (
    MailingSource,
    MailingState,
    MailingWait,
    RowState,
)
from risala.http.web.languages import N_, NC_

BADGES: Final[Mapping[MailingState, tuple[str, str]]] = {
    MailingState.CHECKING: ("processing", NC_("state of a mailing", "being checked")),
    MailingState.DRAFT: ("pending", NC_("state of a mailing", "draft")),
    MailingState.SENDING: ("processing", NC_("state of a mailing", "sending")),
    MailingState.PAUSED: ("paused", NC_("state of a mailing", "paused")),
    MailingState.STOPPED: ("canceled", NC_("state of a mailing", "stopped")),
    MailingState.DONE: ("delivered", NC_("state of a mailing", "done")),
}
"""The look of a state, and its word."""

ROW_BADGES: Final[Mapping[RowState, tuple[str, str]]] = {
    RowState.READY: ("pending", NC_("state of a row", "ready")),
    RowState.BAD: ("undelivered", NC_("state of a row", "needs fixing")),
    RowState.LEFT_OUT: ("canceled", NC_("state of a row", "skipped")),
    RowState.ACCEPTED: ("sent", NC_("state of a row", "accepted")),
    RowState.REFUSED: ("failed", NC_("state of a row", "refused")),
}
ROW_FILTERS: Final[Mapping[RowState, str]] = {
    RowState.READY: NC_("rows of a mailing", "Ready"),
    RowState.BAD: NC_("rows of a mailing", "Needs fixing"),
    RowState.LEFT_OUT: NC_("rows of a mailing", "Skipped"),
    RowState.ACCEPTED: NC_("rows of a mailing", "Accepted"),
    RowState.REFUSED: NC_("rows of a mailing", "Refused"),
}

WAITS: Final[Mapping[MailingWait, str]] = {
    MailingWait.SEND_AT: N_("It begins at the time that you chose."),
    MailingWait.HOURS: N_("It is outside its hours of the day, and goes on when they begin."),
    MailingWait.BALANCE: N_("The balance is used up. It goes on by itself after a top-up."),
    MailingWait.SPEND_CAP: N_(
        "The spending limit for today is reached. It goes on after midnight, or when the limit is "
        "raised."
    ),
    MailingWait.LIMIT: N_("It sends as fast as your organization may."),
    MailingWait.QUEUE: N_("The carriers are behind. It goes on as they take its messages."),
    MailingWait.SUSPENDED: N_(
        "Your organization may not send for the moment. It goes on when it may again."
    ),
    MailingWait.SENDER: N_("Its sender is not allowed any more. It goes on when it is."),
    MailingWait.POLICY: N_("A check of ours cannot answer for the moment. It is asked again."),
    MailingWait.SERVICE: N_("The service takes no messages for the moment. It goes on by itself."),
}
URGENT: Final = frozenset(
    {
        MailingWait.BALANCE,
        MailingWait.SPEND_CAP,
        MailingWait.SUSPENDED,
        MailingWait.SENDER,
    }
)
"""Waits that somebody can end."""

SOURCES: Final[Mapping[MailingSource, str]] = {
    MailingSource.FILE: N_("from a file"),
    MailingSource.NUMBERS: N_("from typed numbers"),
    MailingSource.LIST: N_("from a list"),
    MailingSource.AGAIN: N_("failed messages of another mailing"),
}

ENCODINGS: Final[Mapping[str, str]] = {
    "utf-8": N_("Unicode (UTF-8)"),
    "utf-16": N_("Unicode (UTF-16)"),
    "windows-1252": N_("Western European (Windows-1252)"),
    "windows-1256": N_("Arabic (Windows-1256)"),
    "macintosh": N_("Western European (Macintosh)"),
    "ibm850": N_("Western European (MS-DOS)"),
}
"""How the letters of a text file are written."""
SEPARATORS: Final[Mapping[str, str]] = {
    ";": N_("Semicolon ;"),
    ",": N_("Comma ,"),
    "\t": N_("Tab"),
    "|": N_("Vertical bar |"),
}
SEPARATOR_NAMES: Final[Mapping[str, str]] = {
    "semicolon": ";",
    "comma": ",",
    "tab": "\t",
    "bar": "|",
}
"""Separators as a form sends them: a tab would not survive."""

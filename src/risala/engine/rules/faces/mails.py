"""Messages by mail: who may send them, and what they say. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from risala.config.model import MailToSmsSection, Settings

CUT: Final = "..."
"""The end of a message that was cut. Three dots, as one character would make it Unicode."""
AUTOMATIC: Final = "The mail is an automatic reply or report, so nothing was sent."
"""Mails between two machines could go on for ever, so these are not even refused."""
BOUNCE: Final = "The mail is a bounce (its envelope has no sender), so nothing was sent."


class MailTables:
    """The settings' tables, which may change while the service runs."""

    def __init__(self, tables: Sequence[MailToSmsSection]) -> None:
        self._tables = tuple(tables)

    def __bool__(self) -> bool:
        return bool(self._tables)

    def retune(self, settings: Settings) -> None:
        """Apply tables that were changed at run time."""
        self._tables = settings.mail_to_sms

    def of(self, sender: str) -> MailToSmsSection | None:
        """The table for an envelope's sender; None: they may not send."""
        address = sender.casefold()
        domain = address[address.rfind("@") :]
        return next(
            (
                table
                for table in self._tables
                if any(each.casefold() in (address, domain) for each in table.senders)
            ),
            None,
        )


def ignored(sender: str, *, is_automatic: bool) -> str | None:
    """Why a mail is passed over in silence, in a sentence; None: it is not."""
    if not sender:
        return BOUNCE
    return AUTOMATIC if is_automatic else None


def text_of(subject: str, text: str, table: MailToSmsSection) -> str:
    """The message's text; empty: the mail has nothing to send."""
    parts = {"prefix": (subject, text), "off": (text,), "only": (subject,)}[table.subject]
    whole = "\n".join(filter(None, parts))
    if len(whole) <= table.characters_max:
        return whole
    return whole[: max(0, table.characters_max - len(CUT))].rstrip() + CUT[: table.characters_max]

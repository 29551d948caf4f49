"""The form of names and passwords of each face's credentials; who may send messages by mail, and
what they say. Pure."""

from __future__ import annotations

import re
from typing import Final

from risala.config.model import MailToSmsSection, Settings
from risala.dataclass import dataclass
from risala.engine.model.errors import RateLimited
from risala.engine.rules.windows import SlidingWindows, Window

PLAIN_ALPHABET: Final = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"
"""Letters and digits that are not mistaken for one another and need no escaping in an address."""
HEX_ALPHABET: Final = "0123456789abcdef"
FACE: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
"""The name of a face, as a plugin registers it."""
_USERNAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]*")


@dataclass(frozen=True, slots=True)
class CredentialShape:
    """The form of one face's names and passwords."""

    username_max: int = 40
    """Characters."""
    made: str = ""
    """The prefix of a generated name: 32 hexadecimal digits follow, and the name cannot be chosen.
    Empty: it is chosen, and generated only if it is not."""
    alphabet: str = PLAIN_ALPHABET
    """The alphabet of a password."""
    length: int = 32
    """The number of characters of a password: 187 bits."""
    signs: bool = False
    """Calls for it are signed with a key that is derived from its password."""

    @property
    def is_weak(self) -> bool:
        """Whether the password could be found from the hash by trying: so its hash is a slow
        one."""
        return self.length < 16


ANY: Final = CredentialShape()
"""The shape for a plugin's face."""
SHAPES: Final = {
    "kannel": CredentialShape(),
    # The form of playSMS's own tokens, for clients with a field of that size: 128 bits.
    "playsms": CredentialShape(alphabet=HEX_ALPHABET),
    # The key of an HMAC-SHA1 that is longer than a block of 64 octets is hashed first: so that hash
    # is what is kept for signing, and it cannot be used to sign in.
    "twilio": CredentialShape(
        username_max=34, made="AC", alphabet=HEX_ALPHABET, length=72, signs=True
    ),
    # SMPP 3.4 §5.2.1 and §5.2.2: 16 and 9 octets, of which one ends them.
    "smpp": CredentialShape(username_max=15, length=8),
}


def shape_of(face: str) -> CredentialShape:
    return SHAPES.get(face, ANY)


def username_fault(face: str, username: str) -> str | None:
    """Why a name cannot be chosen for a face's credential; None: it can."""
    shape = shape_of(face)
    if shape.made:
        return f"The user name of a {face} credential is generated. Do not give one."
    if len(username) > shape.username_max or not _USERNAME.fullmatch(username):
        return (
            f"A user name has 1 to {shape.username_max} letters and digits. The characters `.`, "
            f"`_`, `@` and `-` may follow the first one."
        )
    return None


# -- mails

CUT: Final = "..."
"""The end of a message that was cut. Three dots, as one character would make it Unicode."""
AUTOMATIC: Final = "The mail is an automatic reply or report, so nothing was sent."
"""Mails between two machines could go on for ever, so these are not even refused."""
BOUNCE: Final = "The mail is a bounce (its envelope has no sender), so nothing was sent."
MAIL_SENDERS_MAX: Final = 10_000
"""Mail addresses whose messages are counted; beyond that, the one unused for longest is forgotten.

With the defaults at most about 20 MB, if each of them has used its hour up.
"""
_MINUTE_MS: Final = 60_000
_HOUR_MS: Final = 3_600_000


class MailSenders:
    """Senders who may send by mail, and how often, by the settings; the tables may change while the
    service runs."""

    def __init__(self, settings: Settings) -> None:
        self._tables = settings.mail_to_sms
        windows = (
            Window(settings.limits.mails_per_minute, _MINUTE_MS),
            Window(settings.limits.mails_per_hour, _HOUR_MS),
        )
        self._sent = SlidingWindows(windows, MAIL_SENDERS_MAX)

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

    def take(self, sender: str, now_s: float) -> None:
        """Count one message, by a clock that cannot be set.

        Raises:
            RateLimited: the address has sent too many; this one is not counted.
        """
        wait_ms = self._sent.take(sender.casefold(), int(now_s * 1000))
        if wait_ms > 0:
            text = "This address has sent too many messages by mail. They are sent later."
            raise RateLimited("mail", -(-wait_ms // 1000), text)


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

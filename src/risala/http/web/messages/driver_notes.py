"""What our own drivers note of one message where its cause alone does not tell enough: sentences
that the timelines of both sites show in the reader's language."""

from __future__ import annotations

import re
from typing import Final

from markupsafe import Markup

from risala.http.web.languages import N_, Words

NOTES: Final = (
    # What an HTTP carrier answered.
    N_("The carrier answered with a redirect, which is not followed: check `url`."),
    N_("The carrier has nothing at this address: check `url` and `send.path`."),
    N_("The carrier's answer is not JSON: another program, such as a proxy, may have given it."),
    N_("The carrier's answer is too long."),
    N_("The carrier said yes, and gave no id."),
    N_("The carrier answered with a word that says neither yes nor no."),
    N_("The carrier gave an id with a word that says neither yes nor no."),
    N_("The carrier's id has a form that no receipt could repeat."),
    # Why nothing left for it.
    N_("The carrier's driver is not running yet."),
    N_("The carrier refuses connections."),
    N_("The carrier refuses our client id and secret."),
    N_("The carrier refuses our user and password."),
    N_("The carrier gives no token, so nothing was sent."),
    N_("The carrier does not speak TLS at this address: check `url`."),
    N_("The carrier's name cannot be found: check `url`, and this machine's DNS."),
    N_("The carrier's machine does not answer in time."),
    N_("Every connection to the carrier was busy for too long."),
    N_("The carrier did not answer in time."),
    N_("The carrier closed the connection, or did not answer in HTTP."),
    N_("No connection to the carrier can be made."),
    N_("The connection to the carrier was lost."),
    # What a phone did.
    N_("The phone did not fetch it in time."),
    N_("The phone had not sent it, and gave it back."),
    N_("The phone says that the message's validity is over."),
    N_("The phone took the message for expired, though it is not: its clock is wrong."),
    N_("A phone that is no longer this carrier's had fetched it."),
)
LTE: Final = (
    N_("The modem is on LTE, and the network does not take its text there."),
    N_("The modem has LTE for data alone, and no way for a text."),
    N_("The modem sends texts as data alone (+CGSMS: 0), which the network does not take."),
    N_("To keep it off LTE: {command}."),
    N_("To let it take another way: {command}."),
    N_("Ask the SIM's operator for SMS over SGs or IMS."),
)
"""Why a text by a modem on LTE failed; a note has two or three of them, one after the other."""
UNTRUSTED: Final = N_(
    "The carrier's certificate is not trusted: {reason}. Nothing is sent until it is right; "
    "`tls_ca_file` names a CA of your own."
)
"""The one with a hole; OpenSSL fills it, in English."""
_OURS: Final = frozenset((*NOTES, *LTE))
_COMMANDS: Final = tuple(each.split("{command}") for each in LTE if "{command}" in each)
_LONGEST: Final = 600
"""Characters of a note that is looked through."""
_BEFORE, _, _AFTER = UNTRUSTED.partition("{reason}")


def note_sentence(words: Words, note: str) -> Markup | None:
    """A driver's note in the reader's language; None: it is none of ours."""
    if note.startswith(_BEFORE) and note.endswith(_AFTER):
        reason = Markup("<bdi lang=en>{}</bdi>").format(note[len(_BEFORE) : -len(_AFTER)])
        return words(UNTRUSTED, reason=reason)
    if note in _OURS:
        return words(note)
    sentences = [_sentence(words, each) for each in _parts(note)]
    known = [each for each in sentences if each is not None]
    return Markup(" ").join(known) if len(known) == len(sentences) > 0 else None


def _parts(note: str) -> list[str]:
    """The sentences of a note; none of a note that is longer than ours."""
    return re.split(r"(?<=\.) (?=[A-Z])", note) if len(note) <= _LONGEST else []


def _sentence(words: Words, text: str) -> Markup | None:
    """One sentence about LTE; None: it is none."""
    if text in LTE:
        return words(text)
    for before, after in _COMMANDS:
        if text.startswith(before) and text.endswith(after):
            command = Markup("<bdi dir=ltr>{}</bdi>").format(
                text[len(before) : len(text) - len(after)]
            )
            return words(f"{before}{{command}}{after}", command=command)
    return None

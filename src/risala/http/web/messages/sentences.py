"""Lines of a message's timeline in the reader's language, from the kind and values in the engine.

The engine's own sentences (``engine/model/sentences.py``) are English and for the API; these are
the same in the words of the pages. A kind without a sentence here uses the engine's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from markupsafe import Markup, escape

from risala.engine.model.cause_sentences import cause_sentence
from risala.engine.model.records.messages import StoryEntry
from risala.http.web.formats import Formats
from risala.http.web.languages import N_, Words
from risala.http.web.messages.driver_notes import note_sentence
from risala.sms.cause import Cause
from risala.sms.evident import HEADER, TextForm, TextLabel, read_label

_PLAIN: Final = {
    "DELIVERED": N_("Delivered to the phone."),
    "PARTS_FOLLOW": N_("The remaining parts follow."),
    "TAKEN_BY_RECEIPT": N_("No answer came, but a receipt did: the carrier accepted it."),
    "RECEIPT_AGAIN": N_("Another receipt says the same; nothing changes."),
    "RESTORED_SENDS": N_("Restored from a backup: it is sent now, and may arrive twice."),
    "RESTORED_WAITS": N_("Restored from a backup: it is sent at its scheduled time."),
    "RESTORED_HELD": N_(
        "Restored from a backup: it is held until the operator releases it or ends it."
    ),
    "RESTORED_GOES_ON": N_("Restored from a backup: it had not been sent yet, and continues."),
    "RESTORED_UNCERTAIN": N_(
        "Restored from a backup: it is not known what the carrier did with it."
    ),
    "CODE_ENTERED": N_("Its code was entered, so the message has arrived."),
    "REACHABLE": N_("The carrier says that the phone can be reached again."),
    "SERVED": N_("A carrier serves this number now; waiting for its turn."),
}
_WAYS: Final = {
    "mailing": N_("Received from a mailing."),
    "smpp": N_("Received over SMPP."),
    "hook": N_("Received through a hook."),
    "alarm": N_("Received from an alarm."),
}
"""The ways that messages come in besides the API; others are plugins'."""
_WAITS: Final = {
    "unserved": N_("It waits: no enabled carrier serves this number."),
    "suspended": N_("It is held: the organization is suspended."),
    "restored": N_(
        "It is held: the database was restored from a backup, and the operator must decide."
    ),
    "paused": N_("It waits: {carrier} is paused."),
    "throttled": N_("It waits: {carrier} is sending at its highest speed."),
    "unfetched": N_("It waits until {carrier} fetches it."),
    "stopping": N_("It waits: the service is not running."),
    "operator": N_("It waits: {carrier} needs our attention."),
    "link_down": N_("It waits: the link of {carrier} is down."),
    "quota": N_("It waits: the quota of {carrier} is used up."),
    "faults": N_("It waits: {carrier} failed too often and gets no messages for a while."),
    "scheduled": N_("It waits for its scheduled time."),
    "retry": N_("It waits for its next attempt."),
}
_WAITS_UNTIL: Final = {
    "quota": N_("It waits until {time} for {carrier}: its quota is used up."),
    "faults": N_("It waits: {carrier} failed too often and gets no messages until {time}."),
    "scheduled": N_("It is scheduled for {time}."),
    "retry": N_("It waits until {time} for its next attempt."),
}

_UNDECIDED: Final = {
    "fail": N_("If no answer or receipt comes by {time}, it counts as failed."),
    "resend": N_(
        "If no answer or receipt comes by {time}, it is sent again, or fails if it was sent too "
        "often or is too late."
    ),
    "repeat": N_(
        "If no answer or receipt comes by {time}, the same attempt is submitted again with the "
        "same id, or fails if that was done too often or is too late."
    ),
    "ask": N_(
        "If no answer or receipt comes by {time}, the carrier is asked whether it has the message."
    ),
}
"""How an uncertain message goes on: by its policy, or before that by its carrier."""


_FORMS: Final[Mapping[str, str]] = {
    TextForm.GSM7: N_("GSM 7-bit"),
    TextForm.PACKED: N_("GSM 7-bit"),
    TextForm.ASCII: "ASCII",
    TextForm.UTF8: "UTF-8",
    TextForm.LATIN1: "Latin-1",
    TextForm.UCS2: "UCS-2",
    TextForm.UCS2_LE: N_("UCS-2 with its bytes swapped"),
    HEADER: N_("a text with a header"),
}
_TEXT_LABELS: Final = (
    N_(
        "The carrier labelled this text as {declared}; it was read as {believed}, because that is "
        "what its content reads as."
    ),
    N_(
        "The carrier labelled this text as {declared}; it was read as {believed}, because the "
        "settings say so."
    ),
)
_RECEIPT_LABELS: Final = (
    N_(
        "The carrier labelled this receipt as {declared}; it was read as {believed}, because that "
        "is what its content reads as."
    ),
    N_(
        "The carrier labelled this receipt as {declared}; it was read as {believed}, because the "
        "settings say so."
    ),
)


def label_sentence(words: Words, label_text: str | None) -> Markup | None:
    """How a text that came in was labelled; None: it was read as labelled."""
    label = read_label(label_text)
    return None if label is None else _labelled(words, label, _TEXT_LABELS)


def _labelled(words: Words, label: TextLabel, sentences: tuple[str, str]) -> Markup:
    declared, believed = (words(_FORMS.get(each, each)) for each in label[:2])
    return words(sentences[label.is_forced], declared=declared, believed=believed)


def raw_and_label(words: Words, raw: str) -> tuple[str, Markup | None]:
    """The carrier's word in a line of a timeline, and how its receipt was labelled if that was
    wrong (:attr:`risala.sms.receipt.Receipt.in_timeline`)."""
    word, _, label_text = raw.removesuffix(")").rpartition(" (")
    label = read_label(label_text) if raw.endswith(")") else None
    if label is None:
        return raw, None
    return word, _labelled(words, label, _RECEIPT_LABELS)


def line_sentence(formats: Formats, entry: StoryEntry) -> Markup:
    """The text of a line, in one sentence or two."""
    words, code = formats.words, entry.code
    if code in _PLAIN:
        return words(_PLAIN[code])
    write = _WRITERS.get(code)
    return escape(entry.text) if write is None else write(formats, entry)


def cause_markup(formats: Formats, word: str | None) -> Markup | None:
    """The sentence of a cause; None: no cause, or an unknown one."""
    if word is None or word not in Cause.__members__:
        return None
    return escape(cause_sentence(Cause(word), formats.words.language.value))


def _why(formats: Formats, entry: StoryEntry) -> Markup:
    """The cause, with the driver's own words where it has some. A sentence of our own drivers says
    more than the cause, and stands alone."""
    note = str(entry.values.get("note") or "")
    if (ours := note_sentence(formats.words, note)) is not None:
        return ours
    cause = cause_markup(formats, entry.cause)
    if cause is None:
        cause = formats.words("The carrier accepted it.")
    return cause if not note else Markup("{} <q dir=auto lang=en>{}</q>").format(cause, note)


def _and(*sentences: Markup | None) -> Markup:
    return Markup(" ").join(each for each in sentences if each)


def _carrier(entry: StoryEntry) -> Markup:
    return Markup("<bdi>{}</bdi>").format(entry.carrier or entry.values.get("carrier") or "–")


def _refunded(formats: Formats, entry: StoryEntry) -> Markup | None:
    return formats.words("Refunded.") if "refunded" in entry.values else None


def _waits(formats: Formats, entry: StoryEntry) -> Markup:
    values = entry.values
    wait, carrier = (
        str(values.get("wait", "")),
        Markup("<bdi>{}</bdi>").format(values.get("carrier", "")),
    )
    if "until" in values and wait in _WAITS_UNTIL:
        at = formats.moment(int(values["until"]))
        return formats.words(_WAITS_UNTIL[wait], carrier=carrier, time=at)
    if wait in _WAITS:
        return formats.words(_WAITS[wait], carrier=carrier)
    return formats.words("It waits for its turn.")


def _accepted(formats: Formats, entry: StoryEntry) -> Markup:
    values = entry.values
    policies, face = values.get("policies"), values.get("face")
    if not policies and not face and "wait" not in values:
        return formats.words("Accepted and stored; waiting for its turn.")
    who = Markup("<bdi>{}</bdi>").format(policies)
    by = formats.words("Rewritten by the policy {name}.", name=who) if policies else None
    way = _way(formats, str(face)) if face else None
    return _and(formats.words("Accepted and stored."), way, by, _waits(formats, entry))


def _way(formats: Formats, face: str) -> Markup:
    """By which way it came, if not by the API; a plugin's way is called as its plugin calls it."""
    if face in _WAYS:
        return formats.words(_WAYS[face])
    return formats.words("Received through {way}.", way=Markup("<bdi>{}</bdi>").format(face))


def _attempt(formats: Formats, entry: StoryEntry) -> Markup:
    number = formats.num(entry.attempt or 1)
    text = formats.words("Attempt {n} through {carrier}.", n=number, carrier=_carrier(entry))
    if "usual" in entry.values:
        usual = Markup("<bdi>{}</bdi>").format(entry.values["usual"])
        text = _and(formats.words("The usual line {carrier} cannot send now.", carrier=usual), text)
    line = entry.values.get("line")
    if line is None:
        return text
    own = formats.words("The sender is its own number, {number}.", number=formats.tel(str(line)))
    return _and(text, own if line else formats.words("The sender is its own number."))


def _sent(formats: Formats, entry: StoryEntry) -> Markup:
    values, more = entry.values, None
    if "no_receipts" in values:
        more = formats.words(
            "This line gives no delivery reports, so it will not be known whether it arrives."
        )
    elif "no_id" in values:
        more = formats.words("It gave no id, so no receipt can be matched to it.")
    return _and(formats.words("{carrier} accepted it.", carrier=_carrier(entry)), more)


def _ended(formats: Formats, entry: StoryEntry) -> Markup:
    values = entry.values
    last = cause_markup(formats, values.get("last"))
    if entry.cause == Cause.RETRIES_EXHAUSTED and values.get("refusals"):
        times = int(values["refusals"])
        text = formats.words.counted(
            "Refused temporarily {n} time, which is the limit.",
            "Refused temporarily {n} times, which is the limit.",
            times,
            n=formats.num(times),
        )
        return _and(text, last, _refunded(formats, entry))
    return _and(last, _why(formats, entry), _refunded(formats, entry))


def _canceled(formats: Formats, entry: StoryEntry) -> Markup:
    ends = {
        "approved": formats.words("The session was approved before the code was sent."),
        "expired": formats.words("The session expired before the code was sent."),
        "canceled": formats.words("The session was canceled before the code was sent."),
    }
    text = ends.get(str(entry.values.get("session")), formats.words("Canceled."))
    return _and(text, _refunded(formats, entry))


def _uncertain(formats: Formats, entry: StoryEntry) -> Markup:
    values, when = entry.values, None
    decided = _UNDECIDED.get(str(values.get("then")))
    if decided is not None:
        when = formats.words(decided, time=formats.moment(int(values["until"])))
    return _and(formats.words("Uncertain."), _why(formats, entry), when)


def _for_now(formats: Formats, entry: StoryEntry) -> Markup:
    wait = formats.lasting(int(entry.values.get("wait_ms", 0)))
    again = formats.words("It will be tried again in {time}.", time=wait)
    return _and(_why(formats, entry), again)


def _rerouted(formats: Formats, entry: StoryEntry) -> Markup:
    return _and(_why(formats, entry), formats.words("Another carrier will be tried."))


def _resent(formats: Formats, entry: StoryEntry) -> Markup:
    text = formats.words("No answer came, so it is sent again and may arrive twice.")
    alone = None
    if entry.values.get("alone"):
        alone = formats.words("The link was lost each time, so it is now sent on its own.")
    return _and(text, alone)


def _repeated(formats: Formats, entry: StoryEntry) -> Markup:
    if entry.values.get("not_taken"):
        return formats.words(
            "{carrier} says that it does not have the message, so the same attempt is submitted "
            "again with the same id.",
            carrier=_carrier(entry),
        )
    return formats.words("No answer came, so the same attempt is submitted again with the same id.")


def _parts_wait(formats: Formats, entry: StoryEntry) -> Markup:
    if entry.cause is None:
        return formats.words("The carrier was paused between two parts; the others follow.")
    if entry.cause == Cause.SERVICE_STOPPED:
        return formats.words("The service stopped between two parts; the others follow.")
    return formats.words("The link went down between two parts; the others follow.")


def _part(formats: Formats, entry: StoryEntry) -> Markup:
    return formats.words(
        "{carrier} accepted part {n} of {parts}.",
        carrier=_carrier(entry),
        n=formats.num(entry.segment or 1),
        parts=formats.num(int(entry.values.get("parts", 1))),
    )


def _said(formats: Formats, entry: StoryEntry) -> Markup:
    if entry.cause is None:
        return formats.words("It says: delivered.")
    return _and(formats.words("It says: not delivered."), _why(formats, entry))


def _receipt(formats: Formats, entry: StoryEntry) -> Markup:
    parts, early = int(entry.values.get("parts", 1)), None
    if "early" in entry.values:
        early = formats.words("It came before the carrier's answer.")
    if parts > 1:
        number = formats.num(entry.segment or 1)
        text = formats.words("Receipt for part {n} of {parts}.", n=number, parts=formats.num(parts))
    else:
        text = formats.words("A receipt.")
    return _and(text, _said(formats, entry), early)


def _not_final(formats: Formats, entry: StoryEntry) -> Markup:
    if "late" in entry.values:
        return formats.words(
            "A report that is not final came after the final one; nothing changes."
        )
    return formats.words("A report came that is not final: the carrier may still deliver it.")


def _late(formats: Formats, entry: StoryEntry) -> Markup:
    late = formats.words("A receipt came too late to change anything.")
    return _and(late, _said(formats, entry))


def _contradiction(formats: Formats, entry: StoryEntry) -> Markup:
    if "failed" in entry.values:
        return formats.words(
            "A later receipt says that it was delivered after all. It stays failed, and the refund "
            "stays too."
        )
    sentence = _said(formats, entry)
    return _and(
        formats.words("A receipt contradicts the one before it."),
        sentence,
        formats.words("Nothing changes."),
    )


def _late_answer(formats: Formats, entry: StoryEntry) -> Markup:
    text = formats.words("A late answer from {carrier}.", carrier=_carrier(entry))
    return _and(text, _why(formats, entry), formats.words("Nothing changes."))


_WRITERS: Final[Mapping[str, Callable[[Formats, StoryEntry], Markup]]] = {
    "ACCEPTED": _accepted,
    "ATTEMPT": _attempt,
    "SENT": _sent,
    "UNDELIVERED": _ended,
    "FAILED": _ended,
    "CANCELED": _canceled,
    "UNCERTAIN": _uncertain,
    "HELD_BACK": _why,
    "REFUSED_FOR_NOW": _for_now,
    "REROUTED": _rerouted,
    "RESENT": _resent,
    "REPEATED": _repeated,
    "PARTS_WAIT": _parts_wait,
    "PART_ACCEPTED": _part,
    "RECEIPT": _receipt,
    "STILL_TRYING": _not_final,
    "RECEIPT_LATE": _late,
    "RECEIPT_CONTRADICTS": _contradiction,
    "ANSWER_LATE": _late_answer,
    "WAITS": _waits,
}

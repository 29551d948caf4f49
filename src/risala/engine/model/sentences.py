"""Lines of the timeline as English sentences, written when they are shown: no sentence is stored.

Other languages are other files of this form; the meaning and values of each kind of line are in
:mod:`risala.engine.model.lines`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from risala.engine.model.cause_sentences import cause_sentence
from risala.engine.model.lines import DatedLine, Kind, Line, Values, Wait
from risala.engine.model.times import iso
from risala.sms.cause import Cause, cause_of

FACE: Final = "mailing"
"""What the timeline of a mailing's message says of the way it came."""

_NONE: Final[Values] = {}


def sentence(entry: DatedLine) -> str:
    """The meaning of a line, in one English sentence or two."""
    return _WRITERS[entry.line.kind](entry)


def _values(entry: DatedLine) -> Values:
    return entry.line.values or _NONE


def _why(line: Line) -> str:
    """The driver's own sentence if it says more than the cause's."""
    note = (line.values or _NONE).get("note")
    if note:
        return str(note)
    return "The carrier accepted it." if line.cause is None else cause_sentence(line.cause)


def _run_on(text: str) -> str:
    """A sentence changed into the second half of another one."""
    return f"the {text[4:]}" if text.startswith("The ") else text


def _moment(at_ms: int, seen_from_ms: int, *, seconds: bool = False) -> str:
    """A time as ``12:03 UTC``, with its day if that is not the line's own."""
    at, now = iso(at_ms), iso(seen_from_ms)
    day = "" if at[:10] == now[:10] else f"{at[:10]} "
    return f"{day}{at[11 : 19 if seconds else 16]} UTC"


def _accepted(entry: DatedLine) -> str:
    values = _values(entry)
    policies = values.get("policies")
    by = ""
    if "face" in values:
        face, credential = values["face"], values["credential"]
        by = (
            f" by the mailing {credential}"
            if face == FACE
            else f" by the face {face} ({credential})"
        )
    who = f" Rewritten by the policy {policies}." if policies else ""
    if "wait" in values:
        return f"Accepted{by}.{who} {_waits(entry)}"
    if who:
        return f"Accepted{by}.{who} It waits for its turn."
    return f"Accepted{by}; waiting for its turn."


def _way(values: Values) -> str:
    """The face that a message came in by; nothing for the API."""
    if "face" not in values:
        return ""
    face, credential = values["face"], values["credential"]
    return (
        f" by the mailing {credential}" if face == FACE else f" by the face {face} ({credential})"
    )


def _waits(entry: DatedLine) -> str:
    values = _values(entry)
    carrier = values.get("carrier", "")
    until = f" until {_moment(int(values['until']), entry.at)}" if "until" in values else ""
    since = f" since {_moment(int(values['since']), entry.at)}" if "since" in values else ""
    match values.get("wait"):
        case Wait.SCHEDULED:
            return f"It is scheduled for{until.removeprefix(' until')}."
        case Wait.RETRY:
            return f"It waits{until} for its next attempt."
        case Wait.UNSERVED:
            return "It waits: no enabled carrier serves this number."
        case Wait.SUSPENDED:
            return "It is held: the organization is suspended."
        case Wait.LINK_DOWN:
            return f"It waits: the link of {carrier} is down{since}."
        case Wait.OPERATOR:
            return f"It waits: {carrier} needs the operator{since}."
        case Wait.PAUSED:
            return f"It waits: the operator paused {carrier}."
        case Wait.QUOTA:
            why = _run_on(str(values.get("note", "its quota is used up.")))
            return f"It waits{until} for {carrier}: {why}"
        case Wait.THROTTLED:
            return f"It waits: {carrier} is sending at its highest speed."
        case Wait.UNFETCHED:
            return f"It waits until {carrier} fetches it."
        case Wait.FAULTS:
            return f"It waits: {carrier} failed too often and gets no messages{until}."
        case Wait.RESTORED:
            return (
                "It is held: the database was restored from a backup, and the operator must decide."
            )
        case Wait.STOPPING:
            return "It waits: the service is not running."
        case _:
            return "It waits for its turn."


def _attempt(entry: DatedLine) -> str:
    text, usual = f"Attempt {entry.attempt} through {entry.carrier}.", _values(entry).get("usual")
    if usual is not None:
        text = f"The usual line {usual} cannot send now. {text}"
    line = _values(entry).get("line")
    if line is None:
        return text
    return f"{text} The sender is its own number{line and f', {line}'}."


def _sent(entry: DatedLine) -> str:
    text, values = f"Accepted by {entry.carrier}.", _values(entry)
    if "no_receipts" in values:
        return (
            f"{text} This line gives no delivery reports, so it will not be known whether it "
            "arrives."
        )
    if "no_id" in values:
        return f"{text} It gave no id, so no receipt can be matched to it."
    return text


_THEN: Final[Mapping[str, str]] = {
    "resend": "it is sent again, or fails if it was sent too often or is too late",
    "repeat": "the same attempt is submitted again with the same id, or fails if that was done too "
    "often or is too late",
    "ask": "the carrier is asked whether it has the message",
}
"""How an uncertain message goes on; of others it counts as failed."""


def _uncertain(entry: DatedLine) -> str:
    values, text = _values(entry), f"Uncertain: {_run_on(_why(entry.line))}"
    if "until" not in values:
        return text
    then = _THEN.get(str(values.get("then")), "it counts as failed")
    until = _moment(int(values["until"]), entry.at, seconds=True)
    return f"{text} If no answer or receipt comes by {until}, {then}."


def _ended(entry: DatedLine) -> str:
    """The sentence of a message that failed or was not delivered: the cause, and the refund."""
    line, values = entry.line, _values(entry)
    last = values.get("last")
    if line.cause is Cause.RETRIES_EXHAUSTED:
        times, last_time = values.get("refusals"), _run_on(_last(line))
        text = f"The carrier refused it {times} times; the last time: {last_time}"
    elif last is not None:
        text = f"{_last(line)} {cause_sentence(line.cause or Cause.REJECTED)}"
    else:
        text = _why(line)
    return f"{text} Refunded." if "refunded" in values else text


def _last(line: Line) -> str:
    values = line.values or _NONE
    if "note" in values:
        return str(values["note"])
    return cause_sentence(cause_of(str(values.get("last")), Cause.REJECTED))


_SESSION_ENDS: Final[Mapping[str, str]] = {
    "approved": "was approved",
    "expired": "expired",
    "canceled": "was canceled",
}


def _canceled(entry: DatedLine) -> str:
    values = _values(entry)
    text = "Withdrawn."
    if "session" in values:
        end = _SESSION_ENDS.get(str(values["session"]), "ended")
        text = f"The session {end} before the code was sent."
    return f"{text} Refunded." if "refunded" in values else text


def _for_now(entry: DatedLine) -> str:
    wait_s = int(_values(entry).get("wait_ms", 0)) / 1000
    return f"{_why(entry.line)} It will be tried again in {wait_s:g} s."


def _parts_wait(entry: DatedLine) -> str:
    match entry.line.cause:
        case None:
            return "The carrier was paused between two parts; the others follow."
        case Cause.SERVICE_STOPPED:
            return "The service stopped between two parts; the remaining ones follow."
        case _:
            return "The link went down between two parts; the others follow."


def _part(entry: DatedLine) -> str:
    parts = int(_values(entry).get("parts", 1))
    return f" (part {entry.segment} of {parts})" if parts > 1 else ""


def _result(line: Line) -> str:
    return "delivered" if line.cause is None else f"not delivered. {_why(line)}"


def _receipt(entry: DatedLine) -> str:
    parts = int(_values(entry).get("parts", 1))
    which = f"Receipt for part {entry.segment} of {parts}" if parts > 1 else "Receipt"
    early = " It came before the carrier's answer." if "early" in _values(entry) else ""
    return f"{which}: {_result(entry.line).removesuffix('.')}.{early}"


def _contradiction(entry: DatedLine) -> str:
    if "failed" in _values(entry):
        return (
            "A later receipt says that the message was delivered after all. Its status stays "
            "failed."
        )
    now = "delivered" if entry.line.cause is None else "not delivered"
    before = "not delivered" if entry.line.cause is None else "delivered"
    return (
        f"A receipt contradicts the one before it: that one said {before}, this one says "
        f"{now}. Nothing changes."
    )


def _late_receipt(entry: DatedLine) -> str:
    meaning = _result(entry.line).removesuffix(".")
    return f"A receipt came too late to change anything: {meaning}."


def _late_answer(entry: DatedLine) -> str:
    meaning = _run_on(_why(entry.line))
    return f"A late answer from {entry.carrier}: {meaning} Nothing changes."


def _resent(entry: DatedLine) -> str:
    text = "No answer came, so it is sent again and may arrive twice."
    if not (entry.line.values or {}).get("alone"):
        return text
    return f"{text} The link was lost each time, so it is now sent on its own."


def _repeated(entry: DatedLine) -> str:
    before = "No answer came"
    if "not_taken" in _values(entry):
        before = f"{entry.carrier} says that it does not have the message"
    return f"{before}, so the same attempt is submitted again with the same id."


_WRITERS: Final[Mapping[Kind, Callable[[DatedLine], str]]] = {
    Kind.UNKNOWN: lambda _: "A newer version of Risala wrote this line.",
    Kind.ACCEPTED: _accepted,
    Kind.ATTEMPT: _attempt,
    Kind.SENT: _sent,
    Kind.DELIVERED: lambda _: "Delivered to the phone.",
    Kind.UNDELIVERED: _ended,
    Kind.FAILED: _ended,
    Kind.CANCELED: _canceled,
    Kind.UNCERTAIN: _uncertain,
    Kind.HELD_BACK: lambda entry: _why(entry.line),
    Kind.REFUSED_FOR_NOW: _for_now,
    Kind.REROUTED: lambda entry: f"{_why(entry.line)} Another carrier will be tried.",
    Kind.RESENT: _resent,
    Kind.REPEATED: _repeated,
    Kind.PARTS_WAIT: _parts_wait,
    Kind.PARTS_FOLLOW: lambda _: "The remaining parts follow.",
    Kind.PART_ACCEPTED: lambda entry: f"Accepted by {entry.carrier}{_part(entry)}.",
    Kind.TAKEN_BY_RECEIPT: lambda _: "No answer came, but a receipt did: the carrier accepted it.",
    Kind.RECEIPT: _receipt,
    Kind.STILL_TRYING: lambda entry: (
        "A report that is not final came after the final one; nothing changes."
        if "late" in _values(entry)
        else "A report came that is not final: the carrier may still deliver it."
    ),
    Kind.RECEIPT_AGAIN: lambda _: "Another receipt says the same; nothing changes.",
    Kind.RECEIPT_LATE: _late_receipt,
    Kind.RECEIPT_CONTRADICTS: _contradiction,
    Kind.ANSWER_LATE: _late_answer,
    Kind.RESTORED_SENDS: lambda _: "Restored from a backup: it is sent now, and may arrive twice.",
    Kind.RESTORED_WAITS: lambda _: "Restored from a backup: it is sent at its scheduled time.",
    Kind.RESTORED_HELD: lambda _: (
        "Restored from a backup: it is held until the operator releases it or ends it."
    ),
    Kind.RESTORED_GOES_ON: lambda _: (
        "Restored from a backup: it had not been sent yet, and continues."
    ),
    Kind.RESTORED_UNCERTAIN: lambda _: (
        "Restored from a backup: it is not known what the carrier did with it."
    ),
    Kind.WAITS: _waits,
    Kind.CODE_ENTERED: lambda _: "Its code was entered, so the message has arrived.",
    Kind.REACHABLE: lambda _: "The carrier says that the phone can be reached again.",
    Kind.SERVED: lambda _: "A carrier serves this number now; waiting for its turn.",
}

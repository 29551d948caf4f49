"""What an answer to a message means. Pure, but for the time of ``Retry-After``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from email.utils import parsedate_to_datetime
from typing import Final

from risala.drivers.http.calling import CallFailed, HttpAnswer
from risala.drivers.http.shape import AnswerShape
from risala.drivers.http.sources import CarrierContent, known_word, looked_up
from risala.drivers.http.words import SLOW, UNCERTAIN, YES, WordVerdict, by_status
from risala.sms.cause import Cause
from risala.sms.outcome import (
    Accepted,
    Outcome,
    Refused,
    Scope,
    Throttled,
    Uncertain,
    Unsent,
)

RETRY_MAX_S: Final = 3600.0
"""The longest wait that we believe a carrier."""
ID_CHARACTERS_MAX: Final = 200
_WORD: Final = re.compile(r"[!-~][ -~]{0,59}")
"""A carrier's word that is shown: anything else may be a text."""
_HIDDEN: Final = "***"

Hide = Callable[[str], str]


def hider(secrets: Callable[[], Iterable[str]]) -> Hide:
    """Takes secrets out of what a carrier wrote, in case it repeats what it was sent."""

    def hide(text: str) -> str:
        for secret in secrets():
            text = text.replace(secret, _HIDDEN)
        return text

    return hide


def shown_word(word: str, hide: Hide) -> str:
    """A carrier's word as it may be shown; empty if it is no word."""
    return hide(word) if _WORD.fullmatch(word) else ""


def outcome_of(
    shape: AnswerShape, answer: HttpAnswer, own_id: str, hide: Hide, now_s: float
) -> Outcome:
    """What an answer to a submit means."""
    content, status = answer.content, answer.status
    word = known_word(shape.word, content, shape.words)
    raw = f"{status} {shown_word(word, hide)}".strip()
    by_word = shape.words.get(word.casefold())
    verdict = by_word or by_status(shape.statuses, status)
    if verdict is None or verdict.kind == UNCERTAIN:
        return Uncertain(raw, _redirect_text(status))
    if verdict.kind == SLOW:
        return Throttled(raw, retry_after_s=retry_after(answer.headers, now_s))
    if verdict.kind != YES:
        return _refused(verdict, raw, status)
    return _yes(shape, answer, own_id, hide, raw, is_known=by_word is not None or not word)


def _redirect_text(status: int) -> str:
    if 300 <= status < 400:
        return "The carrier answered with a redirect, which is not followed: check `url`."
    return ""


def _refused(verdict: WordVerdict, raw: str, status: int) -> Refused:
    text = _redirect_text(status)
    if status in (404, 405) and verdict.cause is Cause.UNSUPPORTED:
        text = "The carrier has nothing at this address: check `url` and `send.path`."
    return Refused(Scope(verdict.kind), raw, text, cause=verdict.cause)


def _yes(
    shape: AnswerShape, answer: HttpAnswer, own_id: str, hide: Hide, raw: str, *, is_known: bool
) -> Outcome:
    content = answer.content
    if shape.json_only and not content.is_json:
        text = (
            "The carrier's answer is not JSON: another program, such as a proxy, may have given it."
        )
        return Uncertain(f"{raw} {_kind_of(answer)}".strip(), text)
    if shape.no_id:
        if is_known:
            return Accepted("", _with_figures(shape, content, hide, raw))
        return Uncertain(raw, "The carrier answered with a word that says neither yes nor no.")
    carrier_id = own_id if shape.own_id else looked_up(shape.id, content).strip()
    if not carrier_id:
        if not is_known:
            # A yes by its status, and inside it an error that the preset does not name.
            return Refused(Scope.CARRIER, raw, cause=Cause.REJECTED)
        return Uncertain(raw, "The carrier said yes, and gave no id.")
    if not is_known and shape.words:
        return Uncertain(
            raw, "The carrier gave an id with a word that says neither yes nor no.", carrier_id
        )
    if len(carrier_id) > ID_CHARACTERS_MAX or not carrier_id.isprintable():
        return Uncertain(raw, "The carrier's id has a form that no receipt could repeat.")
    return Accepted(carrier_id, _with_figures(shape, content, hide, raw))


def _with_figures(shape: AnswerShape, content: CarrierContent, hide: Hide, raw: str) -> str:
    """What the carrier said, with the parts and the price that it counts."""
    for name, source in (("parts", shape.parts), ("cost", shape.cost)):
        if (value := shown_word(looked_up(source, content), hide)) and len(value) <= 20:
            raw += f" {name}={value}"
    return raw


def _kind_of(answer: HttpAnswer) -> str:
    """What an answer is that should be JSON: a word for the timeline."""
    begin = answer.content.body.lstrip()[:1]
    return "HTML" if begin == b"<" else ""


def retry_after(headers: object, now_s: float) -> float | None:
    """Seconds of a ``Retry-After``, which may be a date; None: it says nothing that we believe."""
    text = headers.get("retry-after", "").strip() if isinstance(headers, dict) else ""
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), RETRY_MAX_S)
    try:
        wait_s = parsedate_to_datetime(text).timestamp() - now_s
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(wait_s, 0.0), RETRY_MAX_S)


def outcome_of_failure(failed: CallFailed) -> Outcome:
    """What a submit without an answer means: nothing left, or nobody knows."""
    if not failed.left:
        return Unsent(failed.kind, failed.text)
    is_silent = failed.kind in ("ReadTimeout", "WriteTimeout")
    cause = Cause.NO_ANSWER if is_silent else Cause.LINK_LOST
    return Uncertain(failed.kind, failed.text if failed.kind == "TOO_LONG" else "", cause=cause)

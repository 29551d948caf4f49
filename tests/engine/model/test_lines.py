"""Lines of the timeline: stored as kind, cause and values, written out when they are read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from proofs.reference import SENTENCES, render_sentences

from cases import sweep
from risala.engine.model.cause_sentences import CAUSE_SENTENCES, cause_text
from risala.engine.model.lines import Kind, Line, Wait, line_of
from risala.engine.model.sentences import sentence
from risala.sms.cause import Cause

PAGE = (Path(__file__).parents[3] / "docs/reference/error-codes.md").read_text(encoding="utf-8")
TABLE = SENTENCES.read_text("utf-8")
NOON = 1_795_262_400_000


@dataclass
class Told:
    line: Line
    at: int = NOON
    carrier: str | None = "main"
    attempt: int | None = 2
    segment: int | None = 1


@pytest.mark.parametrize("cause", Cause)
def test_each_cause_has_its_own_sentence_in_three_languages_and_stands_in_the_reference(cause):
    row = CAUSE_SENTENCES[cause]
    assert set(row) == {"en", "fr", "ar"}
    for language, text in row.items():
        others = [S[language] for other, S in CAUSE_SENTENCES.items() if other is not cause]
        assert text not in others
        assert text[-1] == "."
        assert re.search(rf"^\| `{cause}` .*\| {re.escape(text)} \|", TABLE, re.M), text
    in_words = re.search(rf"^With[^#]*`{cause}`", PAGE, re.M)
    assert in_words or re.search(rf"^\| `{cause}` \| {re.escape(row['en'])} \|", PAGE, re.M)
    assert re.search(r"[؀-ۿ]", row["ar"])
    assert cause_text(cause.value) == row["en"]


def test_the_page_of_sentences_is_that_of_the_source():
    assert render_sentences() == TABLE, "`make generated` writes it"


def test_the_numbers_in_the_database_keep_their_meaning():
    assert {kind.name: kind.value for kind in Kind} == {
        "UNKNOWN": 0, "ACCEPTED": 1, "ATTEMPT": 2, "SENT": 3, "DELIVERED": 4, "UNDELIVERED": 5,
        "FAILED": 6, "CANCELED": 7, "UNCERTAIN": 8, "HELD_BACK": 9, "REFUSED_FOR_NOW": 10,
        "REROUTED": 11, "RESENT": 12, "PARTS_WAIT": 13, "PARTS_FOLLOW": 14, "PART_ACCEPTED": 15,
        "TAKEN_BY_RECEIPT": 16, "RECEIPT": 17, "STILL_TRYING": 18, "RECEIPT_AGAIN": 19,
        "RECEIPT_LATE": 20, "RECEIPT_CONTRADICTS": 21, "ANSWER_LATE": 22, "RESTORED_SENDS": 23,
        "RESTORED_UNCERTAIN": 24, "WAITS": 25, "SERVED": 26,
        "RESTORED_WAITS": 27, "CODE_ENTERED": 28, "RESTORED_HELD": 29, "RESTORED_GOES_ON": 30,
        "REACHABLE": 31, "REPEATED": 32,
    }  # fmt: skip


@sweep("kind", Kind)
@sweep("cause", [None, Cause.ABSENT])
def test_every_kind_is_a_sentence_with_and_without_a_cause(kind, cause):
    text = sentence(Told(Line(kind, cause, {"text": "An old one."})))
    assert re.fullmatch(r"[A-Z].*\.", text), text


@sweep("wait", Wait)
def test_every_wait_is_a_sentence(wait):
    bare = sentence(Told(Line(Kind.WAITS, values={"wait": wait, "until": NOON})))
    assert re.fullmatch(r"It (waits|is held|is scheduled).*\.", bare), bare


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (
            Line(Kind.WAITS, values={"wait": "link_down", "carrier": "main", "since": NOON}),
            "It waits: the link of main is down since 12:00 UTC.",
        ),
        (
            Line(Kind.ACCEPTED, values={"wait": "scheduled", "until": NOON + 86_400_000}),
            "Accepted. It is scheduled for 2026-11-22 12:00 UTC.",
        ),
        (
            Line(Kind.REFUSED_FOR_NOW, Cause.CARRIER_FAULT, {"wait_ms": 5000}),
            "The carrier has a technical fault. It will be tried again in 5 s.",
        ),
        (
            Line(Kind.HELD_BACK, Cause.DEVICE_FAULT, {"note": "The SIM wants its PIN."}),
            "The SIM wants its PIN.",
        ),
        (
            Line(Kind.FAILED, Cause.RETRIES_EXHAUSTED, {"refusals": 12, "last": "CARRIER_FAULT"}),
            "The carrier refused it 12 times; the last time: the carrier has a technical fault.",
        ),
        (
            Line(Kind.FAILED, Cause.UNCERTAIN, {"last": "NOT_ACKNOWLEDGED", "refunded": 50}),
            "The message was submitted, but the network did not acknowledge it in time. It is not "
            "known whether the carrier accepted it: it may have been delivered. Refunded.",
        ),
        (
            Line(Kind.UNCERTAIN, Cause.LINK_LOST),
            "Uncertain: the message was submitted, but the link was lost before the answer came.",
        ),
        (
            Line(Kind.UNCERTAIN, Cause.NO_ANSWER, {"until": NOON + 120_000, "then": "fail"}),
            "Uncertain: the message was submitted, but no answer came back. "
            "If no answer or receipt comes by 12:02:00 UTC, it counts as failed.",
        ),
        (
            Line(Kind.UNCERTAIN, Cause.NO_ANSWER, {"until": NOON + 15_000, "then": "resend"}),
            "Uncertain: the message was submitted, but no answer came back. If no answer or "
            "receipt comes by 12:00:15 UTC, it is sent again, or fails if it was sent too often "
            "or is too late.",
        ),
    ],
)
def test_sentences(line, text):
    assert sentence(Told(line)) == text


@pytest.mark.parametrize(
    "line",
    [
        Line(Kind.SENT),
        Line(Kind.FAILED, Cause.ABSENT),
        Line(Kind.ATTEMPT, values={"line": "+22236000001"}),
        Line(Kind.REFUSED_FOR_NOW, Cause.NO_CREDIT, {"wait_ms": 5000, "note": "رصيد"}),
    ],
)
def test_what_is_stored_is_what_is_read(line):
    assert line_of(line.kind.value, line.details) == line


def test_most_lines_need_nothing_but_their_kind(book):
    message_id = book.accept(book.organization())
    stored = book.conn.execute("SELECT kind, details FROM timeline").fetchall()
    assert stored == [(Kind.ACCEPTED, None)]
    assert book.texts(message_id) == ["Accepted; waiting for its turn."]


def test_a_kind_of_a_newer_version_is_no_fault():
    assert line_of(9999, '{"cause":"ABSENT"}') == Line(Kind.UNKNOWN)

"""What a text of one or two words does to opt-outs, and whether it is answered.

All of it is in the transaction that stores the text: so an opt-out and its answer are both stored,
or neither.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.answers.records import AnswerKind
from risala.engine.features.answers.stored.queue import put_in
from risala.engine.features.lists import stored_opt_outs
from risala.engine.features.lists.stored import recipient_list
from risala.engine.features.opt_out_words import rules
from risala.engine.features.opt_out_words.records import Back, Demand, OptOutSettings
from risala.engine.features.opt_out_words.rules import TextMeaning
from risala.engine.features.opt_out_words.stored.settings import back_of, demands, settings_of
from risala.engine.features.opt_out_words.words import ALWAYS, WordRole
from risala.engine.journal.accounts import accounts
from risala.engine.journal.inbound import opt_outs
from risala.engine.journal.store.sql import markers, value_of
from risala.engine.model.errors import Invalid
from risala.engine.model.records.messages import Stamp
from risala.engine.rules.keywords import said
from risala.sms.message import Inbound


class OptOutHeeding:
    """What the core leaves to the words of organizations; see
    :attr:`~risala.engine.model.feature_work.Duty.OPT_OUTS`."""

    def apply(
        self,
        conn: sqlite3.Connection,
        carriers: Sequence[str],
        text_id: str,
        text: Inbound,
        stamp: Stamp,
    ) -> None:
        """Opt a text's sender out or in, and put the answer into the queue.

        ``carriers`` are those of one account: an answer comes through any of them.
        """
        words = said(text.text)
        if not 1 <= len(words) <= rules.WORDS_OF_A_TEXT:
            return
        demand = rules.demanded(demands(conn), text.sender)
        heard = _for_writer(conn, carriers, text.sender, words, demand, stamp.now_ms)
        if heard is None:
            heard = _opted_in(conn, carriers, text.sender, words, demand)
        if heard is not None and rules.is_answered(
            heard.meaning, heard.settings, demand, has_changed=heard.has_changed
        ):
            _answer(conn, heard, text_id, stamp)

    def says_stop(
        self, conn: sqlite3.Connection, organization_id: str, number: str, text: str
    ) -> bool:
        """Whether a text asks an organization, which heeds that, for no more messages at all: who
        leaves one list may say more, and is answered as anybody."""
        words = said(text)
        if not 1 <= len(words) <= rules.WORDS_OF_A_TEXT:
            return False
        meant = _meaning(conn, organization_id, words, rules.demanded(demands(conn), number))
        if meant is None:
            return False
        meaning, _ = meant
        return meaning.role is WordRole.STOP and meaning.list_id is None

    def means_something(
        self, conn: sqlite3.Connection, organization_id: str, number: str, text: str
    ) -> bool:
        """Whether a text is a word of STOP, START or HELP to an organization that heeds them."""
        words, demand = said(text), rules.demanded(demands(conn), number)
        return _meaning(conn, organization_id, words, demand) is not None

    def refuse_return(
        self, conn: sqlite3.Connection, organization_id: str, note: str | None
    ) -> None:
        """Raise ``Invalid`` if an opt-out is taken back without the note that is asked for."""
        if not note and back_of(conn, organization_id) is Back.HAND:
            raise Invalid("note", "missing", rules.NOTE_MISSING)


WORK: Final = OptOutHeeding()


@dataclass(frozen=True, slots=True)
class _Heard:
    """What an organization heard."""

    organization_id: str
    meaning: TextMeaning
    settings: OptOutSettings
    has_changed: bool
    """Whether it opted the sender out or in."""


def _meaning(
    conn: sqlite3.Connection, organization_id: str, words: Sequence[str], demand: Demand | None
) -> tuple[TextMeaning, OptOutSettings] | None:
    """What a text asks of an organization; None: nothing, or it does not heed that."""
    heeds = "SELECT 1 FROM opt_out_policies WHERE organization_id = ?"
    if value_of(conn, heeds, (organization_id,)) is None:
        return None
    settings = settings_of(conn, organization_id)
    meaning = rules.meaning_of(words, settings, demand)
    return None if meaning is None else (meaning, settings)


def _last_writer(
    conn: sqlite3.Connection, carriers: Sequence[str], number: str
) -> tuple[str, str] | None:
    """The organization that wrote to a number last, and the carrier; None: nobody did."""
    row: tuple[str, str] | None = conn.execute(
        "SELECT organization_id, carrier FROM last_writers WHERE recipient = ?"  # noqa: S608 -- markers
        f" AND carrier IN ({markers(carriers)}) ORDER BY at DESC LIMIT 1",
        (number, *carriers),
    ).fetchone()
    return row


def _for_writer(
    conn: sqlite3.Connection,
    carriers: Sequence[str],
    number: str,
    words: Sequence[str],
    demand: Demand | None,
    now_ms: int,
) -> _Heard | None:
    """What the organization that wrote last hears and heeds: a word of STOP, of one list too, or of
    HELP. None: nothing of this kind."""
    writer = _last_writer(conn, carriers, number)
    if writer is None:
        return None
    organization_id, carrier = writer
    meant = _meaning(conn, organization_id, words, demand)
    if meant is None or meant[0].role is WordRole.START:
        return None
    meaning, settings = meant
    if meaning.role is WordRole.HELP:
        # An answer would be one more message to who wants none.
        wants = not opt_outs.is_out(conn, organization_id, number)
        return _Heard(organization_id, meaning, settings, False) if wants else None
    if meaning.list_id is not None:
        keyword = f"{meaning.word} {meaning.list_word}"
        has_changed = stored_opt_outs.opt_out(
            conn, meaning.list_id, number, now_ms, carrier=carrier, keyword=keyword
        )
    else:
        has_changed = opt_outs.write(conn, organization_id, number, carrier, meaning.word, now_ms)
    return _Heard(organization_id, meaning, settings, has_changed)


def _opted_in(
    conn: sqlite3.Connection,
    carriers: Sequence[str],
    number: str,
    words: Sequence[str],
    demand: Demand | None,
) -> _Heard | None:
    """Let an organization, or a list, that a number opted out of write to it again.

    A stopped organization has not written since: another may be the last writer by now. A note by
    hand came through no carrier, and is meant only if nothing else can be.
    """
    if len(words) > 1:
        return _opted_in_to_list(conn, carriers, number, words, demand)
    stopped = conn.execute(
        "SELECT organization_id, carrier FROM opt_outs WHERE recipient = ?"  # noqa: S608 -- markers
        f" AND carrier IN ('', {markers(carriers)}) ORDER BY carrier = '', at DESC LIMIT 1",
        (number, *carriers),
    ).fetchone()
    if stopped is None:
        return None
    organization_id, carrier = stopped
    writer = _last_writer(conn, carriers, number) or ("", "")
    settings = settings_of(conn, organization_id)
    meaning = rules.meaning_of(words, settings, demand)
    if meaning is None or not _takes_back(meaning, settings, carrier):
        return None
    if meaning.word not in ALWAYS and (organization_id,) != writer[:1]:
        return None  # *yes* answers whoever wrote last, and that is somebody else
    conn.execute(
        "DELETE FROM opt_outs WHERE organization_id = ? AND recipient = ?",
        (organization_id, number),
    )
    return _Heard(organization_id, meaning, settings, True)


def _opted_in_to_list(
    conn: sqlite3.Connection,
    carriers: Sequence[str],
    number: str,
    words: Sequence[str],
    demand: Demand | None,
) -> _Heard | None:
    for organization_id, list_id, carrier in stored_opt_outs.lists_out(conn, number, carriers):
        settings = settings_of(conn, organization_id)
        meaning = rules.meaning_of(words, settings, demand)
        if meaning is not None and meaning.list_id == list_id:
            if not _takes_back(meaning, settings, carrier):
                return None
            stored_opt_outs.take_back(conn, list_id, number)
            return _Heard(organization_id, meaning, settings, True)
    return None


def _takes_back(meaning: TextMeaning, settings: OptOutSettings, carrier: str) -> bool:
    if meaning.role is not WordRole.START or settings.back is Back.HAND:
        return False
    return settings.back is Back.PERSON or carrier != opt_outs.BY_HAND


def _answer(conn: sqlite3.Connection, heard: _Heard, text_id: str, stamp: Stamp) -> None:
    """Put the answer into the queue of answers, which sends it once."""
    meaning, settings = heard.meaning, heard.settings
    written, _ = rules.written(settings, rules.answer_role(meaning), meaning.language)
    list_name = ""
    if meaning.list_id is not None:
        list_name = recipient_list(conn, meaning.list_id).name
    name = accounts.organization(conn, heard.organization_id).name
    body = rules.filled(written, meaning.language, name, list_name, meaning.list_word)
    kind = AnswerKind.HELP if meaning.role is WordRole.HELP else AnswerKind.OPT_OUT
    put_in(conn, heard.organization_id, text_id, kind, body, stamp, of_any=True)

"""What commands say about a mailing: its rows' faults, what it waits for, how long it takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.commands.messaging.table_files import hidden_words
from risala.cli.show import output
from risala.engine.features.mailings.records import (
    MailingSource,
    MailingState,
    MailingWait,
)
from risala.engine.features.mailings.rules import WORDS, result_of, wrong_of

if TYPE_CHECKING:
    from risala.engine.features.mailings.records import (
        Mailing,
        MailingRow,
        MailingRows,
        MailingView,
        Person,
    )
    from risala.engine.model.records.people.organizations import Organization

SHOWN_BAD: Final = 10
"""Bad rows that the confirmation shows; `risala mailing rows` shows the others."""
_WAITS: Final = {
    MailingWait.SEND_AT: "its time",
    MailingWait.HOURS: "its hours of the day",
    MailingWait.BALANCE: "a top-up: the balance is used up",
    MailingWait.SPEND_CAP: "the next day, or a higher spend cap",
    MailingWait.LIMIT: "the organization's limit of messages a second",
    MailingWait.QUEUE: "the carriers, which still have its messages",
    MailingWait.SUSPENDED: "the organization, which is suspended",
    MailingWait.SENDER: "its sender, which is no longer allowed",
    MailingWait.POLICY: "a policy, which fails",
    MailingWait.SERVICE: "the service, which accepts no messages now",
}
_ENCODINGS: Final = {"xlsx": "a workbook"}
_SEPARATORS: Final = {";": "semicolons", ",": "commas", "\t": "tabs", "|": "bars"}
ENDED: Final = (MailingState.DONE, MailingState.STOPPED)


def wait_words(mailing: Mailing) -> str | None:
    """What a mailing waits for; None: nothing."""
    if mailing.wait is None or mailing.state is not MailingState.SENDING:
        return None
    words = f"waits for {_WAITS[mailing.wait]}"
    if mailing.again_at is None or mailing.wait not in (MailingWait.SEND_AT, MailingWait.HOURS):
        return words
    return f"{words}, {output.utc(mailing.again_at)}"


def span_words(seconds: int | None) -> str:
    """How long something takes, roughly."""
    if seconds is None:
        return "unknown"
    if seconds < 60:
        return "less than a minute"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"about {output.counted(minutes, 'minute')}"
    return f"about {output.counted(round(minutes / 60), 'hour')}"


def read_words(mailing: Mailing) -> str | None:
    """How its file was read; None: it has no file of somebody's."""
    if mailing.encoding is None or mailing.source is not MailingSource.FILE:
        return None
    parts = [_ENCODINGS.get(mailing.encoding, mailing.encoding)]
    if mailing.sheet is not None:
        parts.append(f"sheet {mailing.sheet}")
    if mailing.separator is not None:
        parts.append(_SEPARATORS.get(mailing.separator, mailing.separator))
    parts.append("with names of columns" if mailing.has_header else "without names of columns")
    parts.append(f"numbers in {mailing.columns[mailing.number_column]}")
    if hidden := hidden_words(mailing):
        parts.append(hidden)
    return ", ".join(parts)


def hours_words(mailing: Mailing, time_zone: str) -> str:
    """In which hours it sends."""
    if (mailing.from_hour, mailing.to_hour) == (0, 24):
        return "all day"
    return f"{mailing.from_hour} to {mailing.to_hour} ({time_zone})"


def show_before(view: MailingView, organization: Organization, person: Person | None) -> None:
    """What somebody wants to know before a mailing is sent."""
    mailing, currency = view.mailing, organization.currency
    left = view.balance - mailing.price
    rows = {
        "mailing": mailing.id,
        "name": mailing.name,
        "read as": read_words(mailing),
        "people": mailing.ready,
        "bad rows": f"{mailing.bad}, which are not sent" if mailing.bad else 0,
        "from": mailing.sender,
        "parts": mailing.segments,
        "price": output.money(mailing.price, currency),
        "balance": f"{output.money(view.balance, currency)}, then {output.money(left, currency)}",
        "takes": span_words(view.seconds),
        "carriers": _carriers(view),
        "pace": None if mailing.pace is None else f"{mailing.pace} a minute",
        "hours": hours_words(mailing, organization.time_zone),
        "not before": output.at(mailing.send_at),
    }
    if person is not None:
        characters = output.counted(person.characters, "character")
        parts = output.counted(person.row.segments, "part")
        rows["first"] = f"{person.row.number}, {characters}, {parts}"
        rows["text"] = person.text
    output.fields({name: value for name, value in rows.items() if value is not None})
    if left < 0 and mailing.mode == "live":
        output.warned(
            "The balance is not enough for all. The mailing waits when it is used up, and goes on "
            "after a top-up."
        )


def _carriers(view: MailingView) -> str | None:
    shares = [f"{each.messages} by {' or '.join(each.carriers)}" for each in view.shares]
    return ", ".join(shares) or None


def show_bad(rows: MailingRows, total: int, mailing_id: str) -> None:
    """The first bad rows, and how many more there are."""
    if not rows.rows:
        return
    click.echo()
    show_rows(rows, rows.rows)
    if total > len(rows.rows):
        more = output.counted(total - len(rows.rows), "more bad row")
        output.warned(f"{more}: risala mailing rows {mailing_id}")


def show_rows(mailing_rows: MailingRows, rows: Iterable[MailingRow]) -> None:
    """Rows with what is wrong with them."""
    output.table(
        ("Row", mailing_rows.columns[mailing_rows.number_column], "State", "What is wrong"),
        (
            (
                each.row,
                cell(each, mailing_rows.number_column) if each.number is None else each.number,
                state_words(each),
                wrong_of(each, WORDS),
            )
            for each in rows
        ),
        empty="There are no such rows.",
    )


def cell(row: MailingRow, place: int) -> str | None:
    """A row's cell; None: it is empty, or the row is shorter."""
    return row.cells[place] or None if place < len(row.cells) else None


def state_words(row: MailingRow) -> str:
    """What became of a row."""
    result = result_of(row)
    return WORDS.get(result, result)


def show_view(view: MailingView, organization: Organization) -> None:
    """A mailing with its progress."""
    mailing, outcomes, currency = view.mailing, view.outcomes, organization.currency
    cut_short = mailing.state is MailingState.STOPPED and mailing.ready
    rows: dict[str, Any] = {
        "id": mailing.id,
        "name": mailing.name,
        "state": wait_words(mailing) or mailing.state.value,
        "mode": mailing.mode,
        "text": mailing.text,
        "from": mailing.sender,
        "read as": read_words(mailing),
        "rows": mailing.rows,
        "to send": mailing.ready,
        "sent": f"{mailing.accepted} ({outcomes.delivered} delivered, {outcomes.failed} failed)",
        "refused": mailing.refused,
        "bad": mailing.bad,
        "left out": mailing.left_out,
        "parts": mailing.segments,
        # Of one that was stopped, the price is that of all who were to get it.
        "price": None if cut_short else output.money(mailing.price, currency),
        "balance": output.money(view.balance, currency),
        "takes": span_words(view.seconds) if mailing.ready else None,
        "carriers": _carriers(view),
        "pace": None if mailing.pace is None else f"{mailing.pace} a minute",
        "hours": hours_words(mailing, organization.time_zone),
        "not before": output.at(mailing.send_at),
        "created": f"{output.at(mailing.created_at)}, {mailing.created_by}",
        "started": output.at(mailing.started_at),
        "ended": output.at(mailing.ended_at),
    }
    output.fields({name: value for name, value in rows.items() if value is not None})

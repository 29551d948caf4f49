"""The effects of a restore or a takeover on messages that were on their way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.show import output
from risala.engine.features.backup.feature import HeldMessage
from risala.engine.model.records.record import to_json
from risala.engine.model.records.upkeep.sealed import LostSecret

if TYPE_CHECKING:
    from risala.engine.features.backup.stored.restore import RestoreReport
    from risala.engine.model.feature_work import RestoredMailings

SHOWN_MAX: Final = 20
"""Held messages, or lost secrets, printed after a restore; a command has all of them."""


def payload(report: RestoreReport) -> dict[str, Any]:
    """The report as JSON."""
    return {
        "ended": report.ended,
        "kept": report.kept,
        "scheduled": report.scheduled,
        "proved": report.proved,
        "canceled": report.canceled,
        "held": report.held,
        "heldMessages": [to_json(each) for each in report.held_first],
        "mailingsPaused": report.mailings.paused,
        "rowsLeftOut": report.mailings.rows_left_out,
        "lostSecrets": [to_json(each) for each in report.lost],
    }


def tell(report: RestoreReport) -> None:
    """Print the report in words, without zero counts."""
    for count, words in (
        (report.ended, "that may have been sent since: failed and refunded."),
        (report.proved, "due, and provably not tried since: sent now."),
        (report.scheduled, "scheduled for later: sent when it is time."),
        (report.canceled, "canceled since, as the old database shows: canceled again."),
        (report.kept, "on the way when the copy was made: sent, and may arrive twice."),
        (report.held, "scheduled for later, and perhaps canceled since: held."),
    ):
        if count:
            click.echo(f"{output.counted(count, 'message')} {words}")
    tell_mailings(report.mailings)
    tell_lost(report.lost)
    if report.held:
        tell_held(report.held_first[:SHOWN_MAX])
        output.warned(
            "Decide on the held messages: `risala restore --release` sends each when it is due, "
            "`risala restore --end` ends and refunds them, `risala restore --held` lists them "
            "all."
        )


def tell_mailings(mailings: RestoredMailings) -> None:
    if mailings.paused:
        click.echo(f"{output.counted(mailings.paused, 'mailing')} that was being sent: paused.")
    if mailings.rows_left_out:
        rows = output.counted(mailings.rows_left_out, "row")
        click.echo(f"{rows} that a mailing has sent since, as the old database shows: left out.")
    if mailings.unknown:
        output.warned(
            f"Nobody knows of {output.counted(mailings.unknown, 'mailing')} what was sent since "
            "the backup. People may get a second message if it goes on."
        )


def tell_lost(lost: Sequence[LostSecret]) -> None:
    """Name the secrets that cannot be opened, and how each is made again."""
    if not lost:
        return
    output.table(
        ("Cannot be opened", "Of", "Sealed by", "To make it again"),
        ((each.purpose, each.id, each.key or "?", each.remedy) for each in lost[:SHOWN_MAX]),
        empty="Every secret can be opened.",
    )
    output.warned(
        f"{output.counted(len(lost), 'secret')} cannot be opened: their sealing key is not here. "
        "Put the old one into the file sealing.key beside the database before the service starts, "
        "which makes a new one otherwise. If it runs already, bring it back with `risala secrets "
        "import-key FILE`, or make them again. `risala secrets show` lists them all."
    )


def tell_held(messages: Sequence[HeldMessage]) -> None:
    output.table(
        ("Held", "Organization", "To", "Is due"),
        (
            (each.id, each.organization_id, each.recipient, output.at(each.send_at))
            for each in messages
        ),
        empty="No message is held since a restore.",
    )

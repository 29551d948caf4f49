"""What waits for a second operator: listed, confirmed, refused."""

from __future__ import annotations

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.show import output
from risala.engine.features.approvals import records as approvals
from risala.engine.features.approvals.records import Approval, Approvals
from risala.engine.model.money import money


@click.group()
def approval() -> None:
    """What one operator asked for, and another one confirms (`people.four_eyes_from`).

    \b
    Example: risala approval list
    """


@approval.command("list")
@asks(approvals.LIST)
def approval_list(page: Approvals) -> None:
    """List what waits, and what was decided last.

    \b
    Example: risala approval list
    """
    output.table(
        ("Request", "What", "Amount", "Organization", "Asked by", "State", "Until (UTC)"),
        (
            (
                each.id,
                each.operation,
                None if each.amount is None else money(each.amount),
                each.organization_name,
                each.asked_by,
                each.state if each.decided_by is None else f"{each.state} by {each.decided_by}",
                output.at(each.expires_at),
            )
            for each in page.approvals
        ),
        empty="Nothing waits for a second operator.",
    )


@approval.command("confirm")
@click.argument("approval_id", metavar="REQUEST")
@click.option(
    "--alone",
    metavar="WHY",
    help="Confirm your own request, at this machine, for this reason. It is in the audit trail.",
)
@asks(approvals.CONFIRM)
def approval_confirm(done: Approval) -> None:
    """Do what another operator asked for.

    \b
    Example: risala approval confirm apr_06EMPZC1VG
    """
    output.said(f"Done: {done.operation}, asked by {output.clean(done.asked_by)}.")


@approval.command("refuse")
@click.argument("approval_id", metavar="REQUEST")
@click.option("--why", help="The reason, for who asked.")
@asks(approvals.REFUSE)
def approval_refuse(done: Approval) -> None:
    """Refuse what another operator asked for, or withdraw your own request.

    \b
    Example: risala approval refuse apr_06EMPZC1VG --why "Not our customer."
    """
    output.said(f"Refused: {done.operation}, asked by {output.clean(done.asked_by)}.")

"""Sending a mailing: the draft, the question, and the progress."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.commands.messaging.mailing_words import (
    SHOWN_BAD,
    show_bad,
    show_before,
    wait_words,
)
from risala.cli.reach.refused import CommandRefused
from risala.cli.reach.signals import until_signal
from risala.cli.show import output
from risala.cli.show.progress import counted_bar
from risala.engine.features.mailings import records as mailings
from risala.engine.features.mailings.records import (
    Mailing,
    MailingRows,
    MailingState,
    MailingView,
    Person,
)
from risala.engine.model.records.people import organizations
from risala.engine.model.records.people.organizations import Organization

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

Json = Mapping[str, Any]
LOOK_S: Final = 0.5
"""Seconds between two looks at a mailing that is checked or sent."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft, and what is shown of it before it is sent."""

    view: MailingView
    organization: Organization
    person: Person | None
    """The first one; None: no row is ready."""
    bad: MailingRows
    """The first bad rows."""
    version: int | None
    json: Json


async def draft_of(session: GatewaySession, mailing_id: str, *, quiet: bool) -> Draft:
    """A draft as it is when all its rows are checked.

    Raises:
        CommandRefused: it is no draft.
    """
    import trio

    with counted_bar("Checking", quiet=quiet) as update:
        while True:
            reply = await session.ask(mailings.SHOW, mailing_id=mailing_id)
            mailing = reply.value.mailing
            if mailing.state is not MailingState.CHECKING:
                break
            update(mailing.ready + mailing.bad + mailing.left_out, mailing.rows, None)
            await trio.sleep(LOOK_S)
    if mailing.state is not MailingState.DRAFT:
        raise CommandRefused(f"{mailing_id} is no draft: it is {mailing.state.value}.")
    query = {"state": "bad", "limit": SHOWN_BAD}
    bad = await session.ask(mailings.ROWS, mailing_id=mailing_id, **query)
    person = None
    if mailing.ready:
        person = await session.ask(mailings.PERSON, mailing_id=mailing_id, place=1)
    organization = await session.ask(organizations.SHOW, organization_id=mailing.organization_id)
    told_json = {
        **reply.json,
        "person": None if person is None else person.json,
        "badRows": bad.json.get("rows"),
    }
    return Draft(
        view=reply.value,
        organization=organization.value,
        person=None if person is None else person.value,
        bad=bad.value,
        version=reply.json.get("version"),
        json=told_json,
    )


async def confirm_and_send(
    session: GatewaySession, draft: Draft, *, yes: bool, wait: bool | None, as_json: bool
) -> Json:
    """Show a draft, ask, start it, and follow it.

    Args:
        yes: send it without a question. With ``as_json`` there is no question: without this it
            stays a draft.
        wait: follow it until it ends; None: only in a terminal.

    Returns:
        Its JSON at the end.

    Raises:
        CommandRefused: no row is ready, or it cannot be started.
    """
    mailing = draft.view.mailing
    if not as_json:
        show_before(draft.view, draft.organization, draft.person)
        show_bad(draft.bad, mailing.bad, mailing.id)
    if as_json and not yes:
        return draft.json
    if not mailing.ready:
        raise CommandRefused(f"Nothing can be sent: no row is ready. The draft is {mailing.id}.")
    if not yes and not _is_wanted(mailing):
        output.warned(f"Nothing is sent. The draft stays: risala mailing start {mailing.id}")
        return draft.json
    await session.ask(mailings.START, mailing_id=mailing.id, version=draft.version)
    follows = sys.stderr.isatty() if wait is None else wait
    if follows:
        return await follow(session, mailing.id, quiet=as_json)
    if not as_json:
        output.said(f"{mailing.id} sends now. Its progress: risala mailing show {mailing.id}")
    return (await session.ask(mailings.SHOW, mailing_id=mailing.id)).json


def _is_wanted(mailing: Mailing) -> bool:
    """The answer to the question; no answer is a no."""
    people = output.counted(mailing.ready, "person", "people")
    try:
        return click.confirm(f"\nSend to {people}?")
    except click.Abort:
        click.echo()
        return False


async def follow(session: GatewaySession, mailing_id: str, *, quiet: bool) -> Json:
    """Show the progress of a mailing until it ends or is paused; Ctrl-C only ends the view.

    Returns:
        Its JSON at that moment.
    """
    import trio

    answer: Json = {}
    view: MailingView | None = None
    with counted_bar("Sending", quiet=quiet) as show:
        async with until_signal():
            while True:
                reply = await session.ask(mailings.SHOW, mailing_id=mailing_id)
                view, answer = reply.value, reply.json
                mailing = view.mailing
                done = mailing.accepted + mailing.refused
                show(done, done + mailing.ready, wait_words(mailing))
                if mailing.state is not MailingState.SENDING:
                    break
                await trio.sleep(LOOK_S)
    if quiet:
        return answer
    if view is not None and view.mailing.state is not MailingState.SENDING:
        _tell_end(view)
    else:
        output.warned(
            f"It goes on without this command. To pause it: risala mailing pause {mailing_id}"
        )
    return answer


def _tell_end(view: MailingView) -> None:
    mailing = view.mailing
    words = {MailingState.DONE: "is sent", MailingState.STOPPED: "is stopped"}
    sent = output.counted(mailing.accepted, "message")
    refused = f", {mailing.refused} refused" if mailing.refused else ""
    output.said(f"{mailing.id} {words.get(mailing.state, 'is paused')}: {sent}{refused}.")
    if mailing.state is MailingState.PAUSED:
        output.warned(f"To go on: risala mailing go-on {mailing.id}")
    else:
        output.said(f"The report: risala mailing report {mailing.id} FILE.csv")

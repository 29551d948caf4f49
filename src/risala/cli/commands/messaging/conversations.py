"""Conversations: what a number wrote, what it was answered, and who answers."""

from __future__ import annotations

from typing import Final

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.commands.accounts.organizations import org_option
from risala.cli.show import output
from risala.engine.model.records.conversations import (
    GET,
    LIST,
    MARK,
    REPLY,
    Conversations,
    ConversationState,
    StoredConversation,
    Thread,
    ThreadMessage,
)
from risala.engine.model.records.messages import AcceptedMessage

_STATES: Final = tuple(each.value for each in ConversationState)
_NUMBER = click.argument("number")
_BEFORE = click.option(
    "--before", metavar="CURSOR", help="The next page, as named by the previous one."
)
_LIMIT = click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True)


@click.group()
def conversation() -> None:
    """Conversations: the texts of a number and the answers to it.

    \b
    Examples:
      risala conversation list --unread
      risala conversation reply NUMBER "We are open until 19 h."
    """


@conversation.command("list")
@org_option
@click.option("--state", type=click.Choice(_STATES), help="Only open ones, or only those done.")
@click.option("--unread/--read", default=None, help="Only with, or without, a text nobody read.")
@click.option("--assigned", "assigned_to", metavar="USER", help="Only those of this member's id.")
@click.option(
    "--opted-out/--not-opted-out", default=None, help="Only who wants no messages, or only others."
)
@click.option("--search", "contains", metavar="WORDS", help="Words of a text, or of a name.")
@_LIMIT
@_BEFORE
@asks(LIST)
def conversation_list(page: Conversations, before: str | None) -> None:
    """List conversations, those with the newest texts first.

    \b
    Examples:
      risala conversation list
      risala conversation list --unread --state open
    """
    output.table(
        ("Number", "Name", "State", "Unread", "Assigned to", "Text at (UTC)", "Last message"),
        (
            (
                *(each.number, each.name, each.state, "unread" if each.unread else None),
                *(each.assigned_to, output.at(each.received_at)),
                None if each.last is None else _line(each.last),
            )
            for each in page.conversations
        ),
        empty="Nobody has written yet." if before is None else "There are no older ones.",
    )
    output.tell_older(page.older)


@conversation.command("show")
@_NUMBER
@org_option
@_LIMIT
@_BEFORE
@asks(GET)
def conversation_show(thread: Thread) -> None:
    """Show the conversation with NUMBER, the oldest message of the page first.

    \b
    Example: risala conversation show NUMBER
    """
    one = thread.conversation
    output.fields(
        {
            "Number": one.number,
            "Name": one.name,
            "State": one.state,
            "Unread": "yes" if one.unread else "no",
            "Assigned to": one.assigned_to,
            "Answers": f"from {thread.answers_from} by {thread.answers_by}"
            if thread.answerable
            else thread.why_not,
        }
    )
    output.table(
        ("At (UTC)", "By", "Status", "Text"),
        (
            (
                output.at(each.at),
                each.key_id or each.mailing_id or each.by,
                each.status,
                _line(each),
            )
            for each in thread.messages
        ),
        empty="There are no messages.",
    )
    output.tell_older(thread.older)


def _line(message: ThreadMessage) -> str:
    if message.body is not None:
        return message.body
    return "(a code)" if message.by == "code" else "(no longer kept)"


@conversation.command("reply")
@_NUMBER
@click.argument("body")
@org_option
@click.option("--key", "idempotency_key", metavar="KEY", help="The same key sends once.")
@asks(REPLY)
def conversation_reply(sent: AcceptedMessage) -> None:
    """Answer NUMBER with BODY, by the carrier and from the number of the last text.

    \b
    Example: risala conversation reply NUMBER "We are open until 19 h."
    """
    output.said(f"Accepted as {sent.message_id}, from {sent.sender}.")


@conversation.command("mark")
@_NUMBER
@org_option
@click.option("--state", type=click.Choice(_STATES), help="Whether it needs something.")
@click.option("--read/--unread", default=None, help="Whether its texts were read.")
@click.option(
    "--assign", "assigned_to", metavar="USER", help="The member who answers, by id; '': nobody."
)
@asks(MARK)
def conversation_mark(marked: StoredConversation) -> None:
    """Change the state of the conversation with NUMBER, or who answers.

    \b
    Example: risala conversation mark NUMBER --state done
    """
    whom = "nobody in particular" if marked.assigned_to is None else marked.assigned_to
    read = "unread" if marked.unread else "read"
    output.said(f"The conversation is {marked.state} and {read}; assigned to {whom}.")

"""What operations take of where a rule forwards texts, and how a try tells of it."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import Field, PlainValidator, ValidationInfo

from risala.config.model import WebhooksSection
from risala.engine.features.answers.forwards import (
    FORWARD_SENTENCES,
    ForwardFault,
    ForwardKind,
    shown_target,
    sms_of,
    targets_of,
)
from risala.engine.features.answers.rule_records import AnswerRule, TriedForward
from risala.engine.features.answers.stored.rules import AnswerRuleRepository
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    any_text,
    fault,
    maybe,
    number,
    text,
)
from risala.engine.model.errors import Invalid
from risala.engine.model.records.webhooks import URL_MAX
from risala.engine.rules.people.emails import normalised
from risala.engine.rules.webhooks.signatures import is_secret
from risala.engine.rules.webhooks.url import UrlRefused, parse_target, rules_of
from risala.sms.segment import count

_is_chat: Final = re.compile(r"-?[0-9]{1,20}|@[A-Za-z][A-Za-z0-9_]{4,31}").fullmatch
_is_token: Final = re.compile(r"[0-9]{3,20}:[A-Za-z0-9_-]{20,100}").fullmatch
TOKEN_MAX: Final = 121
"""Characters of a bot's token."""


def _number(value: object, info: ValidationInfo) -> str | None:
    """A number; empty: none."""
    if value is None or value == "":
        return None if value is None else ""
    return number(value, info)


def _email(value: object) -> str:
    written = any_text(value).strip()
    address = normalised(written) if written else ""
    if address is None:
        raise fault("invalid_email", "`{name}` must be a mail address.")
    return address


def _chat(value: object) -> str:
    written = any_text(value).strip()
    if written and not _is_chat(written):
        raise fault("invalid_chat", "`{name}` must be a chat's id, such as -1001234567890.")
    return written


def _token(value: object) -> str:
    written = text(value).strip()
    if not _is_token(written):
        raise fault("invalid_token", "`{name}` must be a bot's token, as @BotFather gives it.")
    return written


def _secret(value: object) -> str:
    written = text(value).strip()
    if not is_secret(written):
        sentence = "`{name}` must be `whsec_` and the Base64 of 24 to 64 random bytes."
        raise fault("invalid_secret", sentence)
    return written


class ForwardFields(Arguments):
    """Where a rule forwards a text that meets it; empty: not there."""

    forward_number: Annotated[
        str | None, PlainValidator(_number), ArgumentKind("phone number, or empty")
    ] = None
    """The number that gets the text as an SMS, charged as any message."""
    forward_email: Annotated[
        str | None, PlainValidator(maybe(_email)), ArgumentKind("mail address, or empty")
    ] = None
    """The address of a member who gets the text as a mail."""
    forward_chat: Annotated[
        str | None, PlainValidator(maybe(_chat)), ArgumentKind("chat's id, or empty")
    ] = None
    """The Telegram chat that gets the text: an id such as `-1001234567890`, or `@name`."""
    forward_url: Annotated[
        str | None,
        PlainValidator(maybe(any_text)),
        ArgumentKind(f"URL of at most {URL_MAX} characters, or empty"),
    ] = Field(default=None, repr=False)
    """The webhook that gets the text as JSON."""
    bot_token: Annotated[
        str | None, PlainValidator(maybe(_token)), ArgumentKind("token of a Telegram bot")
    ] = Field(default=None, repr=False)
    """The token of your bot, which is in the chat; kept sealed, and never shown."""
    forward_secret: Annotated[
        str | None, PlainValidator(maybe(_secret)), ArgumentKind("`whsec_` and Base64")
    ] = Field(default=None, repr=False)
    """Signs the calls of the webhook; kept sealed, and never shown."""

    def secrets(self) -> dict[str, str]:
        """The secrets that are given, by the names under which a rule keeps them."""
        secrets = {"token": self.bot_token, "key": self.forward_secret}
        return {name: secret for name, secret in secrets.items() if secret}

    def check(self, webhooks: WebhooksSection) -> None:
        """Raise ``Invalid`` if no webhook may go to the URL."""
        if self.forward_url:
            try:
                parse_target(self.forward_url, rules_of(webhooks))
            except UrlRefused as error:
                raise Invalid("forward_url", "invalid_url", str(error)) from None


def tried(
    stored: AnswerRuleRepository, rule: AnswerRule, written: str, writer: str | None
) -> tuple[TriedForward, ...]:
    """Where a rule would forward a text now.

    Args:
        writer: None: somebody who has not written yet.
    """
    return tuple(
        _tried_one(stored, rule, kind, target, written, writer) for kind, target in targets_of(rule)
    )


def _tried_one(
    stored: AnswerRuleRepository,
    rule: AnswerRule,
    kind: ForwardKind,
    target: str,
    written: str,
    writer: str | None,
) -> TriedForward:
    shown = shown_target(kind, target)
    if kind is not ForwardKind.SMS:
        return TriedForward(kind.value, shown, None, None, None)
    message = sms_of(rule.language, writer or "…", written)
    loops = writer is not None and stored.would_loop(rule.organization_id, writer, target)
    reason = FORWARD_SENTENCES[ForwardFault.LOOP] if loops else None
    return TriedForward(kind.value, shown, message, count(message).segments, reason)

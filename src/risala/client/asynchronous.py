"""The client for programs of tasks: asyncio or Trio, whichever runs.

`synchronous.py` is made from this file by ``make client``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Self, TypeVar

import httpx2

from . import answers, calls
from .asking import AsyncCaller
from .calls import BatchResult, OutgoingMessage, When
from .retrying import Retrying

T = TypeVar("T")


class AsyncRisala:
    """A service, asked with one API key.

    ``url`` is its address, as ``https://sms.example``. A secret key opens everything; a publishable
    one `send_verification` and `check_verification` alone. ``retrying`` says how long a call tries.
    ``http`` is an httpx2 client of your own (a proxy, certificates, another pool), which stays
    yours to close.

    Every method ends in its answer or in a `RisalaError`, within the deadline of ``retrying``.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        retrying: Retrying | None = None,
        http: httpx2.AsyncClient | None = None,
    ) -> None:
        self._caller = AsyncCaller(url, key, retrying or Retrying(), http)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._caller.url} {self._caller.key!r}>"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._caller.aclose()

    def within(self, deadline_s: float) -> Self:
        """A client with another deadline, on the same connections: `within(5).send_…`."""
        other = object.__new__(type(self))
        other._caller = self._caller.within(replace(self._caller.retrying, deadline_s=deadline_s))
        return other

    # -- messages

    async def send_message(
        self,
        to: str,
        body: str,
        *,
        sender: str | None = None,
        idempotency_key: str | None = None,
        send_at: When | None = None,
        validity_seconds: int | None = None,
        metadata: Mapping[str, str] | None = None,
        message_class: int | None = None,
    ) -> answers.SentMessage:
        """Send an SMS. It is stored, charged and on the service's disk when this returns.

        Every attempt of the call carries one idempotency key: yours, or one that is made for it. An
        error has it too, as ``error.idempotency_key``: with it the message can be sent again, and
        goes out once. ``message_class=0`` sends a flash message, which the phone shows at once and
        does not keep.
        """
        message = OutgoingMessage(
            *(to, body, sender, idempotency_key, send_at, validity_seconds, metadata, message_class)
        )
        return await self._caller.ask(calls.send_message(message))

    async def send_messages(self, messages: Iterable[OutgoingMessage]) -> tuple[BatchResult, ...]:
        """Send up to 1000 messages in one request. The results stand in the order of the messages:
        each is a `SentMessage`, or the error that it was refused with, which is not raised. One
        that was refused for a limit can be sent again by its ``idempotency_key``."""
        return await self._caller.ask(calls.send_messages(messages))

    async def get_message(self, message_id: str) -> answers.Message:
        """Get a message."""
        call = calls.read_one("/api/sms/get", answers.Message, messageId=message_id)
        return await self._caller.ask(call)

    async def list_messages(
        self,
        *,
        status: str | None = None,
        to: str | None = None,
        sender: str | None = None,
        since: When | None = None,
        until: When | None = None,
        limit: int | None = None,
        before: str | None = None,
        after: str | None = None,
    ) -> answers.Page[answers.Message]:
        """A page of messages, the newest first."""
        arguments = calls.listing(
            status=status, to=to, from_=sender, since=since, until=until,
            limit=limit, before=before, after=after,
        )  # fmt: skip
        return await self._caller.ask(calls.read_page("/api/sms/list", answers.Message, arguments))

    def iter_messages(
        self,
        *,
        status: str | None = None,
        to: str | None = None,
        sender: str | None = None,
        since: When | None = None,
        until: When | None = None,
        page: int | None = None,
    ) -> AsyncIterator[answers.Message]:
        """All messages, the newest first, asked for ``page`` at a time (at most 100)."""
        return self._pages(
            lambda before: self.list_messages(
                status=status, to=to, sender=sender, since=since, until=until,
                limit=page, before=before,
            )
        )  # fmt: skip

    async def cancel_message(self, message_id: str) -> answers.Message:
        """Withdraw a message that has not left; it is refunded."""
        call = calls.do_once("/api/sms/cancel", answers.Message, messageId=message_id)
        return await self._caller.ask(call)

    async def estimate_message(
        self,
        body: str,
        to: str | None = None,
        *,
        app_hash: str | None = None,
        origin: str | None = None,
    ) -> answers.MessageEstimate:
        """What a message would cost. Nothing is sent or charged. With an app hash or an origin it
        is a code's text, and their lines are counted."""
        call = calls.read_one(
            "/api/sms/estimate", answers.MessageEstimate,
            body=body, to=to, appHash=app_hash, origin=origin,
        )  # fmt: skip
        return await self._caller.ask(call)

    # -- verifications

    async def send_verification(
        self,
        to: str,
        *,
        locale: str | None = None,
        app_hash: str | None = None,
        origin: str | None = None,
        channels: Iterable[str] | None = None,
        challenge: Mapping[str, str] | None = None,
        client_ip: str | None = None,
        user_agent: str | None = None,
        tags: Iterable[str] | None = None,
        code: str | None = None,
        amount: str | None = None,
        currency: str | None = None,
        payee: str | None = None,
        template: str | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> answers.StartedVerification:
        """Send a code. It has no idempotency key: after `LostAnswerError` a code may be on its way,
        and another call sends another code. ``challenge`` is the answer to a challenge, see
        `ChallengeRequiredError`. What follows it needs a secret key."""
        call = calls.do_once(
            "/api/verify/send", answers.StartedVerification,
            to=to, locale=locale, appHash=app_hash, origin=origin,
            channels=None if channels is None else [*channels], challenge=challenge,
            clientIp=client_ip, userAgent=user_agent, tags=None if tags is None else [*tags],
            code=code, amount=amount, currency=currency, payee=payee,
            template=template, variables=None if variables is None else {**variables},
        )  # fmt: skip
        return await self._caller.ask(call)

    async def check_verification(
        self,
        verification_id: str,
        code: str | None = None,
        *,
        amount: str | None = None,
        currency: str | None = None,
        payee: str | None = None,
        reported: str | None = None,
    ) -> answers.CheckedCode:
        """Judge a code that somebody typed, or report (``reported``) what became of a code of your
        own. After `LostAnswerError` it may have been judged: a code is approved once, so ask
        `get_verification` then."""
        call = calls.do_once(
            "/api/verify/check", answers.CheckedCode, verificationId=verification_id, code=code,
            amount=amount, currency=currency, payee=payee, reported=reported,
        )  # fmt: skip
        return await self._caller.ask(call)

    async def check_number(self, to: str, code: str) -> answers.CheckedCode:
        """As `check_verification`, of the newest pending verification of a number. With a secret
        key; `UnknownIdError` says that the number has none."""
        call = calls.do_once("/api/verify/check", answers.CheckedCode, to=to, code=code)
        return await self._caller.ask(call)

    async def resend_verification(
        self, verification_id: str, *, channel: str | None = None
    ) -> answers.Verification:
        """Bring the same code by the next channel, or by a named one. After `LostAnswerError` it
        may be on its way."""
        call = calls.do_once(
            "/api/verify/resend", answers.Verification,
            verificationId=verification_id, channel=channel,
        )  # fmt: skip
        return await self._caller.ask(call)

    async def start_verification(
        self, method: str, *, to: str | None = None, locale: str | None = None
    ) -> answers.ReverseStart:
        """Let a user prove a number by a text (``inbound_sms``) or a call (``missed_call``): no SMS
        leaves. After `LostAnswerError` one may have begun, and ends by itself."""
        call = calls.do_once(
            "/api/verify/start", answers.ReverseStart, method=method, to=to, locale=locale
        )
        return await self._caller.ask(call)

    async def get_verification(self, verification_id: str) -> answers.Verification:
        """What became of a verification."""
        call = calls.read_one(
            "/api/verify/get", answers.Verification, verificationId=verification_id
        )
        return await self._caller.ask(call)

    async def list_verifications(
        self,
        *,
        status: str | None = None,
        to: str | None = None,
        since: When | None = None,
        until: When | None = None,
        limit: int | None = None,
        before: str | None = None,
        after: str | None = None,
    ) -> answers.Page[answers.Verification]:
        """A page of verifications, the newest first."""
        arguments = calls.listing(
            status=status, to=to, since=since, until=until, limit=limit, before=before, after=after
        )
        call = calls.read_page("/api/verify/list", answers.Verification, arguments)
        return await self._caller.ask(call)

    def iter_verifications(
        self,
        *,
        status: str | None = None,
        to: str | None = None,
        since: When | None = None,
        until: When | None = None,
        page: int | None = None,
    ) -> AsyncIterator[answers.Verification]:
        """All verifications, the newest first."""
        return self._pages(
            lambda before: self.list_verifications(
                status=status, to=to, since=since, until=until, limit=page, before=before
            )
        )

    async def get_code_figures(
        self, since: When, until: When | None = None, by: str | None = None
    ) -> answers.CodeReport:
        """How many codes were asked for, sent, delivered and entered on whole days of the
        organization's time zone: by ``day``, ``network``, ``country``, ``carrier``, ``channel``,
        ``key`` or ``language``."""
        call = calls.read_one(
            "/api/verify/figures", answers.CodeReport,
            since=calls.when(since), until=calls.when(until), by=by,
        )  # fmt: skip
        return await self._caller.ask(call)

    async def cancel_verification(self, verification_id: str) -> answers.Verification:
        """End a verification: its code opens nothing any more. One that had ended stays so."""
        call = calls.read_one(
            "/api/verify/cancel", answers.Verification, verificationId=verification_id
        )
        return await self._caller.ask(call)

    # -- what comes in

    async def list_inbound(
        self,
        *,
        to: str | None = None,
        sender: str | None = None,
        since: When | None = None,
        until: When | None = None,
        limit: int | None = None,
        before: str | None = None,
        after: str | None = None,
    ) -> answers.Page[answers.InboundMessage]:
        """A page of the messages that people sent, the newest first."""
        arguments = calls.listing(
            to=to, from_=sender, since=since, until=until, limit=limit, before=before, after=after
        )
        call = calls.read_page("/api/inbound/list", answers.InboundMessage, arguments)
        return await self._caller.ask(call)

    def iter_inbound(
        self,
        *,
        to: str | None = None,
        sender: str | None = None,
        since: When | None = None,
        until: When | None = None,
        page: int | None = None,
    ) -> AsyncIterator[answers.InboundMessage]:
        """All messages that people sent, the newest first."""
        return self._pages(
            lambda before: self.list_inbound(
                to=to, sender=sender, since=since, until=until, limit=page, before=before
            )
        )

    # -- conversations

    async def list_conversations(
        self,
        *,
        state: str | None = None,
        unread: bool | None = None,
        assigned_to: str | None = None,
        limit: int | None = None,
        before: str | None = None,
        after: str | None = None,
    ) -> answers.Page[answers.ListedConversation]:
        """A page of the conversations with people who wrote, the newest texts first."""
        arguments = calls.listing(
            state=state, assignedTo=assigned_to, limit=limit, before=before, after=after
        )
        arguments["unread"] = unread
        call = calls.read_page("/api/conversations/list", answers.ListedConversation, arguments)
        return await self._caller.ask(call)

    async def get_conversation(
        self,
        *,
        conversation_id: str | None = None,
        number: str | None = None,
        limit: int | None = None,
        before: str | None = None,
        after: str | None = None,
    ) -> answers.ConversationThread:
        """A conversation, by its id or its number, with the newest of its messages."""
        call = calls.read_one(
            "/api/conversations/get", answers.ConversationThread, conversationId=conversation_id,
            number=number, limit=limit, before=before, after=after,
        )  # fmt: skip
        return await self._caller.ask(call)

    async def reply(
        self,
        body: str,
        *,
        conversation_id: str | None = None,
        number: str | None = None,
        idempotency_key: str | None = None,
    ) -> answers.SentMessage:
        """Answer the last text of a conversation, the way it came. As of `send_message`, every
        attempt carries one idempotency key."""
        whose = {"conversationId": conversation_id, "number": number}
        call = calls.reply({**whose, "body": body, "idempotencyKey": idempotency_key})
        return await self._caller.ask(call)

    async def mark_conversation(
        self,
        *,
        conversation_id: str | None = None,
        number: str | None = None,
        state: str | None = None,
        read: bool | None = None,
        assigned_to: str | None = None,
    ) -> answers.MarkedConversation:
        """Mark a conversation ``open`` or ``done``, read or not, or give it to a member; what is
        left out stays. An empty ``assigned_to`` gives it to nobody in particular."""
        call = calls.read_one(
            "/api/conversations/mark", answers.MarkedConversation, conversationId=conversation_id,
            number=number, state=state, read=read, assignedTo=assigned_to,
        )  # fmt: skip
        return await self._caller.ask(call)

    # -- automatic answers

    async def list_answer_rules(self) -> answers.ReplyRules:
        """The rules that answer texts, and numbers that get no automatic answers for a day."""
        return await self._caller.ask(calls.read_one("/api/answers/list", answers.ReplyRules))

    async def create_answer_rule(
        self,
        name: str,
        *,
        place: int | None = None,
        enabled: bool | None = None,
        keywords: Iterable[str] | None = None,
        anywhere: bool | None = None,
        first_contact: bool | None = None,
        days: Iterable[str] | None = None,
        from_time: str | None = None,
        to_time: str | None = None,
        language: str | None = None,
        text_fr: str | None = None,
        text_ar: str | None = None,
        text_en: str | None = None,
        forward_number: str | None = None,
        forward_email: str | None = None,
        forward_chat: str | None = None,
        bot_token: str | None = None,
        forward_url: str | None = None,
        forward_secret: str | None = None,
    ) -> answers.ReplyRule:
        """Answer texts that come in, and forward them. Without ``place`` the rule comes last."""
        settings = calls.settings(
            name=name, place=place, enabled=enabled, keywords=keywords, anywhere=anywhere,
            first_contact=first_contact, days=days, from_time=from_time, to_time=to_time,
            language=language, text_fr=text_fr, text_ar=text_ar, text_en=text_en,
            forward_number=forward_number, forward_email=forward_email, forward_chat=forward_chat,
            bot_token=bot_token, forward_url=forward_url, forward_secret=forward_secret,
        )  # fmt: skip
        call = calls.do_once("/api/answers/create", answers.ReplyRule, **settings)
        return await self._caller.ask(call)

    async def update_answer_rule(
        self,
        rule_id: str,
        *,
        name: str | None = None,
        place: int | None = None,
        enabled: bool | None = None,
        keywords: Iterable[str] | None = None,
        anywhere: bool | None = None,
        first_contact: bool | None = None,
        days: Iterable[str] | None = None,
        from_time: str | None = None,
        to_time: str | None = None,
        language: str | None = None,
        text_fr: str | None = None,
        text_ar: str | None = None,
        text_en: str | None = None,
        forward_number: str | None = None,
        forward_email: str | None = None,
        forward_chat: str | None = None,
        bot_token: str | None = None,
        forward_url: str | None = None,
        forward_secret: str | None = None,
    ) -> answers.ReplyRule:
        """Change a rule; what is left out stays. An empty time takes it away."""
        settings = calls.settings(
            rule_id=rule_id, name=name, place=place, enabled=enabled, keywords=keywords,
            anywhere=anywhere, first_contact=first_contact, days=days, from_time=from_time,
            to_time=to_time, language=language, text_fr=text_fr, text_ar=text_ar, text_en=text_en,
            forward_number=forward_number, forward_email=forward_email, forward_chat=forward_chat,
            bot_token=bot_token, forward_url=forward_url, forward_secret=forward_secret,
        )  # fmt: skip
        call = calls.read_one("/api/answers/update", answers.ReplyRule, **settings)
        return await self._caller.ask(call)

    async def delete_answer_rule(self, rule_id: str) -> answers.ReplyRule:
        """Delete a rule; it is told as it was."""
        call = calls.do_once("/api/answers/delete", answers.ReplyRule, ruleId=rule_id)
        return await self._caller.ask(call)

    async def try_text(self, text: str, *, number: str | None = None) -> answers.TriedReply:
        """What a text would be answered now; nothing is sent."""
        call = calls.read_one("/api/answers/try", answers.TriedReply, text=text, number=number)
        return await self._caller.ask(call)

    async def resume_answers(self, number: str) -> answers.PausedReplies:
        """Let automatic answers to a number leave again."""
        call = calls.do_once("/api/answers/resume", answers.PausedReplies, number=number)
        return await self._caller.ask(call)

    # -- opt-outs

    async def get_opt_outs(self) -> answers.OptOutSetup:
        """The words by which people end messages, and what is answered."""
        return await self._caller.ask(calls.read_one("/api/opt-outs/get", answers.OptOutSetup))

    async def update_opt_outs(
        self,
        *,
        sets: Iterable[str] | None = None,
        answered: Iterable[str] | None = None,
        back: str | None = None,
    ) -> answers.OptOutSetup:
        """Choose the languages whose usual words count (``en``, ``fr``, ``ar``), what is answered
        (``stop``, ``start``, ``help``), and who takes an opt-out back (``person``, ``own``,
        ``hand``); what is left out stays."""
        settings = calls.settings(sets=sets, answered=answered, back=back)
        call = calls.read_one("/api/opt-outs/update", answers.OptOutSetup, **settings)
        return await self._caller.ask(call)

    async def add_opt_out_word(
        self, word: str, role: str, language: str, *, list_id: str | None = None
    ) -> answers.OptOutSetup:
        """Add a word of your own: ``stop``, ``start``, ``help``, or ``list``, which names one."""
        call = calls.read_one(
            "/api/opt-outs/words/add", answers.OptOutSetup, word=word, role=role,
            language=language, listId=list_id,
        )  # fmt: skip
        return await self._caller.ask(call)

    async def remove_opt_out_word(self, word: str) -> answers.OptOutSetup:
        """Remove a word of your own."""
        call = calls.do_once("/api/opt-outs/words/remove", answers.OptOutSetup, word=word)
        return await self._caller.ask(call)

    async def set_opt_out_answer(
        self, role: str, language: str, text: str, *, preview: bool | None = None
    ) -> answers.OptOutSetup:
        """Write an answer in your own words; an empty ``text`` brings the usual one back. With
        ``preview`` nothing is stored."""
        call = calls.read_one(
            "/api/opt-outs/answer", answers.OptOutSetup, role=role, language=language, text=text,
            preview=preview,
        )  # fmt: skip
        return await self._caller.ask(call)

    async def opt_out_of_list(
        self, list_id: str, number: str, *, note: str | None = None
    ) -> answers.ListedOptOut:
        """Note that a number wants no messages of one list."""
        call = calls.read_one(
            "/api/opt-outs/lists/add", answers.ListedOptOut, listId=list_id, number=number,
            note=note,
        )  # fmt: skip
        return await self._caller.ask(call)

    async def opt_in_to_list(
        self, list_id: str, number: str, *, note: str | None = None
    ) -> answers.ListedOptOut:
        """Let messages of one list reach a number again; ``note`` says how its owner asked."""
        call = calls.do_once(
            "/api/opt-outs/lists/remove", answers.ListedOptOut, listId=list_id, number=number,
            note=note,
        )  # fmt: skip
        return await self._caller.ask(call)

    # -- mailings that repeat

    async def list_repeats(self) -> tuple[answers.RepeatedMailing, ...]:
        """The mailings that repeat: the next due first."""
        return await self._caller.ask(calls.read_all("/api/repeats/list", answers.RepeatedMailing))

    async def get_repeat(self, repeat_id: str) -> answers.RepeatedMailingView:
        """One with its next runs, and those that were due."""
        call = calls.read_one(
            "/api/repeats/get", answers.RepeatedMailingView, repeatId=repeat_id
        )  # fmt: skip
        return await self._caller.ask(call)

    async def create_repeat(
        self,
        name: str,
        list_id: str,
        text: str,
        *,
        unit: str,
        time: str,
        every: int | None = None,
        days: Iterable[str] | None = None,
        month_days: Iterable[int] | None = None,
        starts_on: str | None = None,
        until: str | None = None,
        count: int | None = None,
        sender: str | None = None,
        pace: int | None = None,
        from_hour: int | None = None,
        to_hour: int | None = None,
    ) -> answers.RepeatedMailing:
        """Send a text to a list again and again: every so many ``days``, ``weeks`` or
        ``months``."""
        call = calls.do_once(
            "/api/repeats/create", answers.RepeatedMailing, name=name, listId=list_id, text=text,
            unit=unit, time=time, every=every, days=None if days is None else [*days],
            monthDays=None if month_days is None else [*month_days], startsOn=starts_on,
            until=until, count=count, pace=pace, fromHour=from_hour, toHour=to_hour,
            **{"from": sender},
        )  # fmt: skip
        return await self._caller.ask(call)

    async def update_repeat(
        self,
        repeat_id: str,
        *,
        name: str | None = None,
        list_id: str | None = None,
        text: str | None = None,
        unit: str | None = None,
        time: str | None = None,
        every: int | None = None,
        days: Iterable[str] | None = None,
        month_days: Iterable[int] | None = None,
        until: str | None = None,
        count: int | None = None,
        sender: str | None = None,
        pace: int | None = None,
        from_hour: int | None = None,
        to_hour: int | None = None,
    ) -> answers.RepeatedMailing:
        """Change what is given; an empty ``until`` and a ``count`` of 0 take the end away."""
        call = calls.read_one(
            "/api/repeats/update", answers.RepeatedMailing, repeatId=repeat_id, name=name,
            listId=list_id, text=text, unit=unit, time=time, every=every,
            days=None if days is None else [*days],
            monthDays=None if month_days is None else [*month_days],
            until=until, count=count, pace=pace, fromHour=from_hour, toHour=to_hour,
            **{"from": sender},
        )  # fmt: skip
        return await self._caller.ask(call)

    async def pause_repeat(self, repeat_id: str) -> answers.RepeatedMailing:
        """Let no run take place before :meth:`resume_repeat`."""
        call = calls.do_once("/api/repeats/pause", answers.RepeatedMailing, repeatId=repeat_id)
        return await self._caller.ask(call)

    async def resume_repeat(self, repeat_id: str) -> answers.RepeatedMailing:
        """Go on with the next run from now."""
        call = calls.do_once("/api/repeats/resume", answers.RepeatedMailing, repeatId=repeat_id)
        return await self._caller.ask(call)

    async def end_repeat(self, repeat_id: str) -> answers.RepeatedMailing:
        """End it for good; mailings that have begun go on."""
        call = calls.do_once("/api/repeats/end", answers.RepeatedMailing, repeatId=repeat_id)
        return await self._caller.ask(call)

    async def delete_repeat(self, repeat_id: str) -> answers.RepeatedMailing:
        """Delete it with its list of runs; their mailings stay."""
        call = calls.do_once("/api/repeats/delete", answers.RepeatedMailing, repeatId=repeat_id)
        return await self._caller.ask(call)

    # -- alarms

    async def list_alarm_chains(self) -> answers.OnCallChains:
        """The chains, and the alarms that nobody has answered yet."""
        return await self._caller.ask(
            calls.read_one("/api/alarms/chains/list", answers.OnCallChains)
        )

    async def get_alarm_chain(self, chain_id: str) -> answers.OnCallChainView:
        """A chain, who is on duty now, and its alarms."""
        call = calls.read_one(
            "/api/alarms/chains/get", answers.OnCallChainView, chainId=chain_id
        )  # fmt: skip
        return await self._caller.ask(call)

    async def create_alarm_chain(
        self,
        name: str,
        people: Iterable[str],
        *,
        interval_seconds: int | None = None,
        rounds: int | None = None,
        word: str | None = None,
        language: str | None = None,
        sender: str | None = None,
    ) -> answers.OnCallChain:
        """Say who is written to, in which order: numbers, each perhaps with a shift such as
        ``mon-fri 08:00-18:00``."""
        call = calls.do_once(
            "/api/alarms/chains/create", answers.OnCallChain, name=name, people=[*people],
            intervalSeconds=interval_seconds, rounds=rounds, word=word, language=language,
            **{"from": sender},
        )  # fmt: skip
        return await self._caller.ask(call)

    async def update_alarm_chain(
        self,
        chain_id: str,
        *,
        name: str | None = None,
        people: Iterable[str] | None = None,
        interval_seconds: int | None = None,
        rounds: int | None = None,
        word: str | None = None,
        language: str | None = None,
        sender: str | None = None,
    ) -> answers.OnCallChain:
        """Change what is given; alarms that go on take it from their next step."""
        call = calls.read_one(
            "/api/alarms/chains/update", answers.OnCallChain, chainId=chain_id, name=name,
            people=None if people is None else [*people], intervalSeconds=interval_seconds,
            rounds=rounds, word=word, language=language, **{"from": sender},
        )  # fmt: skip
        return await self._caller.ask(call)

    async def delete_alarm_chain(self, chain_id: str) -> answers.OnCallChain:
        """Delete it with its alarms; one that goes on ends."""
        call = calls.do_once("/api/alarms/chains/delete", answers.OnCallChain, chainId=chain_id)
        return await self._caller.ask(call)

    async def raise_alarm(
        self, chain_id: str, text: str, *, idempotency_key: str | None = None
    ) -> answers.OnCallAlarm:
        """Write to the people of a chain, one after the other, until one of them answers."""
        key = idempotency_key or calls.fresh_key()
        call = calls.read_one(
            "/api/alarms/raise", answers.OnCallAlarm, chainId=chain_id, text=text,
            idempotencyKey=key,
        )  # fmt: skip
        return await self._caller.ask(call)

    async def get_alarm(self, alarm_id: str) -> answers.OnCallAlarmView:
        """An alarm with each of its steps."""
        call = calls.read_one("/api/alarms/get", answers.OnCallAlarmView, alarmId=alarm_id)
        return await self._caller.ask(call)

    async def end_alarm(self, alarm_id: str) -> answers.OnCallAlarm:
        """End it: nobody is written to any more."""
        call = calls.do_once("/api/alarms/end", answers.OnCallAlarm, alarmId=alarm_id)
        return await self._caller.ask(call)

    # -- search

    async def search(self, query: str) -> tuple[answers.FoundThing, ...]:
        """What has some words, digits of its number, or an id or the end of one: at most fifty."""
        call = calls.read_all("/api/search", answers.FoundThing, query=query)
        return await self._caller.ask(call)

    # -- money and names

    async def get_balance(self) -> answers.OrganizationBalance:
        """What the organization has, and has spent today."""
        return await self._caller.ask(
            calls.read_one("/api/balance/get", answers.OrganizationBalance)
        )

    async def list_ledger(
        self,
        *,
        kind: str | None = None,
        since: When | None = None,
        until: When | None = None,
        limit: int | None = None,
        before: str | None = None,
        after: str | None = None,
    ) -> answers.Page[answers.LedgerLine]:
        """A page of the movements of money, the newest first: all, or those of one ``kind``
        (``topup``, ``charge``, ``refund``, ``adjustment``)."""
        arguments = calls.listing(
            kind=kind, since=since, until=until, limit=limit, before=before, after=after
        )
        return await self._caller.ask(
            calls.read_page("/api/ledger/list", answers.LedgerLine, arguments)
        )

    def iter_ledger(
        self,
        *,
        kind: str | None = None,
        since: When | None = None,
        until: When | None = None,
        page: int | None = None,
    ) -> AsyncIterator[answers.LedgerLine]:
        """All movements of money, the newest first."""
        return self._pages(
            lambda before: self.list_ledger(
                kind=kind, since=since, until=until, limit=page, before=before
            )
        )

    async def get_statement(self, month: str | None = None) -> answers.BilledMonth:
        """What was charged, refunded and paid in a month such as ``2026-10``; without it the
        present one."""
        return await self._caller.ask(
            calls.read_one("/api/billing/statement", answers.BilledMonth, month=month)
        )

    async def list_invoices(
        self, *, limit: int | None = None, before: str | None = None, after: str | None = None
    ) -> answers.Page[answers.IssuedInvoice]:
        """A page of invoices, the newest first."""
        arguments = calls.listing(limit=limit, before=before, after=after)
        return await self._caller.ask(
            calls.read_page("/api/billing/invoices", answers.IssuedInvoice, arguments)
        )

    def iter_invoices(self, *, page: int | None = None) -> AsyncIterator[answers.IssuedInvoice]:
        """All invoices, the newest first."""
        return self._pages(lambda before: self.list_invoices(limit=page, before=before))

    async def list_senders(self) -> tuple[answers.SenderName, ...]:
        """The senders that the organization asked for."""
        return await self._caller.ask(calls.read_all("/api/senders/list", answers.SenderName))

    # -- endpoints of webhooks

    async def list_webhooks(self) -> tuple[answers.WebhookEndpoint, ...]:
        """The endpoints that events are sent to."""
        return await self._caller.ask(calls.read_all("/api/webhooks/list", answers.WebhookEndpoint))

    async def create_webhook(
        self,
        url: str,
        *,
        types: Iterable[str] | None = None,
        description: str | None = None,
        headers: Mapping[str, str] | None = None,
        notify: str | None = None,
        signature_header: str | None = None,
        signature_key: str | None = None,
        shape: str | None = None,
        template: str | None = None,
    ) -> answers.WebhookEndpoint:
        """Make an endpoint. Its ``secret`` is shown here only. With
        ``signature_header`` its events carry another signature there, which
        `Webhook.verify_signed` takes."""
        settings = calls.settings(
            url=url, types=types, description=description, headers=headers, notify=notify,
            signature_header=signature_header, signature_key=signature_key,
            shape=shape, template=template,
        )  # fmt: skip
        call = calls.do_once("/api/webhooks/create", answers.WebhookEndpoint, **settings)
        return await self._caller.ask(call)

    async def update_webhook(
        self,
        endpoint_id: str,
        *,
        url: str | None = None,
        types: Iterable[str] | None = None,
        description: str | None = None,
        headers: Mapping[str, str] | None = None,
        notify: str | None = None,
        signature_header: str | None = None,
        signature_key: str | None = None,
        shape: str | None = None,
        template: str | None = None,
        enabled: bool | None = None,
    ) -> answers.WebhookEndpoint:
        """Change what is given of an endpoint."""
        settings = calls.settings(
            url=url, types=types, description=description, headers=headers, notify=notify,
            signature_header=signature_header, signature_key=signature_key,
            shape=shape, template=template,
        )  # fmt: skip
        call = calls.read_one(
            "/api/webhooks/update", answers.WebhookEndpoint,
            endpointId=endpoint_id, enabled=enabled, **settings,
        )  # fmt: skip
        return await self._caller.ask(call)

    async def delete_webhook(self, endpoint_id: str) -> answers.WebhookEndpoint:
        """Delete an endpoint, and get it as it was; what was pending for it is dropped."""
        call = calls.do_once(
            "/api/webhooks/delete", answers.WebhookEndpoint, endpointId=endpoint_id
        )
        return await self._caller.ask(call)

    async def rotate_webhook(
        self, endpoint_id: str, *, at_once: bool | None = None
    ) -> answers.WebhookEndpoint:
        """Give an endpoint another ``secret``. The one before signs too for 24 hours, unless
        ``at_once``."""
        call = calls.do_once(
            "/api/webhooks/rotate", answers.WebhookEndpoint,
            endpointId=endpoint_id, atOnce=at_once,
        )  # fmt: skip
        return await self._caller.ask(call)

    async def test_webhook(self, endpoint_id: str) -> answers.EndpointDelivery:
        """Have a `webhook.test` event sent to an endpoint."""
        call = calls.do_once("/api/webhooks/test", answers.EndpointDelivery, endpointId=endpoint_id)
        return await self._caller.ask(call)

    async def list_deliveries(
        self,
        endpoint_id: str,
        *,
        state: str | None = None,
        limit: int | None = None,
        before: str | None = None,
        after: str | None = None,
    ) -> answers.Page[answers.EndpointDelivery]:
        """A page of what was sent to an endpoint, the newest first."""
        arguments = calls.listing(
            endpointId=endpoint_id, state=state, limit=limit, before=before, after=after
        )
        call = calls.read_page("/api/webhooks/deliveries", answers.EndpointDelivery, arguments)
        return await self._caller.ask(call)

    def iter_deliveries(
        self, endpoint_id: str, *, state: str | None = None, page: int | None = None
    ) -> AsyncIterator[answers.EndpointDelivery]:
        """All that was sent to an endpoint, the newest first."""
        return self._pages(
            lambda before: self.list_deliveries(endpoint_id, state=state, limit=page, before=before)
        )

    async def replay_delivery(self, endpoint_id: str, event_id: str) -> answers.EndpointDelivery:
        """Have one event sent to an endpoint again."""
        call = calls.do_once(
            "/api/webhooks/replay", answers.EndpointDelivery,
            endpointId=endpoint_id, eventId=event_id,
        )  # fmt: skip
        return await self._caller.ask(call)

    async def replay_failed(self, endpoint_id: str, since: When) -> int:
        """Have all events since a time whose delivery failed sent again, and get how many. It asks
        as often as the service wants, each time with the deadline of a call."""
        count, until = 0, None
        while True:
            call = calls.read_one(
                "/api/webhooks/replay", answers.ReplayedChunk,
                endpointId=endpoint_id, since=calls.when(since), until=until,
            )  # fmt: skip
            chunk = await self._caller.ask(call)
            count += chunk.replayed
            if chunk.done:
                return count
            until = chunk.until

    # -- pages

    async def _pages(
        self, page: Callable[[str | None], Awaitable[answers.Page[T]]]
    ) -> AsyncIterator[T]:
        """The items of one page after the other, each asked for when the one before is used up."""
        before: str | None = None
        while True:
            answer = await page(before)
            for item in answer.items:
                yield item
            before = answer.next
            if before is None:
                return

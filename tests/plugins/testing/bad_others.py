"""Mailers, sinks and payment methods that do one thing wrong each; see ``bad_drivers.py``."""

from __future__ import annotations

import threading
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, ClassVar

import trio
from trio.testing import MockClock

from risala.plugins.mail import MailNotSentError
from risala.plugins.payment import (
    Confirmation,
    ForgedCallbackError,
    PaymentCallback,
    PaymentField,
    PaymentMethodError,
    PaymentOffer,
    PaymentPending,
    PaymentRefused,
    PaymentReport,
    PaymentSettled,
)
from risala.plugins.sink import SinkUnavailableError
from risala.plugins.testing.mailers import MailerConformance
from risala.plugins.testing.payments import PaymentConformance
from risala.plugins.testing.sinks import SinkConformance

EXPECTED: dict[str, tuple[str, str]] = {}
SECRET = "s3cret-of-it"


def bad(suite: type, check: str, sentence: str):
    """Make a suite of a plugin; it must fail this check alone, with this in the sentence."""

    def made(plugin: type) -> type:
        name = f"Test{plugin.__name__}"
        fields = {"plugin": plugin, **vars(plugin).get("suite", {})}
        globals()[name] = type(name, (suite,), {"__module__": __name__, **fields})
        EXPECTED[name] = (check, sentence)
        return plugin

    return made


class OtherSide:
    def __init__(self) -> None:
        self.got: list[Any] = []
        self.broken = self.mute = False


class Mocked:
    secrets: ClassVar = (SECRET,)

    def new_clock(self):
        return MockClock(autojump_threshold=0)

    def build(self):
        self.other = OtherSide()
        return self.plugin(self.other)

    async def break_it(self):
        self.other.broken = True

    async def mute_it(self):
        self.other.mute = True


# -- mailers -------------------------------------------------------------------------------------


class SoundMailer:
    def __init__(self, other):
        self.other = other

    async def send(self, mail):
        await trio.lowlevel.checkpoint()
        if self.other.mute:
            await trio.sleep(20)
            raise MailNotSentError("The server does not answer.")
        if self.other.broken:
            raise MailNotSentError("The server refused it.")
        self.other.got.append(mail)


class SoundMailerSuite(Mocked, MailerConformance):
    plugin: ClassVar[type] = SoundMailer

    @asynccontextmanager
    async def open_mailer(self):
        yield self.build()

    async def server_got(self):
        return self.other.got

    refuse_mail, mute_server = Mocked.break_it, Mocked.mute_it


class TestSoundMailer(SoundMailerSuite):
    pass


@bad(SoundMailerSuite, "test_answers_in_time", "send did not return within 5 s")
class NeverSends(SoundMailer):
    async def send(self, mail):
        await trio.sleep_forever()


@bad(SoundMailerSuite, "test_raises_what_the_contract_names", "send raised OSError('no route')")
class RaisesItsOwn(SoundMailer):
    async def send(self, mail):
        raise OSError("no route")


@bad(SoundMailerSuite, "test_the_mail_arrives_as_it_is", "arrived with another subject")
class LatinOnly(SoundMailer):
    async def send(self, mail):
        subject = mail.subject.encode("ascii", "replace").decode()
        await super().send(replace(mail, subject=subject))


@bad(SoundMailerSuite, "test_each_mail_arrives_once", "and 1 arrived")
class KeepsOne(SoundMailer):
    async def send(self, mail):
        await super().send(mail)
        self.other.got[:] = [mail]


@bad(SoundMailerSuite, "test_says_why", "send returned though the server refused the mail")
class SaysNothing(SoundMailer):
    async def send(self, mail):
        if not self.other.broken:
            await super().send(mail)


@bad(
    SoundMailerSuite,
    "test_a_mute_server_holds_nobody_up",
    "send returned though the server did not",
)
class BelievesSilence(SoundMailer):
    async def send(self, mail):
        if self.other.mute:
            await trio.sleep(20)
        else:
            await super().send(mail)


@bad(
    SoundMailerSuite, "test_lets_the_loop_run", "blocks the event loop for more than 0.2 s in send"
)
class BlocksAtMail(SoundMailer):
    suite: ClassVar = {"blocked_s": 0.2}

    async def send(self, mail):
        threading.Event().wait(60)


# -- event sinks ---------------------------------------------------------------------------------


class SoundSink:
    def __init__(self, other):
        self.other = other

    async def take(self, events):
        await trio.lowlevel.checkpoint()
        if self.other.mute:
            await trio.sleep_forever()
        if self.other.broken:
            raise SinkUnavailableError("The queue takes nothing.")
        self.other.got += [each.body for each in events]

    async def aclose(self):
        await trio.lowlevel.checkpoint()


class SoundSinkSuite(Mocked, SinkConformance):
    plugin: ClassVar[type] = SoundSink

    @asynccontextmanager
    async def open_sink(self):
        yield self.build()

    async def other_side_got(self):
        return self.other.got

    break_other_side, mute_other_side = Mocked.break_it, Mocked.mute_it


class TestSoundSink(SoundSinkSuite):
    pass


@bad(SoundSinkSuite, "test_events_arrive_whole_and_in_order", "they arrived in another order")
class Reverses(SoundSink):
    async def take(self, events):
        await super().take(events[::-1])


@bad(SoundSinkSuite, "test_many_at_once_arrive", "Of 500 events handed over at once, 100")
class TakesAHundred(SoundSink):
    async def take(self, events):
        await super().take(events[:100])


@bad(SoundSinkSuite, "test_says_why", "text holds a secret or somebody's content")
class TellsTheEvent(SoundSink):
    async def take(self, events):
        if self.other.broken:
            raise SinkUnavailableError(f"Not taken: {events[0].body}")
        await super().take(events)


@bad(SoundSinkSuite, "test_says_why", "take returned though the other side took nothing")
class LosesEvents(SoundSink):
    async def take(self, events):
        if not self.other.broken:
            await super().take(events)


@bad(
    SoundSinkSuite, "test_heeds_its_cancellation", "take did not end within 5 s of being cancelled"
)
class HeedsNothing(SoundSink):
    async def take(self, events):
        with trio.CancelScope(shield=True):
            await super().take(events)


@bad(SoundSinkSuite, "test_closes_well", "aclose raised OSError")
class RaisesAtItsEnd(SoundSink):
    async def aclose(self):
        raise OSError("closed already")


@bad(SoundSinkSuite, "test_leaves_nothing_running", "but this still runs: the task")
class LeavesATask(SoundSink):
    async def take(self, events):
        trio.lowlevel.spawn_system_task(trio.sleep_forever)
        await super().take(events)


# -- payment methods -----------------------------------------------------------------------------


class SoundCard:
    offer = PaymentOffer({"en": "Card"}, asks_first=(PaymentField("payer", {"en": "Payer"}),))

    def __init__(self, other):
        self.other = other

    async def begin(self, payment):
        await trio.lowlevel.checkpoint()
        if self.other.broken:
            raise PaymentMethodError("The provider cannot be reached.")
        return PaymentPending(Confirmation.PROVIDER, reference=f"ref-{payment.payment_id}")

    async def poll(self, payment):
        return await self.begin(payment)

    def callback(self, callback):
        fresh = abs(callback.received_at_ms - int(callback.headers.get("at", "0"))) < 300_000
        if callback.headers.get("signature") != f"{SECRET}{len(callback.body)}" or not fresh:
            raise ForgedCallbackError
        word, payment_id, amount = callback.body.decode().split()
        if word == "no":
            result = PaymentRefused("declined", {"en": "The bank declined it."})
        else:
            result = PaymentSettled("card", f"ref-{payment_id}", int(amount), "MRU")
        return (PaymentReport(result, payment_id),)


class SoundCardSuite(Mocked, PaymentConformance):
    plugin: ClassVar[type] = SoundCard

    @asynccontextmanager
    async def open_method(self):
        yield self.build()

    def called(self, word, payment):
        body = f"{word} {payment.payment_id} {payment.amount}".encode()
        headers = {"signature": f"{SECRET}{len(body)}", "at": str(self.now_ms())}
        return PaymentCallback(headers, {}, body, self.now_ms())

    async def pay(self, payment):
        return self.called("yes", payment)

    async def decline(self, payment):
        return self.called("no", payment)

    break_provider = Mocked.break_it


class TestSoundCard(SoundCardSuite):
    pass


@bad(SoundCardSuite, "test_has_its_shape", "a title without English")
class FrenchAlone(SoundCard):
    offer = PaymentOffer({"fr": "Carte"})


@bad(SoundCardSuite, "test_answers_with_progress", "begin answered with a checkout at http:")
class PlainCheckout(SoundCard):
    async def begin(self, payment):
        return replace(await super().begin(payment), checkout_url="http://pay.example")


@bad(SoundCardSuite, "test_begun_again_it_is_the_same_payment", "made two payments")
class BeginsTwice(SoundCard):
    count = 0

    async def begin(self, payment):
        self.count += 1
        return replace(await super().begin(payment), reference=f"{payment.payment_id}{self.count}")


@bad(
    SoundCardSuite, "test_what_is_paid_is_settled", "50000 MRU were paid, but PaymentSettled says 1"
)
class SettlesAnother(SoundCard):
    def callback(self, callback):
        (report,) = super().callback(callback)
        if isinstance(report.result, PaymentSettled):
            return (replace(report, result=replace(report.result, amount=1)),)
        return (report,)


@bad(SoundCardSuite, "test_told_twice_it_is_the_same", "under two references")
class NewReferenceEachTime(SoundCard):
    count = 0

    def callback(self, callback):
        self.count += 1
        (report,) = super().callback(callback)
        if isinstance(report.result, PaymentSettled):
            return (replace(report, result=replace(report.result, reference=f"R{self.count}")),)
        return (report,)


@bad(SoundCardSuite, "test_forged_callbacks_are_refused", "accepted a callback without its headers")
class BelievesAnybody(SoundCard):
    def callback(self, callback):
        if not callback.body:
            raise ForgedCallbackError
        headers = {**callback.headers, "signature": f"{SECRET}{len(callback.body)}"}
        headers.setdefault("at", str(callback.received_at_ms))
        return super().callback(replace(callback, headers=headers))


@bad(SoundCardSuite, "test_what_is_declined_is_refused", "but the method reports it as paid")
class CreditsAll(SoundCard):
    def callback(self, callback):
        return super().callback(
            replace(
                callback,
                body=callback.body.replace(b"no ", b"yes "),
                headers={
                    name: value.replace(str(len(callback.body)), str(len(callback.body) + 1))
                    if callback.body.startswith(b"no ") and name == "signature"
                    else value
                    for name, value in callback.headers.items()
                },
            )
        )


@bad(SoundCardSuite, "test_says_why", "text holds a secret")
class TellsItsKey(SoundCard):
    async def begin(self, payment):
        if self.other.broken:
            raise PaymentMethodError(f"https://api.example/?key={SECRET} cannot be reached.")
        return await super().begin(payment)

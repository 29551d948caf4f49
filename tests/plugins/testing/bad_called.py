"""Drivers that are called and do one thing wrong each, and what the suite must say about it.

As ``bad_drivers.py``, which says how these files are run.
"""

from __future__ import annotations

import hmac
import json
import logging
import re
import time
from contextlib import suppress
from hashlib import sha256
from typing import Any, ClassVar

import trio
from sound_driver import Sound, SoundSuite

from risala.plugins.answering import CarrierAnswer, CarrierStream, RequestRefusedError
from risala.plugins.contract import Inbound, NotStoredError, Receipt, ReceiptState
from risala.plugins.testing.called import CarrierCallback

EXPECTED: dict[str, tuple[str, str]] = {}
KEY, OTHER = b"callbacks-key", b"key of another account"
HOUR_S = 3600


def sign(key: bytes, at_s: float, body: bytes) -> str:
    return f"t={at_s:.0f},v1={hmac.new(key, b'%.0f.%b' % (at_s, body), sha256).hexdigest()}"


class Called(Sound):
    """Its carrier calls it, and signs time and body."""

    async def bring_receipt(self, carrier_id):
        await self.call({"id": carrier_id, "state": "delivered"})

    async def bring_texts(self):
        while True:
            sender, text = await self.carrier.texts[1].receive()
            await self.call({"id": f"in-{text}", "from": sender, "text": text})

    async def call(self, told):
        """What its carrier does: call until it is taken."""
        call = CarrierCallback("/report", json.dumps(told).encode())
        while True:
            answer = await self.carrier.address.call(self.proved(call))
            if answer.is_success:
                return
            await trio.sleep(0.01)

    def proved(self, call):
        return proved(call)

    async def answer(self, request):
        body = await request.read()
        if not self.is_theirs(request, body):
            return CarrierAnswer(status=401)
        request.prove()
        if request.method != "POST":
            return CarrierAnswer(status=405)
        try:
            told = json.loads(body)
        except ValueError:
            return CarrierAnswer(status=400)
        return await self.take(told)

    def is_theirs(self, request, body):
        signature = request.headers.get("x-signature", "")
        found = re.fullmatch("t=([0-9]{1,12}),v1=[0-9a-f]{64}", signature)
        if found is None or abs(time.time() - int(found[1])) > HOUR_S:
            return False
        return hmac.compare_digest(sign(KEY, int(found[1]), body), signature)

    async def take(self, told):
        match told:
            case {"id": str(id_), "state": "delivered"}:
                await self.context.receipt(Receipt(id_, ReceiptState.DELIVERED, "delivered"))
            case {"id": str(id_), "from": str(sender), "text": str(text)}:
                await self.context.inbound(Inbound(sender, None, text, 0, (id_,)))
            case _:
                return CarrierAnswer(status=400)
        return CarrierAnswer()


def proved(call, age_s=0.0, other=False):
    signature = sign(OTHER if other else KEY, time.time() - age_s, call.body)
    return CarrierCallback(
        call.path, call.body, {**call.headers, "x-signature": signature}, call.method
    )


class CalledSuite(SoundSuite):
    driver: ClassVar[type] = Called
    secrets: ClassVar = (*SoundSuite.secrets, KEY.decode())

    async def called_at(self, address):
        self.carrier.address = address

    def carrier_calls(self):
        told = [
            {"id": "id-77", "state": "delivered"},
            {"id": "in-77", "from": "+22236999999", "text": "Oui, 604719"},
        ]
        return [CarrierCallback("/report", json.dumps(each).encode()) for each in told]

    def prove_call(self, call, *, age_s=0.0, other=False):
        return proved(call, age_s, other)


class TestCalled(CalledSuite):
    pass


class ByToken(Called):
    """Its carrier has a token."""

    async def answer(self, request):
        if not hmac.compare_digest(request.headers.get("x-token", "").encode(), KEY):
            return CarrierAnswer(status=401)
        request.prove()
        return await self.answer_proved(request)

    async def answer_proved(self, request):
        try:
            told = json.loads(await request.read())
        except ValueError:
            return CarrierAnswer(status=400)
        return await self.take(told)

    def proved(self, call):
        return CarrierCallback(call.path, call.body, {"x-token": KEY.decode()})


class TestByToken(CalledSuite):
    driver = ByToken
    unseen: ClassVar = frozenset({"body", "old"})

    def prove_call(self, call, *, age_s=0.0, other=False):
        token = (OTHER if other else KEY).decode()
        return CarrierCallback(
            call.path, call.body, {**call.headers, "x-token": token}, call.method
        )


class BySecretAddress(Called):
    """A secret in its address proves its carrier."""

    async def answer(self, request):
        if not request.is_proved():
            return CarrierAnswer(status=401)
        return await ByToken.answer_proved(self, request)


class TestBySecretAddress(CalledSuite):
    driver = BySecretAddress
    claims: ClassVar = {"secret_address": True}

    def prove_call(self, call, **_):
        raise NotImplementedError


def bad(check: str, sentence: str, base: type = CalledSuite, **fields: Any):
    """Make a suite of a driver; it must fail this check alone, with this in the sentence."""

    def made(driver: type) -> type:
        name = f"Test{driver.__name__}"
        globals()[name] = type(name, (base,), {"__module__": __name__, "driver": driver, **fields})
        EXPECTED[name] = (check, sentence)
        return driver

    return made


# -- its carrier ---------------------------------------------------------------------------------


class _ByItself(Called):
    """What it reports comes by another way, whatever it answers its carrier."""

    async def call(self, told):
        while True:
            try:
                await super().take(told)
            except NotStoredError:
                await trio.sleep(0.01)
            else:
                return


@bad("test_answers_its_carrier", "to '/report' was answered 401. Call request.prove")
class NeverProves(_ByItself):
    def is_theirs(self, request, body):
        return False


@bad("test_answers_its_carrier", "was answered 200, and nothing was handed to the context")
class TakesNothing(_ByItself):
    async def take(self, told):
        return CarrierAnswer()


@bad("test_answers_its_carrier", "A call was not answered within 5 s")
class AnswersLate(_ByItself):
    async def answer(self, request):
        await trio.sleep(9)
        return await super().answer(request)


@bad("test_answers_its_carrier", "Override carrier_calls in your suite, or name 'calls'",
     carrier_calls=lambda self: SoundSuite.carrier_calls(self))  # fmt: skip
class NotShownToTheSuite(Called):
    pass


@bad("test_answers_its_carrier", "Override prove_call in your suite",
     prove_call=lambda self, call, **more: SoundSuite.prove_call(self, call, **more))  # fmt: skip
class UnknownProof(Called):
    pass


# -- strangers -----------------------------------------------------------------------------------


@bad("test_who_is_not_the_carrier_changes_nothing", "handed over what a call without a proof had")
class TakesBeforeTheProof(Called):
    async def answer(self, request):
        body = await request.read()
        with suppress(ValueError, NotStoredError):
            await self.take(json.loads(body))
        return await super().answer(request)


@bad("test_who_is_not_the_carrier_changes_nothing", "The driver proved a call with a wrong x-sig")
class ReadsTheLastLettersAlone(Called):
    def is_theirs(self, request, body):
        signature = request.headers.get("x-signature", "")
        found = re.fullmatch("t=([0-9]{1,12}),v1=[0-9a-f]{64}", signature)
        if found is None or abs(time.time() - int(found[1])) > HOUR_S:
            return False
        return sign(KEY, int(found[1]), body)[-8:] == signature[-8:]


@bad(
    "test_who_is_not_the_carrier_changes_nothing",
    "handed over what a call without the address's secret had",
    TestBySecretAddress,
)
class ForgetsToAsk(BySecretAddress):
    async def answer(self, request):
        return await ByToken.answer_proved(self, request)


@bad("test_a_changed_body_is_refused", "The driver proved a call whose body was changed")
class SignsWhatItReads(Called):
    def is_theirs(self, request, body):
        return super().is_theirs(request, body.rstrip())


@bad("test_an_old_call_is_refused", "The driver proved a call that was proved a day ago")
class ReadsNoTime(Called):
    def is_theirs(self, request, body):
        signature = request.headers.get("x-signature", "")
        found = re.fullmatch("t=([0-9]{1,12}),v1=[0-9a-f]{64}", signature)
        return found is not None and hmac.compare_digest(sign(KEY, int(found[1]), body), signature)


@bad("test_another_accounts_call_is_refused", "The driver proved a call with another account's")
class KnowsTwoKeys(Called):
    def is_theirs(self, request, body):
        found = re.match("t=([0-9]{1,12}),", request.headers.get("x-signature", ""))
        right = found and sign(OTHER, int(found[1]), body) == request.headers["x-signature"]
        return super().is_theirs(request, body) or bool(right)


@bad(
    "test_a_crowd_of_strangers_holds_nobody_up",
    "while a thousand strangers called",
)
class ReadsOneAfterTheOther(Called):
    def __init__(self, carrier):
        super().__init__(carrier)
        self.lock = trio.Lock()

    async def answer(self, request):
        async with self.lock:
            return await super().answer(request)


# -- what is stored ------------------------------------------------------------------------------


@bad("test_a_call_that_comes_twice_is_stored_once", "has no identity or another one")
class GivesNoIdentity(Called):
    async def take(self, told):
        match told:
            case {"id": str(), "from": str(sender), "text": str(text)}:
                await self.context.inbound(Inbound(sender, None, text, 0))
                return CarrierAnswer()
        return await super().take(told)


@bad(
    "test_a_call_that_was_not_stored_is_answered_so",
    "raised NotStoredError, and the call was answered 200",
)
class AnswersUnstored(_ByItself):
    async def take(self, told):
        try:
            return await super().take(told)
        except NotStoredError:
            return CarrierAnswer()


# -- oddities ------------------------------------------------------------------------------------


@bad("test_odd_calls_are_answered", "answer raised JSONDecodeError at an odd body")
class RaisesOverNonsense(Called):
    async def answer(self, request):
        if self.is_theirs(request, await request.read()):
            json.loads(await request.read())
        return await super().answer(request)


@bad("test_odd_calls_are_answered", "answer raised TypeError at a wrong proof")
class ComparesTexts(Called):
    def is_theirs(self, request, body):
        hmac.compare_digest(request.headers.get("x-signature", ""), "t=")
        return super().is_theirs(request, body)


@bad("test_odd_calls_are_answered", "octets was answered 200", TestByToken)
class TakesWhatIsTooLarge(ByToken):
    async def answer_proved(self, request):
        try:
            return await super().answer_proved(request)
        except RequestRefusedError:
            return CarrierAnswer()


@bad("test_a_call_that_is_cancelled_harms_nobody", "answer went on. Let Cancelled pass")
class SwallowsItsCancellation(Called):
    async def take(self, told):
        try:
            return await super().take(told)
        except trio.Cancelled:
            return CarrierAnswer(status=500)


@bad(
    "test_a_call_that_is_cancelled_harms_nobody",
    "was answered 503 after a call that was cancelled",
)
class KeepsItsPlace(Called):
    is_busy = False

    async def take(self, told):
        if self.is_busy:
            return CarrierAnswer(status=503)
        self.is_busy = True
        try:
            answer = await super().take(told)
        except NotStoredError:
            self.is_busy = False
            raise
        self.is_busy = False
        return answer


# -- streams -------------------------------------------------------------------------------------


class Streams(Called):
    """It tells whoever listens of each submit."""

    def __init__(self, carrier):
        super().__init__(carrier)
        self.readers: list[trio.Event] = []

    async def answer(self, request):
        if request.path != "/events":
            return await super().answer(request)
        body = await request.read()
        if not self.is_theirs(request, body):
            return CarrierAnswer(status=401)
        request.prove()
        return self.streamed()

    def streamed(self):
        return CarrierStream(self.write)

    async def write(self, send):
        news = trio.Event()
        while True:
            self.readers.append(news)
            with trio.move_on_after(1):
                await news.wait()
            self.readers.remove(news)
            news = trio.Event()
            await send(b"data: {}\n\n")


class StreamSuite(CalledSuite):
    driver: ClassVar[type] = Streams

    def stream_calls(self):
        return [CarrierCallback("/events", method="GET")]


class TestStreams(StreamSuite):
    pass


@bad("test_a_stream_reaches_its_reader", "was answered 200, and not with a stream", StreamSuite)
class AnswersWithoutEnd(Streams):
    def streamed(self):
        return CarrierAnswer(b"data: {}\n\n")


@bad("test_a_stream_reaches_its_reader", "sent nothing within 5 s. Each stream has", StreamSuite)
class TellsNobody(Streams):
    async def write(self, send):
        await trio.sleep_forever()


@bad("test_a_stream_reaches_its_reader", "A stream sent what is no octets", StreamSuite)
class SendsText(Streams):
    async def write(self, send):
        while True:
            await send("data: {}\n\n")
            await trio.sleep(1)


@bad("test_a_stream_reaches_its_reader", "A stream raised KeyError: its client", StreamSuite)
class RaisesInItsStream(Streams):
    async def write(self, send):
        await send(b"data: {}\n\n")
        raise KeyError("reader")


@bad("test_a_stranger_gets_no_stream", "The driver proved a call without a proof", StreamSuite)
class StreamsToAnybody(Streams):
    async def answer(self, request):
        if request.path == "/events":
            request.prove()
            return self.streamed()
        return await super().answer(request)


@bad("test_a_stream_ends_with_its_reader", "and write went on. Let Cancelled pass", StreamSuite)
class GoesOnWithoutReader(Streams):
    async def write(self, send):
        while True:
            with suppress(trio.Cancelled):
                await send(b"data: {}\n\n")
            with trio.CancelScope(shield=True):
                await trio.sleep(1)


@bad("test_a_stream_ends_with_its_reader", "was answered 503 after others had left", StreamSuite)
class CountsReadersAlone(Streams):
    """It forgets that they leave."""

    count = 0

    def streamed(self):
        self.count += 1
        return CarrierStream(self.write) if self.count <= 3 else CarrierAnswer(status=503)


@bad("test_a_slow_reader_holds_nobody_up", "while another client read nothing", StreamSuite)
class SendsToAllInTurn(Streams):
    def __init__(self, carrier):
        super().__init__(carrier)
        self.lock = trio.Lock()

    async def write(self, send):
        while True:
            async with self.lock:
                await send(b"data: {}\n\n")
            await trio.sleep(1)


# -- what it tells -------------------------------------------------------------------------------


@bad("test_calls_keep_secrets_to_themselves", "stands in a log")
class LogsItsCalls(Called):
    async def answer(self, request):
        logging.getLogger("acme").warning("A call with %s.", dict(request.headers))
        return await super().answer(request)


@bad("test_calls_keep_secrets_to_themselves", "stands in a trace")
class TracesItsCalls(Called):
    async def take(self, told):
        if isinstance(told, dict) and "from" not in told and "state" not in told:
            self.context.trace(f"An unknown call: {told}.")
        return await super().take(told)


@bad("test_calls_keep_secrets_to_themselves", "stands in an exception")
class RaisesWithTexts(Called):
    async def take(self, told):
        try:
            return await super().take(told)
        except NotStoredError:
            raise NotStoredError(str(told)) from None


@bad("test_calls_keep_secrets_to_themselves", "stands in an answer")
class AnswersWithTexts(Called):
    async def take(self, told):
        answer = await super().take(told)
        return CarrierAnswer(json.dumps(told).encode(), answer.status)

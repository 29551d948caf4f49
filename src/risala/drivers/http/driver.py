"""The driver: the life of one account at an HTTP API, what it answers, and the calls it reads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import urlencode

import trio

from risala.drivers.http.account import HttpAccount
from risala.drivers.http.authorizing import AuthFailed
from risala.drivers.http.calling import CallFailed
from risala.drivers.http.hearing import cursor_in, receipts_in, texts_in
from risala.drivers.http.proving import Signed, is_signed, key_of
from risala.drivers.http.settings import HttpSettings
from risala.drivers.http.shape import HeardShape, SendShape, Shape
from risala.drivers.http.sources import CarrierContent, content_of
from risala.drivers.http.templates import holes_of
from risala.plugins.answering import CarrierAnswer, CarrierRequest, RequestRefusedError
from risala.plugins.contract import (
    Capabilities,
    DriverContext,
    Health,
    HealthState,
    NotStoredError,
    Outcome,
    Receipt,
    Segment,
    Uncertain,
    Unsent,
)

LEAVE_S: Final = 2.0
"""How long a stop waits for connections to close."""
AGAIN_S: Final = 1.0
"""Wait before a list that could not be stored is asked for again, at first; then twice as long."""
_VALIDITY: Final = {"validity_s", "validity_min", "expires"}


def capabilities_of(carrier: str, settings: HttpSettings) -> Capabilities:
    """What an account can do, by its preset and settings."""
    shape = settings.shape
    holes = _holes_of(shape.send)
    return Capabilities(
        alphanumeric_sender=bool({"from", "from_digits"} & holes),
        receipts=shape.receipt is not None,
        inbound=shape.inbound is not None,
        query=bool(shape.query.path) and shape.receipt is not None,
        validity=bool(_VALIDITY & holes),
        window_max=settings.window_max,
        submit_s=settings.submit_s,
        account=_account_of(settings),
        takes_whole=True,
        secret_address=shape.proof.kind == "address" and _is_called(shape),
        remembers_ids_s=float(shape.send.once_s),
        same_id_is_safe=bool(shape.send.once),
        flash="flash" in holes and bool(shape.send.flash),
    )


def _is_called(shape: Shape) -> bool:
    """Whether the carrier calls us at all."""
    return shape.receipt is not None or shape.inbound is not None


def _holes_of(send: SendShape) -> set[str]:
    """The holes of what a message is sent by."""
    return holes_of(send.fields) | holes_of({**send.headers})


def _account_of(settings: HttpSettings) -> str:
    """Address and user; empty where there is no user, as a token must not be shown."""
    return f"{settings.shape.url} {settings.user}" if settings.user else ""


def _sent_line(method: str, path: str, digits: str) -> str:
    """A submit as an operator watches it; the path has its holes, and so no secret."""
    return f"{method} {path} …{digits}"


def _answer_line(outcome: Outcome) -> str:
    return f"{type(outcome).__name__} {outcome.raw}"


class HttpDriver:
    """One account at an HTTP API."""

    def __init__(
        self, carrier: str, settings: HttpSettings, now_s: Callable[[], float] = time.time
    ) -> None:
        self._carrier, self._settings, self._now_s = carrier, settings, now_s
        self.capabilities = capabilities_of(carrier, settings)
        self._tells_hops = "hops" in _holes_of(settings.shape.send)
        self._account: HttpAccount | None = None
        self._context: DriverContext | None = None
        self._reader = CallbackReader(settings)
        self._look_now = trio.Event()

    @property
    def _shape(self) -> Shape:
        return self._settings.shape

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Look after the account, for life."""
        task_status.started()
        try:
            # In a thread: all certificates are read first, and the loop would wait.
            account = await trio.to_thread.run_sync(
                HttpAccount, self._carrier, self._settings, self._now_s
            )
        except OSError as error:
            text = f"`tls_ca_file` cannot be used: {error.strerror or 'it has no certificate'}."
            context.health(Health(HealthState.SICK, text))
            await trio.sleep_forever()
        self._context = context
        try:
            async with trio.open_nursery() as nursery:
                for heard in self._polled():
                    nursery.start_soon(self._poll, account, context, heard)
                self._account = account
                await self._watch(account, context)
        finally:
            self._account = self._context = None
            with trio.move_on_after(LEAVE_S, shield=True):
                await account.aclose()

    async def _watch(self, account: HttpAccount, context: DriverContext) -> None:
        """Look whether the carrier is there, for life; sooner where a submit found it is not."""
        reported: Health | None = None
        while True:
            self._look_now = trio.Event()
            health = self._with_attention(await account.health())
            if health != reported:
                context.health(health)
                reported = health
            with trio.move_on_after(self._settings.look_s):
                await self._look_now.wait()
                reported = None

    def _with_attention(self, health: Health) -> Health:
        """Health with a word about receipts that cannot come."""
        receipt = self._shape.receipt
        asked_with_each = "callback" in holes_of(self._shape.send.fields)
        is_told = bool(self._settings.secret_address.get_secret_value())
        if receipt is None or receipt.poll.path or not asked_with_each or is_told:
            return health
        attention = (
            "Receipts do not come: set `secret_address` to what `risala carriers rotate "
            f"{self._carrier}` prints."
        )
        details = {**health.details, "attention": attention}
        return Health(health.state, health.text, details, receipts=False)

    async def submit(self, segment: Segment) -> Outcome:
        """Send one message, and judge the answer."""
        return await self._submit(segment, {})

    async def _submit(self, segment: Segment, more: Mapping[str, str]) -> Outcome:
        account, context = self._account, self._context
        if account is None or context is None:
            return Unsent("NOT_RUNNING", "The carrier's driver is not running yet.")
        outcome: Outcome = Uncertain("TIMEOUT")
        with trio.move_on_after(self._settings.submit_s):
            hops = context.hops(segment.message_id) if self._tells_hops else ()
            outcome = await account.send(segment, hops, more)
        if (context := self._context) is not None:
            shape = self._shape.send
            context.traffic(True, _sent_line, shape.method, shape.path, segment.recipient[-4:])
            context.traffic(False, _answer_line, outcome)
        if isinstance(outcome, Unsent) or account.is_refused:
            self._look_now.set()
        return outcome

    async def query(self, carrier_id: str, *, sender: str) -> Receipt | None:
        """Ask what became of a message, if the API can be asked."""
        account = self._account
        receipt: Receipt | None = None
        if account is not None and self.capabilities.query:
            with trio.move_on_after(self._settings.submit_s):
                receipt = await account.query(carrier_id)
        return receipt

    async def answer(self, request: CarrierRequest) -> CarrierAnswer:
        """Take a receipt or a text that the carrier brings."""
        context = self._context
        if context is None:
            raise RequestRefusedError(503, "The carrier's driver is not running yet.")
        heard, content = await self._reader.read(request, self._now_s())
        if not heard:
            return CarrierAnswer(status=404, content_type="text/plain")
        count, answer = 0, heard[0]
        for each in heard:
            if came := await self._take(context, each, content, request.received_at_ms):
                count, answer = count + came, each
        if not count:
            context.trace("A call told nothing that we know.")
        return CarrierAnswer(answer.body.encode(), answer.status, answer.content_type)

    async def _take(
        self,
        context: DriverContext,
        heard: HeardShape,
        content: CarrierContent,
        received_at_ms: int,
    ) -> int:
        """Keep what was told; how much that was. What comes twice is handed over twice: the engine
        knows a receipt by its id, and a text by the carrier's identity.

        Raises:
            NotStoredError: some of it could not be kept.
        """
        count = 0
        shape = self._shape
        if heard is shape.receipt:
            for receipt in receipts_in(shape.receipt, content, self._hide):
                await self._hear(context, receipt)
                count += 1
        elif heard is shape.inbound:
            for text in texts_in(shape.inbound, content, received_at_ms):
                await context.inbound(text)
                count += 1
        return count

    async def _hear(self, context: DriverContext, receipt: Receipt) -> None:
        await context.receipt(receipt)

    def _hide(self, text: str) -> str:
        for secret in self._settings.secrets:
            text = text.replace(secret, "***")
        return text

    def _polled(self) -> Iterator[HeardShape]:
        for heard in (self._shape.receipt, self._shape.inbound):
            if heard is not None and heard.poll.path:
                yield heard

    async def _poll(self, account: HttpAccount, context: DriverContext, heard: HeardShape) -> None:
        """Ask for receipts or texts, at their pace, for life."""
        key = f"cursor {heard.path}"
        failed_s = AGAIN_S
        while True:
            cursor = context.recall(key).get(key, "")
            try:
                content = await account.listed(heard.poll, cursor)
                await self._take(context, heard, content, time.time_ns() // 1_000_000)
                reached = cursor_in(heard, heard.poll.cursor, content)
                if reached and reached != cursor:
                    await context.remember({key: reached})
                failed_s = AGAIN_S
            except (CallFailed, AuthFailed, NotStoredError) as error:
                context.trace(f"A list could not be read: {type(error).__name__}.")
                await trio.sleep(min(failed_s, heard.poll.every_s))
                failed_s *= 2
                continue
            await trio.sleep(heard.poll.every_s)


class CallbackReader:
    """Proves who calls, and parses what was told."""

    def __init__(self, settings: HttpSettings) -> None:
        shape = settings.shape
        self._proof = shape.proof
        self._heard = [each for each in (shape.receipt, shape.inbound) if each is not None]
        self._address = settings.secret_address.get_secret_value()
        self._key = b""
        if self._proof.kind == "hmac":
            self._key = key_of(
                self._proof, getattr(settings, self._proof.secret).get_secret_value()
            )

    async def read(
        self, request: CarrierRequest, now_s: float
    ) -> tuple[Sequence[HeardShape], CarrierContent]:
        """What a request tells, and which of its preset's tables read it; none: its path is none of
        theirs, or the caller is not proved.

        Raises:
            RequestRefusedError: the service does not go on with it.
        """
        body = await request.read()
        if not request.is_proved() and self._is_theirs(request, body, now_s):
            request.prove()
        if not request.is_proved():
            return (), CarrierContent()
        path = request.path.rstrip("/")
        heard = [each for each in self._heard if each.path == path]
        query = {name: values[0] for name, values in request.query.items() if values}
        content_type = request.headers.get("content-type", "")
        return heard, content_of(body, content_type, request.headers, query)

    def _is_theirs(self, request: CarrierRequest, body: bytes, now_s: float) -> bool:
        if not self._key:
            return False
        url = f"{self._address}{request.path}{_query(request.query)}"
        signed = Signed(url, request.headers, body)
        return is_signed(self._proof, self._key, signed, now_s)


def _query(query: Mapping[str, tuple[str, ...]]) -> str:
    pairs = [(name, value) for name, values in query.items() for value in values]
    return f"?{urlencode(pairs)}" if pairs else ""

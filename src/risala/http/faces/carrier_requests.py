"""Hands requests to a carrier's address to its driver, and sends what it answers.

The secret that an address may have is in no log, request log, error or trace. Who is not the
carrier gets nothing but 401, leaves no line anywhere, and costs little: a few octets are read, and
an address that tries often waits for its answers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import Final
from urllib.parse import parse_qs

import trio

from risala.engine.features.answering.calls import ArrivedCall, CallAnswerer, Callee, OpenStream
from risala.engine.features.answering.rules import CallPlace, NoPlaceError
from risala.engine.model.clock import Clock, SystemClock
from risala.http.common.client_address import ClientAddresses, bucket_of, parse_address
from risala.http.common.failed_keys import GuessBrake
from risala.http.common.parse import read_raw
from risala.http.common.plain import (
    Handler,
    PlainAnswer,
    PlainPath,
    PlainRequest,
    StreamedAnswer,
    WritePart,
    problem_answer,
)
from risala.http.common.problems import Problem
from risala.http.faces.paths import TypedAnswer
from risala.plugins.answering import (
    ANSWER_S,
    BODY_BYTES_MAX,
    METHODS,
    UNPROVED_BYTES_MAX,
    CarrierRequest,
    RequestRefusedError,
)
from risala.plugins.face import FIELDS_MAX, FaceAnswer

PATH: Final = "/carriers/{name}"
"""The name of all these paths, which says nothing of a secret in them."""
FIRST_S: Final = 2.0
"""Seconds in which the body of a request begins whose sender is not proved yet."""
AGAIN_S: Final = "5"
"""``Retry-After`` of what is not answered now."""


class CarrierRequests:
    """Answers the addresses of all carriers."""

    def __init__(
        self,
        calls: CallAnswerer,
        trusted_proxies: Iterable[str],
        stop: trio.Event,
        clock: Clock | None = None,
        brake: GuessBrake | None = None,
    ) -> None:
        """
        Args:
            brake: delays the answers to strangers; None: nobody does.
        """
        self._brake = brake
        self._calls = calls
        self._addresses = ClientAddresses(trusted_proxies)
        self._stop = stop
        self._clock = clock or SystemClock()

    def path(self, word: str, rest: str, query: str) -> PlainPath | None:
        """The path of the carrier whose address has this word; None: there is none.

        Args:
            rest: what follows the word, with its slash.
        """
        callee = self._calls.at(word)
        if callee is None:
            return None
        handlers: dict[str, Handler] = {
            method: partial(self._answer, callee, method, rest, query) for method in METHODS
        }
        handlers["HEAD"] = handlers["GET"]
        path = PlainPath(PATH, handlers, BODY_BYTES_MAX)
        path.has_keys = False
        return path

    async def _answer(
        self, callee: Callee, method: str, rest: str, query: str, request: PlainRequest
    ) -> PlainAnswer:
        forwarded = tuple(request.fields.get(b"x-forwarded-for", ()))
        client = None if request.client is None else request.client[0]
        address = self._addresses.text_of(client, forwarded)
        now_ms = self._clock.now_ms()
        arrival = ArrivedCall(
            request=partial(
                _request_of, request, method, query, address, now_ms, self._calls.url_of(callee)
            ),
            method=method,
            path=rest,
            address=address,
            address_key=None if address is None else bucket_of(parse_address(address)),
        )
        try:
            answer = await self._calls.answer(callee, arrival)
        except RequestRefusedError as refused:
            if refused.status == 401 and self._brake is not None:
                await self._hold(self._brake, arrival.address_key)
            again = {"Retry-After": AGAIN_S} if refused.status == 503 else {}
            problem = Problem(refused.status, str(refused), headers=again)
            turned_away = problem_answer(problem, request.id)  # not raised: it is not logged
            turned_away.is_crowd = isinstance(refused, NoPlaceError)
            return turned_away
        if isinstance(answer, OpenStream):
            run, stream = partial(_run, answer, self._stop), answer.stream
            return StreamedAnswer(run, answer.end, stream.content_type, stream.headers)
        body = b"" if answer.status == 204 else answer.body
        return TypedAnswer(FaceAnswer(body, answer.status, answer.content_type, answer.headers))

    @staticmethod
    async def _hold(brake: GuessBrake, address: Hashable) -> None:
        if brake.is_over(address) and brake.has_room:
            await brake.wait()


async def _run(answer: OpenStream, stop: trio.Event, send: WritePart) -> None:
    await answer.run(send, stop)


def _request_of(
    request: PlainRequest,
    method: str,
    query: str,
    address: str | None,
    now_ms: int,
    own_url: str,
    path: str,
    place: CallPlace,
    prove: Callable[[], None],
) -> CarrierRequest:
    """What the driver gets.

    Raises:
        RequestRefusedError: the query has too many fields.
    """
    try:
        fields = parse_qs(query, keep_blank_values=True, max_num_fields=FIELDS_MAX)
    except ValueError:
        raise RequestRefusedError(400, "The query has too many fields.") from None
    headers = {
        name.decode("latin-1"): each[0].decode("latin-1") for name, each in request.fields.items()
    }
    return CarrierRequest(
        id=request.id,
        method=method,
        path=path,
        query={name: tuple(values) for name, values in fields.items()},
        headers=headers,
        address=address,
        received_at_ms=now_ms,
        is_proved=lambda: place.is_proved,
        prove=prove,
        read=_BodyReader(request, place).read,
        own_url=own_url,
    )


class _BodyReader:
    """Reads a body as far as its sender is proved."""

    def __init__(self, request: PlainRequest, place: CallPlace) -> None:
        self._request = request
        self._place = place
        self._body: bytes | None = None

    async def read(self) -> bytes:
        """See :attr:`risala.plugins.answering.CarrierRequest.read`."""
        if self._body is None:
            self._body = await self._read()
        return self._body

    async def _read(self) -> bytes:
        request, proved = self._request, self._place.is_proved
        request.body_bytes_max = BODY_BYTES_MAX if proved else UNPROVED_BYTES_MAX
        request.body_timeout_s = min(request.body_timeout_s, ANSWER_S)
        first = FIRST_S if not proved and not request.body.complete else None
        if first is not None:
            self._place.wait()
        try:
            return await read_raw(request, first_s=first)
        except Problem as problem:
            raise RequestRefusedError(problem.status, problem.message) from None
        finally:
            request.raw = None  # it is no customer's: nothing is noted of it

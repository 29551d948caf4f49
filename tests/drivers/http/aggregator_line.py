"""A driver, the aggregator that it talks to, and the listener at which that calls back."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import h11
import trio

from risala.drivers.http.driver import HttpDriver
from risala.drivers.http.settings import HttpSettings
from risala.lab.aggregators.gateways import DEVICE, MODEM, PORT
from risala.lab.aggregators.row import PASSWORD, SIGNING_SECRET, TOKEN, USER
from risala.lab.aggregators.stand_in import StandIn, read_request
from risala.lab.aggregators.table import AGGREGATORS, ORANGE_NUMBER, SIGNING
from risala.plugins.answering import CarrierAnswer, CarrierRequest, RequestRefusedError
from risala.plugins.contract import HealthState, NotStoredError
from risala.plugins.testing.context import RecordingContext

SECRET = "thirty-two-characters-of-secret"
SETTINGS = {
    "africastalking": {"user": USER, "password": PASSWORD},
    "twilio": {"user": USER, "password": PASSWORD},
    "infobip": {"token": TOKEN},
    "orange": {"user": USER, "password": PASSWORD, "values": {"sender_number": ORANGE_NUMBER}},
    "kannel": {"user": USER, "password": PASSWORD},
    "risala": {"token": TOKEN, "signing_secret": SIGNING_SECRET},
    "vonage": {"user": USER, "password": PASSWORD},
    "plivo": {"user": USER, "password": PASSWORD},
    "telnyx": {"token": TOKEN, "values": {"messaging_profile_id": "profile-1"}},
    "messagebird": {"token": TOKEN},
    "sinch": {"user": USER, "token": TOKEN},
    "clickatell": {"token": TOKEN},
    "textbee": {
        "token": TOKEN,
        "values": {"device_id": DEVICE},
        "signing_secret": SIGNING_SECRET,
    },
    "httpsms": {"token": TOKEN},
    "rutos": {"user": USER, "password": PASSWORD, "values": {"modem": MODEM}},
    "mikrotik": {"user": USER, "password": PASSWORD, "values": {"port": PORT}},
}
"""What each preset needs, beside addresses."""


@dataclass
class CalledListener:
    """The service's listener, as small as it can be: ``/carriers/NAME/SECRET/…``."""

    driver: HttpDriver | None = None
    url: str = ""
    answers: list[int] = field(default_factory=list)

    async def run(self, *, task_status: trio.TaskStatus[None]) -> None:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        self.url = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}/carriers/one"
        task_status.started()
        await trio.serve_listeners(self.serve, listeners)

    def address_of(self, is_secret: bool) -> str:
        return f"{self.url}/{SECRET}" if is_secret else self.url

    async def serve(self, stream: trio.SocketStream) -> None:
        async with stream:
            connection = h11.Connection(h11.SERVER)
            came = await read_request(connection, stream)
            if came is None:
                return
            rest = came.path.removeprefix("/carriers/one")
            has_secret = rest.startswith(f"/{SECRET}/")
            rest = rest.removeprefix(f"/{SECRET}") if has_secret else rest
            body = came.content.body
            answer = await self.answered(
                came.method, rest, came.query, came.headers, body, is_proved=has_secret
            )
            self.answers.append(answer.status)
            head = [("content-length", str(len(answer.body))), ("connection", "close")]
            for event in (
                h11.Response(status_code=answer.status, headers=head),
                h11.Data(data=answer.body),
                h11.EndOfMessage(),
            ):
                await stream.send_all(connection.send(event) or b"")

    async def answered(
        self, method, path, query, headers, body, *, is_proved=False
    ) -> CarrierAnswer:
        """What the service would answer: 401 to whom the driver has not proved."""
        assert self.driver is not None
        proofs = [self.driver.capabilities.secret_address and is_proved]

        async def read() -> bytes:
            return body

        request = CarrierRequest(
            id="req_1",
            method=method,
            path=path,
            query={name: (value,) for name, value in query.items()},
            headers=headers,
            address="127.0.0.1",
            received_at_ms=time.time_ns() // 1_000_000,
            is_proved=lambda: any(proofs),
            prove=lambda: proofs.append(True),
            read=read,
        )
        try:
            answer = await self.driver.answer(request)
        except NotStoredError:
            return CarrierAnswer(status=503)
        except RequestRefusedError as refused:
            return CarrierAnswer(status=refused.status)
        return answer if any(proofs) else CarrierAnswer(status=401)


@asynccontextmanager
async def aggregator_and_driver(
    preset: str, **changes: object
) -> AsyncIterator[tuple[StandIn, HttpDriver, CalledListener]]:
    """An aggregator that is there, and a driver for it that is not running."""
    async with trio.open_nursery() as nursery:
        listener = CalledListener()
        await nursery.start(listener.run)
        stand_in = StandIn(AGGREGATORS[preset])
        await nursery.start(stand_in.run)
        is_secret = preset not in SIGNING
        stand_in.called_at = listener.address_of(is_secret)
        given = {
            "preset": preset,
            "url": stand_in.url,
            "secret_address": stand_in.called_at,
            "look_s": 0.05,
            "answer_s": 5,
            **SETTINGS[preset],
            **changes,
        }
        driver = HttpDriver("one", HttpSettings.model_validate(given))
        listener.driver = driver
        yield stand_in, driver, listener
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def running(
    preset: str = "africastalking", **changes: object
) -> AsyncIterator[tuple[StandIn, HttpDriver, RecordingContext]]:
    """The same, with the driver up."""
    context = RecordingContext("one")
    async with (
        aggregator_and_driver(preset, **changes) as (stand_in, driver, _),
        trio.open_nursery() as nursery,
    ):
        await nursery.start(driver.run, context)
        await context.wait_health(HealthState.UP)
        yield stand_in, driver, context
        nursery.cancel_scope.cancel()

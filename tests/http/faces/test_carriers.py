"""Carriers' own addresses, on a real socket, with the real engine and a driver that is called."""

import hmac
import json
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256

import pytest
import trio
import trio.testing
from tests.http.faces.face_office import TO, open_office
from tests.http.server.wire import open_wire

from patience import HANG_S
from risala.config.model import HttpSection
from risala.engine.features.answering import calls
from risala.engine.features.answering.calls import CarrierCalls
from risala.engine.features.answering.rules import UNPROVED_ADDRESS_MAX, UNPROVED_CARRIER_MAX
from risala.engine.model.errors import Conflict, NotFound
from risala.http.common.failed_keys import DELAY_S, FREE_A_MINUTE
from risala.http.faces.carriers import mount
from risala.http.faces.paths import PathMounting
from risala.http.server.server import serve_app
from risala.http.server.sockets import base_url, listen_tcp
from risala.plugins.answering import (
    BODY_BYTES_MAX,
    REQUESTS_MAX,
    STREAMS_MAX,
    UNPROVED_BYTES_MAX,
    Answering,
    CarrierAnswer,
    CarrierRequest,
    CarrierStream,
)
from risala.plugins.contract import Capabilities, Inbound, NotStoredError, Receipt, ReceiptState
from risala.plugins.testing.fake_driver import FakeDriver

TOKEN = "carriers-own-token"
KEY = b"signing key"


@dataclass(slots=True)
class CalledDriver(FakeDriver):
    """Proves its carrier by a token, a signature or its secret address, and does what the path
    says."""

    secret_address: bool = False
    came: list[CarrierRequest] = field(default_factory=list)
    go: trio.Event = field(default_factory=trio.Event)

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            alphanumeric_sender=True,
            receipts=True,
            inbound=True,
            query=False,
            validity=True,
            window_max=10,
            secret_address=self.secret_address,
        )

    async def answer(self, request: CarrierRequest) -> CarrierAnswer | CarrierStream:
        self.came.append(request)
        if request.headers.get("authorization") == f"Bearer {TOKEN}":
            request.prove()
        elif signature := request.headers.get("x-signature"):
            body = await request.read()
            if hmac.compare_digest(signature, hmac.new(KEY, body, sha256).hexdigest()):
                request.prove()
        return await self._do(request)

    async def _do(self, request: CarrierRequest) -> CarrierAnswer | CarrierStream:
        match request.path:
            case "/receipt":
                told = json.loads(await request.read())
                if request.is_proved():
                    await self.context.receipt(
                        Receipt(told["id"], ReceiptState(told["state"]), told["state"])
                    )
            case "/inbound" if request.is_proved():
                told = json.loads(await request.read())
                await self.context.inbound(
                    Inbound(told["from"], "1234", told["text"], request.received_at_ms)
                )
            case "/wait":
                await self.go.wait()
            case "/disk":
                raise NotStoredError("full")
            case "/bug":
                raise ValueError((await request.read()).decode())
            case "/nothing":
                return None
            case "/status":
                return CarrierAnswer(status=99)
            case "/header":
                return CarrierAnswer(headers=(("x", "y\r\nset-cookie: z"),))
            case "/type":
                return CarrierStream(self._events, content_type="text/plain\n")
            case "/much":
                return CarrierStream(self._much)
            case "/stream":
                return CarrierStream(self._events, headers=(("x-more", "1"),))
        return CarrierAnswer(json.dumps({"path": request.path}).encode())

    async def _much(self, send) -> None:
        while True:
            await send(b"x" * 65_536)

    async def _events(self, send) -> None:
        await send(b"event: hello\n\n")
        await self.go.wait()
        await send(b"event: bye\n\n")


@dataclass
class Called:
    office: object
    driver: CalledDriver
    url: str
    stop: trio.Event

    async def ask(
        self, path="", *, method="POST", body=b"", comes_from=None, proved=True, **headers
    ):
        async with open_wire(self.url, comes_from) as wire:
            await wire.send(request_of(path, method, body, proved=proved, **headers))
            return await wire.answer(bodiless=method == "HEAD")

    async def answers(self, path, **more) -> None:
        """Until the carrier's driver answers."""
        with trio.fail_after(HANG_S):
            while (await self.ask(path, **more)).status == 503:
                await trio.lowlevel.checkpoint()

    @property
    def calls(self) -> CarrierCalls:
        return self.office.gateway.services.part(CarrierCalls)

    def traffic(self) -> list[str]:
        return [line.text for line in self.office.gateway.services.delivery.traffic("fake", 0, 99)]

    def rows(self, table: str) -> int:
        reader = self.office.gateway.services.repositories._store.reader
        return reader.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


async def until(condition) -> None:
    with trio.fail_after(HANG_S):
        while not condition():  # noqa: ASYNC110 -- no one event tells of clients and service
            await trio.sleep(0.01)


def request_of(path, method="POST", body=b"", *, proved=True, length=None, **headers) -> bytes:
    if proved:
        headers["authorization"] = f"Bearer {TOKEN}"
    headers = {
        "host": "x",
        "content-length": str(len(body) if length is None else length),
        **headers,
    }
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    place = path if path.startswith("/carriers") else f"/carriers/fake{path}"
    return "\r\n".join([f"{method} {place} HTTP/1.1", *lines, "", ""]).encode() + body


@asynccontextmanager
async def open_called(directory, *, secret_address=False, carrier=None, **sections):
    driver = CalledDriver(secret_address=secret_address)
    opened = open_office(directory, {}, driver=driver, carrier=carrier, **sections)
    async with opened as office, trio.open_nursery() as nursery:
        stop = trio.Event()
        mount(PathMounting(office.app, office.gateway, office.settings, {}, "", stop))
        sock = listen_tcp("127.0.0.1", 0)
        serve = partial(serve_app, http=office.settings.http, sock=sock, shutdown=stop)
        await nursery.start(serve, office.app)
        with trio.fail_after(HANG_S):
            yield Called(office, driver, base_url(sock), stop)
            stop.set()


@pytest.fixture
async def called(tmp_path):
    async with open_called(tmp_path) as opened:
        yield opened


def test_the_driver_has_the_protocols_shape():
    assert isinstance(CalledDriver(), Answering)
    assert not isinstance(FakeDriver(), Answering)


async def test_a_receipt_ends_a_message(called):
    office = called.office
    sent = await office.perform("send", organization_id=office.organization_id, to=TO, body="Hello")
    await office.wait_status(sent["messageId"], "sent")
    body = json.dumps({"id": "1", "state": "DELIVERED"}).encode()
    answer = await called.ask("/receipt?a=1&a=2&b", body=body, x_more="y")
    assert (answer.status, json.loads(answer.body)) == (200, {"path": "/receipt"})
    assert answer.headers[b"x-request-id"].startswith(b"req_")
    request = called.driver.came[0]
    assert (request.method, request.path, request.address) == ("POST", "/receipt", "127.0.0.1")
    assert request.query == {"a": ("1", "2"), "b": ("",)}
    assert request.headers["x-more"] == "y"
    assert answer.headers[b"x-request-id"].decode() == request.id
    await office.wait_status(sent["messageId"], "delivered")
    line = called.traffic()[-1]
    assert line.startswith("POST /receipt 200, ")
    assert "DELIVERED" not in line


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "HEAD"])
async def test_every_method_reaches_the_driver(called, method):
    assert (await called.ask("/mobile/v1/device", method=method)).status == 200
    assert called.driver.came[0].method == method.replace("HEAD", "GET")


async def test_who_is_not_proved_is_401_and_changes_nothing(called):
    body = json.dumps({"id": "1", "state": "DELIVERED"}).encode()
    for path, headers in [
        ("/receipt", {}),
        ("/inbound", {"authorization": "Bearer wrong"}),
        ("/inbound", {"x_signature": "0" * 64}),
        ("/bug", {}),
        ("/disk", {}),
        ("/nothing", {}),
        ("/stream", {}),
    ]:
        answer = await called.ask(path, body=body, proved=False, **headers)
        assert (answer.status, json.loads(answer.body)["code"]) == (401, "UNAUTHORIZED"), path
    assert called.calls.counts == {("fake", "unproved"): 7, ("fake", "failed"): 2}
    assert called.traffic() == []
    assert called.rows("inbound") == called.rows("held_receipts") == 0


async def test_strangers_are_no_wrong_keys_and_wait_when_they_go_on(called, autojump_clock, capsys):
    """An address that tries more often than a carrier with a wrong token waits for each answer; the
    carrier itself does not, and nothing is logged."""

    async def took(**more) -> float:
        before_s = trio.current_time()
        answer = await called.ask("/ok", **more)
        assert answer.status == (200 if more.get("proved", True) else 401)
        return trio.current_time() - before_s

    stranger = {"proved": False, "authorization": "Bearer wrong"}
    assert max([await took(**stranger) for _ in range(FREE_A_MINUTE)]) < DELAY_S
    assert await took(**stranger) >= DELAY_S
    assert await took(proved=False) >= DELAY_S
    assert await took() < DELAY_S
    assert await took(**stranger, comes_from="127.0.0.2") < DELAY_S
    tally = called.office.app.plain.tally
    assert (tally.failed_keys, tally.failed_keys_delayed) == (0, 0)
    assert "keys.failing" not in capsys.readouterr().out


async def test_a_signature_over_the_body_proves(called):
    body = json.dumps({"from": "+22236999999", "text": "Hello"}).encode()
    signature = hmac.new(KEY, body, sha256).hexdigest()
    answer = await called.ask("/inbound", body=body, proved=False, x_signature=signature)
    assert answer.status == 200
    assert called.rows("inbound") == 1
    replayed = await called.ask("/inbound", body=body + b" ", proved=False, x_signature=signature)
    assert replayed.status == 401
    assert called.rows("inbound") == 1


async def test_an_unknown_a_silent_and_a_path_of_another_spelling_are_404(called):
    for path in (
        "/carriers/other/receipt",
        "/carriers/test",
        "/carriers/",
        "/carriers/FAKE",
        "/carriers//fake",
        "/carriers/fake/../fake",
        "/carriers/fake/" + "a" * 2048,
    ):
        answer = await called.ask(path)
        assert (answer.status, json.loads(answer.body)["code"]) == (404, "NOT_FOUND"), path
    assert called.driver.came == []


async def test_a_body_is_bounded_by_whether_its_sender_is_proved(called):
    largest = b"x" * BODY_BYTES_MAX
    sent = [
        (largest, True, 500),  # the driver of this path raises with what it read
        (largest + b"x", True, 413),
        (b"x" * (UNPROVED_BYTES_MAX + 1), False, 401),
    ]
    for body, proved, status in sent:
        assert (await called.ask("/bug", body=body, proved=proved)).status == status


async def test_a_body_that_does_not_begin_holds_no_place_long(called, autojump_clock):
    async with open_wire(called.url) as wire:
        await wire.send(request_of("/bug", proved=False, length=10))
        assert (await wire.answer()).status == 401
    assert len(called.calls._places) == 0


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/bug", 500),
        ("/nothing", 500),
        ("/status", 500),
        ("/header", 500),
        ("/type", 500),
        ("/disk", 503),
    ],
)
async def test_what_a_driver_does_wrong_has_an_answer_without_its_words(
    called, path, status, capsys
):
    for _ in range(3):
        answer = await called.ask(path, body=b"planted-secret")
        assert answer.status == status
        assert b"planted" not in answer.body
    logged = capsys.readouterr().out
    assert "planted" not in logged
    assert logged.count("carrier.call_failed") == (status == 500)


async def test_strangers_never_take_the_carriers_places(called):
    """Slow bodies hold the strangers' places. A carrier whose body comes with its head, or who is
    proved by a header, is answered all the same, and no alert counts what strangers got."""
    body = json.dumps({"from": "+22236999999", "text": "Hello"}).encode()
    signature = hmac.new(KEY, body, sha256).hexdigest()
    async with AsyncExitStack() as strangers:
        wires = []
        for number in range(30):
            comes_from = f"127.0.{number // 3 + 1}.1"
            wire = await strangers.enter_async_context(open_wire(called.url, comes_from))
            await wire.send(request_of("/bug", proved=False, x_signature="0", length=9))
            wires.append(wire)
        refused = [(await wire.answer()).status for wire in wires[UNPROVED_CARRIER_MAX:]]
        assert refused == [503] * (30 - UNPROVED_CARRIER_MAX)
        tally = called.office.app.plain.tally
        assert tally.answers[503] == len(refused)
        assert tally.counts()[503] == 0  # the crowd raises no alert of errors
        for proof in ({}, {"proved": False, "x_signature": signature}):
            assert (await called.ask("/inbound", body=body, **proof)).status == 200
        statuses = [(await wire.answer()).status for wire in wires[:UNPROVED_CARRIER_MAX]]
        assert statuses == [401] * UNPROVED_CARRIER_MAX
    assert len(called.calls._places) == 0


async def test_a_driver_that_waits_for_strangers_is_cut_short(called, monkeypatch):
    """Those without a place at once; none of them is the driver's failure."""
    monkeypatch.setattr(calls, "STANDING_S", 0.1)
    monkeypatch.setattr(calls, "ANSWER_S", 3600)
    async with trio.open_nursery() as nursery:
        statuses = []

        async def stranger():
            statuses.append((await called.ask("/wait", proved=False)).status)

        for _ in range(20):
            nursery.start_soon(stranger)
        await until(lambda: len(statuses) >= 20 - UNPROVED_ADDRESS_MAX)
        await trio.testing.wait_all_tasks_blocked(0.01)
        assert len(statuses) == 20 - UNPROVED_ADDRESS_MAX
        called.driver.go.set()
    assert statuses == [401] * 20
    assert called.calls.counts == {("fake", "unproved"): 20}


async def test_a_carrier_has_fifty_places(called):
    async with trio.open_nursery() as nursery:
        statuses = []

        async def carrier():
            statuses.append((await called.ask("/wait")).status)

        for _ in range(REQUESTS_MAX + 3):
            nursery.start_soon(carrier)
        await until(lambda: len(statuses) >= 3)
        assert statuses == [503] * 3
        called.driver.go.set()
    assert statuses[3:] == [200] * REQUESTS_MAX


async def test_a_stream_comes_part_by_part_and_ends(called):
    async with open_wire(called.url) as wire:
        await wire.send(request_of("/stream", "GET"))
        head = await wire._until(b"\r\n\r\n")
        assert b"content-type: text/event-stream" in head
        assert b"x-more: 1" in head
        assert await wire._until(b"hello\n\n\r\n")
        called.driver.go.set()
        assert b"bye" in await wire._until(b"\r\n0\r\n\r\n")
        await wire.send(request_of("/later"))
        assert (await wire.answer()).status == 200
    assert len(called.calls._places) == 0


async def test_a_stream_that_nobody_reads_holds_up_nobody_and_ends(called, autojump_clock):
    async with open_wire(called.url) as wire, open_wire(called.url) as other:
        await wire.send(request_of("/much", "GET"))
        await other.send(request_of("/stream", "GET"))
        assert await other._until(b"hello\n\n\r\n")
        assert (await called.ask("/ok")).status == 200
        places = called.calls._places
        await until(lambda: places._taken["stream", "fake"] == 1)
        called.driver.go.set()
        assert await other._until(b"\r\n0\r\n\r\n")
    await until(lambda: len(places) == 0)


async def test_streams_are_bounded_and_end_with_the_client_the_driver_and_the_service(called):
    async with trio.open_nursery() as nursery:
        ended = []

        async def listen(*, leaves=None):
            async with open_wire(called.url) as wire:
                await wire.send(request_of("/stream", "GET"))
                await wire._until(b"hello\n\n\r\n")
                begun.append(wire)
                if leaves is not None:
                    await leaves.wait()
                    return
                await wire._until(b"0\r\n\r\n")
                ended.append(wire)

        begun, leaves = [], trio.Event()
        nursery.start_soon(partial(listen, leaves=leaves))
        for _ in range(STREAMS_MAX - 1):
            nursery.start_soon(listen)
        await until(lambda: len(begun) >= STREAMS_MAX)
        assert (await called.ask("/stream", method="GET")).status == 503
        leaves.set()
        await called.answers("/stream", method="HEAD")
        await called.office.perform("carriers.reconnect", carrier="fake")
        await until(lambda: len(ended) >= STREAMS_MAX - 1)
        await called.answers("/ok")
        nursery.start_soon(listen)
        await until(lambda: len(begun) >= STREAMS_MAX + 1)
        called.stop.set()
    assert len(ended) == STREAMS_MAX
    assert len(called.calls._places) == 0


async def test_a_secret_in_the_address_proves_and_the_former_one_for_a_day(
    tmp_path, caplog, capsys
):
    async with open_called(tmp_path, secret_address=True) as called:
        office = called.office
        body = json.dumps({"from": "+22236999999", "text": "Hello"}).encode()
        assert (await called.ask("/inbound", body=body, proved=False)).status == 401
        first = await office.perform("carriers.rotate", carrier="fake")
        assert first["formerUntil"] is None
        secret = first["url"].rpartition("/")[2]
        assert first["url"].endswith(f"/carriers/fake/{secret}")
        assert len(secret) == 32
        assert (await called.ask(f"/{secret}/inbound", body=body, proved=False)).status == 200
        assert called.driver.came[-1].path == "/inbound"
        second = await office.perform("carriers.rotate", carrier="fake")
        assert second["formerUntil"] is not None
        newer = second["url"].rpartition("/")[2]
        for word in (secret, newer):
            assert (await called.ask(f"/{word}/inbound", body=body, proved=False)).status == 200
        third = (await office.perform("carriers.rotate", carrier="fake"))["url"].rpartition("/")[2]
        statuses = [
            (await called.ask(f"/{word}/inbound", body=body, proved=False)).status
            for word in (secret, newer, third, third + "/", "", third.lower())
        ]
        assert statuses == [401, 200, 200, 404, 404, 401]
        shown = "\n".join(called.traffic()) + capsys.readouterr().out
        trail = json.dumps(await office.perform("audit.list"))
        metrics = office.gateway.metrics() if hasattr(office.gateway, "metrics") else b""
        for word in (secret, newer, third):
            assert word not in shown + trail + str(metrics)
    # What is stored survives, and only as a hash.
    data = b"".join(each.read_bytes() for each in tmp_path.iterdir() if each.is_file())
    assert third.encode() not in data
    async with open_called(tmp_path, secret_address=True) as called:
        assert (await called.ask(f"/{third}/inbound", body=body, proved=False)).status == 200


async def test_only_a_called_carrier_with_a_secret_has_one_to_rotate(called):
    with pytest.raises(Conflict, match="proves who calls"):
        await called.office.perform("carriers.rotate", carrier="fake")
    for name in ("test", "other"):
        with pytest.raises(NotFound):
            await called.office.perform("carriers.rotate", carrier=name)


async def test_another_word_and_the_allowed_addresses(tmp_path):
    carrier = {"path": "hidden", "allowed_addresses": ["127.0.0.2", "10.0.0.0/8"]}
    http = HttpSection(trusted_proxies=("127.0.0.3",))
    async with open_called(tmp_path, carrier=carrier, http=http) as called:
        assert (await called.ask("/carriers/fake/x")).status == 404
        for comes_from, more, status in [
            ("127.0.0.1", {}, 401),
            ("127.0.0.2", {}, 200),
            ("127.0.0.1", {"x_forwarded_for": "10.1.2.3"}, 401),
            ("127.0.0.3", {"x_forwarded_for": "10.1.2.3"}, 200),
        ]:
            answer = await called.ask("/carriers/hidden/x", comes_from=comes_from, **more)
            assert answer.status == status

"""It refuses rather than falls over: 503 with Retry-After, and nothing stored or charged."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import asynccontextmanager

import httpx2
import pytest
import trio

from patience import HANG_S, until_true
from risala.config.model import CarrierSection, EngineSection, Settings, StorageSection
from risala.engine.wiring.engine import open_engine
from risala.http.api.app import create_api
from risala.http.server.server import serve_app
from risala.http.server.sockets import base_url, listen_tcp
from risala.plugins.testing.fake_driver import FakeDriver

pytestmark = pytest.mark.slow

TO = "+22236123456"
INTAKE = 4


class Desk:
    """A service in this process, so that its writer can be held; over real HTTP all the same."""

    def __init__(self, engine, url):
        self.engine = engine
        self.url = url

    async def open(self):
        perform = self.engine.gateway.perform
        self.organization_id = (await perform("org.create", {"name": "Shop"}))["id"]
        arguments = {"organization_id": self.organization_id}
        await perform("topup", {**arguments, "amount": "1000"})
        key = await perform("key.create", {**arguments, "type": "secret"})
        self.client = httpx2.AsyncClient(
            base_url=self.url, trust_env=False, headers={"x-api-key": key["value"]}, timeout=HANG_S
        )

    async def send(self, key):
        body = {"to": TO, "body": key, "idempotencyKey": key}
        return await self.client.post("/api/sms", json=body)

    @property
    def intake(self):
        return self.engine.gateway.services.intake.statistics().intake

    def messages(self):
        rows = self.engine.gateway.services.repositories._store.reader.execute(
            "SELECT body FROM messages"
        ).fetchall()
        return sorted(row[0] for row in rows)

    @asynccontextmanager
    async def held_writer(self):
        """Nothing is committed meanwhile: as with a disk that takes its time."""
        holds, free = threading.Event(), threading.Event()

        def unit(_):
            holds.set()
            assert free.wait(HANG_S)

        journal = self.engine.gateway.services.recorder.journal
        async with trio.open_nursery() as nursery:
            nursery.start_soon(journal.commit, unit)
            try:
                await until_true(holds.is_set)
                yield free.set
            finally:
                free.set()


@pytest.fixture
async def desk(tmp_path):
    settings = Settings(
        storage=StorageSection(data_dir=tmp_path), engine=EngineSection(intake_max=INTAKE)
    )
    carrier = CarrierSection(name="fake", driver="fake")
    sock = listen_tcp("127.0.0.1", 0)
    stop = trio.Event()
    async with open_engine(settings, [carrier], {"fake": FakeDriver()}) as engine:
        opened = Desk(engine, base_url(sock))
        app = create_api(engine.gateway, settings)

        async def serve(*, task_status):
            await serve_app(app, settings.http, sock=sock, shutdown=stop, task_status=task_status)

        async with trio.open_nursery() as nursery:
            await nursery.start(serve)
            await opened.open()
            yield opened
            await opened.client.aclose()
            stop.set()


def assert_unavailable(answer):
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) >= 1
    error = answer.json()
    assert (error["code"], error["status"]) == ("SERVICE_UNAVAILABLE", 503)


async def test_a_full_intake_refuses_and_stores_nothing(desk):
    answers = {}

    async def send(key):
        answers[key] = await desk.send(key)

    with trio.fail_after(HANG_S):
        async with desk.held_writer() as free, trio.open_nursery() as nursery:
            for n in range(INTAKE):
                nursery.start_soon(send, f"taken-{n:04d}")
            await until_true(lambda: desk.intake == INTAKE)
            for n in range(20):
                assert_unavailable(await desk.send(f"refused-{n:04d}"))
            # Looking is still possible: only taking in is not.
            assert (await desk.client.get("/healthz")).status_code == 200
            assert answers == {}
            free()
    assert {answer.status_code for answer in answers.values()} == {200}
    assert desk.messages() == [f"taken-{n:04d}" for n in range(INTAKE)]
    # The refused keys are free, and there is room again.
    assert (await desk.send("refused-0000")).status_code == 200
    shown = await desk.engine.gateway.perform("org.show", {"organization_id": desk.organization_id})
    assert shown["balance"] == f"{1000 - (INTAKE + 1) / 2:.2f}"
    assert (await desk.engine.gateway.perform("audit", {}))["clean"]


async def test_a_drained_engine_refuses_what_is_new_and_says_that_it_is_not_ready(desk):
    assert (await desk.send("before-0001")).status_code == 200
    desk.engine.gateway.drain()
    assert_unavailable(await desk.send("after-0001"))
    ready = await desk.client.get("/readyz")
    assert_unavailable(ready)
    assert "stopping" in str(ready.json()["data"]["reasons"])
    assert (await desk.client.get("/healthz")).status_code == 200
    assert desk.messages() == ["before-0001"]


async def test_a_client_who_gives_up_while_the_disk_is_slow_left_a_whole_message_or_none(desk):
    with trio.fail_after(HANG_S):
        async with desk.held_writer() as free:
            with trio.move_on_after(0.2):
                await desk.send("given-up-01")
            free()
        await until_true(lambda: desk.intake == 0)
    first = await desk.send("given-up-01")
    assert first.status_code == 200
    assert desk.messages() == ["given-up-01"]
    assert (await desk.engine.gateway.perform("audit", {}))["clean"]


async def test_a_small_intake_under_a_crowd_loses_nobody(premises):
    """The whole service: whoever was refused comes again, until all are in."""
    simulator = premises.simulator("--receipt-delay-s", "0.05")
    service = premises.running(simulator, more="[engine]\nintake_max = 2")
    account = service.organization()
    statuses: Counter[int] = Counter()

    async def send(client, n):
        body = {"to": TO, "body": f"crowd {n:03d}", "idempotencyKey": f"crowd-{n:03d}"}
        while True:
            answer = await client.post("/api/sms", json=body, headers=account.headers)
            statuses[answer.status_code] += 1
            if answer.status_code == 200:
                return
            assert_unavailable(answer)
            await trio.sleep(0.02)

    with trio.fail_after(HANG_S):
        async with service.async_client() as client, trio.open_nursery() as nursery:
            for n in range(60):
                nursery.start_soon(send, client, n)
    assert statuses[200] == 60
    assert statuses[503] > 0
    assert service.balance(account) == "970.00"
    service.wait_settled()
    assert simulator.texts() == {f"crowd {n:03d}": 1 for n in range(60)}
    service.assert_whole()
    service.assert_books_agree()
    service.assert_no_bug_logged()

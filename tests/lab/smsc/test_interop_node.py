"""node-smpp, an implementation that we did not write, in both roles over real TCP.

Needs node and npm; the lock is in `node` beside this. Without them the tests are skipped, and
say so.
"""

import json
import subprocess
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
import trio

from patience import HANG_S
from risala.drivers.smpp.protocol.inbound import inbound_pdus
from risala.lab.smsc.simulator import Bound, MessageReceived, SimulatorConfig, SmscSimulator
from smpp_peers.node import NODE, node_smpp, run_esme

TEXTS = ["Bonjour", "é" * 200, "سلام عليكم " * 20, "x" * 160, "Prix: 5 £"]

__all__ = ["node_smpp"]

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.usefixtures("node_smpp")]


# -- as an ESME --------------------------------------------------------------------------------


@asynccontextmanager
async def simulator(**config) -> AsyncIterator[tuple[SmscSimulator, int, list]]:
    events: list = []
    settings = SimulatorConfig(accounts={"esme": "secret"}, receipt_after_s=0.01, **config)
    it = SmscSimulator(settings, on_event=events.append)
    async with trio.open_nursery() as nursery:
        port = await nursery.start(it.run)
        yield it, port, events
        nursery.cancel_scope.cancel()


async def test_an_esme_of_node_smpp_at_our_simulator():
    async with simulator() as (_, port, events):
        result = await run_esme(port, texts=TEXTS)
        read = [event.message.text for event in events if isinstance(event, MessageReceived)]
    assert Counter(read) == Counter(TEXTS)
    assert len(result["ids"]) == 1 + 2 + 4 + 1 + 1
    assert sorted(receipt["id"] for receipt in result["receipts"]) == sorted(result["ids"])
    assert {receipt["state"] for receipt in result["receipts"]} == {2}
    assert all("stat:DELIVRD" in receipt["text"] for receipt in result["receipts"])


async def test_an_esme_of_node_smpp_that_is_throttled():
    async with simulator(rate_per_s=10) as (_, port, events):
        result = await run_esme(port, texts=[f"message {n}" for n in range(20)])
        read = [event.message.text for event in events if isinstance(event, MessageReceived)]
    assert result["throttled"] > 0
    assert Counter(read) == Counter(f"message {n}" for n in range(20))


async def test_an_esme_of_node_smpp_hears_our_phones():
    results: list[dict] = []
    async with simulator() as (it, port, events), trio.open_nursery() as nursery:

        async def esme() -> None:
            results.append(await run_esme(port, texts=["hello"], inbound=2))

        nursery.start_soon(esme)
        while not any(isinstance(event, Bound) for event in events):  # noqa: ASYNC110
            await trio.sleep(0.02)
        for text in ("Oui", "سلام"):
            assert it.deliver(*inbound_pdus(text, "+22236123456", "1234", 1))
    assert sorted(results[0]["inbound"]) == sorted(["Oui", "سلام"])


# -- as an SMSC --------------------------------------------------------------------------------


class NodeSmsc:
    def __init__(self, process: trio.Process) -> None:
        self._process = process
        self.port = 0
        self.submits: list[dict] = []
        self.answers: list[dict] = []

    async def listen(self, task_status=trio.TASK_STATUS_IGNORED) -> None:
        rest = b""
        async for octets in self._process.stdout:
            *lines, rest = (rest + octets).split(b"\n")
            for line in map(json.loads, lines):
                if isinstance(line, int):
                    self.port = line
                    task_status.started()
                elif "text" in line:
                    self.submits.append(line)
                else:
                    self.answers.append(line)

    @property
    def texts(self) -> Counter[str]:
        """Whole texts, their parts in order."""
        wholes: dict[object, dict[int, str]] = {}
        for n, submit in enumerate(self.submits):
            udh = submit["udh"]
            key, number = (udh[-3], udh[-1]) if udh else (("alone", n), 1)
            wholes.setdefault(key, {})[number] = submit["text"]
        return Counter("".join(parts[n] for n in sorted(parts)) for parts in wholes.values())


@asynccontextmanager
async def node_smsc(**job: object) -> AsyncIterator[NodeSmsc]:
    command = ["node", str(NODE / "smsc.js"), json.dumps(job)]
    async with trio.open_nursery() as nursery:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        process = await nursery.start(partial(trio.run_process, command, check=False, **pipes))
        smsc = NodeSmsc(process)
        with trio.fail_after(HANG_S):
            await nursery.start(smsc.listen)
        yield smsc
        await process.stdin.aclose()


async def test_engine_and_driver_at_an_smsc_of_node_smpp(open_exchange):
    driver = {"extra_tlvs": {"user_message_reference": 77}}
    async with (
        node_smsc() as smsc,
        open_exchange(port=smsc.port, driver=driver) as it,
    ):
        ids = await it.send(*TEXTS)
        assert await it.settle(ids) == Counter(delivered=len(TEXTS))
        assert smsc.texts == Counter(TEXTS)
        first = smsc.submits[0]
        assert (first["from"], first["to"]) == ("RISALA", "22236123456")
        assert first["userMessageReference"] == 77
        assert {answer["receiptAnswer"] for answer in smsc.answers} == {0}


async def test_an_smsc_of_node_smpp_that_throttles(open_exchange):
    async with (
        node_smsc(throttleEvery=5) as smsc,
        open_exchange(port=smsc.port) as it,
    ):
        bodies = [f"message {n}" for n in range(12)]
        ids = await it.send(*bodies)
        assert await it.settle(ids) == Counter(delivered=12)
        assert smsc.texts == Counter(bodies)
        assert it.lane().throttled >= 2


async def test_an_smsc_of_node_smpp_brings_messages_and_is_asked(open_exchange, monkeypatch):
    monkeypatch.setattr("risala.engine.delivery.worker.awaited.ASK_AFTER_S", (0.1, 0.2, 0.3))
    texts = ["Oui", "سلام عليكم " * 20]
    async with (
        node_smsc(inbound=texts, loseReceipts=True) as smsc,
        open_exchange(port=smsc.port, driver={"query": True}) as it,
    ):
        await it.wait_until(lambda: len(it.inbound_texts()) >= 2)
        assert Counter(it.inbound_texts()) == Counter(texts)
        ids = await it.send("asked for")
        assert await it.settle(ids) == Counter(delivered=1)
        await it.wait_until(lambda: len(smsc.answers) == 5)
        assert {answer["inboundAnswer"] for answer in smsc.answers} == {0}


async def test_an_smsc_of_node_smpp_refuses_a_password(open_exchange):
    async with (
        node_smsc() as smsc,
        open_exchange(port=smsc.port, driver={"password": "wrong"}) as it,
    ):
        await it.wait_until(lambda: it.lane().state == "sick")
        assert "password" in it.lane().text

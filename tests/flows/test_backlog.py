"""A long queue is rows on the disk: it costs no memory, no start, and nobody else's turn."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import trio

from patience import HANG_S
from risala.config.model import CarrierSection, EngineSection, Settings, StorageSection
from risala.engine.journal.store.lock import DataLock
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode
from risala.engine.wiring.engine import open_engine
from risala.plugins.contract import HealthState
from risala.plugins.testing.fake_driver import FakeDriver

pytestmark = [pytest.mark.slow, pytest.mark.long]

BACKLOG = 20_000
BATCH = 1000
WINDOW = 10
BUFFER = 64


async def fill(data: Path) -> None:
    """Queue the backlog while the carrier is down; look at what is in memory, down and up."""
    driver = FakeDriver(window_max=WINDOW)
    settings = Settings(
        storage=StorageSection(data_dir=data),
        engine=EngineSection(buffer_rows_max=BUFFER, drain_s=0),
    )
    carrier = CarrierSection.model_validate(
        {"name": "mattel", "driver": "fake", "rate_per_s": 1000, "on_uncertain_message": POLICY}
    )
    with DataLock(data):
        await _fill(settings, carrier, driver)


async def _fill(settings: Settings, carrier: CarrierSection, driver: FakeDriver) -> None:
    async with open_engine(settings, [carrier], {"mattel": driver}) as engine:
        await engine.wait_ready()
        driver.set_health(HealthState.DOWN)
        gateway = engine.gateway
        organization_id = (await gateway.perform("org.create", {"name": "Bulk"}))["id"]
        await gateway.perform("topup", {"organization_id": organization_id, "amount": "10000"})
        bulk = Principal(organization_id, "key", KeyType.SECRET, Mode.LIVE)
        for start in range(0, BACKLOG, BATCH):
            commands = [SendMessage("+22236123456", f"n{start + n}") for n in range(BATCH)]
            results = await gateway.send_batch(bulk, commands)
            assert all(json.loads(result)["accepted"] for result in results)
        queue = (await gateway.perform("statistics", {}))["queue"]
        assert (queue["rows_buffered"], queue["rows_held"]) == (0, 0)
        assert queue["organizations_waiting"] == 1
        driver.hold()
        driver.set_health(HealthState.UP)
        await driver.wait_submitted(WINDOW)
        queue = (await gateway.perform("statistics", {}))["queue"]
        assert queue["rows_buffered_peak"] <= BUFFER
        assert queue["rows_held"] <= BUFFER + WINDOW


POLICY = {"action": "fail", "after_s": 0.5}


def memory_mib(service) -> float:
    status = Path(f"/proc/{service.process.popen.pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) / 1024


async def test_twenty_thousand_wait_on_the_disk(premises):
    empty = premises.running(premises.simulator())
    floor_mib = memory_mib(empty)
    assert empty.stop() == 0

    # A pace at which the backlog lasts: what is to be seen is who goes out meanwhile.
    simulator = premises.simulator("--receipt-delay-s", "0.05")
    config = premises.config(simulator.port, carrier="window_max = 10")
    config.write_text(config.read_text().replace("rate_per_s = 1000", "rate_per_s = 50"))
    service = premises.service("--config", str(config), data="backlog")
    with trio.fail_after(HANG_S):
        await fill(service.data)

    service.start()
    service.wait_ready()
    other = service.organization()
    message_id = service.send(other, body="a single one").json()["messageId"]
    service.wait_status(other, message_id, "delivered")
    (left,) = service.rows("SELECT count(*) FROM messages WHERE status = 'pending'")[0]
    assert left > BACKLOG // 2
    queue = service.perform("statistics")["queue"]
    usual = EngineSection().buffer_rows_max
    assert queue["rows_buffered_peak"] <= usual
    assert queue["rows_held"] <= usual + WINDOW
    assert memory_mib(service) < floor_mib + 40
    assert service.stop() == 0
    service.assert_whole()
    service.assert_books_agree()

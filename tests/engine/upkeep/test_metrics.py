"""``/metrics``: what the engine counts, as Prometheus reads it."""

from __future__ import annotations

import pytest
import trio
import trio.testing
from prometheus_client.parser import text_string_to_metric_families

from risala.engine.features.standby.service import second_machine
from risala.engine.model.errors import RateLimited
from risala.engine.wiring.gateway import open_gateway
from risala.plugins.testing.fake_driver import FakeDriver


def samples(page: bytes) -> dict[tuple[str, ...], float]:
    """By name and the values of the labels."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(page.decode())
        for sample in family.samples
    }


async def test_a_message_on_its_way_moves_the_numbers(open_house, quick, carrier):
    driver = FakeDriver(delivers=True)
    async with open_house(carrier("mattel", rate_per_s=40), drivers={"mattel": driver}) as house:
        before = samples(house.gateway.metrics())
        message_id = await house.send()
        await house.wait_status(message_id, "delivered")
        await trio.testing.wait_all_tasks_blocked()  # on disk, and told after that
        after = samples(house.gateway.metrics())

        def grown(*key: str) -> float:
            return after[key] - before.get(key, 0)

        for status in ("processing", "sent", "delivered"):
            assert grown("risala_message_changes_total", status) == 1
        assert grown("risala_accepted_total") == 1
        assert grown("risala_carrier_submits_total", "mattel") == 1
        assert grown("risala_carrier_outcomes_total", "mattel", "accepted") == 1
        assert grown("risala_carrier_outcomes_total", "mattel", "refused") == 0
        assert grown("risala_journal_commits_total") >= 3
        assert after["risala_ready",] == 1
        assert after["risala_carrier_up", "mattel"] == 1
        assert after["risala_carrier_gate", "mattel", "open"] == 1
        assert after["risala_carrier_gate", "mattel", "paused"] == 0
        assert after["risala_carrier_rate_max_per_second", "mattel"] == 40
        assert after["risala_carrier_queue", "mattel"] == 0
        assert after["risala_journal_queue_units_max",] == 4096
        assert after["risala_actor_mailbox_messages_max", "scheduler"] == 1024
        assert after["process_resident_memory_bytes",] > 1e6
        assert after["process_open_fds",] > 3


async def test_what_waits_is_seen(open_house, quick):
    async with open_house() as house:
        house.engine._board.stop_leasing()
        for _ in range(3):
            await house.send()
        assert samples(house.gateway.metrics())["risala_carrier_queue", "fake"] == 3
        await house.gateway.perform("carriers.pause", {"carrier": "fake"})
        page = samples(house.gateway.metrics())
        assert page["risala_carrier_gate", "fake", "paused"] == 1


async def test_nothing_of_a_customer_is_in_it(open_house, quick):
    async with open_house() as house:
        message_id = await house.send("The secret word is zanzibar")
        await house.wait_status(message_id, "sent")
        page = house.gateway.metrics().decode()
    for word in ("zanzibar", message_id, house.principal.organization_id, "22236123456"):
        assert word not in page


async def test_every_metric_has_a_help_text_and_our_name(open_house, quick):
    async with open_house() as house:
        families = list(text_string_to_metric_families(house.gateway.metrics().decode()))
    assert len(families) > 25
    for family in families:
        assert family.documentation
        assert family.name.startswith(("risala_", "process_"))


async def test_a_commands_own_gateway_has_a_page_too(tmp_path):
    from risala.config.model import Settings, StorageSection

    async with open_gateway(Settings(storage=StorageSection(data_dir=tmp_path))) as gateway:
        assert samples(gateway.metrics())["risala_ready",] == 1


async def test_a_retuned_engine_uses_the_new_price_and_pace(open_house, quick, carrier):
    async with open_house(carrier("mattel", rate_per_s=1), drivers={"mattel": FakeDriver()}) as h:
        settings = h.gateway.services.settings
        new = settings.model_copy(
            update={
                "pricing": settings.pricing.model_copy(update={"per_segment": "0.70"}),
                "limits": settings.limits.model_copy(update={"sms_per_s": 7.0}),
                "carriers": (carrier("mattel", rate_per_s=30), carrier("unknown")),
            }
        )
        h.engine.retune(new)
        message_id = await h.send()
        assert h.gateway.show_message(message_id)[0].price == 70
        assert samples(h.gateway.metrics())["risala_carrier_rate_max_per_second", "mattel"] == 30
        await h.gateway.perform(
            "org.set", {"organization_id": h.principal.organization_id, "sms_per_s": None}
        )
        for _ in range(6):  # of seven at once the first message took one
            await h.send()
        with pytest.raises(RateLimited):
            await h.send()


async def test_a_standby_tells_how_old_its_copy_is(open_house, autojump_clock):
    async with open_house() as house:
        name = ("risala_standby_age_seconds",)
        assert name not in samples(house.gateway.metrics())
        house.gateway.services.part(second_machine).status.begin()
        await trio.sleep(7)
        assert samples(house.gateway.metrics())[name] == pytest.approx(7)
        house.gateway.services.part(second_machine).status.reached(trio.current_time() - 2)
        assert samples(house.gateway.metrics())[name] == pytest.approx(2)

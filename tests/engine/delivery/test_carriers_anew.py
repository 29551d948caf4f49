"""Carriers added, changed and removed while the service runs: by the settings, looked at first."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace

import pytest
import trio

from cases import seeds
from risala.config.faults import ConfigError, Fault
from risala.config.model import (
    DeliverySection,
    LogSection,
    PricingSection,
    ServiceSection,
    Settings,
    StorageSection,
)
from risala.engine.delivery.carrier_registry import CarrierRegistry
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.errors import Conflict, NotFound, Overloaded
from risala.engine.wiring.connections import Connections
from risala.plugins.contract import HealthState
from risala.plugins.testing.fake_driver import FakeDriver
from risala.sms.receipt import Receipt, ReceiptState

AMINA = Caller("amina", CallerKind.CONSOLE, Role.OPERATOR)
MATTEL = "+22236123456"
MAURITEL = "+22246123456"


@dataclass(slots=True)
class Bound(FakeDriver):
    """A fake with an account, that counts its lives and tells when it took its leave."""

    account: str = ""
    lives: int = 0
    left: trio.Event = field(default_factory=trio.Event)

    @property
    def capabilities(self):
        return replace(FakeDriver.capabilities.fget(self), account=self.account)

    async def run(self, context, **how):
        self.lives += 1
        try:
            await FakeDriver.run(self, context, **how)
        finally:
            self.left.set()


class File:
    """The settings' file, and what is built of it."""

    def __init__(self, tmp_path, *carriers):
        self.settings = Settings(
            storage=StorageSection(data_dir=tmp_path), delivery=DeliverySection(), carriers=carriers
        )
        self.fault: ConfigError | None = None
        self.built: dict[str, Bound] = {}
        """The latest of each carrier."""
        self.all_built: list[Bound] = []
        self.taken_over: list[Settings] = []

    def write(self, *carriers, **sections):
        self.settings = self.settings.model_copy(update={"carriers": carriers, **sections})

    def load(self):
        if self.fault is not None:
            raise self.fault
        return self.settings

    def build(self, carrier):
        if carrier.settings.get("host") == "nowhere":
            raise ConfigError([Fault(f"carriers.{carrier.name}.fake.host", "is none", "settings")])
        self.built[carrier.name] = Bound(account=carrier.settings.get("account", ""))
        self.all_built.append(self.built[carrier.name])
        return self.built[carrier.name]

    def secrets_of(self, driver):
        return frozenset(("word",))

    def take_over(self, settings):
        self.taken_over.append(settings)


@pytest.fixture
def open_file(open_house, carrier, tmp_path):
    """Opens a house whose carriers are those of a file."""

    def open_one(*carriers, **how):
        file = File(tmp_path, *carriers)
        drivers = {each.name: file.build(each) for each in carriers if each.enabled}
        own = carrier("test", prefixes=[])
        running = {**drivers, own.name: FakeDriver()}
        house = open_house(*carriers, own, drivers=running, outside=Connections(source=file), **how)
        return file, drivers, house

    return open_one


async def preview(house):
    return await house.gateway.perform("carriers.preview", {})


async def apply(house, seen=None):
    seen = seen or (await preview(house))["hash"]
    return await house.gateway.perform("carriers.apply", {"hash": seen}, AMINA)


async def names(house):
    found = await house.gateway.perform("carriers", {})
    return {each["name"]: each["gate"] for each in found["carriers"]}


async def gone(house, name):
    """Until there is no such carrier any more."""
    for _ in range(1000):
        if name not in await names(house):
            return
        await trio.sleep(1)
    raise AssertionError(f"{name} is still there")


async def test_nothing_differs_where_nothing_was_written(open_file, carrier, quick):
    _, _, opening = open_file(carrier("a"))
    async with opening as house:
        seen = await preview(house)
        assert (seen["carriers"], seen["settings"], seen["need_restart"]) == ([], [], [])
        await apply(house)
        lines = await house.gateway.perform("audit.list", {"operation": "carriers.apply"})
        assert lines["lines"] == []


async def test_a_preview_says_what_would_happen_and_changes_nothing(open_file, carrier, quick):
    file, _, opening = open_file(
        carrier("a", rate_per_s=5),
        carrier("b", fake={"host": "x", "password": "hunter2", "word": "hunter4"}),
    )
    async with opening as house:
        file.write(
            carrier("a", rate_per_s=7, weight=2),
            carrier("b", fake={"host": "y", "password": "hunter3", "word": "hunter5"}),
            carrier("c"),
            log=LogSection(level="debug"),
            pricing=PricingSection(per_segment="0.75"),
            delivery=DeliverySection(validity_s=60),
        )
        seen = await preview(house)
        told = {each["carrier"]: (each["kind"], each["effect"]) for each in seen["carriers"]}
        assert told == {
            "a": ("changed", "at_once"),
            "b": ("changed", "restarts"),
            "c": ("added", "starts"),
        }
        assert seen["carriers"][0]["fields"] == [
            {"field": "weight", "before": 1, "after": 2, "is_secret": False},
            {"field": "rate_per_s", "before": 5.0, "after": 7.0, "is_secret": False},
        ]
        assert seen["carriers"][1]["fields"] == [
            {"field": "fake.host", "before": "x", "after": "y", "is_secret": False},
            {"field": "fake.password", "before": None, "after": None, "is_secret": True},
            {"field": "fake.word", "before": None, "after": None, "is_secret": True},
        ]
        assert "hunter" not in str(seen)
        assert [each["key"] for each in seen["settings"]] == ["log.level", "pricing.per_segment"]
        assert seen["need_restart"] == ["delivery.validity_s"]
        assert list(await names(house)) == ["a", "b"]
        file.write(carrier("a", rate_per_s=5))
        assert (await preview(house))["carriers"] == [
            {"carrier": "b", "kind": "removed", "effect": "leaves", "fields": []}
        ]


async def test_an_added_carrier_takes_what_waited_for_it(open_file, carrier, quick):
    file, _, opening = open_file(carrier("a", prefixes=["+2223"]))
    async with opening as house:
        waiting = await house.send(to=MAURITEL)
        file.write(carrier("a", prefixes=["+2223"]), carrier("b", prefixes=["+2224"]))
        await apply(house)
        await house.wait_status(waiting, "sent")
        assert house.gateway.show_message(waiting)[0].carrier == "b"
        later = await house.send(to=MAURITEL)
        await house.wait_status(later, "sent")


async def test_the_others_notice_nothing(open_file, carrier, quick):
    file, drivers, opening = open_file(carrier("a", prefixes=["+2223"]))
    async with opening as house:
        drivers["a"].hold()
        message_id = await house.send()
        await drivers["a"].wait_submitted(1)
        file.write(carrier("a", prefixes=["+2223"]), carrier("b", prefixes=["+2224"]))
        await apply(house)
        file.write(carrier("a", prefixes=["+2223"]))
        await apply(house)
        drivers["a"].let_go()
        await house.wait_status(message_id, "sent")
        assert (drivers["a"].lives, len(drivers["a"].submitted)) == (1, 1)


async def test_a_removed_carrier_ends_what_it_has_begun_and_gets_nothing_new(
    open_file, carrier, quick
):
    file, drivers, opening = open_file(carrier("a"), carrier("b", priority=1))
    async with opening as house:
        drivers["a"].hold()
        first = await house.send()
        await drivers["a"].wait_submitted(1)
        await drivers["a"].context.remember_secret({"token": "of a"})
        await drivers["b"].context.remember_secret({"token": "of b"})
        file.write(carrier("b", priority=1))
        await apply(house)
        assert (await names(house))["a"] == "leaving"
        second = await house.send()
        await house.wait_status(second, "sent")
        assert house.gateway.show_message(second)[0].carrier == "b"
        assert not drivers["a"].left.is_set()
        assert drivers["a"].context.recall_secret() == {"token": "of a"}
        drivers["a"].let_go()
        await house.wait_status(first, "sent")
        await gone(house, "a")
        assert drivers["a"].context.recall_secret() == {}
        assert drivers["b"].context.recall_secret() == {"token": "of b"}
        assert drivers["a"].left.is_set()
        assert house.gateway.show_message(first)[0].carrier == "a"
        assert len(drivers["a"].submitted) == 1


async def test_it_stays_connected_for_receipts_that_come_soon(open_file, carrier, quick):
    file, drivers, opening = open_file(carrier("a"), carrier("b"))
    async with opening as house:
        await house.gateway.perform("carriers.pause", {"carrier": "b"})
        message_id = await house.send()
        await house.wait_status(message_id, "sent")
        file.write(carrier("b"))
        await apply(house)
        await trio.sleep(10)
        await drivers["a"].receipt("1")
        assert await house.wait_status(message_id, "delivered")
        await gone(house, "a")


@pytest.mark.parametrize("restarts", [False, True])
async def test_its_late_receipts_still_match_by_another_link_of_the_account(
    open_file, open_house, carrier, quick, leap, restarts
):
    tables = [carrier(name, fake={"account": "smsc us"}) for name in ("a", "b")]
    file, drivers, opening = open_file(*tables)
    late = Receipt("1", ReceiptState.DELIVERED, "stat:DELIVRD", recipient=MATTEL)
    async with opening as house:
        await house.gateway.perform("carriers.pause", {"carrier": "b"})
        message_id = await house.send()
        await house.wait_status(message_id, "sent")
        file.write(tables[1])
        await apply(house)
        await gone(house, "a")
        await leap(7200)  # hours after it has gone
        if not restarts:
            await drivers["b"].context.receipt(late)
            assert await house.wait_status(message_id, "delivered")
    if restarts:
        driver = Bound(account="smsc us")
        async with open_house(tables[1], drivers={"b": driver}) as house:
            await driver.context.receipt(late)
            assert await house.wait_status(message_id, "delivered")


async def test_a_receipt_of_another_account_still_matches_nothing(open_file, carrier, quick):
    tables = [carrier(name, fake={"account": name}) for name in ("a", "b")]
    file, drivers, opening = open_file(*tables)
    async with opening as house:
        await house.gateway.perform("carriers.pause", {"carrier": "b"})
        message_id = await house.send()
        await house.wait_status(message_id, "sent")
        file.write(tables[1])
        await apply(house)
        await gone(house, "a")
        await drivers["b"].receipt("1")
        assert house.status(message_id) == "sent"


async def test_another_driver_follows_when_the_first_has_ended(open_file, carrier, quick):
    file, drivers, opening = open_file(carrier("a", rate_per_s=1, fake={"host": "x"}))
    async with opening as house:
        old = drivers["a"]
        old.hold()
        first = await house.send()
        await old.wait_submitted(1)
        file.write(carrier("a", rate_per_s=1, fake={"host": "y"}))
        await apply(house)
        second = await house.send()
        await trio.sleep(30)
        new = file.built["a"]
        assert (new.lives, house.status(second)) == (0, "pending")
        old.let_go()
        await house.wait_status(second, "sent")
        assert (old.left.is_set(), new.lives) == (True, 1)
        assert house.status(first) == "sent"
        assert (len(old.submitted), len(new.submitted)) == (1, 1)
        shown = await house.gateway.perform("carriers.show", {"carrier": "a"})
        assert shown["accepted"] == 2  # its counts go on


async def test_the_pace_holds_over_another_driver(open_file, carrier, quick):
    file, drivers, opening = open_file(carrier("a", rate_per_s=0.1))
    async with opening as house:
        for _ in range(2):
            await house.send()
        await drivers["a"].wait_submitted(1)
        began_s = trio.current_time()
        file.write(carrier("a", rate_per_s=0.1, fake={"host": "y"}))
        await apply(house)
        await file.built["a"].wait_submitted(1)
        assert trio.current_time() - began_s >= 9.5


async def test_disabled_and_enabled_again(open_file, carrier, quick):
    file, drivers, opening = open_file(carrier("a"))
    async with opening as house:
        file.write(carrier("a", enabled=False))
        await apply(house)
        await gone(house, "a")
        waiting = await house.send()
        assert drivers["a"].left.is_set()
        file.write(carrier("a"))
        await apply(house)
        await house.wait_status(waiting, "sent")
        assert list(await names(house)) == ["a"]


async def test_one_that_comes_back_while_it_leaves(open_file, carrier, quick):
    file, drivers, opening = open_file(carrier("a"))
    async with opening as house:
        drivers["a"].hold()
        first = await house.send()
        await drivers["a"].wait_submitted(1)
        file.write()
        await apply(house)
        file.write(carrier("a", weight=5))
        await apply(house)
        second = await house.send()
        drivers["a"].let_go()
        await house.wait_status(first, "sent")
        await house.wait_status(second, "sent")
        assert file.built["a"].lives == 1
        shown = await house.gateway.perform("carriers.show", {"carrier": "a"})
        assert (shown["weight"], shown["gate"]) == (5, "open")


async def test_what_its_queue_held_goes_another_way(open_file, carrier, quick):
    """Refused messages are pinned to the carrier that is next; that one is taken out."""
    file, drivers, opening = open_file(carrier("a"), carrier("b", priority=1))
    async with opening as house:
        await house.gateway.perform("carriers.pause", {"carrier": "a"})
        drivers["b"].set_health(HealthState.DOWN)
        ids = [await house.send() for _ in range(5)]
        file.write(carrier("c"))
        await apply(house)
        for message_id in ids:
            await house.wait_status(message_id, "sent")
            assert house.gateway.show_message(message_id)[0].carrier == "c"


async def test_a_paused_carrier_with_another_driver_is_paused(open_file, carrier, quick):
    file, _, opening = open_file(carrier("a"), carrier("b", priority=1))
    async with opening as house:
        await house.gateway.perform("carriers.pause", {"carrier": "a"})
        file.write(carrier("a", fake={"account": "other"}), carrier("b", priority=1))
        await apply(house)
        for _ in range(100):
            await trio.sleep(1)
        assert (await names(house))["a"] == "paused"
        assert file.built["a"].submitted == []


async def test_faults_change_nothing_and_are_told_with_their_place(open_file, carrier, quick):
    file, drivers, opening = open_file(carrier("a"))
    async with opening as house:
        good = (await preview(house))["hash"]
        file.fault = ConfigError([Fault("carriers[0].rate_per_s", "must be more", "risala.toml")])
        seen = await preview(house)
        assert (seen["hash"], seen["carriers"]) == (None, [])
        assert seen["faults"] == [
            {
                "key": "carriers[0].rate_per_s",
                "text": "carriers[0].rate_per_s: must be more (risala.toml)",
                "source": "risala.toml",
            }
        ]
        with pytest.raises(Conflict, match=r"must be more \(risala.toml\)"):
            await apply(house, good)
        file.fault = None
        file.write(carrier("a"), carrier("b", fake={"host": "nowhere"}))
        assert "carriers.b.fake.host" in (await preview(house))["faults"][0]["text"]
        file.write(carrier("a"), carrier("test"))
        assert "built-in carrier" in (await preview(house))["faults"][0]["text"]
        assert (list(await names(house)), drivers["a"].lives) == (["a"], 1)


async def test_what_was_looked_at_is_what_is_applied(open_file, carrier, quick):
    file, _, opening = open_file(carrier("a"))
    async with opening as house:
        file.write(carrier("a", weight=2))
        seen = (await preview(house))["hash"]
        file.write(carrier("a", weight=3))
        with pytest.raises(Conflict, match="Look again"):
            await apply(house, seen)
        assert house.engine._board.lanes["a"].carrier.weight == 1
        told = await apply(house)
        assert told["carriers"][0]["fields"][0]["after"] == 3
        (line,) = (await house.gateway.perform("audit.list", {"who": "amina"}))["lines"]
        assert line["after"]["carriers"] == {"a": {"kind": "changed", "fields": ["weight"]}}


async def test_an_override_holds_over_new_settings_and_a_new_driver(open_file, carrier, quick):
    file, _, opening = open_file(carrier("a", rate_per_s=10))
    async with opening as house:
        await house.gateway.perform("carriers.override", {"carrier": "a", "rate_per_s": 2.0})
        file.write(carrier("a", rate_per_s=20, fake={"host": "y"}))
        await apply(house)
        await house.wait_status(await house.send(), "sent")
        assert file.built["a"].lives == 1
        shown = await house.gateway.perform("carriers.show", {"carrier": "a"})
        assert (shown["rate_max_per_s"], shown["file"]["rate_per_s"]) == (2.0, 20.0)


async def test_what_the_scheduler_cannot_take_changes_nothing(open_file, carrier, quick):
    file, _, opening = open_file(carrier("a"))

    async def refuse(_):
        raise Overloaded

    async with opening as house:
        lineup = house.engine._lineup
        parts, sections = replace(lineup._parts, rearrange=refuse), lineup.sections
        with pytest.raises(Overloaded):
            await CarrierRegistry(parts, sections, {}).change([], {})
        with pytest.raises(Overloaded):
            await CarrierRegistry(parts, [], {}).change(
                [carrier("b")], {"b": file.build(carrier("b"))}
            )
        assert await names(house) == {"a": "open"}


async def test_prices_change_with_them(open_file, carrier, quick):
    file, _, opening = open_file(carrier("a"))
    async with opening as house:
        file.write(carrier("a"), pricing=PricingSection(per_segment="0.75"))
        await apply(house)
        await house.send()
        assert await house.balance() == "999.25"
        assert file.taken_over[-1].pricing.per_segment == "0.75"
        assert (await preview(house))["settings"] == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(1, 4))
async def test_whatever_is_changed_under_load_each_message_leaves_once(
    open_file, carrier, quick, seed
):
    chance = random.Random(seed)
    submitted = Counter()

    def written():
        """Some of the carriers; each perhaps another than before."""
        tables = []
        for name in ("a", "b", "c"):
            if chance.random() < 0.75:
                where = chance.choice([["+222"], ["+2223"], ["+2224", "+22236"], ["+2222"]])
                host, weight = chance.choice("xy"), chance.randint(1, 5)
                given = {"prefixes": where, "weight": weight, "fake": {"host": host}}
                tables.append(carrier(name, priority=chance.randint(0, 1), **given))
        return tables

    file, _, opening = open_file(carrier("a"), balance="100000")
    make = file.build

    def build(section):
        driver = make(section)
        driver.delivers = True
        return driver

    file.build = build
    async with opening as house:
        ids = []
        for _ in range(25):
            for _ in range(8):
                to = f"+222{chance.choice('234')}{chance.randint(6_000_000, 6_999_999)}"
                ids.append(await house.send(to=to, body=chance.choice(["short", "long " * 60])))
            file.write(*written())
            await apply(house)
            await trio.sleep(chance.choice([0, 0, 0.05, 3]))
            if chance.random() < 0.3:
                name = chance.choice(list(await names(house)) or ["none"])
                with suppress(Conflict, NotFound):
                    await house.gateway.perform("carriers.reconnect", {"carrier": name})
        file.write(carrier("last", priority=9), *written())
        await apply(house)
        for message_id in ids:
            await house.wait_status(message_id, "sent", "delivered")
        for driver in file.all_built:
            submitted.update((one.message_id, one.number) for one in driver.submitted)
        assert set(submitted.values()) == {1}
        assert {message_id for message_id, _ in submitted} == set(ids)
        assert house.engine._board.queue.statistics().rows_held == 0
        assert (await house.gateway.perform("audit", {}))["clean"]


async def test_a_house_without_settings_says_so(open_house, quick):
    async with open_house() as house:
        with pytest.raises(Conflict):
            await preview(house)


async def test_a_currency_of_other_decimals_is_a_fault(open_file, carrier, quick):
    """Else its price would be applied at once, to balances of the old one."""
    file, _, opening = open_file(carrier("mattel"))
    async with opening as house:
        pricing, francs = PricingSection(per_segment="25"), ServiceSection(currency="XOF")
        file.write(*file.settings.carriers, service=francs, pricing=pricing)
        [fault] = (await preview(house))["faults"]
        assert fault["text"] == (
            "service.currency: must have two decimals, as the balances in MRU have; "
            "XOF has no decimals (service)"
        )
        file.write(*file.settings.carriers, service=ServiceSection(currency="EUR"))
        told = await preview(house)
        assert told["faults"] == []
        assert "service.currency" in told["need_restart"]

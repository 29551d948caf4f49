"""Features rest until they have something to do: what wakes them, and what never lets them rest."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import trio
import trio.testing

from risala.config.model import Settings, StorageSection
from risala.engine.model.clock import TrioClock
from risala.engine.model.features import features
from risala.engine.model.ids import IdSource
from risala.engine.wiring.engine import open_engine
from risala.engine.wiring.feature_tasks import FeatureTasks
from risala.engine.wiring.foundation import Seams
from risala.plugins.testing.fake_driver import FakeDriver

RESTING = {
    *("credentials", "hooks", "storms", "mailings", "mailings' rows", "payments", "channels"),
    "fixed numbers",
}
"""Tasks of features that rest."""


@pytest.fixture
def opened(tmp_path, carrier):
    """Opens the engine of a service, which loads operations with the first of them."""

    def open_one():
        settings = Settings(storage=StorageSection(data_dir=tmp_path))
        clock = TrioClock()
        seams = Seams(clock, IdSource(clock), inline_journal=True, loads_later=True)
        return open_engine(settings, [carrier()], {"fake": FakeDriver()}, seams)

    return open_one


def running(engine):
    return set(engine._feature_tasks._supervisor._children)


async def test_features_without_rows_rest_until_the_first_operation(opened):
    async with opened() as engine:
        assert RESTING & running(engine) == set()
        await engine.gateway.perform("org.create", {"name": "Test"})
        await trio.testing.wait_all_tasks_blocked()
        assert RESTING - running(engine) == set()


async def test_a_feature_with_rows_never_rests(opened):
    async with opened() as engine:
        made = await engine.gateway.perform("org.create", {"name": "Test"})
        given = {
            "organization_id": made["id"],
            "name": "Shop",
            "preset": "grafana",
            "numbers": ["+22236123456"],
        }
        await engine.gateway.perform("hook.create", given)
    async with opened() as engine:
        assert RESTING & running(engine) == {"hooks", "storms"}


@pytest.mark.parametrize(
    ("kind", "awake"), [("faces", "compat"), ("payment_methods", "payments"), ("drivers", None)]
)
async def test_a_feature_does_not_rest_where_plugins_work_for_it(kind, awake):
    storage = SimpleNamespace(has_nothing_of=lambda _: True)
    services = SimpleNamespace(
        surroundings=SimpleNamespace(plugged={kind: {"one": object()}}),
        repositories=SimpleNamespace(storage=storage),
    )
    gateway = SimpleNamespace(operated=trio.Event(), services=services)
    resting = {each.name for each in FeatureTasks(None, gateway)._resting}
    known = {"compat", "hooks", "mailings", "payments", "channels", "fixed_numbers"}
    known |= {"alarms", "repeats"}
    assert resting == known - {awake}


async def test_what_was_asked_for_never_rests():
    gateway = SimpleNamespace(operated=trio.Event(), services=None)
    gateway.operated.set()
    assert FeatureTasks(None, gateway)._resting == []


def test_whatever_rests_has_tables():
    """By them it is known whether there is anything to do."""
    resting = [each for each in features() if each.rests_without is not None]
    assert [each.name for each in resting if not each.tables] == []

"""What is watched by Prometheus and Grafana is there: the reference, the dashboard, the rules."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
import trio
from prometheus_client.parser import text_string_to_metric_families
from proofs import metrics
from tests.engine.features.standby.stored.memory_store import MemoryStore

from risala.config.model import PoliciesSection, SinksSection
from risala.engine.features.alerts.records import AlertKind
from risala.engine.features.answering.calls import CarrierCalls
from risala.engine.features.standby.service import SecondMachine, second_machine
from risala.engine.features.standby.stored.awaited_log import AwaitedLog
from risala.engine.features.standby.stored.shipping_status import ShippingStatus
from risala.engine.follow.esmes import EsmeTotals, EsmeView
from risala.engine.model.clock import SystemClock
from risala.engine.model.records.asks import FeatureAccess
from risala.engine.wiring.connections import Connections
from risala.http.common.failed_keys import AnswerTally
from risala.plugins.contract import Health, HealthState
from risala.plugins.policy import PolicyMessage, PolicyPass, PolicyVerdict
from risala.plugins.sink import SinkEvent

ROOT = Path(__file__).parents[3]
DASHBOARD = ROOT / "deploy/grafana/risala.json"
RULES = ROOT / "deploy/prometheus/risala.rules.yml"
NAME = re.compile(r"\b(?:risala|process)_[a-z0-9_]+\b")
DETAILS = {
    "signal_dbm": -71,
    "sim_balance": 12.5,
    "segments_today": 3,
    "segments_per_day_max": 100,
    "recipients_this_month": 2,
    "recipients_per_month_max": 300,
}
SERIES_MAX = 400
"""Of one carrier, an idle service: some kilobytes."""


class IdleSink:
    async def take(self, events: Sequence[SinkEvent]) -> None:
        await trio.lowlevel.checkpoint()


class IdlePolicy:
    async def judge(self, messages: Sequence[PolicyMessage]) -> Sequence[PolicyVerdict]:
        return [PolicyPass() for _ in messages]


class IdleServer:
    """An SMPP server that nobody is bound to any more."""

    def views(self) -> Sequence[EsmeView]:
        return ()

    def totals(self) -> EsmeTotals:
        return EsmeTotals(0, {0: 1}, {0: 2}, 2, 0)


def count_a_code(conn):
    conn.execute("INSERT INTO code_totals VALUES ('fake', 'sms', 1, 1, 1, 1, 1)")


@pytest.fixture
async def page(open_house, autojump_clock, tmp_path) -> str:
    """All that there can be: a service with a modem, an event sink, an SMPP server and a standby
    that answers wait for, after a backup, some answers and a code."""
    (tmp_path / "last-backup.json").write_text('{"at": 1767225600000, "size_bytes": 1}')
    archive = SinksSection.model_validate({"archive": {"sink": "idle"}})
    rules = PoliciesSection.model_validate({"rules": {"policy": "idle"}})
    outside = Connections(sinks={"archive": IdleSink()}, policies={"rules": IdlePolicy()})
    async with open_house(outside=outside, sinks=archive, policies=rules) as house:
        house.driver.context.health(Health(HealthState.UP, "Ready.", DETAILS))
        house.gateway.access(FeatureAccess[CarrierCalls]("answering")).counts["fake", "proved"] += 1
        message_id = await house.send()
        await house.wait_status(message_id, "sent")
        await house.gateway.services.recorder.journal.commit(count_a_code)
        tally = AnswerTally(Counter({200: 1}))
        store, clock = MemoryStore(tmp_path), SystemClock()
        log = AwaitedLog(tmp_path / "none", store, store, clock, answer_wait_s=5, every_s=1)
        parts = house.gateway.services.parts
        parts[second_machine] = SecondMachine(ShippingStatus(log))
        with house.gateway.services.esmes.listed(IdleServer()):
            return (house.gateway.metrics() + tally.page()).decode()


def families(page):
    return {family.name: family for family in text_string_to_metric_families(page)}


def samples(page):
    return {
        sample.name for family in text_string_to_metric_families(page) for sample in family.samples
    }


async def test_the_list_of_metrics_is_what_a_running_service_answers(page, autojump_clock):
    told = metrics.render(page)
    if "RISALA_WRITE" in os.environ:  # `make generated`
        metrics.PAGE.write_text(told, "utf-8")
    assert metrics.PAGE.read_text("utf-8") == told, "`make generated` writes it"


@pytest.mark.parametrize("path", [DASHBOARD, RULES], ids=lambda path: path.name)
async def test_each_metric_that_is_watched_is_there(page, path, autojump_clock):
    named = {*NAME.findall(path.read_text(encoding="utf-8"))}
    assert len(named) > 15
    assert named - samples(page) == set()


def test_the_dashboard_is_whole():
    board = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    panels = [each for each in board["panels"] if each["type"] != "row"]
    assert len({each["id"] for each in board["panels"]}) == len(board["panels"])
    assert board["uid"] == "risala"
    for panel in panels:
        assert panel["title"], panel
        assert panel["targets"], panel["title"]
        assert panel["datasource"]["uid"] == "${datasource}"
        for target in panel["targets"]:
            assert target["expr"].count("(") == target["expr"].count(")"), target
    places = {(each["gridPos"]["x"], each["gridPos"]["y"]) for each in board["panels"]}
    assert len(places) == len(board["panels"])


def test_each_rule_says_what_it_means():
    text = RULES.read_text(encoding="utf-8")
    rules = re.findall(r"- alert: (\w+)\n(.*?)(?=\n {6}- alert|\Z)", text, re.DOTALL)
    assert len(rules) > 12
    assert len({name for name, _ in rules}) == len(rules)
    for name, body in rules:
        for part in ("expr:", "severity:", "summary:", "description:"):
            assert part in body, (name, part)


async def test_the_labels_are_few_whatever_happens(page, autojump_clock):
    series = [sample for family in families(page).values() for sample in family.samples]
    assert len(series) < SERIES_MAX
    (alerts,) = (
        family for family in families(page).values() if family.name.endswith("alerts_open")
    )
    assert {sample.labels["kind"] for sample in alerts.samples} == {*AlertKind}


async def test_answers_are_measured_and_quotas_are_told(page, autojump_clock):
    found = families(page)
    answers = {
        (sample.name, sample.labels.get("le")): sample.value
        for sample in found["risala_carrier_answer_seconds"].samples
    }
    assert answers["risala_carrier_answer_seconds_count", None] == 1
    assert answers["risala_carrier_answer_seconds_bucket", "+Inf"] == 1
    quota = {
        sample.labels["period"]: sample.value
        for sample in found["risala_carrier_quota_used"].samples
    }
    assert quota == {"day": 3, "month": 2}
    assert found["risala_backup_age_seconds"].samples[0].value >= 0

"""The service counts by itself, also after a restart, and answers who may know."""

from __future__ import annotations

import re

import pytest
import trio
import trio.testing
from prometheus_client import generate_latest
from prometheus_client.core import CollectorRegistry

from risala.engine.features.code_figures.counting import LOOK_S, CodeCounting, of_codes
from risala.engine.features.code_figures.rules import CODES, CarrierCodes
from risala.engine.features.code_figures.stored.counts import CodeCountRepository
from risala.engine.model.commands import SendCode
from risala.engine.model.errors import Invalid
from risala.engine.model.times import iso
from risala.plugins.contract import Refused, Scope
from risala.plugins.testing.fake_driver import FakeDriver

TO = "+22236123456"


async def asked(house, to: str = TO) -> str:
    sent = len(house.driver.submitted)
    session = await house.gateway.send_code(house.principal, SendCode(to))
    await house.driver.wait_submitted(sent + 1)
    await trio.testing.wait_all_tasks_blocked()  # the carrier has answered
    return session


async def enter(house, session: str) -> None:
    code = re.search(r"\d{6}", house.driver.submitted[-1].text)
    assert await house.gateway.check_code(house.principal, session, code.group())


async def figures(house, by: str = "carrier", **fields):
    now_ms = house.clock.now_ms()
    since = iso(now_ms - 86_400_000)
    arguments = {"organization_id": house.principal.organization_id, "since": since, "by": by}
    return await house.gateway.perform("codes.figures", {**arguments, **fields})


def stored(house) -> CodeCountRepository:
    return house.gateway.services.repositories.part(CodeCountRepository)


@pytest.mark.slow
async def test_a_code_is_in_the_figures_at_once_and_stays_there(open_house, quick):
    async with open_house() as house:
        first, second = await asked(house), None
        assert (await figures(house))["whole"]["asked"] == 1
        house.pass_s(12)
        await enter(house, first)
        second = await asked(house)
        before = await figures(house)
        assert before["whole"] | {"cost": None} == {
            "of": None,
            "asked": 2,
            "sent": 2,
            "delivered": 1,
            "entered": 1,
            "withinMinute": 1,
            "medianSeconds": 12,
            "p90Seconds": 12,
            "cost": None,
        }
        assert before["whole"]["cost"] == "1.00"
        assert [each["of"] for each in before["items"]] == ["fake"]
        await trio.sleep(2 * LOOK_S)
        assert stored(house).totals()[0].asked == 1, "the second one may still be entered"
        assert await figures(house) == before
        organization = house.principal
    async with open_house() as house:
        house.principal = organization
        assert await figures(house) == before
        await house.gateway.perform("verify.cancel", {"verification_id": second})
        house.pass_s(3 * 3600)
        await trio.sleep(2 * LOOK_S)
        assert stored(house).totals()[0].asked == 2
        assert await figures(house) == before


@pytest.mark.parametrize(
    ("settings", "said", "language"),
    [
        ({}, {}, "en"),  # what is built in, where nobody chose
        ({"language": "fr"}, {}, "fr"),
        ({"language": "fr"}, {"locale": "ar"}, "ar"),
        ({"template": "Kodu: {{code}}"}, {}, None),
        ({}, {"beside": {"template": "login"}}, None),
        ({}, {"beside": {"template": "login"}, "locale": "ar"}, "ar"),
    ],
)
async def test_a_code_is_counted_by_the_language_of_its_text(
    open_house, quick, settings, said, language
):
    async with open_house() as house:
        own = {"organization_id": house.principal.organization_id}
        if settings:
            await house.gateway.perform("verify.config", {**own, **settings})
        if "beside" in said:
            text = {"name": "login", "text": "Kodu: {{code}}"}
            await house.gateway.perform("verify.templates", {**own, **text})
        await house.gateway.send_code(house.principal, SendCode(TO, **said))
        shown = await figures(house, by="language", daily=True)
        assert [each["of"] for each in shown["items"]] == [language]
        whole, network, of_language = shown["daily"]
        assert (whole["by"], network["of"], of_language["of"]) == ("day", "mattel", language)
        assert [each["asked"][-1] for each in shown["daily"]] == [1, 1, 1]
        assert (await figures(house, by="language"))["daily"] == []


async def test_what_could_not_be_sent_is_asked_for_and_costs_nothing(open_house, quick):
    no = Refused(Scope.FINAL, "ESME_RINVDSTADR", "No such number.")
    async with open_house(drivers={"fake": FakeDriver(always=no)}) as house:
        await asked(house)
        whole = (await figures(house))["whole"]
        assert (whole["asked"], whole["sent"], whole["cost"]) == (1, 0, "0.00")


async def test_what_is_no_word_of_it_is_refused(house, quick):
    with pytest.raises(Invalid) as refused:
        await figures(house, by="tag")
    (fault,) = refused.value.faults
    assert (fault.path, fault.code) == ("by", "invalid_by")


@pytest.mark.parametrize(
    ("fields", "count"),
    [
        ({"since": "0001-01-01T00:00:00Z", "until": "9999-12-31T23:59:59Z"}, 1),
        ({"since": "9999-12-31T23:59:59Z"}, 0),
        ({"since": "0001-01-01T00:00:00Z", "until": "0001-01-01T00:00:00Z"}, 0),
        ({"since": "0001-01-01T00:00:00Z", "until": "2000-01-01T00:00:00Z"}, 0),
    ],
)
async def test_any_time_is_answered_as_far_as_it_is_known(open_house, quick, fields, count):
    async with open_house() as house:
        await asked(house)
        assert (await figures(house, **fields))["whole"]["asked"] == count


async def test_metrics_count_settled_codes_by_carrier(open_house, quick):
    async with open_house() as house:
        await enter(house, await asked(house))
        await house.gateway.services.part(CodeCounting).count_settled()
        repositories = house.gateway.services.repositories

        class Collector:
            def collect(self):
                return of_codes(repositories, 0)

        registry = CollectorRegistry()
        registry.register(Collector())
        text = generate_latest(registry).decode()
    labels = 'carrier="fake",channel="sms"'
    assert f'risala_codes_total{{{labels},step="entered"}} 1.0' in text
    assert f"risala_codes_entered_within_minute_total{{{labels}}} 1.0" in text
    assert house.principal.organization_id not in text


async def test_a_session_that_breaks_counting_is_left_out_and_all_others_are_counted(
    open_house, quick, monkeypatch
):
    really = CodeCounting.country_of

    def country_of(self, number):
        if number == "+22236000002":
            raise ValueError(number)
        return really(self, number)

    monkeypatch.setattr(CodeCounting, "country_of", country_of)
    async with open_house() as house:
        for each in range(1, 4):
            await enter(house, await asked(house, f"+2223600000{each}"))
        counting = house.gateway.services.part(CodeCounting)
        await counting.count_settled()
        assert stored(house).totals()[0].asked == 2
        assert stored(house).next_session() is None
        statuses = house.gateway.services.set_aside.statuses()
        (status,) = [each for each in statuses if each.loop == "code_counts"]
        assert (len(status.items), status.total) == (1, 1)


async def test_nothing_is_written_while_there_is_nothing_to_count(open_house, quick, monkeypatch):
    async with open_house() as house:
        counting = house.gateway.services.part(CodeCounting)
        commits = []
        journal = house.gateway.services.recorder.journal
        commit = journal.commit

        async def noted(unit):
            commits.append(unit)
            return await commit(unit)

        monkeypatch.setattr(journal, "commit", noted)
        await asked(house)
        commits.clear()
        await counting.follow()
        assert commits == []
        await enter(house, (await asked(house)))
        commits.clear()
        await counting.follow()
        assert commits == [], "the first one may still be entered"


@pytest.mark.slow
async def test_an_alert_is_raised_once_and_is_over(open_house, quick):
    async with open_house() as house:
        counting = house.gateway.services.part(CodeCounting)

        async def alerts():
            shown = await house.gateway.perform("alert.list", {"kind": "codes_unentered"})
            return [(each["subject"], each["isOpen"]) for each in shown["alerts"]]

        counting.carriers = (CarrierCodes("fake", CODES, 1, 1000, 700),)
        await trio.sleep(1200)
        assert await alerts() == [("fake", True)]
        counting.carriers = (CarrierCodes("fake", CODES, 40, 1000, 700),)
        await trio.sleep(7200)
        assert await alerts() == [("fake", False)]

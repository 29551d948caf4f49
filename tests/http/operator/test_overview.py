"""The first page of the console: what is wrong, what happens, what waits."""

from __future__ import annotations

import re

import pytest

from cases import sweep
from patience import until_true
from risala.engine.features.alerts.records import AlertPage, AlertView
from risala.engine.model.records.asks import Versioned
from risala.engine.model.times import iso

PAGE = "/operator/overview"


async def sent(post, to="+22236123456"):
    whose = {"organization_id": post.organization_id}
    await post.do("topup", amount="10", **whose)
    message = await post.do("send", to=to, body="Bonjour", **whose)
    await until_true(lambda: status(post, message["messageId"]) in ("sent", "failed"))
    return message["messageId"]


def status(post, message_id):
    row = post.gateway.services.repositories._store.reader.execute(
        "SELECT status FROM messages WHERE id = ?", (message_id,)
    ).fetchone()
    return row[0]


async def test_nothing_is_wrong_and_nothing_has_happened(operator):
    page = await operator.get(PAGE)
    assert page.status == 200
    assert "nothing to compare with yet" in page.text
    assert "No failures." in page.text
    assert re.search(r'id="attention" hidden', page.text)


async def test_what_was_accepted_is_counted(post, operator):
    await sent(post)
    page = await operator.get(PAGE)
    assert re.search(r'today <bdi class="num">1</bdi>', page.text)
    assert page.text.count("data-t=") == 60
    assert re.findall(r'data-v="([1-9]\d*)"', page.text)[0] == "1"


async def test_what_waits_for_a_later_time_is_not_called_nothing(post, operator):
    whose = {"organization_id": post.organization_id}
    await post.do("topup", amount="10", **whose)
    later = iso(post.gateway.services.recorder.clock.now_ms() + 3_600_000)
    await post.do("send", to="+22236123456", body="Bonjour", send_at=later, **whose)
    page = await operator.get(PAGE)
    waiting = page.text.partition("Messages waiting")[2].partition("</div>")[0]
    assert "all of them leave later" in waiting
    assert "nothing waits for its turn" not in page.text
    for page in ("carriers", "carriers/fake"):
        assert "leave later" in (await operator.get(f"/operator/{page}")).text


async def test_it_draws_itself_anew(operator):
    """The pieces of the stream have the ids that the page has."""
    page = await operator.get(PAGE)
    ids = {attributes.get("id") for _, attributes in page.tags}
    loaded = await operator.app.site.templates.load()
    source = loaded.environment.loader.get_source(loaded.environment, "overview/pieces.html")[0]
    assert source.count("(True)") == 6
    assert {"attention", "figures", "rates", "decide", "causes", "lanes"} <= ids


async def test_it_says_when_nothing_can_leave(post, operator):
    assert "No message can leave." not in (await operator.get(PAGE)).text
    carriers = await operator.get("/operator/carriers")
    await operator.submit(carriers, "/operator/carriers/fake/do/pause")
    whose = {"organization_id": post.organization_id}
    await post.do("topup", amount="10", **whose)
    await post.do("send", to="+22236123456", body="Bonjour", **whose)
    page = await operator.get(PAGE)
    assert "No message can leave." in page.text
    assert '<bdi class="num">1</bdi> message is waiting.' in page.text
    assert 'id="attention">' in page.text
    carriers = await operator.get("/operator/carriers")
    await operator.submit(carriers, "/operator/carriers/fake/do/resume")
    assert "No message can leave." not in (await operator.get(PAGE)).text


class Alerts:
    """A gateway that tells of these alerts."""

    def __init__(self, gateway, *alerts, count=None):
        self._gateway = gateway
        self.alerts, self.count, self.done = alerts, count or len(alerts), []

    def __getattr__(self, name):
        return getattr(self._gateway, name)

    async def ask(self, ask, arguments, caller):
        if ask.name == "alert.list":
            return Versioned(AlertPage(self.alerts, None, self.count, ()), None)
        if ask.name.startswith("alert."):
            self.done.append((ask.name, arguments))
            return Versioned(None, None)
        return await self._gateway.ask(ask, arguments, caller)


def alert(kind, subject=None, **changes):
    words = {language: f"{kind} <b>{language}</b>" for language in ("fr", "ar", "en")}
    return AlertView(
        id="alert_1",
        kind=kind,
        subject=subject,
        is_open=True,
        title=words,
        text=words,
        facts={},
        raised_at=1_795_250_476_123,
        over_at=None,
        flaps=0,
        told_at=None,
        **{"acknowledged_at": None, "acknowledged_by": None, "is_muted": False, **changes},
    )


@pytest.fixture
def alarmed(post, operator):
    def made(*alerts, **told):
        gateway = Alerts(post.gateway, *alerts, **told)
        object.__setattr__(operator.app.site, "gateway", gateway)
        return gateway

    return made


async def test_an_alert_is_told_and_somebody_sees_to_it(operator, alarmed):
    gateway = alarmed(alert("carrier_down", "fake"), count=9)
    page = await operator.get(PAGE)
    assert "carrier_down &lt;b&gt;en&lt;/b&gt;" in page.text
    assert 'href="/operator/carriers/fake"' in page.text
    assert "and <bdi" in page.text
    await operator.submit(page, "/operator/alerts/alert_1/acknowledge")
    given = {"kind": "carrier_down", "subject": "fake", "minutes": "240"}
    muted = await operator.submit(page, "/operator/alerts/mute", given)
    assert muted.location == PAGE
    assert gateway.done == [
        ("alert.acknowledge", {"alert_id": "alert_1"}),
        ("alert.mute", {"kind": "carrier_down", "subject": "fake", "minutes": 240}),
    ]


@sweep("kind", ["disk_low", "sink_behind", "standby_behind", "standby_async"])
async def test_what_is_wrong_with_the_service_leads_to_its_page(operator, alarmed, kind):
    alarmed(alert(kind, "archive" if kind == "sink_behind" else None))
    page = await operator.get(PAGE)
    (told,) = re.findall(r"<strong>.*?href=\"([^\"]+)\"", page.text, re.DOTALL)[:1]
    assert told == "/operator/system"


async def test_what_somebody_sees_to_says_so(operator, alarmed):
    alarmed(alert("disk_low", acknowledged_at=1, acknowledged_by="mariem", is_muted=True))
    page = await operator.get(PAGE)
    assert "<bdi>mariem</bdi> takes care of it" in page.text
    assert "silenced" in page.text
    assert "alerts/mute" not in page.text


async def test_what_nobody_sees_to_stands_first(operator, alarmed):
    seen = {"acknowledged_at": 1, "acknowledged_by": "mariem"}
    alarmed(
        alert("disk_low", **seen),
        alert("backup_old", is_muted=True),
        alert("carrier_down", "mattel"),
        alert("errors"),
    )
    page = await operator.get(PAGE)
    told = re.findall(r"<strong>(\w+) &lt;b", page.text)
    assert told == ["carrier_down", "errors"]
    assert "and <bdi" in page.text


@sweep("kind", ["nope", "", "carrier_down"])
async def test_what_cannot_be_silenced_is_refused(operator, kind):
    page = await operator.get("/operator/account")
    fields = {"kind": kind, "minutes": "0"}
    refused = await operator.submit(page, "/operator/alerts/mute", fields, drawn=False)
    assert refused.status == 422
    assert 'role="alert"' in refused.text


async def test_it_shows_where_messages_go(post, operator):
    assert "No message in the last seven days." in (await operator.get(PAGE)).text
    await sent(post)
    text = re.sub(r"<[^>]*>|\s+", " ", (await operator.get(PAGE)).text)
    assert re.search(r"Mattel +Mauritania +100% +1 ", text)
    assert "Of 1 message, since" in re.sub(" +", " ", text)

"""The service and its machine in the console, its settings without secrets, and its alerts."""

from __future__ import annotations

import pytest

from cases import sweep
from risala.config.model import Settings
from risala.engine.features.alerts.records import AlertKind
from risala.engine.features.alerts.stored import alerts
from risala.engine.features.standby.lease import LeaseDirectory
from risala.engine.features.standby.service import second_machine
from risala.http.operator.system.facts import shown_settings


async def test_the_service_and_its_machine_are_told(post, operator):
    page = await operator.get("/operator/system")
    facts = await post.do("system.show")
    for each in (facts["version"], facts["python"], facts["sqlite"], facts["schema"]):
        assert f"<code>{each}</code>" in page.text
    assert facts["dataDir"] in page.text
    assert "none yet" in page.text, "there is no backup"
    assert "Texts of messages" in page.text
    assert "365</bdi> days" in page.text
    assert "Nothing yet." in page.text
    assert "storage.data_dir" in page.text


@pytest.fixture
def standby(tmp_path):
    place = tmp_path / "standby"
    (place / "lease").mkdir(parents=True)
    LeaseDirectory(place / "lease").take("a", 30, 0, 0, 7)
    return {"standby": {"directory": str(place), "lease_directory": str(place / "lease")}}


async def test_a_standby_is_told_with_its_lease_and_its_room(post, operator, standby):
    assert "Standby machine" not in (await operator.get("/operator/system")).text
    services = post.gateway.services
    object.__setattr__(services, "settings", Settings.model_validate(standby))
    services.part(second_machine).status.begin()
    told = (await post.do("system.show"))["standby"]
    assert (told["store"], told["mode"], told["epoch"]) == ("directory", "async", 7)
    assert told["roomBytes"] > 0
    page = await operator.get("/operator/system")
    assert "Standby machine" in page.text
    assert told["holder"] in page.text
    services.part(second_machine).status.failed("The directory is full.")
    assert "The directory is full." in (await operator.get("/operator/system")).text
    missing = {"standby": {**standby["standby"], "lease_directory": "/nowhere"}}
    object.__setattr__(services, "settings", Settings.model_validate(missing))
    services.part(second_machine).status.reached(0)
    assert "/nowhere" in (await operator.get("/operator/system")).text


def test_no_setting_shows_a_secret():
    settings = Settings.model_validate(
        {
            "http": {
                "tls_certificate": "/etc/tls/own.pem",
                "tls_key": "/etc/tls/hidden.pem",
                "port": 9000,
            },
            "mail": {"password_env": "MAIL_PASSWORD", "host": "mail.example"},
            "alerts": {"webhook_url": ["https://hooks.example/services/T0/hidden?x=hidden"]},
        }
    )
    shown = {each.name: each for each in shown_settings(settings)}
    assert not [each for each in shown.values() if "hidden" in each.value]
    assert shown["http.port"].value == "9000"
    assert shown["mail.password_env"].value == "MAIL_PASSWORD"
    assert shown["alerts.webhook_url"].value == "https://hooks.example/…"
    assert not shown["http.port"].is_usual
    assert shown["http.metrics.port"].is_usual
    assert shown["alerts.off"].value == ""


async def test_what_was_wrong_stands_with_its_end(post, operator):
    recorder = post.gateway.services.recorder

    async def wrong(subject, *, ends):
        facts = {"state": "down", "text": "The link broke."}

        def unit(conn):
            now_ms = recorder.clock.now_ms()
            raised = alerts.raise_one(conn, AlertKind.CARRIER_DOWN, subject, facts, now_ms)
            return alerts.end(conn, raised.seq, facts, now_ms + 65_000) if ends else raised

        return await recorder.journal.commit(unit)

    await wrong("fake<b>", ends=False)
    await wrong("mattel", ends=True)
    text = (await operator.get("/operator/system")).text
    assert "fake&lt;b&gt;" in text
    page = await operator.get("/operator/system/alerts")
    assert (">Open</span>" in page.text, ">Over</span>" in page.text) == (True, True)
    assert "1</bdi> minute" in page.text, "how long it was wrong"
    page = await operator.get("/operator/system/alerts?state=over")
    assert "fake&lt;b&gt;" not in page.text
    assert "mattel" in page.text
    page = await operator.get("/operator/system/alerts?kind=carrier_down&state=open")
    assert "fake&lt;b&gt;" in page.text


async def test_a_mute_is_taken_back(post, operator):
    await post.do("alert.mute", kind="disk_low", minutes=60)
    page = await operator.get("/operator/system/alerts")
    assert "Silenced" in page.text
    mute_id = page.field("mute_id") if 'name="mute_id" value="' in page.text else ""
    done = await operator.submit(page, "/operator/system/alerts/unmute", {"mute_id": mute_id})
    assert done.location == "/operator/system/alerts"
    page = await operator.get("/operator/system/alerts")
    assert "Notices are sent again." in page.text
    assert "Silenced" not in page.text
    lines = (await post.do("audit.list", operation="alert.unmute"))["lines"]
    assert [each["face"] for each in lines] == ["console"]


@sweep(
    ("query", "status"),
    [("kind=nonsense", 422), ("state=nonsense", 422), ("kind=errors&state=over", 200)],
)
async def test_of_no_alert_there_is_a_page_too(operator, query, status):
    page = await operator.get(f"/operator/system/alerts?{query}")
    assert page.status == status
    assert ("Nothing here" in page.text) == (status == 200)


async def test_a_strange_place_is_refused(operator):
    page = await operator.get("/operator/system/alerts?before=nonsense")
    assert page.status == 404

"""Texts that come in are at a real Mosquitto, whole, though the broker and the service die."""

from __future__ import annotations

import json

import pytest

from mosquitto import PASSWORD, USER, mosquitto, subscribed
from patience import until

pytestmark = pytest.mark.slow

TEXTS = [f"text {number}" for number in range(12)]


def test_each_text_is_published_whatever_dies(premises, tmp_path):
    scenario = tmp_path / "phones.toml"
    scenario.write_text(
        f'[inbound]\nrate_per_s = 5\ntexts = {json.dumps(TEXTS)}\nsenders = ["+22236123456"]\n'
    )
    simulator = premises.simulator("--scenario", str(scenario))
    with mosquitto(tmp_path, password=True) as broker, subscribed(broker, login=True) as reader:
        service = premises.running(
            simulator,
            more='[sinks.house]\nsink = "mqtt"\n[sinks.house.mqtt]\nhost = "127.0.0.1"\n'
            f'port = {broker.port}\ntls = false\nuser = "{USER}"\npassword = "{PASSWORD}"\n'
            "home_assistant = true\n",
        )
        account = service.organization()
        service.perform("inbound.route", organization_id=account.organization_id)
        topic = f"risala/{account.organization_id}/sms/received"

        def texts() -> list[str]:
            return [json.loads(body)["text"] for body in reader.bodies(topic)]

        until(texts, "the first text is there")
        assert reader.last()["risala/status"] == "online"
        broker.stop()
        service.kill()
        broker.start()
        service.start()
        until(lambda: {*texts()} == {*TEXTS}, "all texts are there")
        rows = service.rows("SELECT count(*) FROM inbound")
        assert rows[0][0] >= len(TEXTS)
        device = f"homeassistant/sensor/risala_{account.organization_id}/last_text/config"
        until(lambda: device in reader.last(), "Home Assistant is told")
        (sink,) = service.perform("statistics")["sinks"]
        assert sink["state"] in ("running", "failing")
    service.assert_no_bug_logged()

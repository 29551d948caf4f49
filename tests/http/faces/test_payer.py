"""Where nobody pays, the number of parts of a day is the limit: each face says its word for
"throttled" then, and none for a lack of money."""

from __future__ import annotations

import base64
import json
from urllib.parse import urlencode

import pytest
from tests.http.faces.face_office import TO, open_office

from risala.config.payments import BillingSection
from risala.drivers.faces.kannel import KannelCompat, KannelSettings
from risala.drivers.faces.playsms import PlaysmsCompat, PlaysmsSettings
from risala.drivers.faces.smsgate import SmsgateCompat, SmsgateSettings
from risala.drivers.faces.twilio.compat import TwilioCompat, TwilioSettings

FACES = {
    "kannel": KannelCompat(KannelSettings()),
    "playsms": PlaysmsCompat(PlaysmsSettings()),
    "smsgate": SmsgateCompat(SmsgateSettings()),
    "twilio": TwilioCompat(TwilioSettings()),
}


@pytest.fixture
async def office(tmp_path):
    billing = BillingSection(payer="self", self_parts_per_day=1)
    async with open_office(tmp_path, FACES, billing=billing) as opened:
        yield opened


async def test_kannel(office, autojump_clock):
    made, word = await office.credential("kannel")
    asked = {"user": made["username"], "pass": word, "to": TO, "text": "x"}
    assert (await office.get("/cgi-bin/sendsms", **asked))[0] == 202
    refused = (503, "Temporal failure, try again later.")
    assert await office.get("/cgi-bin/sendsms", **asked) == refused


async def test_playsms(office, autojump_clock):
    made, word = await office.credential("playsms")
    who = {"app": "ws", "op": "pv", "u": made["username"], "h": word}
    path = f"/index.php?{urlencode({**who, 'to': TO, 'msg': 'x'})}"
    assert (await office.client.get(path)).status_code == 200
    refused = await office.client.get(path)
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 1
    told = json.loads(await refused.get_data())
    assert (told["status"], told["error"]) == ("ERR", "200")


async def test_twilio(office, autojump_clock):
    made, word = await office.credential("twilio")
    path = f"/2010-04-01/Accounts/{made['username']}/Messages.json"
    fields = {"To": TO, "Body": "x"}
    assert (await office.form(path, fields, (made["username"], word))).status_code == 201
    refused = await office.form(path, fields, (made["username"], word))
    assert refused.status_code == 429
    assert json.loads(await refused.get_data())["code"] == 20429


async def test_smsgate(office, autojump_clock):
    made, word = await office.credential("smsgate")
    basic = base64.b64encode(f"{made['username']}:{word}".encode()).decode()
    body = json.dumps({"phoneNumbers": [TO], "textMessage": {"text": "x"}})
    headers = {"authorization": f"Basic {basic}", "content-type": "application/json"}
    path = "/api/3rdparty/v1/messages"
    assert (await office.client.post(path, headers=headers, data=body)).status_code == 202
    refused = await office.client.post(path, headers=headers, data=body)
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 1
    assert json.loads(await refused.get_data())["code"] == 429

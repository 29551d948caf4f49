"""playSMS's webservices over HTTP, by the requests of its clients, with the real engine behind."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from urllib.parse import quote, urlencode
from xml.etree import ElementTree

import pytest
import trio
from tests.http.faces.face_office import TO, open_office

from risala.config.numbers import NumbersSection, PriceSection
from risala.drivers.faces.playsms import LISTED_MAX, PlaysmsCompat, PlaysmsSettings
from risala.engine.features.compat.rules import HEX_ALPHABET, shape_of
from risala.sms.cause import Cause
from risala.sms.outcome import Refused, Scope

PATH = "/index.php"
TIME = "%Y-%m-%d %H:%M:%S"


@pytest.fixture
async def office(tmp_path):
    async with open_office(tmp_path, {"playsms": PlaysmsCompat(PlaysmsSettings())}) as opened:
        opened.credentials, opened.password = await opened.credential("playsms", username="cloud")
        opened.who = {"app": "ws", "u": "cloud", "h": opened.password}
        yield opened


async def ask(office, op="pv", **fields):
    """What an operation answers: the status, and the JSON without its timestamp."""
    given = {**office.who, "op": op, **fields}
    status, body = await office.get(PATH, **{k: v for k, v in given.items() if v != ""})
    told = json.loads(body)
    assert isinstance(told.pop("timestamp"), int)
    return status, told


async def send(office, **fields):
    return await ask(office, **{"to": TO, "msg": "hello", **fields})


def message(office, at=-1):
    return office.gateway.show_message(office.messages()[at])[0]


# -- as its clients ask ----------------------------------------------------------------------------


async def test_nextclouds_two_factor_gateway(office, autojump_clock):
    """lib/…/Drivers/PlaySMS.php: a GET in this order; any status of 400 and above is a failure."""
    code = "123456 is your Nextcloud authentication code"
    asked = {"app": "ws", "u": "cloud", "h": office.password, "op": "pv", "to": TO, "msg": code}
    answer = await office.client.get(f"{PATH}?{urlencode(asked, quote_via=quote)}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    told = json.loads(await answer.get_data())
    (one,) = told["data"]
    assert (one["status"], one["error"], one["to"], told["error_string"]) == ("OK", "0", TO, None)
    view = message(office)
    assert (view.to, view.body, view.sender) == (TO, code, "RISALA")
    assert view.api_key == office.credentials["id"]
    await office.wait_status(view.id, "sent")
    assert await office.is_clean()
    wrong = await office.client.get(f"{PATH}?{urlencode({**asked, 'h': '0' * 32})}")
    assert wrong.status_code == 403


@pytest.mark.parametrize("path", ["/index.php?app=ws&op=pv&", "/playsms/index.php?app=ws&op=pv&"])
async def test_librenms(office, autojump_clock, path):
    """LibreNMS/Alert/Transport/Playsms.php: numbers by comma; its older version puts the fields
    behind an address that ends with ``?app=ws``, by PHP's ``http_build_query``."""
    title = "Alert for device router.example - Device Down! Due to no ICMP response."
    to = "+22236123456,+22226123456"
    asked = {"u": "cloud", "h": office.password, "to": to, "msg": title, "from": "RISALA"}
    answer = await office.client.get(path + urlencode(asked))
    assert answer.status_code == 200
    assert [each["to"] for each in json.loads(await answer.get_data())["data"]] == to.split(",")
    assert {message(office, at).body for at in (0, 1)} == {title}


async def test_meshcentral(office, autojump_clock):
    """meshsms.js: one address with two fields in it, read as ``encodeURIComponent`` writes them;
    only 200 is a yes."""
    url = f"{PATH}?app=ws&op=pv&u=cloud&h={office.password}&to={quote(TO, safe='')}"
    answer = await office.client.get(f"{url}&msg={quote('Verification code is: 123456', safe='')}")
    assert answer.status_code == 200
    assert message(office).body == "Verification code is: 123456"


async def test_a_form_is_as_good_as_a_query_and_wins_over_it(office, autojump_clock):
    asked = {**office.who, "op": "pv", "to": "36123456", "msg": "de la forme"}
    posted = await office.form(f"{PATH}?app=ws&msg=other", asked)
    assert posted.status_code == 200
    assert message(office).body == "de la forme"
    other = await office.client.post(PATH, headers={"content-type": "text/xml"}, data="<a/>")
    assert (other.status_code, json.loads(await other.get_data())["error"]) == (400, "102")


async def test_head_sends_nothing(office, autojump_clock):
    asked = {**office.who, "op": "pv", "to": TO, "msg": "x"}
    answer = await office.client.head(PATH, query_string=asked)
    assert answer.status_code == 405
    assert office.messages() == []


# -- pv --------------------------------------------------------------------------------------------


async def test_each_receiver_has_an_answer_of_its_own(office, autojump_clock):
    status, told = await send(office, to=f"{TO}, 0022226123456 ,12345,,{TO}")
    assert status == 200
    first, second, third = told["data"]
    assert (first["to"], second["to"]) == (TO, "+22226123456")
    assert first["smslog_id"] != second["smslog_id"]
    assert (third["status"], third["error"], third["smslog_id"]) == ("ERR", "200", "")
    assert third["to"] == "12345"
    assert third["error_string"].startswith("send message failed: ")
    assert len(office.messages()) == 2


TEXTS = [
    ({"msg": "Salam é سلام", "unicode": "1"}, "Salam é سلام"),
    ({"msg": " a\r\nb "}, "a\nb"),
    ({"footer": "@shop"}, "hello @shop"),
    ({"footer": "@shop", "nofooter": "1"}, "hello"),
    ({"type": "text", "nofooter": "0", "footer": "x"}, "hello x"),
    ({"op": "PV"}, "hello"),
]


async def test_the_text_is_the_one_that_is_meant(office, autojump_clock):
    for fields, text in TEXTS:
        assert (await send(office, **fields))[0] == 200
        assert message(office).body == text


REFUSED = [
    ({"h": "wrong"}, 403, "100"),
    ({"u": "nobody"}, 403, "100"),
    ({"h": ""}, 403, "100"),
    ({"op": ""}, 400, "102"),
    ({"op": "ix"}, 400, "101"),
    ({"op": "get_token", "p": "x"}, 400, "101"),
    ({"op": "accountadd"}, 400, "101"),
    ({"app": "main"}, 400, "101"),
    ({"to": " , "}, 400, "201"),
    ({"msg": ""}, 400, "201"),
    ({"msg": b"\xe9"}, 400, "200"),
    ({"msg": "x" * 1601}, 400, "200"),
    ({"msg": "x" * 1600, "footer": "y"}, 400, "200"),
    ({"to": "12345"}, 400, "200"),
    ({"to": "#friends,@amina"}, 400, "200"),
    ({"to": ",".join(str(number) for number in range(101))}, 400, "200"),
    ({"type": "flash"}, 400, "200"),
    ({"from": "Unknown"}, 400, "200"),
    ({"schedule": "tomorrow"}, 400, "200"),
    ({"schedule": "2099-01-01 00:00:00"}, 400, "200"),
]


async def test_what_is_refused_stores_nothing(office, autojump_clock):
    for fields, status, error in REFUSED:
        found, told = await send(office, **fields)
        assert (found, told["status"], told["error"]) == (status, "ERR", error), fields
        assert told["error_string"]
    assert office.messages() == []


async def test_a_schedule_is_by_the_organizations_clock(office, autojump_clock):
    mine = {"organization_id": office.organization_id}
    await office.perform("org.set", **mine, time_zone="Africa/Casablanca")
    now_ms = office.gateway.services.recorder.clock.now_ms()
    wanted_ms = (now_ms // 1000 + 7200) * 1000
    local = datetime.fromtimestamp(wanted_ms / 1000, UTC).timestamp() + 3600
    asked = datetime.fromtimestamp(local, UTC).strftime(TIME)
    assert (await send(office, schedule=asked))[0] == 200
    assert message(office).send_at == wanted_ms


async def test_limits_balance_suspension_and_addresses(office, autojump_clock):
    mine = {"organization_id": office.organization_id}
    await office.perform("org.set", **mine, sms_per_s=1)
    assert (await send(office))[0] == 200
    query = urlencode({**office.who, "op": "pv", "to": TO, "msg": "x"})
    answer = await office.client.get(f"{PATH}?{query}")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
    await office.perform("org.set", **mine, sms_per_s=None)
    await office.perform("adjust", **mine, amount="-99", reason="a test")
    assert (await send(office, to=f"{TO},{TO[:-1]}7"))[1]["data"][1]["error"] == "103"
    status, told = await send(office)
    assert (status, told["error"]) == (402, "103")
    await office.perform("org.suspend", **mine)
    assert (await send(office))[0] == 403
    await office.perform("org.resume", **mine)
    made, word = await office.credential("playsms", allowed_addresses=["203.0.113.7"])
    status, told = await send(office, u=made["username"], h=word)
    assert (status, told["error"]) == (403, "106")
    await office.perform("credential.revoke", credential_id=office.credentials["id"])
    assert (await send(office))[1] == {
        "status": "ERR",
        "error": "100",
        "error_string": "authentication failed",
    }


async def test_a_country_that_is_not_open_is_refused_with_403(tmp_path):
    served = {
        "numbers": NumbersSection(countries=("MR", "SN")),
        "prices": (PriceSection(prefix="+221", price="12.00"),),
    }
    faces = {"playsms": PlaysmsCompat(PlaysmsSettings())}
    async with open_office(tmp_path, faces, **served) as office:
        _, word = await office.credential("playsms", username="cloud")
        office.who = {"app": "ws", "u": "cloud", "h": word}
        assert (await send(office, to="+221771234567"))[0] == 403


async def test_a_sender_may_be_forced(tmp_path, autojump_clock):
    faces = {"playsms": PlaysmsCompat(PlaysmsSettings(forced_sender=True))}
    async with open_office(tmp_path, faces) as office:
        _, word = await office.credential("playsms", username="cloud", **{"from": "RISALA"})
        office.who = {"app": "ws", "u": "cloud", "h": word}
        assert (await send(office, **{"from": "My Name"}))[0] == 200
        assert message(office).sender == "RISALA"


async def test_wrong_tokens_are_counted_as_wrong_keys_are(office, autojump_clock):
    began = trio.current_time()
    for _ in range(31):
        assert (await send(office, h="wrong"))[0] == 403
    assert trio.current_time() > began
    assert office.app.tally.failed_keys == 31


def test_a_token_is_like_playsmss_own():
    """32 hexadecimal digits: some clients keep it in a field of that size."""
    shape = shape_of("playsms")
    assert (shape.alphabet, shape.length, shape.is_weak) == (HEX_ALPHABET, 32, False)


# -- ds and cr -------------------------------------------------------------------------------------


async def test_states_have_playsmss_numbers(office, autojump_clock):
    made, word = await office.credential("playsms", mode="test")
    office.who |= {"u": made["username"], "h": word}
    told = {}
    for to in ("36123400", "36123401", "36123402", "36123403"):
        (told[to],) = (await send(office, to=to))[1]["data"]
    await trio.sleep(60)
    seen = []
    for to, one in told.items():
        status, by_id = await ask(office, "ds", smslog_id=one["smslog_id"])
        assert (status, by_id["error_string"]) == (200, None)
        assert await ask(office, "ds", queue=one["queue"]) == (200, by_id)
        (found,) = by_id["data"]
        assert found["smslog_id"] == one["smslog_id"]
        assert (found["src"], found["dst"], found["msg"]) == ("RISALA", f"+222{to}", "hello")
        seen.append(found["status"])
    assert seen == ["3", "2", "2", "1"]


async def test_what_waits_is_pending_and_what_a_carrier_refuses_failed(office, autojump_clock):
    office.driver.answers = [Refused(Scope.FINAL, "ESME_RINVDSTADR", cause=Cause.UNKNOWN_NUMBER)]
    await send(office)
    await office.wait_status(office.messages()[0], "failed")
    later = datetime.fromtimestamp(
        office.gateway.services.recorder.clock.now_ms() / 1000 + 86_400, UTC
    )
    (waits,) = (await send(office, schedule=later.strftime(TIME)))[1]["data"]
    await office.perform("message.cancel", message_id=office.messages()[-1])
    await send(office, schedule=later.strftime(TIME))
    listed = (await ask(office, "ds"))[1]["data"]
    assert [each["status"] for each in listed] == ["0", "2", "2"]
    assert listed[1]["smslog_id"] == waits["smslog_id"]


async def test_a_list_has_the_newest_and_takes_filters(office, autojump_clock):
    for to in ("36123456", "26123456", "36123456"):
        await send(office, to=to)
        await trio.sleep(2)
    first, second, third = (
        each["smslog_id"] for each in reversed((await ask(office, "ds"))[1]["data"])
    )
    now = datetime.fromtimestamp(office.gateway.services.recorder.clock.now_ms() / 1000, UTC)
    made = (await ask(office, "ds", smslog_id=second))[1]["data"][0]["dt"]

    async def listed(**given):
        told = (await ask(office, "ds", **given))[1]
        return [each["smslog_id"] for each in told.get("data", ())] or told["error"]

    assert await listed(c="2") == [third, second]
    assert await listed(last=first) == [third, second]
    assert await listed(last=third) == "400"
    assert await listed(dst="0022236123456") == [third, first]
    assert await listed(src="RISALA", c="1") == [third]
    assert await listed(src="Other") == "400"
    assert await listed(dt=made) == [second]
    assert await listed(dt=f"{now:%Y-%m-%d}") == [third, second, first]
    assert await listed(dt="2001-01-01") == "400"
    assert await listed(dt="yesterday") == "400"
    assert await listed(dst="12345") == "400"
    assert await listed(c=str(LISTED_MAX + 1)) == [third, second, first]
    assert await listed(c="many", last="x") == [third, second, first]


async def test_nobody_sees_anothers_messages_nor_a_code(office, autojump_clock):
    (one,) = (await send(office))[1]["data"]
    other = (await office.gateway.perform("org.create", {"name": "Other"}))["id"]
    made = await office.perform("credential.create", organization_id=other, face="playsms")
    mine = office.who
    office.who = {"app": "ws", "u": made["credential"]["username"], "h": made["password"]}
    for given in ({}, {"smslog_id": one["smslog_id"]}, {"queue": one["queue"]}):
        status, told = await ask(office, "ds", **given)
        assert (status, told["error"]) == (200, "400")
    office.who = mine
    for wrong in ("0", "1", "9" * 30, "sms_0", "-1", "١"):
        assert (await ask(office, "ds", smslog_id=wrong))[1]["error"] == "400"
        assert (await ask(office, "ds", queue=wrong))[1]["error"] == "400"
    await office.perform("verify.send", organization_id=office.organization_id, to=TO)
    assert len(office.messages()) == 2
    listed = (await ask(office, "ds"))[1]["data"]
    assert [each["smslog_id"] for each in listed] == [one["smslog_id"]]


async def test_the_credit_is_the_balance(office, autojump_clock):
    await send(office)
    told = {"status": "OK", "error": "0", "credit": "99.50", "error_string": None}
    assert await ask(office, "cr") == (200, told)
    assert (await ask(office, "cr", h="wrong"))[0] == 403


# -- formats ---------------------------------------------------------------------------------------


async def test_xml(office, autojump_clock):
    await send(office, msg="a < b & \x07c")
    query = urlencode({**office.who, "op": "ds", "format": "xml"})
    answer = await office.client.get(f"{PATH}?{query}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/xml")
    root = ElementTree.fromstring(await answer.get_data())
    assert [each.tag for each in root] == ["data", "error_string", "timestamp"]
    (item,) = root[0]
    assert (item.tag, item.find("msg").text, item.find("dst").text) == ("item", "a < b & c", TO)


async def test_phps_own_format(office, autojump_clock):
    query = urlencode({**office.who, "op": "ds", "format": "serialize"})
    answer = await office.client.get(f"{PATH}?{query}")
    assert answer.headers["content-type"] == "text/plain"
    told = (await answer.get_data()).decode()
    assert told.startswith(
        'a:4:{s:6:"status";s:3:"ERR";s:5:"error";s:3:"400";'
        's:12:"error_string";s:28:"no delivery status available";s:9:"timestamp";i:'
    )
    await send(office, msg="é")
    told = (await (await office.client.get(f"{PATH}?{query}")).get_data()).decode()
    assert told.startswith('a:3:{s:4:"data";a:1:{i:0;a:7:{s:9:"smslog_id";s:17:"')
    assert 's:3:"msg";s:2:"é";' in told
    assert 's:12:"error_string";N;' in told

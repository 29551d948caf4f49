"""A face of a service of other countries."""

from __future__ import annotations

import pytest
from tests.http.faces.face_office import open_office

from risala.config.model import NumbersSection
from risala.drivers.faces.kannel import KannelCompat, KannelSettings
from risala.drivers.faces.twilio.compat import TwilioCompat, TwilioSettings

PATH = "/cgi-bin/sendsms"
NUMBERS = [
    (("SN", "MR"), "701234567", "+221701234567"),
    (("SN", "MR"), "00221701234567", "+221701234567"),
    (("FR",), "0612345678", "+33612345678"),
    (("FR",), "33612345678", "+33612345678"),
]
REFUSED = [(("SN", "MR"), "+33612345678"), (("FR",), "+22236123456"), (("FR",), "+33123456789")]


async def ask(directory, countries, to):
    faces = {"kannel": KannelCompat(KannelSettings())}
    numbers = NumbersSection(countries=countries)
    async with open_office(directory, faces, numbers=numbers) as office:
        _, password = await office.credential("kannel", username="shop")
        given = {"user": "shop", "pass": password, "to": to, "text": "x"}
        answer = await office.get(PATH, **given)
        sent = [office.gateway.show_message(each)[0].to for each in office.messages()]
        return answer, sent


@pytest.mark.parametrize(("countries", "typed", "number"), NUMBERS)
async def test_numbers_are_read_as_people_write_them(
    tmp_path, autojump_clock, countries, typed, number
):
    answer, sent = await ask(tmp_path, countries, typed)
    assert answer == (202, "0: Accepted for delivery")
    assert sent == [number]


@pytest.mark.parametrize(("countries", "to"), REFUSED)
async def test_numbers_of_other_countries_are_refused(tmp_path, autojump_clock, countries, to):
    (status, _), sent = await ask(tmp_path, countries, to)
    assert status != 202
    assert sent == []


@pytest.mark.parametrize(
    ("countries", "good", "wrong"),
    [
        (("SN", "MR"), "+221701234567", ("+33612345678", "701234567", "+221338234567")),
        (("FR",), "+33612345678", ("+22236123456", "0612345678", "+33123456789")),
    ],
)
async def test_twilios_numbers_are_whole(tmp_path, autojump_clock, countries, good, wrong):
    faces = {"twilio": TwilioCompat(TwilioSettings())}
    numbers = NumbersSection(countries=countries)
    async with open_office(tmp_path, faces, numbers=numbers) as office:
        made, token = await office.credential("twilio")
        who = (made["username"], token)
        path = f"/2010-04-01/Accounts/{made['username']}/Messages.json"
        answer = await office.form(path, {"To": good, "Body": "x"}, who)
        assert answer.status_code == 201
        assert (await answer.get_json())["to"] == good
        for to in wrong:
            refused = await office.form(path, {"To": to, "Body": "x"}, who)
            assert (refused.status_code, (await refused.get_json())["code"]) == (400, 21211), to
        assert len(office.messages()) == 1

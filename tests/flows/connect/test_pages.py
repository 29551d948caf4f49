"""A program's page: its commands typed, then the program's own request, and the phone shows what
the page says."""

from __future__ import annotations

import base64
import json
from xml.etree import ElementTree

import pytest
import yaml

from doc_blocks import ROOT, blocks_of
from patience import until
from programs import business, monitoring, sign_in
from rehearsal import Rehearsal

PAGES = {
    "docs/how-to/connect/authgear.md": sign_in.AUTHGEAR,
    "docs/how-to/connect/commcare.md": business.COMMCARE,
    "docs/how-to/connect/dhis2.md": business.DHIS2_FORM,
    "docs/how-to/connect/erpnext.md": business.ERPNEXT,
    "docs/how-to/connect/fusionauth.md": sign_in.FUSIONAUTH,
    "docs/how-to/connect/gatus.md": monitoring.GATUS,
    "docs/how-to/connect/healthchecks.md": monitoring.HEALTHCHECKS,
    "docs/how-to/connect/novu.md": business.NOVU,
    "docs/how-to/connect/privacyidea.md": sign_in.PRIVACYIDEA,
    "docs/how-to/connect/synology.md": monitoring.SYNOLOGY,
    "docs/how-to/connect/traccar.md": business.TRACCAR,
    "docs/how-to/connect/zabbix.md": monitoring.ZABBIX,
}


@pytest.fixture(scope="module")
def office(shared_premises):
    simulator = shared_premises.simulator()
    service = shared_premises.running(simulator)
    service.organization()
    return service, simulator


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", PAGES)
def test_the_phone_shows_what_the_page_says(office, tmp_path, name):
    (service, simulator), program = office, PAGES[name]
    page = Rehearsal(ROOT / name, tmp_path, {"RISALA_DATA": str(service.data)})
    try:
        address, *more = page.type("sh", "hook create")
        before = simulator.texts()
        assert asked(service, program, address, *more) == 200
        until(lambda: simulator.texts() - before, "the phone has it")
        (text,) = simulator.texts() - before
        page.compare("text", "", text.splitlines())
        assert page.left() == []
    finally:
        page.end()


def asked(service, program, address, secret=""):
    """The status of the answer to the program's own request."""
    secret = secret.removeprefix("Bearer ")
    # Novu sends what its user typed, which is the whole line.
    whole = f"Bearer {secret}" if program.preset == "novu" else secret
    basic = base64.b64encode(f"risala:{secret}".encode()).decode()
    headers = {
        name: value.format(secret=whole, basic=basic) for name, value in program.headers.items()
    }
    if program.content_type:
        headers["content-type"] = program.content_type
    url = f"{address}?{program.query}" if program.query else address
    return service.client.request(
        program.method, url, content=program.body, headers=headers
    ).status_code


# -- what is put into a program's file ---------------------------------------------------------


def block(name, language):
    (found,) = (each for each in blocks_of(ROOT / name) if each.language == language)
    return found.text


def test_what_traccar_is_given_makes_its_request():
    """HttpSmsClient.java: each placeholder as a part of a string of JSON."""
    text = block("docs/how-to/connect/traccar.md", "xml")
    entries = ElementTree.fromstring(f"<properties>{text}</properties>")
    template = {each.get("key"): each.text for each in entries}["sms.http.template"]
    (message,) = business.TRACCAR.reads
    for hole, value in (("{phone}", message.to), ("{message}", message.text)):
        template = template.replace(hole, json.dumps(value)[1:-1])
    assert json.loads(template) == json.loads(business.TRACCAR.body)


def test_what_gatus_is_given_makes_its_request():
    """custom.go: each placeholder as it is."""
    custom = yaml.safe_load(block("docs/how-to/connect/gatus.md", "yaml"))["alerting"]["custom"]
    body = custom["body"]
    for hole, value in {
        "ALERT_TRIGGERED_OR_RESOLVED": "TRIGGERED",
        "ENDPOINT_GROUP": "shop",
        "ENDPOINT_NAME": "website",
        "ALERT_DESCRIPTION": 'says "no"',
        "RESULT_CONDITIONS": "❌ - `[STATUS] == 200`",
    }.items():
        body = body.replace(f"[{hole}]", value)
    assert (custom["method"], body.encode()) == (monitoring.GATUS.method, monitoring.GATUS.body)

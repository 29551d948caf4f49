"""Alerts by hooks, and Odoo's SMS, from each program's own request to the phone."""

from __future__ import annotations

import base64
from collections import Counter

import pytest

from patience import until
from programs import business, monitoring

pytestmark = [pytest.mark.slow, pytest.mark.long]

PROGRAMS = [
    *(monitoring.ALERTMANAGER, monitoring.ALERTMANAGER_TEMPLATED, monitoring.GRAFANA),
    *(monitoring.KUMA, monitoring.NAGIOS_HOST, monitoring.HOME, monitoring.HOME_GET),
    *(monitoring.APPRISE, business.ODOO),
]
TO = "+22236123456"


@pytest.fixture(scope="module")
def office(shared_premises):
    simulator = shared_premises.simulator()
    service = shared_premises.running(simulator)
    return service, simulator, service.organization()


def hook(service, account, preset, **more):
    """The address and the secret that its program is given."""
    numbers = {} if preset == "odoo" else {"numbers": [TO]}
    made = service.perform(
        "hook.create", organization_id=account.organization_id, preset=preset, **numbers, **more
    )
    return f"/hooks/{made['hook']['id']}", made["secret"].removeprefix("Bearer ")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: f"{each.preset}-{each.method}")
def test_its_own_request_reaches_the_phone(office, program):
    service, simulator, account = office
    before = simulator.texts()
    path, secret = hook(service, account, program.preset, proof=program.proof.value)
    if program.suffix:
        path += f"/{secret}{program.suffix}"
    basic = base64.b64encode(f"risala:{secret}".encode()).decode()
    headers = {
        name: value.format(secret=secret, basic=basic) for name, value in program.headers.items()
    }
    if program.content_type:
        headers["content-type"] = program.content_type
    answer = service.client.request(
        program.method, f"{path}?{program.query}", content=program.body, headers=headers
    )
    assert answer.status_code == 200, answer.text
    wanted = Counter(each.text for each in program.reads)
    until(lambda: simulator.texts() - before == wanted, "the phones have them")

"""A phone whose number the carrier writes as at home (TON 0) opts out like any other."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow

PHONE = "+22236123456"


@pytest.mark.parametrize("written", ["22236123456", "0022236123456", "36123456"])
def test_stop_over_smpp_from_a_number_without_its_plus(written, premises, until, tmp_path):
    scenario = tmp_path / "phones.toml"
    scenario.write_text(f'[inbound]\nrate_per_s = 5\ntexts = ["STOP"]\nsenders = ["{written}"]\n')
    simulator = premises.simulator("--scenario", str(scenario))
    service = premises.running(simulator)
    account = service.organization()
    service.perform("inbound.opt_outs", organization_id=account.organization_id, heeds=True)

    def refusal() -> str | None:
        answer = service.send(account, to=PHONE, body="hello")
        return answer.json().get("data", {}).get("code")

    until(lambda: refusal() == "RECIPIENT_OPTED_OUT", "STOP takes effect", 30)
    assert {row[0] for row in service.rows("SELECT sender FROM inbound")} == {PHONE}

"""A message at which a real SMSC drops the link, every time: it is sent so often, and no more."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow

DROPS = """
[[mishaps]]
kind = "drop"
percent = 100
taken = false
"""
RESEND = 'on_uncertain_message = { action = "resend", after_s = 0.5 }'


def test_a_link_that_is_dropped_each_time_ends_with_the_third_submit(premises, until, tmp_path):
    scenario = tmp_path / "drops.toml"
    scenario.write_text(DROPS)
    simulator = premises.simulator("--scenario", str(scenario))
    service = premises.running(simulator, carrier=RESEND)
    account = service.organization()
    before = service.balance(account)
    message = service.send(account, body="hello").json()["messageId"]
    until(lambda: service.show(account, message)["status"] == "failed", "it is given up", 60)
    shown = service.show(account, message)
    assert (shown["errorCode"], shown["attempts"]) == ("UNCERTAIN", 3)
    assert service.rows("SELECT link_losses FROM messages") == [(3,)]
    assert len(simulator.events("Submitted")) == 3
    assert service.balance(account) == before
    service.assert_no_bug_logged()

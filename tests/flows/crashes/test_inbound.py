"""``kill -9`` while phones' long messages come in, part by part: each is there once, and whole."""

from __future__ import annotations

import json
import random
import signal
from collections import Counter

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.long]

MESSAGES = 40
KILLS = 4


@pytest.mark.parametrize("window", [1, 20])
def test_no_part_of_a_long_message_is_lost_or_doubled(window, premises, until, tmp_path):
    texts = [f"message {number}: " + "abcdefghij" * 40 for number in range(MESSAGES)]
    scenario = tmp_path / "phones.toml"
    scenario.write_text(
        f"[smsc]\ndeliver_window_max = {window}\nreceipt_retry_s = 0.05\n"
        f"[inbound]\nrate_per_s = 40\nmessages_max = {MESSAGES}\nshuffle = true\n"
        f'forms = ["udh8", "udh16", "sar"]\ntexts = {json.dumps(texts)}\n'
    )
    simulator = premises.simulator("--scenario", str(scenario))
    service = premises.running(simulator)
    rng = random.Random(window)

    def stored() -> Counter[str]:
        return Counter(body for (body,) in service.rows("SELECT body FROM inbound"))

    for kill in range(1, KILLS + 1):
        enough = kill * 2 * MESSAGES // KILLS + rng.randint(0, 9)
        until(lambda: len(simulator.events("InboundSent")) >= enough, "parts")  # noqa: B023
        service.process.signal(signal.SIGKILL)
        service.process.wait_exit()
        service.restart()
    until(lambda: len(stored()) >= MESSAGES, "every message")
    notes = {key.partition("/")[0] for (key,) in service.rows("SELECT key FROM carrier_notes")}
    assert stored() == Counter(texts)
    assert notes <= {"whole", "part"}, "and parts only that came again after their message"
    service.assert_no_bug_logged()

"""What the demo says in the terminal as it begins."""

from __future__ import annotations

import io
from contextlib import AsyncExitStack

import pytest
from rich.console import Console

from risala.app.demo import CARRIER, Demo, greet
from risala.config.model import Settings
from risala.sms.numbering.plan import plan_of


@pytest.mark.parametrize("is_terminal", [True, False])
def test_the_terminal_says_where_the_phones_are_and_how_to_begin_elsewhere(tmp_path, is_terminal):
    told = io.StringIO()
    console = Console(file=told, force_terminal=is_terminal, width=200, color_system=None)
    plan = plan_of(("MR",))
    accounts = {"secret_key": "sk"}
    greet(console, "http://a", "http://b", accounts, tmp_path / "demo.json", plan)
    assert "money are those of Mauritania." in told.getvalue()
    assert "Elsewhere: risala serve --demo --country SN" in told.getvalue()
    phones = "See the phones as operator@demo.example: http://b/operator/plugins/phones"
    assert told.getvalue().count(phones) == 1, "the console may have an address of its own"


async def test_a_demo_sends_by_the_channels_of_its_settings_and_by_no_other_carrier(tmp_path):
    settings = Settings.model_validate(
        {
            "carriers": [{"name": "real", "driver": "loopback", "prefixes": ["+2222"]}],
            "channels": {"mails": {"channel": "email", "price": "0.10", "email": {"name": "x"}}},
        }
    )
    async with AsyncExitStack() as outer:
        demo = Demo(tmp_path, settings.plan)
        carriers = await demo.start_carrier(outer, settings.carriers)
    assert [each.name for each in carriers] == [CARRIER, "mails"]

"""Settings are read anew for a service that runs, and what they must not open stays shut."""

from __future__ import annotations

import pytest

from payment_shop import wallet
from risala.app.reload import FileSource
from risala.config.faults import ConfigError
from risala.config.model import CarrierSection, Settings
from risala.plugins.manager import PluginManager

PATTERN = "Recu {amount} MRU de {payer}. Ref {reference}."
TEXTS = {"carrier": "sim", "senders": ["Bankily"], "patterns": [{"text": PATTERN}]}


def source(receives_only: bool) -> FileSource:
    """Of a service whose wallet hears its bank by ``sim``; as the file has become."""
    sim = CarrierSection(name="sim", driver="loopback", receives_only=receives_only)
    other = CarrierSection(name="other", driver="loopback")
    methods = {"bankily": wallet(sms=TEXTS), "masrvi": wallet("masrvi")}
    return FileSource(
        lambda: Settings(carriers=(other, sim)), PluginManager(), methods, lambda changed: None
    )


def test_the_sim_that_hears_a_bank_is_not_opened_to_customers():
    with pytest.raises(ConfigError) as refused:
        source(receives_only=False).load()
    [fault] = refused.value.faults
    assert fault.key == "carriers[1].receives_only"
    assert "payments.bankily hears its bank by it" in fault.text


def test_one_that_stays_its_own_is_read_as_it_is():
    assert [each.name for each in source(receives_only=True).load().carriers] == ["other", "sim"]

"""Premises whose couriers run."""

from collections.abc import Callable

import pytest
import trio

from smpp_peers.house import Premises


@pytest.fixture
def open_premises(nursery: trio.Nursery) -> Callable[..., Premises]:
    def make(**settings: object) -> Premises:
        premises = Premises(**settings)
        nursery.start_soon(premises.house.couriers.run)
        return premises

    return make

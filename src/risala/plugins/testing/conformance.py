"""The tests that every driver must pass. Subclass, say how to build yours, run pytest.

::

    class TestMyDriver(DriverConformance):
        @asynccontextmanager
        async def open_driver(self):
            async with my_carrier() as self.carrier:
                yield MyDriver("mine", MySettings(address=self.carrier.address))

        async def carrier_got(self):
            return [
                CarrierGot(one.sender, one.to, one.text, None, one.part, one.parts, one.reference)
                for one in self.carrier.taken
            ]

        async def mute_carrier(self):
            self.carrier.mute = True

        async def cut_link(self):
            self.carrier.close_connections()

Your stand-in for the carrier must accept each segment. If ``capabilities.receipts`` is true, it
must deliver it, and send the receipt within :attr:`~DriverConformance.patience_s`. Name what it
cannot show in :attr:`~DriverConformance.unseen`. What else the suite needs depends on what the
driver claims: see :class:`~risala.plugins.testing.drivers.base.DriverSuite`.

A driver that is called (:class:`~risala.plugins.answering.Answering`) stands behind the service's
own handling of requests. The suite needs three things more. It then calls the driver as its carrier
does, as a thousand strangers do at once, and with proofs that are wrong, old or another account's::

        async def called_at(self, address):
            self.carrier.callback_url = await address.listen()

        def carrier_calls(self):
            return [CarrierCallback("/receipt", b'{"id": "77", "state": "delivered"}')]

        def prove_call(self, call, *, age_s=0.0, other=False):
            key = OTHER_KEY if other else KEY
            signature = sign(key, time.time() - age_s, call.body)
            return replace(call, headers={**call.headers, "x-signature": signature})

If it answers some calls with streams, name them in ``stream_calls``.
"""

from __future__ import annotations

from risala.plugins.testing.called import CarrierCallback, DriverAddress
from risala.plugins.testing.drivers.base import CarrierGot, segment
from risala.plugins.testing.drivers.calls import DriverCallChecks
from risala.plugins.testing.drivers.claims import DriverClaimChecks
from risala.plugins.testing.drivers.fetching import DriverFetchChecks
from risala.plugins.testing.drivers.life import DriverLifeChecks
from risala.plugins.testing.drivers.manners import DriverMannerChecks
from risala.plugins.testing.drivers.repeats import DriverRepeatChecks
from risala.plugins.testing.drivers.streams import DriverStreamChecks
from risala.plugins.testing.drivers.submits import DriverSubmitChecks

__all__ = ["CarrierCallback", "CarrierGot", "DriverAddress", "DriverConformance", "segment"]


class DriverConformance(
    DriverStreamChecks,
    DriverCallChecks,
    DriverMannerChecks,
    DriverRepeatChecks,
    DriverFetchChecks,
    DriverClaimChecks,
    DriverSubmitChecks,
    DriverLifeChecks,
):
    """Subclass it as ``class TestSomething(DriverConformance)``. pytest runs the checks of
    its last base first: a driver's life before its answers."""

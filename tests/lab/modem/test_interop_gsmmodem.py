"""python-gsmmodem-new, which we did not write, through the simulated modem."""

import sys

import pytest
import trio

from patience import HANG_S
from risala.lab.modem.simulator import PROFILES, MessageReceived, ModemConfig, ModemSimulator

TEXT = "Reçu [150 €] شكرا"
# A process of its own: it has threads that outlive it, and warns when it is imported.
CLIENT = """
import sys
import time
from gsmmodem.modem import GsmModem
got = []
modem = GsmModem(sys.argv[1], 115200, smsReceivedCallbackFunc=got.append)
modem.connect(sys.argv[3] or None)
while not modem.networkName:
    time.sleep(0.1)
print(modem.sendUssd("*124#").message)
print(modem.imsi, modem.signalStrength, modem.networkName)
sent = modem.sendSms("+22236123456", sys.argv[2], waitForDeliveryReport=True, deliveryTimeout=30)
print(sent.report.deliveryStatus)
modem.close()
"""


@pytest.mark.slow
@pytest.mark.parametrize(("profile", "pin"), [("plain", "1234"), ("sim800", "")])
@pytest.mark.long
async def test_it_connects_sends_and_gets_its_report(tmp_path, nursery, profile, pin):
    config = ModemConfig(profile=PROFILES[profile], pin=pin or None, report_after_s=0.1)
    simulator = ModemSimulator(config, link=tmp_path / "modem")
    with trio.fail_after(HANG_S):
        path = await nursery.start(simulator.run)
        done = await trio.run_process(
            [sys.executable, "-W", "ignore", "-c", CLIENT, path, TEXT, pin],
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        received = await simulator.wait(MessageReceived)
    assert received.text == TEXT
    assert done.stdout.decode().splitlines() == [
        "Solde: 150,00",
        "609101234567890 20 Testnet",
        "0",
    ]

"""The console with Android phones, for looking at: ``python serve_phones.py`` prints its address.

Of each language there is a carrier whose phone another one wants to replace, one with a phone, and
one without. The drivers are the real ones; simulated phones call them without a network.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import trio

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).parents[1] / "support/pages"))

from serve_console import LANGUAGES, main

from phone_calls import API_URL, DirectNetwork
from risala.config.model import CarrierSection
from risala.drivers.phone.commands import TOKEN
from risala.drivers.phone.driver import PhoneDriver
from risala.drivers.phone.settings import PhoneSettings
from risala.lab.phone.phone import PhoneConfig
from risala.lab.phone.simulator import PhoneSimulator
from risala.plugins.contract import CommandRefusedError

SIMS = ("Mattel", "Chinguitel")
NUMBERS = {"number": "+22236123456", "sim": 1}
KINDS = ("waits", "paired", "alone")
DRIVERS = {
    f"{kind}-{language}": PhoneDriver(f"{kind}-{language}", PhoneSettings(**NUMBERS))
    for kind in KINDS
    for language in LANGUAGES
}


async def token_of(driver: PhoneDriver) -> str:
    while True:
        try:
            return str((await driver.command(TOKEN.name, []))["token"])
        except CommandRefusedError:  # it is about to run
            await trio.sleep(0.05)


async def call(nursery: trio.Nursery, driver: PhoneDriver, count: int) -> None:
    """Have phones register, one after the other."""
    network, token = DirectNetwork(driver), await token_of(driver)
    for name in ("samsung/SM-A145R", "xiaomi/redmi 9A")[:count]:
        config = PhoneConfig(API_URL, token, name=name, sims=SIMS)
        phone = PhoneSimulator(config, network=network)
        nursery.start_soon(phone.run)
        await phone.wait_ready()


async def serve(port: int, folder: Path) -> None:
    sections = [CarrierSection(name=name, driver="phone") for name in DRIVERS]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(main, port, folder, DRIVERS, sections)
        for name, driver in DRIVERS.items():
            nursery.start_soon(call, nursery, driver, 2 - KINDS.index(name.partition("-")[0]))


if __name__ == "__main__":
    with TemporaryDirectory() as directory:
        trio.run(serve, int(sys.argv[1]) if len(sys.argv) > 1 else 0, Path(directory))

"""The SMPP codec against smpplib's, on the PDU that matters: a ``submit_sm`` of one SMS."""

from __future__ import annotations

import json
import statistics
import timeit
from collections.abc import Callable

import smpplib.command
import smpplib.consts

from risala.drivers.smpp.protocol import codec as ours
from risala.drivers.smpp.protocol.pdu import SubmitSm

TEXT = b"A message of an ordinary length, sixty characters or so."
REPEAT = 2000


def _ours() -> tuple[Callable[[], object], Callable[[], object]]:
    pdu = SubmitSm(
        sequence_number=7,
        source_addr_ton=5,
        source_addr="RISALA",
        dest_addr_ton=1,
        dest_addr_npi=1,
        destination_addr="22236123456",
        registered_delivery=1,
        short_message=TEXT,
    )
    octets = ours.encode(pdu)
    return lambda: ours.encode(pdu), lambda: ours.decode(octets)


def theirs() -> tuple[Callable[[], object], Callable[[], object]]:
    class Client:
        sequence = 7

        def next_sequence(self) -> int:
            return self.sequence

    def make() -> object:
        return smpplib.command.SubmitSM(
            "submit_sm",
            client=Client(),
            source_addr_ton=5,
            source_addr="RISALA",
            dest_addr_ton=1,
            dest_addr_npi=1,
            destination_addr="22236123456",
            registered_delivery=True,
            short_message=TEXT,
        )

    pdu = make()
    octets = pdu.generate()

    def decode() -> object:
        blank = smpplib.command.SubmitSM("submit_sm", need_sequence=False)
        blank.parse(octets)
        return blank

    return pdu.generate, decode


def measured() -> dict[str, float]:
    """How many times smpplib's speed, from interleaved rounds."""
    found = {}
    for name, mine, other in zip(("encode", "decode"), _ours(), theirs(), strict=True):
        ratios = [
            timeit.timeit(other, number=REPEAT) / timeit.timeit(mine, number=REPEAT)
            for _ in range(7)
        ]
        found[f"codec {name}"] = statistics.median(ratios)
    return found


if __name__ == "__main__":
    print(json.dumps(measured()))

"""An SMPP client that costs next to nothing, to load SMSC simulators with.

``python -m benchmarks.sender '{"port": …, "seconds": …}'`` keeps a window of 100 submits open and
acknowledges every receipt; prints how many of both a second there were. ``system_id`` and
``password`` bind it elsewhere than at a simulator. It shares no code with Risala, as
:mod:`benchmarks.carrier` does not.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import time

_HEADER = struct.Struct(">IIII")
_WINDOW = 100
_BIND, _SUBMIT, _DELIVER, _ENQUIRE = 9, 4, 5, 0x15
_ANSWER = 0x80000000
_QUIET_S = 2.0
"""For receipts of the last submits; whatever comes later does not count."""


def _pdu(command: int, sequence: int, body: bytes = b"") -> bytes:
    return _HEADER.pack(16 + len(body), command, 0, sequence) + body


_TEXT = b"A message of an ordinary length, 60 chars."
BODY = b"\0\5\0BENCH\0\1\1" + b"22236123456\0" + b"\0\0\0\0\0\1\0\0\0" + bytes([len(_TEXT)]) + _TEXT


def run(
    port: int, seconds: float, system_id: str = "bench", password: str = "bench"
) -> dict[str, float]:
    with socket.create_connection(("127.0.0.1", port)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.settimeout(_QUIET_S)
        who = b"%s\0%s\0" % (system_id.encode(), password.encode())
        sock.sendall(_pdu(_BIND, 1, who + b"\0\x34\0\0\0"))
        sequence, answered, receipts, last = 1, 0, 0, 0.0
        started = time.perf_counter()
        received, out = bytearray(), bytearray()
        while True:
            try:
                chunk = sock.recv(1 << 18)
            except TimeoutError:
                break
            if not chunk:
                raise SystemExit("the SMSC closed the connection")
            received += chunk
            going, at, fresh = time.perf_counter() - started < seconds, 0, 0
            while len(received) - at >= 16:
                length, command, status, number = _HEADER.unpack_from(received, at)
                if len(received) - at < length:
                    break
                at += length
                if status:
                    raise SystemExit(f"the SMSC answered {command:#x} with status {status:#x}")
                if command == _BIND | _ANSWER:
                    fresh = _WINDOW
                elif command == _SUBMIT | _ANSWER:
                    answered += 1
                    fresh += 1
                elif command == _DELIVER:
                    receipts += 1
                    last = time.perf_counter()
                    out += _pdu(_DELIVER | _ANSWER, number, b"\0")
                elif command == _ENQUIRE:
                    out += _pdu(_ENQUIRE | _ANSWER, number)
            del received[:at]
            for _ in range(fresh if going else 0):
                sequence += 1
                out += _pdu(_SUBMIT, sequence, BODY)
            sock.sendall(out)
            out.clear()
            if not going and answered == sequence - 1 and receipts >= answered:
                break
        elapsed = (last or time.perf_counter()) - started
    return {"submits_per_s": answered / elapsed, "receipts_per_s": receipts / elapsed}


if __name__ == "__main__":
    print(json.dumps(run(**json.loads(sys.argv[1]))))

"""``make flame``: where the time of a loaded service goes, as a flame graph.

Runs a service under a load and lets py-spy, which looks at a process from outside, sample it:
one picture for accepting, one for batches, one for draining. Blocks of C (SQLite, the parser) are
shown by the Python function that called them; ``--native`` shows them too.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks import processes
from benchmarks.stand import ONE, Data, batch_of, new_data, start_smsc
from benchmarks.trees import HERE

_RATE = 500
"""Samples a second: fine enough for a few seconds, and no load to speak of."""


def _spy() -> str:
    found = shutil.which("py-spy", path=str(Path(sys.executable).parent)) or shutil.which("py-spy")
    if found is None:
        raise SystemExit("py-spy is missing: `make flame` sets it up.")
    return found


@contextmanager
def sampled(pid: int, picture: Path, seconds: float, options: list[str]) -> Iterator[None]:
    """Sample while the block runs."""
    command = [_spy(), "record", "--pid", str(pid), "--output", str(picture), "--rate", str(_RATE)]
    command += ["--duration", str(max(1, round(seconds))), "--threads", *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as spy:
        yield
        if spy.wait():
            raise SystemExit(f"py-spy ended with {spy.returncode}; it may need root")


def _drained(data: Data, stack: ExitStack, messages: int) -> Callable[[], object]:
    smsc_port = processes.free_port()
    data.configure(smsc_port)

    def run() -> None:
        start_smsc(stack, port=smsc_port).wait_receipts(messages)

    return run


def main() -> None:
    parser = argparse.ArgumentParser(prog="make flame", description=__doc__)
    parser.add_argument("what", nargs="*", default=["accept", "batch", "drain"])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--messages", type=int, default=20_000, help="to drain")
    parser.add_argument("--to", type=Path, default=Path("build"), metavar="DIRECTORY")
    parser.add_argument("--native", action="store_true", help="show functions of C too")
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    loads: dict[str, Callable[[Data], object]] = {
        "accept": lambda data: data.post(
            "/api/sms", [ONE], connections=64, seconds=options.seconds
        ),
        "batch": lambda data: data.post(
            "/api/sms/batch", [batch_of(100)], connections=4, seconds=options.seconds
        ),
    }
    for what in options.what:
        picture = options.to / f"flame-{what}.svg"
        with ExitStack() as stack:
            data = new_data(stack, HERE)
            load = loads.get(what)
            drain = _drained(data, stack, options.messages) if load is None else None
            service = data.serve(stack)
            if drain is not None:
                data.fill(options.messages)
            with sampled(
                service.pid, picture, options.seconds, ["--native"] if options.native else []
            ):
                drain() if drain is not None else load and load(data)
        print(picture)


if __name__ == "__main__":
    main()

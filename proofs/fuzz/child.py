"""One target under atheris, in a process of its own: ``python -m proofs.fuzz.child MODULE NAME``.

What follows these is handed on to libFuzzer. Started by :mod:`proofs.fuzz.campaign`, which reads
what it prints.
"""

from __future__ import annotations

import importlib
import sys

import atheris


def main() -> None:
    module, name, *options = sys.argv[1:]
    # Only what is imported within is instrumented: what the target reaches of the product, and
    # nothing of others, whose branches would lead the search away.
    with atheris.instrument_imports(include=["risala"]):
        targets = importlib.import_module(module).TARGETS
    (target,) = (each for each in targets if each.name == name)
    atheris.Setup([f"fuzz-{name}", *options], target.run, internal_libfuzzer=True)
    atheris.Fuzz()


if __name__ == "__main__":
    main()

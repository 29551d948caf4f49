"""Measure every budget: ``python -m proofs.budgets [WORD]``; or, with ``--service``, what callers
of hooks cost everybody else (:mod:`proofs.budgets.service`); or, with ``--workbooks``, what
workbooks of empty rows cost another organization's list."""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.table import Table

from proofs.budgets import BUDGETS


def main() -> None:
    """Print a row for each budget, the dearest first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("word", nargs="?", default="", help="functions with this in their name")
    parser.add_argument("--service", action="store_true", help="a service and six callers")
    parser.add_argument("--source", default="", help="the service of another folder's source")
    parser.add_argument("--workbooks", action="store_true", help="a list beside twelve workbooks")
    asked = parser.parse_args()
    if asked.workbooks:
        from proofs.budgets import workbooks

        workbooks.measure()
        return
    if asked.service:
        from proofs.budgets.service import measure

        measure(asked.source)
        return
    table = Table("ms", "of", "function", "input")
    chosen = [each for each in BUDGETS if asked.word in each.function]
    spent = [(each.spent_ms(), each) for each in chosen]
    for ms, each in sorted(spent, key=lambda pair: -pair[0]):
        table.add_row(f"{ms:.2f}", str(each.ms), each.function, each.given)
    Console().print(table)
    over = [each.function for ms, each in spent if ms > each.ms]
    if over:
        raise SystemExit(f"Over their budget: {', '.join(over)}")


if __name__ == "__main__":
    main()

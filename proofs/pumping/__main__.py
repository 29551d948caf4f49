"""Seven attacks and four honest days before three guards: writes the table of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from proofs.pumping.days import ATTACKS, DAYS_BEFORE, HONEST
from proofs.pumping.guards import PER_ADDRESS, PER_ORGANIZATION, PER_PHONE
from proofs.pumping.playing import Compared, compare

PAGE: Final = Path(__file__).parents[2] / "docs/reference/pumping.md"
SEEDS: Final = range(3)
_PLACE: Final = re.compile(r"(<!-- days: begin -->\n)(.*?)(<!-- days: end -->)", re.S)


def table() -> str:
    """The days, as Markdown."""
    attacks = {name: compare([make(seed) for seed in SEEDS]) for name, make in ATTACKS.items()}
    honest = {name: compare([make(seed) for seed in SEEDS]) for name, make in HONEST.items()}
    return "\n".join(
        [
            "Pumped codes that were sent, of those that were asked for; each costs 1.00:",
            "",
            "| Attack | Asked for | `watch`, hourly limits alone | `challenge` | `refuse`"
            " | Authgear |",
            "|---|---|---|---|---|---|",
            *(_lost(name, each) for name, each in attacks.items()),
            "",
            "True users who were refused, of those who asked:",
            "",
            "| Day | Users | Hourly limits alone | `challenge` | `refuse` | Authgear |",
            "|---|---|---|---|---|---|",
            *(_refused(name, each) for name, each in (attacks | honest).items()),
            "",
            f"Means of {len(SEEDS)} seeds; {DAYS_BEFORE} usual days go before each. The hourly"
            f" limits hold in all columns: {PER_PHONE} codes a number, {PER_ADDRESS} an address,"
            f" {PER_ORGANIZATION} in all.",
            "",
        ]
    )


def _lost(name: str, of: Compared) -> str:
    guards = (of.limits, of.challenge, of.refuse, of.authgear)
    return _row(name, of.limits.pumped, *(each.lost for each in guards))


def _refused(name: str, of: Compared) -> str:
    guards = (of.limits, of.challenge, of.refuse, of.authgear)
    return _row(name, of.limits.users, *(each.refused for each in guards))


def _row(name: str, *numbers: float) -> str:
    return f"| {name} | {' | '.join(f'{each:.0f}' for each in numbers)} |"


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    days = table()
    print(days)
    PAGE.write_text(_PLACE.sub(lambda place: place[1] + days + place[3], text), encoding="utf-8")


if __name__ == "__main__":
    main()

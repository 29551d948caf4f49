"""What a history is made of: a seed, its sizes, and which kinds of things do not happen in it.

All chance comes from the seed, by a stream of its own for each thing: who is left out takes no
throw of the dice from the others. So a history that fails can be cut, piece by piece, to the least
one that still fails (:mod:`tests.simulation.shrink`), and a plan is one line that plays it again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import partial

FAULTS = (
    "kills-at-steps",
    "kills-at-commits",
    "full-disk",
    "broken-syncs",
    "slow-disk",
    "clock",
    "bugs",
    "bad-carriers",
    "bad-links",
    "phone-moods",
    "sick-endpoints",
    "sick-sinks",
    "dead-mail",
    "bad-till",
    "days",
    "poison",
    "lost-directory",
    "refused-pieces",
    "lost-pieces",
    "usurped",
    "async-orders",
    "answering-phones",
)
"""What goes wrong, each by itself."""
ERRANDS = (
    "send",
    "batch",
    "verify",
    "resend",
    "cancel",
    "desk",
    "suspend",
    "gate",
    "account",
    "webhooks",
    "pay",
    "sign-in",
    "faces",
    "write",
    "twilio",
    "twilio-verify",
    "smpp",
    "export",
    "forget",
    "mailing",
    "repeat",
    "alarm",
    "talk",
    "answer",
)
"""What people do, each by itself."""


@dataclass(frozen=True)
class Plan:
    seed: int
    lives: int = 4
    """Of the process, before the last one, in which all goes well."""
    customers: int = 3
    errands: int = 14
    """Of each customer in each life, if it is long enough."""
    without: frozenset[str] = frozenset()
    """Of :data:`FAULTS` and :data:`ERRANDS`."""

    def __str__(self) -> str:
        """In one line, as :func:`read` takes it."""
        sizes = [
            f"{each.name}={getattr(self, each.name)}"
            for each in fields(self)
            if each.name in ("lives", "customers", "errands")
        ]
        left_out = [f"without={','.join(sorted(self.without))}"] if self.without else []
        return " ".join([str(self.seed), *sizes, *left_out])

    def has(self, name: str) -> bool:
        if name not in FAULTS and name not in ERRANDS:
            raise LookupError(f"no plan knows {name!r}")
        return name not in self.without

    def stream(self, name: object) -> random.Random:
        """The dice of one thing alone."""
        return random.Random(f"{self.seed}/{name}")

    @property
    def size(self) -> tuple[int, int, int]:
        """The less the smaller: how much may happen, and how much of it at once."""
        kinds = len(FAULTS) + len(ERRANDS) - len(self.without)
        return self.lives * self.customers * self.errands, kinds, self.lives

    def cuts(self) -> Iterator[Cut]:
        """Ways to let less happen, those that cut much first."""
        for by in (2, 1):
            for name in ("customers", "errands", "lives"):
                yield partial(_fewer, name, by)
        there = [name for name in (*FAULTS, *ERRANDS) if name not in self.without]
        for size in (7, 3, 1):
            for at in range(0, len(there), size):
                yield partial(_without, frozenset(there[at : at + size]))


Cut = Callable[[Plan], Plan | None]
"""A plan in which less happens; None: nothing of it is left to cut."""
LEAST = {"lives": 0, "customers": 1, "errands": 1}


def _fewer(name: str, by: int, plan: Plan) -> Plan | None:
    """Half as many, or one less."""
    now = getattr(plan, name)
    fewer = max(LEAST[name], now // 2 if by == 2 else now - 1)
    return replace(plan, **{name: fewer}) if fewer < now else None


def _without(names: frozenset[str], plan: Plan) -> Plan | None:
    return None if names <= plan.without else replace(plan, without=plan.without | names)


def read(line: str) -> Plan:
    """A plan that :meth:`Plan.__str__` has written; what it leaves out is as usual."""
    seed, *rest = line.split()
    plan = Plan(int(seed))
    for word in rest:
        name, _, value = word.partition("=")
        if name == "without":
            names = frozenset(value.split(","))
            for each in names:
                plan.has(each)
            plan = replace(plan, without=names)
        elif name in ("lives", "customers", "errands"):
            plan = replace(plan, **{name: int(value)})
        else:
            raise LookupError(f"no plan knows {name!r}")
    return plan

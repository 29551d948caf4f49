"""How much more likely it is that codes are pumped than that they are asked for as usual: a
sequential test of the share that is entered. Pure.

Two explanations of the same codes are compared. *As usual*: their share varies about that of the
organization (:func:`usual_share`). *Pumped*: hardly any is entered (:data:`PUMPED`). Each is a
Beta-Binomial, and the factor is how many times more likely the second one makes what was seen. One
can have it by hand, code by code: it starts at 1, and with ``m`` missed and ``e`` entered codes so
far, each further missed one multiplies it by ::

    (9 + m) / (10 + m + e)  :  (missed + m) / (entered + missed + m + e)

and each entered one likewise, with ``1 + e`` and ``entered + e``. Under the first explanation it
ever comes to :data:`SUSPICIOUS` in at most one of so many cases (Ville's inequality), however often
one looks.
"""

from __future__ import annotations

from math import exp, lgamma
from typing import Final, NamedTuple


class Prior(NamedTuple):
    """What is expected before codes are seen, as a Beta distribution."""

    entered: float
    missed: float


BEGINNING: Final = Prior(7.0, 3.0)
"""In an organization without history, seven of ten codes are entered; that counts as ten codes."""
PUMPED: Final = Prior(1.0, 9.0)
"""At most one of ten pumped codes is entered: some programs answer a few, as people do."""
USUAL_CODES_MAX: Final = 20.0
"""History counts as so many codes at most, however long it is: the share of a town, an hour or an
office differs from that of all by more than chance."""
USUAL_SHARE_MIN: Final = 0.3
"""Organizations with a lower share are not judged: theirs is no sign of pumping."""
SUSPICIOUS: Final = 10_000.0
"""The factor from which codes are suspicious: a thousand blocks that are as usual are held back by
mistake in one of ten cases, once."""
FACTOR_MAX: Final = 1e12
"""A larger factor is not told apart from this one."""
_LN_MAX: Final = 27.6
"""The logarithm of :data:`FACTOR_MAX`."""


def usual_share(codes: float, entered: float) -> Prior:
    """What is usual in an organization.

    Args:
        codes: those of the last weeks, without suspicious ones.
        entered: how many of them were entered.
    """
    total = BEGINNING.entered + BEGINNING.missed + codes
    share = (BEGINNING.entered + entered) / total
    weight = min(total, USUAL_CODES_MAX)
    return Prior(weight * share, weight * (1 - share))


def is_judged(usual: Prior) -> bool:
    """Whether so few entered codes are unusual that it says something."""
    return usual.entered >= USUAL_SHARE_MIN * (usual.entered + usual.missed)


def factor(missed: float, entered: float, usual: Prior) -> float:
    """How many times more likely it is that these codes are pumped: see the module's text."""
    ln = _ln_seen(missed, entered, PUMPED) - _ln_seen(missed, entered, usual)
    return FACTOR_MAX if ln > _LN_MAX else exp(ln)


def _ln_seen(missed: float, entered: float, prior: Prior) -> float:
    """The logarithm of how likely these codes are, in one order of theirs."""
    return _ln_beta(prior.entered + entered, prior.missed + missed) - _ln_beta(*prior)


def _ln_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)

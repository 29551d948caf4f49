"""Proof that the tests watch what they should: each guard is taken away, and a test must fail."""

from __future__ import annotations

from typing import Final

from proofs.guards.delivery import GUARDS as _DELIVERY
from proofs.guards.doors import GUARDS as _DOORS
from proofs.guards.guard import Guard
from proofs.guards.hooks import GUARDS as _HOOKS
from proofs.guards.mailings import GUARDS as _MAILINGS
from proofs.guards.money import GUARDS as _MONEY
from proofs.guards.outside import GUARDS as _OUTSIDE
from proofs.guards.people import GUARDS as _PEOPLE
from proofs.guards.secrets import GUARDS as _SECRETS

GUARDS: Final[tuple[Guard, ...]] = (
    *(*_MONEY, *_DELIVERY, *_DOORS, *_PEOPLE, *_OUTSIDE),
    *(*_HOOKS, *_MAILINGS, *_SECRETS),
)

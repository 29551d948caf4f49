"""Proof that pure work never holds the loop for long: the largest input of each function."""

from __future__ import annotations

from typing import Final

from proofs.budgets.budget import Budget
from proofs.budgets.hooks import BUDGETS as _HOOKS
from proofs.budgets.small import SMALL
from proofs.budgets.texts import BUDGETS as _TEXTS

BUDGETS: Final[tuple[Budget, ...]] = (*_HOOKS, *_TEXTS)

__all__ = ["BUDGETS", "SMALL", "Budget"]

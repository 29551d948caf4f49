"""Carriers whose receipts may come through each other. Pure.

An account at a carrier's centre has one store of receipts, even if several carriers configured here
are bound to it: the receipt of a message sent through one may come through another. So receipts are
matched within a *group*: the carriers with one account, and those that the settings put together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from risala.dataclass import dataclass

Groups = Callable[[str], tuple[str, ...]]
"""The carriers of a carrier's group, including itself."""


def alone(carrier: str) -> tuple[str, ...]:
    """The group of a carrier that shares nothing."""
    return (carrier,)


@dataclass(frozen=True, slots=True)
class Member:
    """The facts of a carrier that decide which group it is in."""

    name: str
    driver: str
    account: str
    """The centre's address and our account there; empty: no other carrier has this account."""
    receipt_group: str | None = None


class ReceiptGroups:
    """The groups of some carriers. A carrier that is not among them is a group alone."""

    def __init__(self, members: Iterable[Member] = ()) -> None:
        self._accounts: dict[str, tuple[str, ...]] = {}
        self._groups: dict[str, tuple[str, ...]] = {}
        self.regroup(members)

    def regroup(self, members: Iterable[Member]) -> None:
        """Use these from now on. A carrier that has changed may be among them twice: then both are
        in its group."""
        known = tuple(members)
        by_account = [(m.name, ("account", m.driver, m.account)) for m in known if m.account]
        by_setting = [(m.name, ("group", m.receipt_group)) for m in known if m.receipt_group]
        self._accounts = _joined(by_account)
        self._groups = _joined([*by_account, *by_setting])

    def of(self, carrier: str) -> tuple[str, ...]:
        """The group of a carrier: the carriers through which receipts for its messages may come."""
        return self._groups.get(carrier, (carrier,))

    def account_of(self, carrier: str) -> tuple[str, ...]:
        """Carriers with the same account: a person's answer to a message of one may come through
        another."""
        return self._accounts.get(carrier, (carrier,))


def _joined(marks: Iterable[tuple[str, tuple[str | None, ...]]]) -> dict[str, tuple[str, ...]]:
    """Names that share a mark, directly or through others."""
    groups: dict[tuple[str | None, ...], set[str]] = {}
    of: dict[str, set[str]] = {}
    for name, mark in marks:
        joined = groups.get(mark, set()) | of.get(name, set()) | {name}
        for other_mark, others in groups.items():
            if others & joined:
                groups[other_mark] = joined
        groups[mark] = joined
        for each in joined:
            of[each] = joined
    return {name: tuple(sorted(group)) for name, group in of.items()}

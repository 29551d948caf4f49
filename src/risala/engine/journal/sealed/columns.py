"""The columns that hold sealed secrets: what a rotation seals anew, and what a lost key costs.

A secret that is added gets its line here, or in its feature, and nothing else has to know it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from typing import Final, TypeAlias

from risala.dataclass import dataclass
from risala.engine.model.features import features
from risala.engine.rules.sealing import SecretPurpose

Stored: TypeAlias = str | bytes
"""What a column has: text, or the same text as octets."""
Change: TypeAlias = Callable[[SecretPurpose, str, str], str]
"""Makes another text of a stored one, by its purpose and by what it is bound to."""


@dataclass(frozen=True, slots=True)
class SealedColumn:
    table: str
    column: str
    purpose: SecretPurpose
    remedy: str
    """The command that makes the secret anew; ``{}`` stands for the id of its row."""
    by_name: bool = False
    """Whether the column holds JSON, names with one sealed value each, as headers are."""
    key: str = "id"
    """The column that names the row."""

    def changed(self, identity: str, stored: Stored, change: Change) -> Stored:
        """The column with each text in it changed."""
        if self.by_name:
            if (members := _members(stored)) is None:
                return stored  # there is no secret in it that could be read
            values = {
                name: change(self.purpose, header_of(identity, name), value)
                for name, value in members.items()
            }
            return json.dumps(values, ensure_ascii=False, separators=(",", ":"))
        # Octets of an older version are any octets: Latin-1 has a character for each of them.
        text = stored if isinstance(stored, str) else stored.decode("latin-1")
        made = change(self.purpose, identity, text)
        return made if isinstance(stored, str) else made.encode("latin-1")

    def texts(self, identity: str, stored: Stored) -> Iterator[tuple[str, str]]:
        """Each text in the column, after what it is bound to. Of one that cannot be read an empty
        text, which no key opens."""
        if self.by_name:
            members = _members(stored)
            for name, value in {"": ""}.items() if members is None else members.items():
                yield header_of(identity, name), value
        else:
            yield identity, stored if isinstance(stored, str) else stored.decode("latin-1")


def _members(stored: Stored) -> dict[str, str] | None:
    """The values of a column by their names; None: it cannot be read."""
    try:
        members = json.loads(stored)
    except (ValueError, RecursionError):
        return None
    is_right = isinstance(members, dict) and all(isinstance(each, str) for each in members.values())
    return members if is_right else None


def header_of(endpoint_id: str, name: str) -> str:
    """What the value of an endpoint's header is bound to: it fits under no other name."""
    return f"{endpoint_id} {name}"


_COLUMNS: Final = (
    SealedColumn(
        "webhook_endpoints",
        "secret",
        SecretPurpose.WEBHOOK_SECRET,
        "risala webhook rotate {} --at-once",
    ),
    SealedColumn(
        "webhook_endpoints",
        "previous_secret",
        SecretPurpose.WEBHOOK_SECRET,
        "risala webhook rotate {} --at-once",
    ),
    SealedColumn(
        "webhook_endpoints",
        "headers",
        SecretPurpose.WEBHOOK_HEADER,
        "risala webhook update {} --header 'NAME: VALUE'",
        by_name=True,
    ),
    SealedColumn(
        "carrier_secrets",
        "secret",
        SecretPurpose.CARRIER_SECRET,
        "risala carriers show, of the carrier whose driver gets it again ({})",
    ),
)


@cache
def sealed_columns() -> tuple[SealedColumn, ...]:
    """The sealed columns of the core and of all features, in the order of their purposes."""
    theirs = (each.sealed() for each in features() if each.sealed is not None)
    purposes = list(SecretPurpose)
    return tuple(sorted(chain(_COLUMNS, *theirs), key=lambda each: purposes.index(each.purpose)))

"""The reference of operations: ``python -m risala.engine.operations.document FILE``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

from pydantic.fields import FieldInfo

from risala.engine.model.callers import Role
from risala.engine.operations import OPERATIONS
from risala.engine.operations.arguments import ArgumentKind
from risala.engine.operations.operation import Operation
from risala.engine.operations.verify import Configure
from risala.engine.rules.roles import USERS
from risala.engine.rules.verify_settings import VerifySettings

_HEAD: Final = """\
# Operations

<!-- Written by `python -m risala.engine.operations.document`; change `engine/operations/`. -->

Everything that a person may do has a name. The command line, the control socket, the dashboard and
the console do these and nothing else:

```sh
curl --unix-socket risala-data/control.sock http://control/perform \\
  --json '{"operation": "org.list", "arguments": {}}'
```

Arguments are JSON. One that is null counts as not given; of `org.set`, null takes the
organization's own price, rate or limit away. An argument that is not known is refused, and all
faults are named at once.

## Who may

*Operators* may do everything: whoever may open the data directory or its socket is one, and
whoever is signed in to the console; there nobody makes operators or links into accounts. *Owner*,
*developer* and *viewer* are of one organization: what is another's is not there for them (404), and
what their role may not do is refused (403). Members of a suspended organization read and top up,
and do nothing else. An argument in brackets may be left out; one with roles
behind it is for these alone.

In the console operators see no text of a message, theirs or one that came in: `message.show` says
`bodyHidden`, and `message.body` shows it for a reason, which stands in the trail first.

What can be edited tells its `version`. An edit that hands it back as `version` is refused where
somebody has changed the thing meanwhile, and says who.

| Operation | Arguments | Members who may | Audit trail |
|---|---|---|---|
"""

_TAIL: Final = """
## The audit trail

Each operation that changes something, shows bodies, or looks over all organizations writes a line
into the table `audit_log`: who, by which face, what, of which organization, how the thing stood
before and after. The line is
in the same transaction as the change: both are on disk or neither is. What is refused leaves no
line; neither do plain reads, nor what changed nothing (a send whose idempotency key was used).
Where what is done is not in the database (a carrier's gate, a command of a driver), and before
anything is shown that leaves a line, the line is on disk first. A member who looks at the same
again within a minute (a page that is loaded anew, or stays open and draws itself anew) leaves no
other line; an operator leaves one each time.

A line holds no secrets, codes, bodies or keys, no path of a webhook's address, and of a phone
number the last four digits. The table refuses to be changed, and is kept as long as the ledger.

`risala audit-log` shows it. Who did something is told by an address; of a program (face `api`),
which does what a developer may, by the id of its key. What a program only looks at is in its key's
[log of requests](../how-to/look-into-requests.md) alone. Who a command was run by is the user of
the machine: over the control socket as the kernel names them.
"""

_MEMBERS: Final = (Role.OWNER, Role.DEVELOPER, Role.VIEWER)


def render() -> str:
    """The whole page."""
    rows = "\n".join(_row(each) for _, each in sorted(OPERATIONS.items()))
    return f"{_HEAD}{rows}\n{_TAIL}"


def _row(operation: Operation[Any, Any]) -> str:
    members = _roles(operation.roles)
    trail = "a change" if operation.changes else "a look" if operation.reveals else ""
    if operation.crosses and not trail:
        whole = "organization_id" not in operation.arguments.model_fields
        trail = "a look" if whole else "a look, where no organization is named"
    return f"| `{operation.name}` | {_arguments(operation) or '–'} | {members} | {trail} |"


def _roles(roles: frozenset[Role]) -> str:
    if roles == USERS:
        return "whoever is signed in"
    return ", ".join(role.value for role in _MEMBERS if role in roles) or "–"


def _arguments(operation: Operation[Any, Any]) -> str:
    found = [
        _argument(operation, field.alias or name, field)
        for name, field in operation.arguments.model_fields.items()
    ]
    if issubclass(operation.arguments, Configure):
        known = ", ".join(f"`{name}`" for name in VerifySettings.model_fields)
        found.append(f"[any setting: {known}] ({_roles(operation.reserved['sender'])})")
    return ", ".join(found)


def _argument(operation: Operation[Any, Any], name: str, field: FieldInfo) -> str:
    kind = next(each.text for each in field.metadata if isinstance(each, ArgumentKind))
    text = f"`{name}`: {kind}"
    text = text if field.is_required() else f"[{text}]"
    if (roles := operation.reserved.get(name)) is not None:
        only = _roles(roles)
        text += " (operators)" if only == "–" else f" ({only})"
    return text


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(render(), encoding="utf-8")

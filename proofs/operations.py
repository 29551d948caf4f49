"""The reference of operations: ``python -m proofs.operations FILE``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

from pydantic.fields import FieldInfo

from risala.engine.gateway.table import OPERATIONS
from risala.engine.kernel.arguments import ArgumentKind
from risala.engine.kernel.operation import Operation
from risala.engine.model.callers import Role
from risala.engine.operations.verify import Configure
from risala.engine.rules.roles import USERS
from risala.engine.rules.verify_settings import VerifySettings

_HEAD: Final = """\
# Operations

<!-- Written by `python -m proofs.operations`; change `engine/operations/`. -->

Everything that a person may do has a name. The command line, the control socket, the dashboard and
the console do only these operations:

```sh
curl --unix-socket risala-data/control.sock http://control/perform \\
  --json '{"operation": "org.list", "arguments": {}}'
```

Arguments are JSON. Null counts as not given; in `org.set`, null removes the organization's own
price, rate or limit, and in `mailing.set` the sender, the pace or the time. An unknown argument is
refused. An answer names all faults at once.

A file for a mailing or a list goes to the socket first, as it is and at most 20 MB; the answer has
the `upload` that `mailing.create` and others take:

```sh
curl --unix-socket risala-data/control.sock --data-binary @people.csv \\
  "http://control/uploads?organization=org_…&name=people.csv"
```

## Who may

*Operators* may do everything at the machine: everybody who may open the data directory or its
socket. In the console their [role](../how-to/share-the-work-among-operators.md) decides, as
[a table](authorization.md#operations) says; the console does not make operators or links into
accounts. *Owner*, *developer* and *viewer* are roles in one organization: other
organizations' things do not exist for them (404), and what their role may not do is refused (403).
Members of a suspended organization may only read and top up. Arguments in brackets are optional;
only the roles behind an argument may give it.

*Fresh* is important: operators, and members who have a second factor, have shown within ten minutes
who they are; pages ask for that, and go on. *Everybody*: members without a factor too, by a code by
e-mail.

In the console, operators see no texts of messages, sent or received: `message.show` says
`bodyHidden`, and `message.body` shows the text for a reason, which is in the trail first. They see
no texts, rows or reports of mailings either.

Everything that can be edited has a `version`. An edit with an older `version` is refused if
somebody changed the thing meanwhile, and the refusal says who.

| Operation | Arguments | Members who may | Audit trail |
|---|---|---|---|
"""

_TAIL: Final = """
## The audit trail

Each operation that changes something, shows bodies, or reads data of all organizations writes a
line into the table `audit_log`: who, by which face, what, in which organization, and the thing
before and after. The line is in the same transaction as the change: both are on disk or neither is.
Refused operations, plain reads and calls that changed nothing (a send whose idempotency key was
used) write no line. If the change is not in the database (a carrier's gate, a driver's command), or
if a read writes a line, the line is on disk first. A member who reads the same again within a
minute (a page that is reloaded, or refreshes itself) adds no line; an operator adds one each time.

A line holds no secrets, codes, bodies or keys, no path of a webhook's address, and only the last
four digits of a phone number. The table refuses changes, and is kept as long as the ledger. The
hash of each line covers the one before it, and signed heads go out each day: `risala audit`
[proves that nobody changed a line](../how-to/prove-the-audit-trail.md). A restore
(`database.restore`), a takeover (`standby.takeover`) and a mended lease (`standby.mend_lease`)
write lines of their own.

`risala audit-log` shows it. People appear by their address. A program (face `api`) has the rights
of a developer, and appears by the id of its key; its plain reads are only in the key's [log of
requests](../how-to/look-into-requests.md). A command appears by the machine's user, for the control
socket as the kernel names them. """

_MEMBERS: Final = (Role.OWNER, Role.DEVELOPER, Role.VIEWER)


def render() -> str:
    """The whole page."""
    rows = "\n".join(_row(each) for _, each in sorted(OPERATIONS.items()))
    return f"{_HEAD}{rows}\n{_TAIL}"


def _row(operation: Operation[Any, Any]) -> str:
    members = _roles(operation.roles)
    trail = "a change" if operation.changes else "a look" if operation.shows_texts else ""
    if operation.fresh or operation.fresh_for_all:
        members += " (fresh)" if operation.fresh else " (fresh, everybody)"
    if operation.reads_all_organizations and not trail:
        whole = "organization_id" not in operation.arguments.model_fields
        trail = "a look" if whole else "a look, where no organization is named"
    return f"| `{operation.name}` | {_arguments(operation) or '–'} | {members} | {trail} |"


def _roles(roles: frozenset[Role]) -> str:
    if roles == USERS:
        return "every signed-in user"
    return ", ".join(role.value for role in _MEMBERS if role in roles) or "–"


def _arguments(operation: Operation[Any, Any]) -> str:
    texts = [
        _argument(operation, field.alias or name, field)
        for name, field in operation.arguments.model_fields.items()
    ]
    if issubclass(operation.arguments, Configure):
        known = ", ".join(f"`{name}`" for name in VerifySettings.model_fields)
        texts.append(f"[any setting: {known}] ({_roles(operation.reserved['sender'])})")
    return ", ".join(texts)


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

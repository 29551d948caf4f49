"""The whole service with its SMPP server open."""

from __future__ import annotations

from typing import Any, Final

SECTION: Final = '[smpp_server]\nenabled = true\nbind = ["127.0.0.1:0"]\n'


def port_of(service: Any) -> int:
    """Where customers' SMPP software binds."""
    said = "Customers' SMPP software binds to "
    line = service.process.wait_line(lambda line: line.startswith(said))
    return int(line.rpartition(":")[2])


def credential(service: Any, organization_id: str, **more: object) -> tuple[str, str, str]:
    """A new credential: its id, its ``system_id`` and its password."""
    made = service.perform(
        "credential.create", organization_id=organization_id, face="smpp", **more
    )
    return made["credential"]["id"], made["credential"]["username"], made["password"]

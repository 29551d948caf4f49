"""Whoever in the service calls out goes through the client that judges addresses."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import risala
from sources import trees

SOURCE = Path(risala.__file__).parent
CLIENTS = {"httpx2", "httpcore2", "http.client", "urllib.request", "requests", "aiohttp"}
ALLOWED = {
    "http/outbound/client.py": "it is that client",
    "http/outbound/pinned.py": "it is that client",
    "drivers/payments/stripe_calls.py": "one address, which the operator's settings name",
    "cli/reach/client.py": "the control socket",
    "cli/reach/quick.py": "the control socket",
    "drivers/channels/calls.py": "a vendor's API, at the address that the operator has set",
    "lab/channels/vendor.py": "a simulated vendor, which calls its tester's own service",
    "lab/channels/whatsapp.py": "a simulated vendor, which calls its tester's own service",
    "drivers/http/calling.py": "a carrier's API, at the address that the operator has set",
    "drivers/hilink/calls.py": "a stick, at the address that the operator has set",
    "lab/aggregators/stand_in.py": "a simulated aggregator, which calls its tester's own service",
    "lab/phone/network.py": "a simulated phone, which calls its tester's own service",
    "cli/commands/messaging/forward.py": "a command, to where its user says, as its user",
    "cli/commands/agents/asking.py": "a command, to the service that its user names, as its user",
}


def imported(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def test_nobody_else_in_the_service_has_a_client_of_their_own():
    """A customer's address that is called by any other would lead inside the network."""
    places = {
        str(path.relative_to(SOURCE))
        for path, tree in trees(SOURCE.rglob("*.py"), "|".join(map(re.escape, CLIENTS)))
        if not path.is_relative_to(SOURCE / "client") and imported(tree) & CLIENTS
    }
    assert places == set(ALLOWED)

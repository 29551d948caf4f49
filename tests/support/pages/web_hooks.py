"""What hooks answer to pages, in the shapes that the operations tell."""

from __future__ import annotations

from typing import Any

from risala.engine.model.errors import NotFound
from risala.engine.model.times import iso

AT_MS = 1_795_250_476_123
HOOK_SECRET = "h00k" * 8


def hook(hook_id: str = "hok_1", **changes: Any) -> dict[str, Any]:
    return {
        "id": hook_id,
        "organizationId": "org_1",
        "preset": "logto",
        "name": "Shop",
        "mode": "live",
        "proof": "bearer",
        "numbers": None,
        "from": None,
        "locale": None,
        "mapping": None,
        "last4": "h00k",
        "alarm": None,
        "oldUntil": None,
        "allowedAddresses": None,
        "createdAt": iso(AT_MS - 10**9),
        "createdBy": "aicha@baraka.example",
        "lastUsedAt": None,
        "disabledAt": None,
        **changes,
    }


def _preset(name: str, title: str, kind: str, *proofs: str, **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "title": title,
        "kind": kind,
        "proofs": [*proofs],
        "sends": "code",
        "needsNumbers": False,
        "secretFrom": "risala",
        **changes,
    }


PRESETS = (
    _preset("logto", "Logto", "sign-in", "bearer", "path"),
    _preset("zitadel", "Zitadel", "sign-in", "path", "timed-signature"),
    _preset("grafana", "Grafana", "monitoring", "bearer", "path", needsNumbers=True),
    _preset("novu", "Novu", "business", "bearer", "path"),
    _preset("x", "Nobody's", "home", "path"),
)
"""``x``: that tests find at any address."""


def answer(
    name: str, arguments: dict[str, Any], known: dict[str, dict[str, Any]]
) -> dict[str, Any] | None:
    """The answer of an operation on hooks; None for any other."""
    if not name.startswith("hook."):
        return None
    if name == "hook.presets":
        return {"presets": [*PRESETS]}
    if name == "hook.list":
        return {"hooks": [*known.values()]}
    if name == "hook.create":
        given = {each: arguments[each] for each in ("preset", "mode") if each in arguments}
        made = known["hok_9"] = hook("hok_9", **given, proof=arguments.get("proof", "bearer"))
        return _made(made, arguments)
    found = known.get(arguments["hook_id"])
    if found is None:
        raise NotFound("There is no such hook.")
    match name:
        case "hook.rotate":
            return _made(found, arguments)
        case "hook.enable" | "hook.disable":
            found["disabledAt"] = None if name == "hook.enable" else iso(AT_MS)
        case "hook.delete":
            del known[found["id"]]
        case "hook.set":
            given = (("name", "name"), ("from", "from"), ("numbers", "numbers"))
            found |= {told: arguments[each] for each, told in given if each in arguments}
    return {**_addressed(found), "version": 4}


def _made(found: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    is_path = found["proof"] == "path"
    url = _addressed(found, f"/{HOOK_SECRET}" if is_path else "")
    return {"hook": url, "secret": None if "secret" in arguments else HOOK_SECRET}


def _addressed(found: dict[str, Any], end: str | None = None) -> dict[str, Any]:
    stands = "/{secret}" if found["proof"] == "path" else ""
    end = stands if end is None else end
    return {**found, "url": f"https://sms.example/hooks/{found['id']}{end}"}

"""Guards of what the database keeps sealed, and of backups that leave the machine."""

from __future__ import annotations

from typing import Final

from proofs.guards.guard import Guard

_SEALING: Final = ("engine/rules/secrets/test_sealing.py",)
_STOLEN: Final = ("engine/upkeep/test_stolen.py",)
_RESEALING: Final = ("engine/journal/sealed/test_resealing.py",)
_FOREIGN: Final = ("engine/journal/shipping/test_forged.py", "engine/journal/upkeep")
_ENCRYPTED: Final = ("engine/journal/upkeep/encrypted/test_encrypted_backup.py",)

GUARDS: Final = (
    Guard(
        "A sealed secret opens for its own row and purpose alone.",
        "engine/rules/secrets/sealing.py",
        '    return f"risala\\0{purpose}\\0{identity}".encode()\n',
        '    return b"risala"\n',
        _SEALING,
    ),
    Guard(
        "The value of a header fits under no other name.",
        "engine/journal/sealed/columns.py",
        '    return f"{endpoint_id} {name}"\n',
        "    return endpoint_id\n",
        _RESEALING,
    ),
    Guard(
        "What signs webhooks is sealed when it is written.",
        "engine/journal/repositories/webhooks.py",
        "        return self._store.sealing.seal(purpose, endpoint_id, secret.encode())\n",
        "        return secret\n",
        _STOLEN,
    ),
    Guard(
        "The values of a webhook's headers are sealed when they are written.",
        "engine/journal/repositories/webhooks.py",
        "            name: seal(purpose, header_of(endpoint_id, name), value.encode())\n",
        "            name: value\n",
        _STOLEN,
    ),
    Guard(
        "A rotation that was cut short is completed by the next start.",
        "engine/journal/sealed/resealing.py",
        "    if meta.get(conn, SEALED_BY) == newest:\n",
        "    if meta.get(conn, SEALED_BY) is not None:\n",
        _RESEALING,
    ),
    Guard(
        "Of an encrypted backup nothing counts before its end has proved it whole.",
        "engine/journal/upkeep/encrypted/age_file.py",
        "        if not raised or isinstance(raised[0], BrokenPipeError):\n"
        "            raise\n    if raised:\n",
        "        pass\n    if False:\n",
        _ENCRYPTED,
    ),
    Guard(
        "A file from elsewhere has no trigger, view or index of its own.",
        "engine/journal/store/schema/foreign.py",
        "        if key not in expected:\n",
        "        if key not in expected:\n            continue\n        if False:\n",
        _FOREIGN,
    ),
    Guard(
        "A file from elsewhere has the tables and triggers of its version as they were made.",
        "engine/journal/store/schema/foreign.py",
        '        if made != expected[key] and key[0] != "view":\n',
        "        if False:\n",
        _FOREIGN,
    ),
    Guard(
        "Keys of an encrypted backup are installed after its database has passed.",
        "engine/journal/upkeep/encrypted/restore.py",
        "        report = restore(\n",
        "        found.install_keys(database.parent)\n        report = restore(\n",
        _ENCRYPTED,
    ),
)

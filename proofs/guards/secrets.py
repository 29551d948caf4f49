"""Guards of what the database keeps sealed, of backups that leave the machine, and of copies that
come back."""

from __future__ import annotations

from typing import Final

from proofs.guards.guard import Guard

_SEALING: Final = ("engine/rules/test_sealing.py",)
_STOLEN: Final = ("engine/upkeep/test_stolen.py",)
_RESEALING: Final = ("engine/journal/sealed/test_resealing.py",)
_FOREIGN: Final = ("engine/features/standby/stored/test_forged.py", "engine/journal/upkeep")
_ENCRYPTED: Final = ("engine/features/backup/test_encrypted_backup.py",)
_SIGNED: Final = ("engine/features/backup/test_signature.py",)
_LOSS: Final = ("engine/features/standby/test_copy_loss.py",)

GUARDS: Final = (
    Guard(
        "A sealed secret opens for its own row and purpose alone.",
        "engine/rules/sealing.py",
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
        "engine/journal/webhooks/endpoints.py",
        "        return self._store.sealing.seal(purpose, endpoint_id, secret.encode())\n",
        "        return secret\n",
        _STOLEN,
    ),
    Guard(
        "The values of a webhook's headers are sealed when they are written.",
        "engine/journal/webhooks/endpoints.py",
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
        "engine/features/backup/age_file.py",
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
        "engine/features/backup/stored/restore.py",
        "        report = restore(\n",
        "        found.install_keys(database.parent)\n        report = restore(\n",
        _ENCRYPTED,
    ),
    Guard(
        "What a piece of a copy unpacks to is bounded.",
        "engine/features/standby/stored/pieces.py",
        "            if size > RAW_BYTES_MAX:\n",
        "            if False:\n",
        _FOREIGN,
    ),
    Guard(
        "Each field of a note from elsewhere has its kind and its bounds.",
        "engine/features/standby/stored/notes.py",
        "    if not is_right:\n",
        "    if False:\n",
        _FOREIGN,
    ),
    Guard(
        "A file of an encrypted backup is not larger than it may be.",
        "engine/features/backup/age_file.py",
        "                    if info.size > limits[info.name]:\n",
        "                    if False:\n",
        _ENCRYPTED,
    ),
    Guard(
        "A backup that another key has signed is not the one that was asked for.",
        "engine/features/backup/signature.py",
        "    if signature.key != key:\n",
        "    if False:\n",
        _SIGNED,
    ),
    Guard(
        "A signature is by the key that it names.",
        "engine/features/backup/signature.py",
        "    if not signature.is_genuine():\n",
        "    if False:\n",
        _SIGNED,
    ),
    Guard(
        "A backup is what was signed.",
        "engine/features/backup/signature.py",
        "    if not is_same:\n",
        "    if False:\n",
        _SIGNED,
    ),
    Guard(
        "A copy in which SQLite finds a fault is refused before the lease is taken.",
        "engine/features/standby/takeover.py",
        "        self.copy.refuse_damaged(self.progress)\n",
        "",
        _LOSS,
    ),
    Guard(
        "Without any lease nobody takes over beside a primary that may live.",
        "engine/features/standby/takeover.py",
        "        if former is None and not primary_is_dead:\n",
        "        if False:\n",
        _LOSS,
    ),
    Guard(
        "A lease with a number that nobody counted up to is not followed.",
        "engine/features/standby/takeover.py",
        "        if former is not None and former.epoch >= EPOCH_MAX:\n",
        "        if False:\n",
        ("engine/features/standby/test_lease_mending.py",),
    ),
)

"""Checks of the sealed secrets: whether their key is here, and a copy of it elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from risala.engine.journal.sealed.resealing import examine
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.findings import DATABASE, Finding, Grade

_NAME: Final = "sealed secrets"


def sealed_secrets(data_dir: Path) -> list[Finding]:
    """Whether each stored secret opens, and whether their key was exported."""
    if not (data_dir / DATABASE).exists():
        return []
    try:
        secrets = examine(data_dir / DATABASE)
    except StorageUnusable as error:
        return [Finding(_NAME, Grade.WARN, str(error))]
    if not secrets.total:
        return []
    if not secrets.has_key:
        text = (
            f"There are {secrets.total} sealed secrets, and no sealing key. Start the service and "
            "bring it back: `risala secrets import-key FILE`."
        )
        return [Finding(_NAME, Grade.FAIL, text)]
    if secrets.lost:
        text = (
            f"{secrets.lost} of {secrets.total} sealed secrets cannot be opened: their key is "
            "missing. `risala secrets show` lists them, and how to make each again."
        )
        return [Finding(_NAME, Grade.FAIL, text)]
    if not secrets.is_exported:
        text = (
            "The key of the sealed secrets was never exported. A lost disk loses them: "
            "`risala secrets export-key FILE`, and keep that file apart from the backups."
        )
        return [Finding(_NAME, Grade.WARN, text)]
    text = f"All {secrets.total} sealed secrets open, and their key was exported."
    return [Finding(_NAME, Grade.OK, text)]

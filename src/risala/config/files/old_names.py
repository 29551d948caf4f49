"""Settings that had another name before 1.0: it works, and the log says what to write now.

``[faces]`` is ``[compat]``; the alert ``lane_down`` is ``carrier_down``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from risala.config import schema
from risala.config.faults import Origins, Path

NAMES: Final[Mapping[Path, Path]] = {
    ("faces",): ("compat",),
    ("alerts", "lane_down_s"): ("alerts", "carrier_down_s"),
}
"""Settings, and tables with all that is in them: the key of before, and today's."""
WORDS: Final[Mapping[Path, Mapping[str, str]]] = {
    ("alerts", name): {"lane_down": "carrier_down"} for name in ("off", "page_only")
}
"""Lists of words: by the setting's key, words of before and today's."""
_STAYS: Final = "The old name works in every 1.x."


def present(path: Path) -> Path:
    """The key of a setting as it is called now."""
    for old, new in NAMES.items():
        if path[: len(old)] == old:
            return (*new, *path[len(old) :])
    return path


def rename_names(tree: dict[str, Any], file: str) -> list[str]:
    """Give what a file has its present names, unless it has both; returns what to write now."""
    sentences: list[str] = []
    for old, new in NAMES.items():
        table, name, now = _table(tree, old[:-1]), str(old[-1]), str(new[-1])
        if table is not None and name in table and now not in table:
            table[now] = table.pop(name)
            sentences.append(_sentence(file, old, new))
    return sentences


def rename_words(tree: Mapping[str, Any], origins: Origins) -> list[str]:
    """Replace words of before in lists; returns what to write now."""
    sentences: list[str] = []
    for path, words in WORDS.items():
        table, name = _table(tree, path[:-1]), str(path[-1])
        listed = None if table is None else table.get(name)
        if table is None or not isinstance(listed, list):
            continue
        table[name] = [words.get(each, each) if isinstance(each, str) else each for each in listed]
        sentences += [
            f'{origins.of(path)}: write "{words[each]}" in {schema.key_of(path)}, '
            f'and no longer "{each}". {_STAYS}'
            for each in listed
            if isinstance(each, str) and each in words
        ]
    return sentences


def variables(names: Mapping[str, Path]) -> list[str]:
    """What to write now, for environment variables; ``names`` are theirs, with their keys."""
    return [
        f"environment variable {name}: write {schema.variable_of(present(path))}, "
        f"and no longer {name}. {_STAYS}"
        for name, path in names.items()
        if present(path) != path
    ]


def _table(tree: Mapping[str, Any], path: Path) -> dict[str, Any] | None:
    """The table at a key; None: there is none."""
    here: object = tree
    for step in path:
        here = here.get(str(step)) if isinstance(here, Mapping) else None
    return here if isinstance(here, dict) else None


def _sentence(file: str, old: Path, new: Path) -> str:
    if len(old) == 1:
        return f"{file}: write [{new[0]}], and no longer [{old[0]}]. {_STAYS}"
    return f"{file}: write {schema.key_of(new)}, and no longer {schema.key_of(old)}. {_STAYS}"

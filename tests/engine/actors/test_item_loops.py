"""Loops for life that serve everybody: one item that breaks one must end nobody else's turn.

Each handles its items inside ``ItemLoop.item``, ``made`` or ``together``
(``engine/actors/set_aside.py``), or stands here with the reason why it has no items of customers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from sources import trees

SOURCE = Path(__file__).parents[3] / "src/risala"
ROOMS = [SOURCE / "engine", SOURCE / "smpp_server", SOURCE / "app"]
FILES = sorted(
    path
    for room in ROOMS
    for path in room.glob("**/*.py")
    if SOURCE / "engine/journal" not in path.parents  # all storage: it has units, and no loops
)

_ONE_ITEM = "repeats one thing, whose caller decides"
_OWN = "of the service itself: it has no items of customers"
_ONE_OWNER = "a task for each of its things: it ends nobody else's turn"
_FILES = "reads files of one request"
ALONE = {
    "engine/actors/retrying.py retry_until_committed": _ONE_ITEM,
    "engine/actors/supervisor.py _supervise": _ONE_OWNER,
    "engine/delivery/attempt_writer.py run": "groups are written item by item where one breaks",
    "engine/delivery/carrier_registry.py run": _OWN,
    "engine/delivery/queries.py run": _ONE_OWNER,
    "engine/delivery/worker/calls.py watch": _ONE_OWNER,
    "engine/follow/cursors.py next": _ONE_OWNER,
    "engine/follow/live.py __anext__": _ONE_OWNER,
    "engine/features/sinks/beside.py run": _ONE_ITEM,
    "engine/features/sinks/service.py run": "a sink gets every event: one it refuses comes again",
    "engine/intake/intake.py _accept_once": _ONE_ITEM,
    "engine/features/lists/tables.py pieces": _FILES,
    "engine/features/pumping/joining.py _keep_settling": "counts of codes, which are in memory",
    "engine/features/tables/uploads.py keep_tidy": "a file of nobody counts as old",
    "engine/upkeep/clock_rollback.py keep_elapsed": _OWN,
    "engine/features/standby/lease_holder.py acquire": _OWN,
    "engine/features/trail_heads/service.py run": _OWN,
    "engine/upkeep/upgrade.py keep_logging": _OWN,
    "engine/features/standby/service.py _unmark": _OWN,
    "engine/features/standby/stored/shipper.py _guard": _OWN,
    "smpp_server/line.py run": _ONE_OWNER,
    "smpp_server/receipt_sender.py run": _ONE_OWNER,
    "smpp_server/server.py _keep_looking": _ONE_OWNER,
    "smpp_server/session.py _watch_use": _ONE_OWNER,
    "app/reload.py reload_when_asked": _OWN,
    "app/service.py _lock": _OWN,
    "app/standby.py _watch": _OWN,
}
"""Loops without the mechanism, and why."""


def for_life(tree: ast.AST) -> Iterator[str]:
    """The functions of a file that loop without an end, and wait in the loop."""
    for node in ast.walk(tree):
        if isinstance(node, ast.AsyncFunctionDef):
            loops = [each for each in ast.walk(node) if isinstance(each, ast.While)]
            endless = [each for each in loops if isinstance(each.test, ast.Constant)]
            if any(isinstance(inner, ast.Await) for each in endless for inner in ast.walk(each)):
                yield node.name


def handles_items(tree: ast.AST) -> bool:
    """Whether a file handles items so that one that breaks is set aside."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in ("item", "made", "together")
        and ast.unparse(node.value).rpartition(".")[2] in ("items", "_items")
        for node in ast.walk(tree)
    )


def test_a_loop_for_everybody_sets_aside_what_breaks_it():
    found = set[str]()
    for path, tree in trees(FILES, "while True"):
        names = set(for_life(tree))
        if names and not handles_items(tree):
            found |= {f"{path.relative_to(SOURCE)} {name}" for name in names}
    assert sorted(found - ALONE.keys()) == [], "handle its items by an ItemLoop, or say why not"
    assert sorted(ALONE.keys() - found) == [], "it is no longer there"


def test_a_new_loop_is_found():
    source = "async def run(self):\n    while True:\n        await self._write(self._next())\n"
    tree = ast.parse(source)
    assert [*for_life(tree)] == ["run"]
    assert not handles_items(tree)
    held = source.replace("await", "with self._items.item(1): await")
    assert handles_items(ast.parse(held))

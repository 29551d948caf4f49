"""What writes down when hooks were used, and ends storms of alerts."""

from __future__ import annotations

from collections.abc import Sequence

from risala.engine.model.features import Task
from risala.engine.services import Services


def tasks(services: Services) -> Sequence[Task]:
    hooks = services.hooks
    return (("hooks", hooks.registry.uses.keep_writing, False), ("storms", hooks.end_storms, False))

"""What tidies uploads, checks the rows of mailings and sends them."""

from __future__ import annotations

from collections.abc import Sequence

from risala.engine.model.features import Task
from risala.engine.services import Services


def tasks(services: Services) -> Sequence[Task]:
    return [(name, run, True) for name, run in services.mailings.tasks.items()]

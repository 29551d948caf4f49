"""What keeps to the days that data is kept, and what erases and exports it."""

from __future__ import annotations

from collections.abc import Sequence

from risala.engine.model.features import Task
from risala.engine.services import Services
from risala.engine.upkeep.erasing import Erasing
from risala.engine.upkeep.exporting import Exporting
from risala.engine.upkeep.retention import Retention


def tasks(services: Services) -> Sequence[Task]:
    recorder, repositories = services.recorder, services.repositories
    retention = Retention(
        repositories.retention,
        recorder.clock,
        services.settings.retention,
        services.set_aside.loop("retention"),
    )
    return (
        ("erasing", Erasing(services).run, False),
        ("exporting", Exporting(services, inline=recorder.journal.is_on_loop).run, False),
        ("retention", retention.run, False),
    )

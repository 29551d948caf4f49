"""The log of requests: what each key requested, and the answer."""

from __future__ import annotations

from typing import Final

from risala.engine.model.features import Feature, elsewhere, later

_HERE: Final = "features.request_log."
_SERVICE: Final = _HERE + "service:"
FEATURE: Final = Feature(
    name="request_log",
    findable=later("features.request_log.operations:FOUND"),
    operations=(later(_HERE + "operations:OPERATIONS"),),
    views=("request.list", "request.show"),
    access=later(_SERVICE + "request_log"),
    tasks=later(_SERVICE + "tasks"),
    statistics=later(_SERVICE + "statistics"),
    live_metrics=later(_SERVICE + "metrics"),
    commands={"log": elsewhere("cli.commands.messaging.request_log:request_log")},
)

"""The composition root: the only place that sees every room and puts them together."""

from __future__ import annotations

from risala.app import lean

lean.import_structlog()

from risala.app.service import open_gateway, run_service  # noqa: E402 -- structlog comes first

__all__ = ["open_gateway", "run_service"]

"""The composition root: the only place that sees every room and puts them together."""

from __future__ import annotations

from risala.app.service import open_gateway, run_service

__all__ = ["open_gateway", "run_service"]

"""How a command refuses.

::

    CommandRefused  exit code 1 and one sentence on stderr; click's own UsageError is exit code 2

With ``--json`` the last line of stderr is an object in place of the sentence::

    {"code": "NOT_FOUND", "status": 404, "message": "There is no …", "data": {}}

``code``, ``status`` and ``data`` are those of the API's errors, for either way to the engine.
Refusals of the command itself have the code ``COMMAND_REFUSED`` and no status.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any, Final

import click

OWN_CODE: Final = "COMMAND_REFUSED"
"""For refusals by the command itself: a file that is in the way, a directory without data."""


class CommandRefused(click.ClickException):
    """The command was understood and cannot be done."""

    def __init__(
        self,
        message: str,
        *,
        code: str = OWN_CODE,
        status: int | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.data = dict(data or {})

    @classmethod
    def by_api(cls, error: Mapping[str, Any]) -> CommandRefused:
        """The refusal in an error of the API's shape. If it has several faults, the message has the
        sentence of each."""
        data = error.get("data", {})
        issues = data.get("issues", ())
        message = " ".join(str(issue["message"]) for issue in issues) or str(error["message"])
        return cls(message, code=str(error["code"]), status=error.get("status"), data=data)

    @classmethod
    def unavailable(cls, message: str, *, unknown: bool = False) -> CommandRefused:
        """No answer came; ``unknown``: it is not known whether the work was done."""
        data = {"code": "OUTCOME_UNKNOWN"} if unknown else {}
        return cls(message, code="SERVICE_UNAVAILABLE", status=503, data=data)

    def wire(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "status": self.status,
            "message": self.message,
            "data": self.data,
        }

    def show(self, file: IO[Any] | None = None) -> None:
        text = click.style(self.message, fg="red")
        click.echo(text, file=file, err=file is None, color=self.show_color)


class _RefusedInJson(click.ClickException):
    def __init__(self, refused: CommandRefused) -> None:
        super().__init__(refused.message)
        self._refused = refused

    def show(self, file: IO[Any] | None = None) -> None:
        text = json.dumps(self._refused.wire(), ensure_ascii=False)
        click.echo(text, file=file, err=file is None)


@contextmanager
def refusals(as_json: bool) -> Iterator[None]:
    """Refusals within are printed as JSON if requested."""
    try:
        yield
    except CommandRefused as refused:
        if not as_json:
            raise
        raise _RefusedInJson(refused) from refused

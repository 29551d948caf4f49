"""Answers of the public face: counted by status, for ``/metrics``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class AnswerTally:
    """Counts since the start. Answers that the server gave before the app (400, 431, 503) count
    too."""

    answers: Counter[int] = field(default_factory=Counter)
    """Answers by status."""
    failed_keys: int = 0
    """Requests with a key that is unknown, disabled or deleted."""
    failed_keys_delayed: int = 0
    """Of these, the requests whose 401 was delayed."""

    def counts(self) -> Mapping[int, int]:
        """Answers by status."""
        return self.answers

    def page(self) -> bytes:
        """The numbers as Prometheus reads them."""
        return "".join(self._lines()).encode()

    def _lines(self) -> Iterator[str]:
        name = "risala_http_responses_total"
        yield f"# HELP {name} Answers of the public address since the start.\n"
        yield f"# TYPE {name} counter\n"
        for status, count in sorted(self.answers.items()):
            yield f'{name}{{status="{status}"}} {count}.0\n'
        for name, text, count in (
            ("failed_keys", "Requests whose API key was not valid.", self.failed_keys),
            (
                "failed_keys_delayed",
                "Those of them whose 401 was delayed, because many came from one address.",
                self.failed_keys_delayed,
            ),
        ):
            name = f"risala_http_{name}_total"
            yield f"# HELP {name} {text}\n# TYPE {name} counter\n{name} {count}.0\n"

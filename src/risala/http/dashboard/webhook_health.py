"""How a webhook endpoint does: the strip of its days, its failures in words, and its deliveries
with those that failed alike as one row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from markupsafe import Markup

from risala.dataclass import dataclass
from risala.engine.model.records.webhooks import (
    ENDPOINT_DISABLED,
    DeliveryFailures,
    EndpointHealth,
    WebhookDelivery,
)
from risala.http.web.charts import Bar
from risala.http.web.languages import N_, Words
from risala.http.web.page_request import PageRequest

NO_ANSWERS: Final[Mapping[str, str]] = {
    "TIMEOUT": N_("Your server did not answer in time."),
    "BROKEN": N_("The connection was lost before your server answered."),
    "NOT_HTTP": N_("Your server did not answer in HTTP."),
    "NAME_UNKNOWN": N_("The name of your server was not found."),
    "NOT_CONNECTED": N_("There was no connection to your server."),
    "TLS": N_("There was no secure connection: look at the certificate of your server."),
    "URL_REFUSED": N_("This address must not be called. Enter another one."),
    "ADDRESS_REFUSED": N_("This address must not be called. Enter another one."),
    "TOO_LONG": N_("The answer of your server was too long."),
    "SECRET_LOST": N_("The signing secret cannot be read. Create a new one."),
    "BUSY": N_("The service itself could not send it."),
    "INTERNAL": N_("The service itself could not send it."),
}
"""Why no answer came, by the code with which the stored text begins."""
FOLDED_MIN: Final = 3
"""From this number on, deliveries in a row that failed alike are one row."""


def no_answer(words: Words, error: str | None) -> Markup | None:
    """Why no answer came, in the reader's language; None: no reason is stored, or no known one."""
    known = NO_ANSWERS.get((error or "").partition(":")[0])
    return None if known is None else words(known)


@dataclass(frozen=True, slots=True)
class FailureShown:
    """Deliveries that failed alike, as their reader sees them."""

    sentence: Markup
    status: int | None
    count: int
    first_at: object
    last_at: object
    event_id: str


def failure_sentence(words: Words, status: int | None, error: str | None) -> Markup:
    """Why deliveries failed, in words."""
    if error == ENDPOINT_DISABLED:
        return words("The endpoint was disabled first.")
    if status:
        return words("Your server answered {status}.", status=Markup("{}").format(status))
    return no_answer(words, error) or words("No answer came.")


def health_of(request: PageRequest, health: EndpointHealth) -> dict[str, object]:
    """The values of an endpoint's health: its days as bars, and its failures in words."""
    return {
        "days": strip_of(health),
        "day_counts": health.days[::-1],
        "day_names": [request.formats.date_text(each.at) for each in health.days],
        "failures": [_shown(request, each) for each in health.failures],
        "failed_since": health.failed_since,
        "failed_field": None
        if health.failed_since is None
        else request.formats.field_text(health.failed_since),
        "is_cut_short": any(each.delivered is None for each in health.days),
    }


def strip_of(health: EndpointHealth) -> list[Bar]:
    """A bar for each day: what arrived, and what failed."""
    return [Bar((each.delivered or 0, 0, 0, each.failed)) for each in health.days]


def _shown(request: PageRequest, failures: DeliveryFailures) -> FailureShown:
    return FailureShown(
        failure_sentence(request.words, failures.status, failures.error),
        failures.status,
        failures.count,
        failures.first_at,
        failures.last_at,
        failures.event_id,
    )


@dataclass(frozen=True, slots=True)
class DeliveryRun:
    """One delivery of the list, or several in a row that failed alike."""

    newest: WebhookDelivery
    oldest: WebhookDelivery
    count: int


def runs_of(deliveries: Sequence[WebhookDelivery], *, apart: bool) -> list[DeliveryRun]:
    """The rows of a list of deliveries.

    Args:
        apart: each delivery has a row of its own.
    """
    runs: list[list[WebhookDelivery]] = []
    for each in deliveries:
        if runs and not apart and _way(each) is not None and _way(each) == _way(runs[-1][-1]):
            runs[-1].append(each)
        else:
            runs.append([each])
    return [row for run in runs for row in _rows_of(run)]


def _rows_of(run: Sequence[WebhookDelivery]) -> Iterable[DeliveryRun]:
    if len(run) >= FOLDED_MIN:
        return [DeliveryRun(run[0], run[-1], len(run))]
    return [DeliveryRun(each, each, 1) for each in run]


def _way(delivery: WebhookDelivery) -> tuple[object, ...] | None:
    """How a delivery failed; None: it did not."""
    if delivery.state != "failed":
        return None
    cause = (delivery.error or "").partition(":")[0]
    return delivery.was_cut_short, delivery.status or cause

"""How webhook endpoints and deliveries look as JSON. Secrets and headers' values never do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from risala.engine.model.records.webhooks import Endpoint, WebhookDelivery
from risala.engine.model.times import iso, maybe_iso


def endpoint_wire(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "id": endpoint.id,
        "organizationId": endpoint.organization_id,
        "mode": endpoint.mode,
        "url": endpoint.url,
        "description": endpoint.description,
        "types": list(endpoint.types),
        "headers": dict.fromkeys(endpoint.headers, "***"),
        "notify": endpoint.notify,
        "enabled": endpoint.enabled,
        "disabledReason": endpoint.disabled_reason,
        "failingSince": maybe_iso(endpoint.failing_since),
        "oldSecretUntil": maybe_iso(endpoint.previous_until),
        "signatureHeader": endpoint.signature_header,
        "signatureKey": endpoint.signature_key,
        "createdAt": iso(endpoint.created_at),
        "updatedAt": iso(endpoint.updated_at),
    }


def delivery_wire(delivery: WebhookDelivery) -> dict[str, Any]:
    pending = delivery.state == "pending"
    return {
        "endpointId": delivery.endpoint_id,
        "eventId": delivery.event_id,
        "type": delivery.type,
        "state": delivery.state,
        "attempts": delivery.attempts,
        "nextAttemptAt": iso(delivery.due_at) if pending else None,
        "status": delivery.status,
        "error": delivery.error,
        "excerpt": delivery.excerpt,
        "createdAt": iso(delivery.created_at),
        "updatedAt": iso(delivery.updated_at),
        "deliveredAt": maybe_iso(delivery.delivered_at),
    }


def attempt_wire(row: Sequence[Any]) -> dict[str, Any]:
    """One attempt as JSON. One without an end is under way, or was cut short by a stop or crash."""
    number, started_at, ended_at, status, error, excerpt = row
    return {
        "number": number,
        "startedAt": iso(started_at),
        "endedAt": maybe_iso(ended_at),
        "status": status,
        "error": error,
        "excerpt": excerpt,
    }

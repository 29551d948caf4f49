"""Requests of identity servers: a code for somebody who signs in."""

from __future__ import annotations

from programs.program import Program, as_json, member
from risala.engine.rules.hooks.answers import HookAnswer
from risala.engine.rules.hooks.hook_request import HookMessage
from risala.engine.rules.hooks.proofs import HookProof


def gotrue_takes(answer: HookAnswer) -> bool:
    """hookshttp.go: 204; or 200 and 202 with the media type `application/json`, unless the body
    has an `error` with a `message` (hookserrors.go)."""
    if answer.status == 204:
        return True
    is_json = (answer.content_type or "").partition(";")[0] == "application/json"
    return answer.status in (200, 202) and is_json and not member(answer, "error", "message")


def gotrue_tries_again(answer: HookAnswer) -> bool:
    """hookshttp.go: 429 and 503 with `retry-after`, at once and three times in all."""
    return answer.status in (429, 503) and bool(answer.headers.get("Retry-After"))


GOTRUE_SOURCE = "supabase/auth v2.196.0, internal/hooks/hookshttp/hookshttp.go, v0hooks/v0hooks.go"
GOTRUE_USER = {
    "id": "8484b834-f29e-4af2-bf42-80644d154f76",
    "aud": "authenticated",
    "role": "authenticated",
    "email": "",
    "phone": "22236123456",
    "app_metadata": {"provider": "phone", "providers": ["phone"]},
    "user_metadata": {},
    "identities": [],
    "created_at": "2026-11-27T08:00:00.000000Z",
    "updated_at": "2026-11-27T08:00:00.000000Z",
    "is_anonymous": False,
}
GOTRUE_HEADERS = {"accept-encoding": "identity", "user-agent": "Go-http-client/1.1"}
METADATA = {
    "uuid": "3a2f1a62-65b5-4c7c-9a47-dd06ed0f1ee2",
    "time": "2026-11-27T08:00:00.12345Z",
    "name": "send-sms",
    "ip_address": "203.0.113.7",
}
SUPABASE = Program(
    preset="supabase-auth",
    source=GOTRUE_SOURCE,
    proof=HookProof.STANDARD_WEBHOOKS,
    headers=GOTRUE_HEADERS,
    body=as_json(
        {
            "metadata": METADATA,
            "user": GOTRUE_USER,
            "sms": {"otp": "561166", "phone": "22236123456"},
        }
    ),
    reads=(HookMessage("22236123456", None, "561166", once=METADATA["uuid"]),),
    takes=gotrue_takes,
    tries_again=gotrue_tries_again,
)
SUPABASE_CHANGE = Program(  # of somebody who changes the number: the code goes to the new one
    preset="supabase-auth",
    source=GOTRUE_SOURCE,
    proof=HookProof.STANDARD_WEBHOOKS,
    headers=GOTRUE_HEADERS,
    body=as_json(
        {
            "metadata": METADATA,
            "user": {**GOTRUE_USER, "new_phone": "22246123456"},
            "sms": {"otp": "012345", "phone": "22246123456"},
        }
    ),
    reads=(HookMessage("22246123456", None, "012345", once=METADATA["uuid"]),),
    takes=gotrue_takes,
    tries_again=gotrue_tries_again,
)
SUPABASE_OLD = Program(
    preset="supabase-auth",
    source="supabase/auth v2.151.0, internal/hooks/auth_hooks.go: no metadata, no `sms.phone`",
    proof=HookProof.STANDARD_WEBHOOKS,
    headers=GOTRUE_HEADERS,
    body=as_json({"user": GOTRUE_USER, "sms": {"otp": "561166"}}),
    reads=(HookMessage("22236123456", None, "561166"),),
    takes=gotrue_takes,
    tries_again=gotrue_tries_again,
)
PROGRAMS = (SUPABASE, SUPABASE_CHANGE, SUPABASE_OLD)

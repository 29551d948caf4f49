"""A small real gateway, and the app served to it: in memory, and by Hypercorn on loopback."""

import json
from collections.abc import AsyncIterator, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import trio

from fresh_files import fresh_files  # noqa: F401 -- a fixture of all below
from risala.config.model import HttpSection, Settings
from risala.engine.model.callers import Caller
from risala.engine.model.commands import (
    NOTHING_BESIDE,
    RESENDING,
    STARTING,
    AddressUse,
    Principal,
    Readiness,
    SendCode,
    SendMessage,
)
from risala.engine.model.errors import (
    EngineError,
    FieldFault,
    Forbidden,
    Invalid,
    NotFound,
    Refusal,
    Unauthorized,
)
from risala.engine.model.records.asks import Ask, FeatureAccess, Versioned
from risala.engine.model.records.keys import KeyType
from risala.engine.model.records.messages import MessageView
from risala.engine.model.records.record import from_json
from risala.engine.model.records.verify.sessions import Method, StartedReverse, VerificationView
from risala.engine.model.states import Mode, SessionState
from risala.http.api.app import create_api
from risala.http.server.server import serve_app
from risala.http.server.sockets import base_url, listen_tcp

SECRET = "sk_live_" + "a" * 32
PUBLISHABLE = "pk_live_" + "b" * 32
SUSPENDED = "sk_live_" + "c" * 32
TEST = "sk_test_" + "d" * 32
BOUND = "pk_live_" + "e" * 32
"""For pages of ``https://app.example`` alone."""
AT_MS = 1_767_225_600_123


@dataclass
class FakeGateway:
    """Accepts what is asked, unless it was told to refuse."""

    accepted: list[SendMessage] = field(default_factory=list)
    refuse: EngineError | Exception | None = None
    ready: Readiness = field(default_factory=lambda: Readiness(True, ()))
    refuse_bodies: dict[str, Refusal] = field(default_factory=dict)
    authentications: int = 0
    batches: int = 0
    operations: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    callers: list[Caller] = field(default_factory=list)
    uploads: list[tuple[str, str, bytes]] = field(default_factory=list)
    """Organization, name and content of each file."""

    def authenticate(self, api_key: str, address: str | None = None) -> Principal:
        self.authentications += 1
        if api_key == SUSPENDED:
            raise Forbidden("The organization is suspended.")
        holders = {
            SECRET: (KeyType.SECRET, Mode.LIVE),
            PUBLISHABLE: (KeyType.PUBLISHABLE, Mode.LIVE),
            TEST: (KeyType.SECRET, Mode.TEST),
            BOUND: (KeyType.PUBLISHABLE, Mode.LIVE, ("https://app.example",)),
        }
        if api_key not in holders:
            raise Unauthorized
        return Principal("org_1", "key_1", *holders[api_key])

    async def take_address(self, use: AddressUse, bucket: Hashable) -> None:
        await trio.lowlevel.checkpoint()

    async def send_message(self, principal: Principal, command: SendMessage) -> bytes:
        await trio.lowlevel.checkpoint()
        if self.refuse is not None:
            raise self.refuse
        self.accepted.append(command)
        return json.dumps(
            {
                "accepted": True,
                "messageId": f"sms_{len(self.accepted)}",
                "idempotencyKey": command.idempotency_key or "generated",
                "organizationId": principal.organization_id,
                "from": command.sender or "RISALA",
            }
        ).encode()

    async def send_together(
        self, principal: Principal, commands: Sequence[SendMessage]
    ) -> list[bytes | Exception] | None:
        """Each by itself."""
        answers: list[bytes | Exception] = []
        for command in commands:
            try:
                answers.append(await self.send_message(principal, command))
            except Exception as error:  # noqa: BLE001 -- what a caller alone would meet
                answers.append(error)
        return answers

    async def send_batch(
        self, principal: Principal, commands: Sequence[SendMessage]
    ) -> list[bytes | Refusal]:
        """Each by itself; `refuse_bodies` says which text is refused and how."""
        if self.refuse is not None:
            raise self.refuse
        self.batches += 1
        results: list[bytes | Refusal] = []
        for command in commands:
            refusal = self.refuse_bodies.get(command.body)
            results.append(refusal or await self.send_message(principal, command))
        return results

    def get_message(self, principal: Principal, message_id: str) -> MessageView:
        if self.refuse is not None:
            raise self.refuse
        if message_id != "sms_1":
            raise NotFound("There is no such message.")
        return MessageView(
            "sms_1", principal.organization_id, Mode.LIVE, "message", "+22236123456", "RISALA",
            "سلام", "sent", 1, "ucs2", 50, "MRU", 1, "mattel", "7f", None, None, {"a": "b"},
            None, AT_MS, None, AT_MS, AT_MS,
        )  # fmt: skip

    def is_lean(self, principal: Principal) -> bool:
        return False

    is_self_paid = False

    async def send_code(self, principal: Principal, command: SendCode) -> str:
        if self.refuse is not None:
            raise self.refuse
        return "ver_1"

    def code_faults(
        self,
        principal: Principal,
        locale: str | None,
        app_hash: str | None,
        origin: str | None,
    ) -> list[FieldFault]:
        return [] if origin is None else [FieldFault("origin", "not_registered", "No such one.")]

    async def check_code(
        self,
        principal: Principal,
        verification_id: str,
        code: str | None,
        beside: Mapping[str, Any] = NOTHING_BESIDE,
    ) -> bool:
        if verification_id != "ver_1":
            raise NotFound("There is no such verification.")
        return code == "000000"

    def access(self, of: FeatureAccess[Any]) -> Any:
        assert of in (RESENDING, STARTING)
        return self

    async def start(
        self, principal: Principal, method: Method, to: str | None, locale: str | None
    ) -> StartedReverse:
        await trio.lowlevel.checkpoint()
        if self.refuse is not None:
            raise self.refuse
        raise NotFound("This service does not do that.")

    async def resend(self, principal: Principal, verification_id: str, channel: str | None) -> None:
        await trio.lowlevel.checkpoint()
        if self.refuse is not None:
            raise self.refuse
        self.get_verification(principal, verification_id)

    async def show_verification(self, principal: Principal, verification_id: str):
        return self.get_verification(principal, verification_id)

    def get_verification(self, principal: Principal, verification_id: str) -> VerificationView:
        if verification_id != "ver_1":
            raise NotFound("There is no such verification.")
        return VerificationView(
            "ver_1", "+22236123456", SessionState.PENDING, 0, AT_MS, AT_MS, AT_MS,
            "org_1", Mode.LIVE, None, 5, "sms_1",
        )  # fmt: skip

    def readiness(self) -> Readiness:
        return self.ready

    def endpoint_faults(self, members: Mapping[str, object]) -> Sequence[FieldFault]:
        return ()

    async def perform(self, name: str, arguments: dict[str, Any], caller: Caller) -> dict[str, Any]:
        await trio.lowlevel.checkpoint()
        if self.refuse is not None:
            raise self.refuse
        if name != "echo":
            raise Invalid("operation", "unknown_operation", "There is no such operation.")
        self.operations.append((name, arguments))
        self.callers.append(caller)
        return {"echo": arguments}

    async def receive_upload(
        self, organization_id: str, chunks: AsyncIterator[bytes], name: str, caller: Caller
    ) -> str:
        if self.refuse is not None:
            raise self.refuse
        self.uploads.append((organization_id, name, b"".join([each async for each in chunks])))
        self.callers.append(caller)
        return f"upl_{len(self.uploads)}"

    async def ask(self, ask: Ask[Any], arguments: dict[str, Any], caller: Caller) -> Versioned[Any]:
        return Versioned(
            from_json(ask.result, await self.perform(ask.name, arguments, caller)), None
        )


@pytest.fixture
def gateway() -> FakeGateway:
    return FakeGateway()


@pytest.fixture
def settings() -> Settings:
    """No limit that a slow machine could reach; who wants one has the mock clock, or its own."""
    return Settings(http=HttpSection(body_timeout_s=300, graceful_stop_s=1, port=0))


@pytest.fixture
def client(gateway: FakeGateway, settings: Settings):
    return create_api(gateway, settings).test_client()


@pytest.fixture
def headers() -> dict[str, str]:
    return {"x-api-key": SECRET, "content-type": "application/json"}


@pytest.fixture
def keys() -> dict[str, str]:
    return {"secret": SECRET, "publishable": PUBLISHABLE, "suspended": SUSPENDED}


@pytest.fixture
async def served(gateway: FakeGateway, settings: Settings) -> AsyncIterator[str]:
    """The base URL of the API on a real socket; stopped in order at the end."""
    sock = listen_tcp("127.0.0.1", 0)
    url = base_url(sock)
    shutdown = trio.Event()
    app = create_api(gateway, settings)

    async def serve(*, task_status: trio.TaskStatus[None]) -> None:
        await serve_app(app, settings.http, sock=sock, shutdown=shutdown, task_status=task_status)

    async with trio.open_nursery() as nursery:
        await nursery.start(serve)
        yield url
        shutdown.set()

"""A whole engine against a ten-line model of a session."""

from __future__ import annotations

import tempfile
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import examples
from risala.config.model import CarrierSection, Settings, StorageSection
from risala.engine.journal.store.server_key import ServerKeys
from risala.engine.model.clock import TrioClock
from risala.engine.model.commands import Principal, SendCode
from risala.engine.model.errors import RateLimited
from risala.engine.model.ids import IdSource
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode
from risala.engine.rules.keyring import Codes
from risala.engine.wiring.engine import open_engine
from risala.engine.wiring.foundation import Seams
from risala.plugins.testing.fake_driver import FakeDriver


class Model:
    """What a session is, in ten lines."""

    def __init__(self, now_s: float) -> None:
        self.status, self.attempts, self.ends_s = "pending", 0, now_s + 600

    def look(self, now_s: float) -> str:
        if self.status == "pending" and now_s >= self.ends_s:
            self.status = "expired"
        return self.status

    def check(self, right: bool, now_s: float) -> bool:
        if self.look(now_s) != "pending":
            return False
        self.attempts += not right
        self.status = "approved" if right else "canceled" if self.attempts == 5 else "pending"
        return right


STEPS = st.one_of(
    st.tuples(st.just("send"), st.just(0)),
    st.tuples(st.sampled_from(["right", "wrong"]), st.integers(0, 3)),
    st.tuples(st.just("wait"), st.sampled_from([1, 59, 299, 600, 3000])),
    st.tuples(st.just("restart"), st.just(0)),
)


class World:
    """A real engine beside the model, on the same clock."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.clock = TrioClock()
        self.models: dict[str, Model] = {}
        self.sent_s: list[float] = []
        self.principal = Principal("", "key", KeyType.PUBLISHABLE, Mode.LIVE)

    @asynccontextmanager
    async def engine(self):
        carrier = CarrierSection(name="fake", driver="fake")
        seams = Seams(self.clock, IdSource(self.clock), inline_journal=True)
        config = Settings(storage=StorageSection(data_dir=self.directory))
        async with open_engine(config, [carrier], {"fake": FakeDriver()}, seams) as engine:
            if not self.principal.organization_id:
                organization = await engine.gateway.perform("org.create", {"name": "x"})
                await engine.gateway.perform(
                    "topup", {"organization_id": organization["id"], "amount": "1000"}
                )
                self.principal = Principal(
                    organization["id"], "key", KeyType.PUBLISHABLE, Mode.LIVE
                )
            yield engine.gateway

    async def step(self, gateway, name: str, value: int) -> None:
        if name == "send":
            await self.send(gateway)
        elif name == "wait":
            await trio.sleep(value)
        elif self.models:
            await self.check(gateway, name == "right", value)

    async def send(self, gateway) -> None:
        now_s = trio.current_time()
        allowed = sum(at > now_s - 3600 for at in self.sent_s) < 5
        try:
            verification_id = await gateway.send_code(self.principal, SendCode("+22236123456"))
        except RateLimited:
            assert not allowed
        else:
            assert allowed
            self.sent_s.append(now_s)
            self.models[verification_id] = Model(now_s)

    async def check(self, gateway, right: bool, which: int) -> None:
        verification_id = list(self.models)[which % len(self.models)]
        code = Codes(ServerKeys(self.directory).ring).code(verification_id, 6, test=False)
        guess = code if right else "guess"
        approved = await gateway.check_code(self.principal, verification_id, guess)
        model = self.models[verification_id]
        assert approved == model.check(right, trio.current_time())

    def agree(self, gateway) -> None:
        for verification_id, model in self.models.items():
            view = gateway.get_verification(self.principal, verification_id)
            assert view.status == model.look(trio.current_time())
            assert view.attempts == model.attempts


async def play(steps: list[tuple[str, int]], directory: Path) -> None:
    world = World(directory)
    rest = list(steps)
    while True:
        async with world.engine() as gateway:
            world.agree(gateway)
            while rest:
                name, value = rest.pop(0)
                if name == "restart":
                    break
                await world.step(gateway, name, value)
                world.agree(gateway)
            else:
                report = await gateway.perform("audit", {})
                assert report["clean"], report["faults"]
                return


@pytest.mark.slow
@settings(max_examples=examples(25), deadline=None)
@given(st.lists(STEPS, max_size=25))
def test_the_engine_never_disagrees_with_the_model(steps):
    with tempfile.TemporaryDirectory() as directory:
        clock = trio.testing.MockClock(autojump_threshold=0)
        trio.run(play, steps, Path(directory), clock=clock)

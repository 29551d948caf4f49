"""Accepting with a second machine: alone, with a copy behind, and with answers that wait for it."""

from __future__ import annotations

from contextlib import ExitStack

from benchmarks import processes
from benchmarks.measure import Goal, Line, Round, Scenario
from benchmarks.postgresql import synchronous_pair
from benchmarks.stand import ONE, Data, Stand, new_data
from benchmarks.trees import Tree

MODES = ("async", "before_answer")
CONNECTIONS = (1, 64, 256)
DISTANCES_MS = (1, 5)
"""What a round trip to PostgreSQL takes longer, as between two machines; with ``before_answer``."""
_ADDRESS = "RISALA_BENCH_STANDBY"
_SETTINGS = """
[standby]
copy = "postgresql"
lease = "postgresql"
replicate = "{mode}"
[standby.postgresql]
url_env = "{address}"
installation = "{installation}"
"""


def _far(stand: Stand, url: str, distance_ms: int) -> str:
    """The same server's address, so much farther away."""
    head, _, tail = url.rpartition(":")
    to, _, database = tail.partition("/")
    port = processes.free_port()
    way = ("-m", "benchmarks.distance", str(port), to, str(distance_ms))
    stand.stack.enter_context(processes.process(*way, port=port))
    return f"{head}:{port}/{database}"


def _service(stand: Stand, tree: Tree, mode: str, distance_ms: int) -> Data:
    """A service with a standby's copy in PostgreSQL."""

    def make() -> Data:
        url = stand.once("postgresql", lambda: synchronous_pair(stand.stack))
        assert isinstance(url, str)
        if distance_ms:
            url = _far(stand, url, distance_ms)
        data = new_data(stand.stack, tree)
        installation = f"{mode}-{data.port}".replace("_", "-")
        data.configure(
            more=_SETTINGS.format(mode=mode, address=_ADDRESS, installation=installation)
        )
        (data.path / "secrets").write_text(f"{_ADDRESS}='{url}'\n", encoding="utf-8")
        (data.path / "secrets").chmod(0o600)
        data.risala("standby", "init", "--config", str(data.path / "risala.toml"))
        data.serve(stand.stack, **{_ADDRESS: url})
        data.wait_accepts()  # until then it answers 503, from another listener
        return data

    data = stand.once(("standby", tree, mode, distance_ms), make)
    assert isinstance(data, Data)
    return data


def _accept(connections: int, mode: str | None, distance_ms: int = 0) -> Scenario:
    between = f", {distance_ms} ms between" if distance_ms else ""
    name = f"accept {connections}, {mode or 'alone'}{between}"

    def start(stand: Stand, tree: Tree, _stack: ExitStack) -> Round:
        if mode is None:
            data = stand.service(tree, more=_ALONE)
        else:
            data = _service(stand, tree, mode, distance_ms)

        def measure() -> dict[str, float]:
            found = data.post("/api/sms", [ONE], connections=connections, seconds=stand.seconds)
            return {
                name: found["per_s"],
                f"{name} p50": found["p50_ms"],
                f"{name} p99": found["p99_ms"],
            }

        return measure

    goals: tuple[Goal, ...] = ()
    late: tuple[Goal, ...] = ()
    if mode == "before_answer" and connections in _GOALS and not distance_ms:
        goals = (Goal(_GOALS[connections], f"accept {connections}, alone"),)
        late = (Goal(50, most=True),) if connections == max(CONNECTIONS) else ()
    against = None if mode is None else f"accept {connections}, alone"
    lines = (
        Line(name, "/s", goals, against),
        Line(f"{name} p50", "ms"),
        Line(f"{name} p99", "ms", late),
    )
    return Scenario(name, lines, start)


_GOALS = {1: 0.35, 64: 0.6, max(CONNECTIONS): 0.5}
"""Of what a service alone accepts, by connections: answers wait for PostgreSQL."""
_ALONE = "\n# alone\n"
"""A service of its own, so that all three have the same before them."""

SCENARIOS = (
    *(_accept(connections, mode) for connections in CONNECTIONS for mode in (None, *MODES)),
    *(
        _accept(connections, "before_answer", distance_ms)
        for connections in CONNECTIONS
        for distance_ms in DISTANCES_MS
    ),
)

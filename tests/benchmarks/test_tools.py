"""The load, the carrier and the picture do what they say; what they measure is not tried here."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
from xml.etree import ElementTree

import pytest
from benchmarks import carrier, load, machine, picture, processes, sender
from benchmarks.trees import HERE, tree_of

from patience import until

_ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nx: y\r\n\r\nhello"


def test_an_answer_is_taken_when_it_is_whole():
    for cut in range(len(_ANSWER)):
        assert load.answer_of(_ANSWER[:cut]) is None
    assert load.answer_of(_ANSWER + b"HTTP/1.1") == ((200, b"hello"), len(_ANSWER))


def test_an_answer_without_a_length_is_said():
    with pytest.raises(ValueError, match="Content-Length"):
        load.answer_of(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")


@pytest.fixture
def server():
    """Answers each request with its number, the third with 503."""
    listener = socket.create_server(("127.0.0.1", 0))
    seen = []

    def serve() -> None:
        while True:
            try:
                connection = listener.accept()[0]
            except OSError:
                return
            with connection:
                while connection.recv(65536):
                    seen.append(1)
                    status = b"503 No" if len(seen) == 3 else b"200 OK"
                    connection.sendall(_ANSWER.replace(b"200 OK", status))

    thread = threading.Thread(target=serve)
    thread.start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


def test_a_load_counts_what_was_asked_and_what_was_refused(server):
    job = {"flow": "same", "method": "POST", "path": "/", "headers": {}, "bodies": ["{}"]}
    found = load.run({**job, "port": server, "connections": 1, "requests": 5})
    assert found["refused"] == 1
    assert found["example"].startswith("503")
    assert found["per_s"] * found["elapsed_s"] == pytest.approx(5)


def test_the_destination_of_a_submit_is_read():
    assert carrier.destination_of(sender.BODY) == b"22236123456"


def _sent(found):
    return found if found["submits_per_s"] else None


@pytest.mark.slow
def test_the_carrier_brings_a_receipt_for_each_message_of_the_sender():
    port, stats = (processes.free_port() for _ in range(2))
    command = [HERE.python, "-m", "benchmarks.carrier", str(port), str(stats), "2223"]
    with subprocess.Popen(command, env=HERE.environment()) as running:
        try:
            processes.wait_port(stats)
            # A machine that does other things too may send none in so short a time.
            found = until(lambda: _sent(sender.run(port, 0.05)), "something was sent")
            counts = carrier.counts_of(stats)
        finally:
            running.terminate()
    assert found["receipts_per_s"] == pytest.approx(found["submits_per_s"])
    assert counts.submits == counts.receipts > 0
    assert list(counts.watched) == ["22236123456"]


def test_a_chart_is_a_drawing_with_each_line_and_its_name():
    text = picture.chart("Cost & size", "rows", "x", {"a<b": [(10, 1), (1e6, 2)], "c": [(10, 2)]})
    drawn = ElementTree.fromstring(text)
    words = [each.text for each in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"Cost & size", "a<b", "c", "10", "1M"} <= set(words)
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}polyline"))) == 2


@pytest.mark.parametrize("high", [0.03, 0.9, 1.0, 1.15, 7, 95, 1234, 1e6])
def test_an_axis_has_a_few_round_marks_and_holds_the_highest_value(high):
    marks = picture.ticks(high)
    assert 4 <= len(marks) <= 10
    assert marks[0] == 0
    assert marks[-1] >= high


def test_our_own_work_is_not_counted_as_others():
    watch = machine.Others()
    assert watch.cores() <= (os.cpu_count() or 1) * 100


def test_a_tree_is_a_directory_or_a_commit(tmp_path):
    (tmp_path / "tree" / "src" / "risala").mkdir(parents=True)
    found = tree_of(str(tmp_path / "tree"), tmp_path)
    assert found.src == tmp_path / "tree" / "src"
    assert found.environment()["PYTHONPATH"].startswith(str(found.src))
    with pytest.raises(SystemExit, match="neither a directory"):
        tree_of("no-such-commit", tmp_path)


def test_a_module_is_run_with_the_trees_packages_first():
    done = subprocess.run(
        [HERE.python, "-c", "import json, sys; print(json.dumps(sys.path))"],
        env=HERE.environment(),
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout)[0] == str(HERE.src)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["actors", "codec", "smpp", "webhooks"])
def test_a_part_finds_what_it_measures(name):
    """A part whose names are gone is left out of a run, as one of an older tree is."""
    assert processes.imports(f"benchmarks.{name}", HERE)

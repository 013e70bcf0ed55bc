"""Which node a model that takes too long is at: what runs it tells, and lines say it."""

from __future__ import annotations

from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import onnx
import pytest

from graphfix.proving import models
from graphfix.proving.models import compare_files
from graphfix.proving.runners.evaluators import GivenEvaluators
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.runners.node_at_work import StillAtWork, WatchedEngine
from graphfix.proving.runners.profiled_engine import at_work
from graphfix.proving.whole.options import ComparisonOptions
from graphfix.report import Verdict
from graphfix.worker.messages import out_of_memory

ENDLESS = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[4] x) => (float[4] y) {
    a = Relu (x)
    n = Constant <value = int64 {9000000000000000000}> ()
    c = Constant <value = bool {1}> ()
    [rounds] l = Loop (n, c, a) <body = b (int64 i, bool go, float[4] s) => (bool on, float[4] t) {
        on = Identity (go)
        t = Sin (s)
    }>
    y = Abs (l)
}
"""
# A run is ended after its node: this one continues for some 2 s next to the tests that follow.
SLOW = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 1, 450, 450] x) => (float[1, 1, h, w] y) {
    a = Relu (x)
    b = AveragePool <kernel_shape = [225, 225]> (a)
    y = Abs (b)
}
"""


@pytest.mark.parametrize(
    ("text", "shape", "node"),
    [
        (ENDLESS, (4,), "Loop 'rounds' (node 3)"),
        (SLOW, (1, 1, 450, 450), "AveragePool 'b' (node 1)"),
    ],
)
def test_a_run_that_is_not_over_in_time_names_the_node_it_is_at(
    text: str, shape: tuple[int, ...], node: str, tmp_path: Path
) -> None:
    engine = WatchedEngine(RunnableModel(onnx.parser.parse_model(text)), tmp_path, 0.3)
    with pytest.raises(StillAtWork) as caught:
        engine.run({"x": np.ones(shape, np.float32)})
    assert caught.value.at == node


IN_REFERENCE = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[4] x) => (float[4] y) {
    a = Relu (x)
    n = Constant <value = int64 {40000}> ()
    c = Constant <value = bool {1}> ()
    [rounds] l = Loop (n, c, a) <body = b (int64 i, bool go, float[4] s) => (bool on, float[4] t) {
        on = Identity (go)
        p = Constant <value = float[4] {1, 0, 1, 0}> ()
        r = Bernoulli (p)
        t = Add (s, r)
    }>
    y = Abs (l)
}
"""
LONG = ENDLESS.replace("9000000000000000000", "6000000")
IN_PIECES = LONG.replace("a = Relu (x)", "q = Sigmoid (x) a = Bernoulli (q)")


@pytest.mark.parametrize(
    ("text", "engine", "node", "seconds"),
    [
        (IN_REFERENCE, "onnx.reference", "Loop 'rounds' (node 3)", 1.0),
        # The pieces are loaded within this time, and while one is, no node of it is at work.
        (IN_PIECES, "onnxruntime and numpy", "Loop 'rounds' (node 4)", 3.0),
    ],
)
def test_what_onnxruntime_does_not_run_alone_names_the_node_too(
    text: str, engine: str, node: str, seconds: float, tmp_path: Path
) -> None:
    watched = WatchedEngine(RunnableModel(onnx.parser.parse_model(text)), tmp_path, seconds)
    assert watched.name == engine
    with pytest.raises(StillAtWork) as caught:
        watched.run({"x": np.ones(4, np.float32)})
    assert caught.value.at == node


def test_an_operator_with_a_numpy_model_is_named(tmp_path: Path) -> None:
    text = """
    <ir_version: 8, opset_import: ["" : 17, "acme": 1]>
    g (float[4] x) => (float[4] y) {
        a = Relu (x)
        b = acme.Nap (a)
        y = Abs (b)
    }
    """

    def nap(inputs: list[Any], attributes: dict[str, object]) -> tuple[Any, ...]:
        sleep(3)
        return (inputs[0],)

    model = RunnableModel(
        onnx.parser.parse_model(text), evaluators=GivenEvaluators({("acme", "Nap"): nap})
    )
    watched = WatchedEngine(model, tmp_path, 1.0)
    with pytest.raises(StillAtWork) as caught:
        watched.run({"x": np.ones(4, np.float32)})
    assert caught.value.at == "Nap 'b' (node 1)"


def test_a_run_that_is_over_in_time_gives_its_outputs(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(ENDLESS.replace("9000000000000000000", "3"))
    x = np.array([0.1, -1, 2, 3], np.float32)
    (y,) = WatchedEngine(RunnableModel(model), tmp_path, 60.0).run({"x": x}).values()
    assert isinstance(y, np.ndarray)
    np.testing.assert_allclose(y, np.abs(np.sin(np.sin(np.sin(np.maximum(x, 0))))), rtol=1e-6)


def test_what_was_written_out_as_other_nodes_is_done_where_a_reader_is() -> None:
    graph = onnx.parser.parse_model(ENDLESS).graph
    assert at_work(graph, {0}) == [3]
    assert at_work(graph, {3}) == [4]  # the Relu before the Loop has no event of its own
    assert at_work(graph, set()) == [0]


def test_a_comparison_that_runs_out_of_time_says_at_which_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "_FINDING", 20.0)  # a busy machine takes long to start a look
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(ENDLESS).SerializeToString())
    said = compare_files(path, path, ComparisonOptions(timeout=1.0))
    assert said.status is Verdict.INCONCLUSIVE
    assert said.reason == "stopped at Loop 'rounds' (node 3): took longer than 1 s"


def test_memory_that_runs_out_in_onnxruntime_is_said_with_the_node(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    text = """
    <ir_version: 8, opset_import: ["" : 17]>
    g (float[40000, 1] x) => (float[40000, 40000] y) {
        s = Constant <value = int64[2] {1, 40000}> ()
        [wide] y = Expand (x, s)
    }
    """
    path.write_bytes(onnx.parser.parse_model(text).SerializeToString())
    said = compare_files(path, path, ComparisonOptions(memory_limit=1 << 30))
    assert (said.status, said.reason) == (
        Verdict.INCONCLUSIVE,
        "ran out of memory at Expand 'wide': it needs about 7.6 GiB; --max-memory 9GiB gives more",
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "Non-zero status code returned while running Loop node. Name:'l' Status Message: "
            "Non-zero status code returned while running Tile node. Name:'t' : std::bad_alloc",
            "ran out of memory at Loop 'l'",
        ),
        ("while running Tile node. Name:'' Status Message: bad_alloc", "ran out of memory at Tile"),
        ("std::bad_alloc", "ran out of memory"),
    ],
)
def test_the_node_of_the_main_graph_is_named_for_memory(text: str, said: str) -> None:
    assert out_of_memory(text) == said

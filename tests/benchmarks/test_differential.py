"""The generator and the judge of `benchmarks/differential/`, and a hundred models of it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from benchmarks.differential import __main__ as differential
from benchmarks.differential import draws, exemptions, judge, scope, table

GRAPHS = (0, 3, 6, 9, 12, 15, 18, 24, 27, 33)
FAMILIES = tuple(i for i in range(1, 136) if i % 3)
JOBS = ("trt7.0", "trt8.6", "trt10.10", "ort-1.10", "opset 17", "opset 11")
CHUNKS = 10


def _model(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(text)


def _judged(one: str, two: str, **inputs: Any) -> Any:
    original, result = _model(one), _model(two)
    given = [
        scope.Input(
            value.name,
            value.type.tensor_type.elem_type,
            tuple(d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim),
            inputs.get(value.name, ()),
        )
        for value in original.graph.input
    ]
    return judge.judge(original, result, judge.samples_of(original, given))


def test_the_judge_sees_that_two_free_sizes_were_swapped() -> None:
    head = '<ir_version: 8, opset_import: ["": 17]> g (float[B,2,H,W] x) => (float[B,2,N,M] y)'
    one = head + "{ y = Identity (x) }"
    two = head + "{ s = Shape (x) i = Constant <value_ints = [0, 1, 3, 2]> ()"
    two += " t = Gather (s, i) y = Reshape (x, t) }"
    found = _judged(one, two)
    assert found.status == "differs"
    assert "float32[" in found.text


def test_the_judge_sees_a_result_that_raises_on_a_side_of_0() -> None:
    head = '<ir_version: 8, opset_import: ["": 13]> g (float[B,W] x) => (float[B,W] y)'
    one = head + "{ y = Identity (x) }"
    two = head + "{ s = Constant <value_ints = [1, 0, -1]> () a = Unsqueeze (x, z)"
    two += " z = Constant <value_ints = [0]> () b = Reshape (a, s) y = Squeeze (b, z) }"
    two = two.replace("a = Unsqueeze (x, z) z = Constant <value_ints = [0]> ()",
                      "z = Constant <value_ints = [0]> () a = Unsqueeze (x, z)")  # fmt: skip
    found = _judged(one, two)
    assert (found.status, 0 in found.draw.sizes.values()) == ("raises", True)


def test_the_judge_sees_integers_that_went_through_float64() -> None:
    head = '<ir_version: 8, opset_import: ["": 17]> g (int64[3,4] x) => (int64[3,4] y)'
    one = head + "{ y = Identity (x) }"
    two = head + "{ a = Cast <to = 11> (x) y = Cast <to = 7> (a) }"
    assert _judged(one, two).status == "differs"


def test_the_judge_sees_a_parameter_at_its_extreme() -> None:
    head = '<ir_version: 8, opset_import: ["": 17]> g (float[3,4] x, int64 k) => (float[3,4] y)'
    one = head + "{ y = Trilu (x, k) }"
    two = head + "{ m = Constant <value_int = 9> () n = Min (k, m) y = Trilu (x, n)}"
    three = head + "{ m = Constant <value_int = 3> () n = Max (k, m) y = Trilu (x, n)}"
    values = {"k": tuple(np.array(v, np.int64) for v in (3, -2, 2**63 - 1))}
    assert _judged(one, two, **values).status == "equal"
    assert _judged(one, three, **values).status == "differs"


def test_the_judge_allows_rounding_and_nothing_more() -> None:
    difference = judge.difference
    one = np.array([1.0, -3.0, 0.25], np.float32)
    near, far = one * np.float32(1 + 2**-22), one * np.float32(1.001)
    assert difference(one, near, [one]) == ""
    assert "tolerances" in difference(one, far, [one])
    assert "NaN" in difference(one, np.array([1.0, np.nan, 0.25], np.float32), [one])
    assert difference(one, one.astype(np.float64), []) == "float64[3] for float32[3]"


def test_the_judge_leaves_out_what_a_unit_in_the_last_place_turns() -> None:
    difference = judge.difference
    one, two = np.array([1, 2]), np.array([1, 3])
    assert difference(one, two, [one]) == "1 of 2: [2] became [3]"
    assert difference(one, two, [two]) == ""


def test_onnxruntime_overlooks_a_condition_beyond_the_axis() -> None:
    """The exemption is real: the original runs though the standard does not allow it."""
    one = _model(
        '<ir_version: 8, opset_import: ["": 17]> g (float[L] x) => (float[N] y)'
        "{ c = Constant <value = bool[3] {1, 0, 1}> () y = Compress <axis = 0> (x, c) }"
    )
    samples = judge.samples_of(one, [scope.Input("x", 1, ("L",))])
    short = next(s for s in samples if s.draw.sizes["L"] == 2)
    long = next(s for s in samples if s.draw.sizes["L"] == 4)
    assert len(short.outputs[0]) == 1
    raised = judge.Judgement("raises", "indices element out of data bounds, idx=2")
    assert exemptions.exemption(one, raised, short).startswith("an index beyond")
    assert exemptions.exemption(one, raised, long) == ""
    assert exemptions.exemption(one, dataclasses.replace(raised, status="differs"), short) == ""


def test_onnxruntime_overlooks_an_index_into_data_without_elements() -> None:
    """The exemption is real: there is no element 0 of an empty axis, and the original runs."""
    one = _model(
        """<ir_version: 8, opset_import: ["": 17]> g (float[B,C] x) => (float[1,C] y)
        { i = Constant <value = int64[1,1] {0}> () y = GatherND (x, i) }"""
    )
    samples = judge.samples_of(one, [scope.Input("x", 1, ("B", "C"))])
    empty = next(s for s in samples if not any(s.draw.sizes.values()))
    full = next(s for s in samples if all(s.draw.sizes.values()))
    raised = judge.Judgement("raises", "indices element out of data bounds, idx=0")
    assert exemptions.exemption(one, raised, empty).startswith("an index beyond")
    assert exemptions.exemption(one, raised, full) == ""


def test_onnxruntime_rounds_a_normalised_element_more_than_the_result() -> None:
    """The exemption is real: of one element only the bias is left, and onnxruntime misses it."""
    one = _model(
        """<ir_version: 10, opset_import: ["": 21]> g (float[1,1,1,1] x) => (float[1,1,1,1] y)
        { s = Constant <value = float[1] {0.54}> () b = Constant <value = float[1] {0.3836}> ()
          y = InstanceNormalization (x, s, b) }"""
    )
    fed = {"x": np.full((1, 1, 1, 1), 12345.67, np.float32)}
    got = judge.run(judge.session(one), fed)
    bias = np.full((1, 1, 1, 1), 0.3836, np.float32)
    assert abs(float(got[0].item()) - 0.3836) > 1e-3
    sample = judge.Sample(draws.Draw({}, "wide", 0, 0), fed, got, [got])
    differs = judge.Judgement("differs", "", "wide", sample.draw, 1, 0, values=(got[0], bias))
    assert exemptions.exemption(one, differs, sample) == (
        "the original in float64 gives what the result gives"
    )
    wrong = dataclasses.replace(differs, values=(got[0], bias * np.float32(1.01)))
    assert exemptions.exemption(one, wrong, sample) == ""


def test_onnxruntime_overlooks_batches_that_are_not_equal() -> None:
    """The exemption is real: two batches of indices into no batch of data, and it runs."""
    one = _model(
        """<ir_version: 8, opset_import: ["": 17]> g (float[B,L,C] x) => (float[N,C] y)
        { i = Constant <value = int64[2,1,1] {0, 0}> () y = GatherND <batch_dims = 1> (x, i) }"""
    )
    samples = judge.samples_of(one, [scope.Input("x", 1, ("B", "L", "C"))])
    empty = next(s for s in samples if not any(s.draw.sizes.values()))
    even = next(s for s in samples if s.draw.sizes["B"] == 2)
    raised = judge.Judgement("raises", "largest <= 1")
    assert exemptions.exemption(one, raised, empty).startswith("batches of data")
    assert exemptions.exemption(one, raised, even) == ""


def test_onnxruntime_raises_integers_by_way_of_float64() -> None:
    """The exemption is real: a number to the power of one is the number."""
    one = _model(
        """<ir_version: 8, opset_import: ["": 15]> g (int64[3] x) => (int64[3] y)
        { p = Constant <value = int64 {1}> () y = Pow (x, p) }"""
    )
    fed = {"x": np.array([3, 2**53 + 1, -(2**53) - 1], np.int64)}
    got = judge.run(judge.session(one), fed)
    assert got[0].tolist() == [3, 2**53, -(2**53)]
    sample = judge.Sample(draws.Draw({}, "wide", 0, 0), fed, got, [got])
    differs = judge.Judgement("differs", "", "wide", sample.draw, 1, 0, values=(got[0], fed["x"]))
    assert exemptions.exemption(one, differs, sample).startswith("integers that onnxruntime takes")
    wrong = dataclasses.replace(differs, values=(got[0], fed["x"] + 1))
    assert exemptions.exemption(one, wrong, sample) == ""


def test_onnxruntime_reduces_integers_by_way_of_float64() -> None:
    """The exemption is real: the size of the least integer is cut off, where integers wrap."""
    one = _model(
        """<ir_version: 8, opset_import: ["": 18]> g (int32[2] x) => (int32[2] y)
        { a = Constant <value = int64[0] {}> () y = ReduceL1 <noop_with_empty_axes = 1> (x, a) }"""
    )
    fed = {"x": np.array([-3, -(2**31)], np.int32)}
    got = judge.run(judge.session(one), fed)
    assert got[0].tolist() == [3, 2**31 - 1]
    sample = judge.Sample(draws.Draw({}, "wide", 0, 0), fed, got, [got])
    wrapped = np.array([3, -(2**31)], np.int32)
    differs = judge.Judgement("differs", "", "wide", sample.draw, 1, 0, values=(got[0], wrapped))
    assert exemptions.exemption(one, differs, sample).startswith("integers that onnxruntime takes")
    wrong = dataclasses.replace(differs, values=(got[0], wrapped + 1))
    assert exemptions.exemption(one, wrong, sample) == ""


def test_a_seed_gives_the_same_model_each_time() -> None:
    touched = differential.touched_operators()
    for index in (0, 7):
        one, two = (differential.make_case(index, touched) for _ in range(2))
        assert one is not None
        assert two is not None
        assert one.model.SerializeToString() == two.model.SerializeToString()
        for first, second in zip(one.inputs, two.inputs, strict=True):
            np.testing.assert_equal(dataclasses.asdict(first), dataclasses.asdict(second))


def test_graphs_have_free_sizes_subgraphs_functions_and_touched_operators() -> None:
    touched = differential.touched_operators()
    nodes: list[str] = []
    functions = symbols = 0
    for index in GRAPHS:
        case = differential.make_case(index, touched)
        assert case is not None
        model = case.model
        ops = [n.op_type for n in model.graph.node]
        assert 5 <= len(ops) <= 60
        nodes += [op for op in ops if op != "Constant"]
        functions += len(model.functions)
        symbols += sum(bool(d.dim_param) for i in model.graph.input
                       for d in i.type.tensor_type.shape.dim)  # fmt: skip
    assert sum(op in touched for op in nodes) >= 0.4 * len(nodes)
    assert {"If", "Loop", "Scan"} <= set(nodes)
    assert functions > 0
    assert symbols > 5


def test_a_kernel_that_onnxruntime_has_as_a_function_of_later_opsets() -> None:
    """The exemption is real: the same operator of float64 runs at opset 18, and not at 17."""

    def at(opset: int, op: str = "Softplus") -> str:
        body = f"g (double[4] x) => (double[4] y) {{ y = {op} (x) }}"
        return f'<ir_version: 8, opset_import: ["": {opset}]> {body}'

    found = _judged(at(18), at(17))
    assert found.status == "unloadable"
    one, two = _model(at(18)), _model(at(17))
    assert exemptions.lost_body(one, two, found).startswith("onnxruntime has the operator")
    assert exemptions.lost_body(one, one, found) == ""
    assert exemptions.lost_body(two, two, found) == ""
    raised = dataclasses.replace(found, status="raises")
    assert exemptions.lost_body(one, two, raised) == ""


def test_the_page_counts_what_came_of_each_job_and_names_the_faults() -> None:
    about = {"name": "graph-0", "nodes": 8, "touched": 4, "samples": 3, "verify": "auto"}
    rows = [
        {**about, "index": 0, "job": "trt8.6", "exit": 0, "status": "equal"},
        {**about, "index": 1, "job": "trt8.6", "exit": 0, "status": "differs", "text": "a|b"},
        {**about, "index": 2, "job": "trt8.6", "exit": 1, "status": "exempt", "exemption": "why"},
        {"index": 3, "job": "trt8.6", "status": "no model"},
    ]
    lines = table.page(rows, ["trt8.6"]).splitlines()
    assert "| trt8.6 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 1 | 0 | 0 | 0 | 0 |" in lines
    assert "With exit code 0: 2 runs, 2 results judged on 3 samples, 1 differences." in lines
    assert "- 1 graph-0 trt8.6, exit 0: differs: a/b" in lines
    assert "- why: 1" in lines


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_what_comes_out_computes_what_went_in(
    chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred models, ten graphs among them, each for one target or opset in turn."""
    monkeypatch.chdir(tmp_path)
    chosen = (GRAPHS[chunk], *FAMILIES[chunk * 9 : chunk * 9 + 9])
    for place, index in enumerate(chosen):
        job = JOBS[(place + chunk) % len(JOBS)]
        for row in differential.examine(index, [job], "off", None):
            assert row["status"] in ("equal", "unchanged", "exempt", "wild", "unjudged"), row

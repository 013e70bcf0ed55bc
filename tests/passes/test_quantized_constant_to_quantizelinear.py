"""quantized-constant-to-quantizelinear: constant bytes are quantized where the node is."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of, parse
from tests.engines.cases import check

PASS = "quantized-constant-to-quantizelinear"
NUMBERS = np.array([-128, -1, 0, 127], np.int8)
FEED: dict[str, Any] = {"x": np.array([5, -128, 127, 0], np.int8)}


def graph(body: str, opset: int = 17, constant: str = "{-128, -1, 0, 127}") -> str:
    return (
        f'<ir_version: 8, opset_import: ["": {opset}]> g (int8[N] x) => (int8[M] y) '
        f"<int8[4] w = {constant}> {{ {body} }}"
    )


@pytest.mark.parametrize("opset", [10, 13, 17, 21])
def test_bytes_are_the_same(opset: int) -> None:
    done = assert_rewrite(PASS, graph("y = Concat <axis = 0> (x, w)", opset), feeds=[FEED])
    assert done.ops == ["QuantizeLinear", "Concat"]
    np.testing.assert_array_equal(
        outputs_of(done.after, FEED)["y"], np.concatenate([FEED["x"], NUMBERS])
    )


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("c = Constant <value_ints = [2, 0]> () y = Gather (w, c)", [0, -128]),
        ("z = Sub (x, x) c = Cast <to = 9> (z) y = Where (c, x, w)", [-128, -1, 0, 127]),
        ("y = Max (x, w)", [5, -1, 127, 127]),
        ("y = Concat <axis = 0> (w, w)", [-128, -1, 0, 127] * 2),
        ("k = Constant <value = int8[4] {1, 2, 3, 4}> () y = Min (k, x)", [1, -128, 3, 0]),
    ],
)
def test_whatever_reads_them(body: str, wanted: list[int]) -> None:
    done = assert_rewrite(PASS, graph(body), feeds=[FEED])
    np.testing.assert_array_equal(outputs_of(done.after, FEED)["y"], np.array(wanted, np.int8))


SCAN = """
<ir_version: 8, opset_import: ["": 17]>
g (int8[T, 2] x) => (int8[2] last, int8[T, 2] y) <int8[2] start = {3, -4}> {
    last, y = Scan <num_scan_inputs = 1, body = b (int8[2] s, int8[2] i) => (int8[2] t, int8[2] o)
        <int8[2] most = {100, 90}> {
        t = Max (s, i)
        o = Min (t, most)
    }> (start, x)
}
"""


def test_the_state_of_a_scan_and_what_its_body_reads() -> None:
    x = np.array([[1, -5], [120, 7], [2, 127]], np.int8)
    done = assert_rewrite(PASS, SCAN, feeds=[{"x": x}])
    outputs = outputs_of(done.after, {"x": x})
    np.testing.assert_array_equal(outputs["last"], np.array([120, 127], np.int8))
    np.testing.assert_array_equal(outputs["y"], np.array([[3, -4], [100, 7], [100, 90]], np.int8))


@pytest.mark.parametrize("target", ["trt8.6", "trt10.10", "trt11.1", "trt-rtx1.7"])
def test_the_builder_takes_the_result(target: str) -> None:
    model = parse(SCAN)
    before = {finding.feature for finding in check(model, target) if finding.blocks}
    assert before >= {"dtype:Scan.int8-constant"}
    done = assert_rewrite(PASS, model, feeds=[{"x": np.ones((2, 2), np.int8)}])
    after = {finding.feature for finding in check(done.after, target) if finding.blocks}
    assert not {feature for feature in after if feature.endswith("int8-constant")}


@pytest.mark.parametrize(
    "body", ["y = Max (x, x)", "k = Constant <value = uint8 {1}> () u = Max (k, k) y = Neg (x)"]
)
def test_what_reads_no_constant_of_int8_is_refused(body: str) -> None:
    assert_refused(PASS, graph(body), "a constant of int8 must be read; none is")


def test_a_body_with_a_sequence_is_refused() -> None:
    body = """
        n = Constant <value_int = 2> ()
        c = Constant <value = bool {1}> ()
        s = SequenceConstruct (x)
        t, y = Loop (n, c, s, w) <body = b
            (int64 i, bool go, seq(int8[N]) a, int8[4] k) => (bool on, seq(int8[N]) d, int8[4] l) {
            on = Identity (go)
            d = SequenceInsert (a, x)
            l = Max (k, x)
        }>
    """
    assert_refused(PASS, graph(body), "it takes the sequence s")


@pytest.mark.parametrize("opset", [10, 17])
def test_dequantizing_is_left_alone(opset: int) -> None:
    text = (
        f'<ir_version: 8, opset_import: ["": {opset}]> g (float[4] x) => (float[4] y) '
        "<int8[4] w = {-128, -1, 0, 127}, float s = {0.5}, int8 z = {0}> "
        "{ y = DequantizeLinear (w, s, z) }"
    )
    assert_untouched(PASS, text)


def test_before_opset_10_it_is_refused() -> None:
    reason = "opset 9 has no QuantizeLinear"
    assert_refused(PASS, graph("y = Concat <axis = 0> (x, w)", 9), reason)


@given(st.lists(st.integers(-128, 127), min_size=4, max_size=4))
def test_any_bytes(numbers: list[int]) -> None:
    text = graph("y = Concat <axis = 0> (x, w)", constant="{" + ", ".join(map(str, numbers)) + "}")
    done = assert_rewrite(PASS, text, feeds=[FEED])
    np.testing.assert_array_equal(outputs_of(done.after, FEED)["y"][4:], numbers)

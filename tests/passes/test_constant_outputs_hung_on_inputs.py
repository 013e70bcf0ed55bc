"""constant-outputs-hung-on-inputs: a constant and what is false of an input."""

import numpy as np
import pytest

import graphfix
from graphfix.testing import assert_rewrite, outputs_of, parse

PASS = "constant-outputs-hung-on-inputs"
HEAD = '<ir_version: 8, opset_import: ["" : {opset}]> g '
X = np.array([[-1.0, 2.0, np.nan], [np.inf, 0, 3]], np.float32)
KINDS = {
    "float": np.float32,
    "float16": np.float16,
    "double": np.float64,
    "int32": np.int32,
    "int64": np.int64,
    "bool": np.bool_,
}
SIZES = "(float[2, 3] x) => (float[2, 3] y, int64[2] s) { y = Abs (x) s = Shape (x) }"


def _stored(kind: str, opset: int = 17) -> str:
    return HEAD.format(opset=opset) + (
        f"(float[2, 3] x) => (float[2, 3] y, {kind}[2] s) <{kind}[2] k = {{1, 0}}> "
        "{ y = Abs (x) s = Identity (k) }"
    )


@pytest.mark.parametrize("opset", [9, 13, 17])
@pytest.mark.parametrize("kind", KINDS)
def test_stored_numbers(kind: str, opset: int) -> None:
    done = assert_rewrite(PASS, _stored(kind, opset), feeds=[{"x": X}])
    assert done.ops[-1] == ("Or" if kind == "bool" else "Add")
    found = outputs_of(done.after, {"x": X})["s"]
    assert found.dtype == KINDS[kind]
    # The text form of float16 gives bits: 1 is the smallest number.
    assert found.tolist() == [2.0**-24 if kind == "float16" else 1, 0]


@pytest.mark.parametrize("kind", [*KINDS, "int8", "uint8"])
@pytest.mark.parametrize("shape", [(1, 2), (4,), (1,)])
def test_inputs_of_each_kind(kind: str, shape: tuple[int, ...]) -> None:
    sizes = ", ".join(map(str, shape))
    text = HEAD.format(opset=17) + f"({kind}[{sizes}] x) => (int64[K] s) {{ s = Shape (x) }}"
    feed = {"x": np.ones(shape, KINDS.get(kind, kind))}
    done = assert_rewrite(PASS, text, feeds=[feed])
    assert outputs_of(done.after, feed)["s"].tolist() == list(shape)


def test_it_repairs_for_the_engine_that_leaves_them_out() -> None:
    result = graphfix.run(parse(HEAD.format(opset=17) + SIZES), target="rknn2.3")
    found = [finding.feature for finding in result.report.findings_before]
    assert found == ["io:output-of-constants"]
    assert result.exit_code == 0
    assert result.report.findings_after == ()

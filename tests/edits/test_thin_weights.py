"""Thin matrices in the place of big ones, with which decoders of many gigabytes are proved."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from msgspec.structs import replace
from onnx import ModelProto, TensorProto, numpy_helper

from graphfix import edits
from graphfix.edits.caches import proof, thin_weights
from graphfix.edits.caches.static_form import plain, static_form
from graphfix.edits.caches.thin_weights import thinned
from graphfix.edits.step import Subject
from graphfix.report import Verdict
from tests.edits import small_decoders as small
from tests.edits.small_models import ran

ROWS, COLUMNS = 600, 512
parsed = onnx.parser.parse_model
HEAD = '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> '
X = np.linspace(-1, 1, 2 * COLUMNS, dtype=np.float32).reshape(2, COLUMNS)
ALL = np.arange(ROWS)


def outside(model: ModelProto, kind: int = TensorProto.FLOAT, name: str = "w") -> ModelProto:
    """Store a matrix in a file that is nowhere: nothing may read it."""
    tensor = TensorProto(name=name, data_type=kind, dims=(ROWS, COLUMNS))
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="nowhere")
    model.graph.initializer.append(tensor)
    return model


def test_a_matrix_is_the_same_one_wherever_it_is_read() -> None:
    model = outside(
        parsed(
            HEAD + "g (int64[N] ids, float[M, 512] x, float[M, 600] z) "
            "=> (float[N, 512] rows, float[M, 600] a, float[M, 600] b, float[M, 512] c) {"
            " rows = Gather (w, ids) t = Transpose <perm = [1, 0]> (w) a = MatMul (x, t)"
            " b = Gemm <alpha = 2.0, transB = 1> (x, w, z) c = MatMul (z, w) }"
        )
    )
    found = thinned([model])
    assert (found.count, found.bytes) == (1, 4 * ROWS * COLUMNS)
    (thin,) = found.protos
    assert max(len(tensor.raw_data) for tensor in thin.graph.initializer) == 4 * ROWS * 8
    assert "Transpose" not in {node.op_type for node in thin.graph.node}
    z = np.ones((2, ROWS), np.float32)
    given = ran(thin, ids=ALL, x=X, z=z)
    w = given["rows"]
    assert w.std() == pytest.approx(COLUMNS**-0.5, rel=0.5)
    np.testing.assert_allclose(given["a"], X @ w.T, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(given["b"], 2 * (X @ w.T) + 1, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(given["c"], z @ w, rtol=1e-4, atol=1e-5)


def test_quantized_matrices() -> None:
    body = (
        " d = DequantizeLinear (w, scale) h = Cast <to = 10> (d) k = Cast <to = 1> (h)"
        " t = Transpose (k) a = MatMul (x, t) }"
    )
    model = parsed(HEAD + "g (float[M, 512] x) => (float[M, 600] a) <float scale = {0.5}> {" + body)
    (thin,) = thinned([outside(model, TensorProto.INT32)]).protos
    assert [node.op_type for node in thin.graph.node] == ["MatMul", "MatMul"]
    assert np.ptp(ran(thin, x=X)["a"]) > 0


def test_blocks_of_four_bits() -> None:
    model = parsed(
        HEAD + "g (float[M, 512] x) => (float[M, 4800] a) { a = com.microsoft.MatMulNBits"
        " <K = 512, N = 4800, bits = 4, block_size = 32> (x, w, scales, , , bias) }"
    )
    codes = TensorProto(name="w", data_type=TensorProto.UINT8, dims=(4800, 16, 16))
    codes.data_location = TensorProto.EXTERNAL
    codes.external_data.add(key="location", value="nowhere")
    bias = np.arange(4800, dtype=np.float32)
    stored = {"scales": np.ones(4800 * 16, np.float32), "bias": bias}
    model.graph.initializer.append(codes)
    model.graph.initializer.extend(numpy_helper.from_array(x, n) for n, x in stored.items())
    (thin,) = thinned([model]).protos
    assert "scales" not in {tensor.name for tensor in thin.graph.initializer}
    given = ran(thin, x=np.zeros_like(X))["a"]
    np.testing.assert_array_equal(given, np.stack([bias, bias]))


@pytest.mark.parametrize(
    "body",
    [
        "y = MatMul (z, w) o = Abs (w)",
        "y = MatMul (z, w) o = Gather <axis = 1> (w, ids)",
        "t = Transpose (z) y = Gemm <transA = 1> (t, w) o = Identity (w)",
    ],
)
def test_a_matrix_that_something_else_reads_stays(body: str) -> None:
    text = "g (float[M, 600] z, int64[N] ids) => (float[M, 512] y, float[A, B] o) {"
    model = outside(parsed(HEAD + text + body + " }"))
    found = thinned([model])
    assert (found.count, list(found.protos)) == (0, [model])


def test_a_matrix_that_another_form_reads_more_often_stays() -> None:
    text = HEAD + "g (float[M, 600] z) => (float[M, 512] y) "
    one = outside(parsed(text + "{ y = MatMul (z, w) }"))
    other = outside(parsed(text + "{ a = MatMul (z, w) b = MatMul (z, w) y = Add (a, b) }"))
    assert thinned([one, one]).count == 1
    assert thinned([one, other]).count == 0


def test_where_too_much_is_left_nothing_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "g (float[M, 600] z) => (float[M, 512] y, float[A, B] o) { y = MatMul (z, w) o = Abs (v)"
    model = outside(outside(parsed(HEAD + text + " }")), name="v")
    assert thinned([model]).count == 1
    monkeypatch.setattr(thin_weights, "MOST", 4 * ROWS * COLUMNS - 1)
    assert thinned([model]).count == 0


def test_decoders_are_proved_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "MOST", 0)
    monkeypatch.setattr(thin_weights, "_BIG", 1 << 10)
    model = small.decoder(small.PLAIN)
    claim = "decoding 32 tokens greedily gives the same tokens, after a prompt too"
    (found,) = edits.static_cache(model, 48, 6).proofs
    assert found.claim == claim + ", with other values in 6 matrices (0.0 GiB)"
    assert found.equal
    form = static_form(plain(model, ""), "", 48, 1, "")
    broken = onnx.ModelProto()
    broken.CopyFrom(form.proto)
    for node in broken.graph.node:
        if node.name == "mask":
            node.input[2] = node.input[1]  # no score is hidden
    wrong = proof.shown(Subject(model, ""), replace(form, proto=broken), None).verification
    assert wrong.status is Verdict.MISMATCH


def test_scores_that_never_differ_show_nothing() -> None:
    model = small.decoder(small.PLAIN)
    for tensor in model.graph.initializer:
        if tensor.name == "head":
            zeros = np.zeros(tuple(tensor.dims), np.float32)
            tensor.CopyFrom(numpy_helper.from_array(zeros, "head"))
    found = edits.static_cache(model, 48)
    assert found.exit_code == 1
    reason = found.proofs[0].verification.reason
    assert reason == "the scores are the same numbers at each place"

"""What picks, moves and counts, and small operators of linear algebra."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.coverage.contrib.form import Form, const, real, whole

_X = real(2, 3, 8)


def forms() -> Iterator[Form]:
    """Yield the forms."""
    yield from _renamed()
    yield from _products()
    yield from _waves()
    yield Form(
        "CDist", "euclidean", [real(4, 3), real(5, 3, seed=1)], attributes={"metric": "euclidean"}
    )
    yield Form(
        "CDist", "squared", [real(4, 3), real(5, 3, seed=1)], attributes={"metric": "sqeuclidean"}
    )
    yield Form("CDist", "open", [real(4, 3), real(5, 3, seed=1)], free=(0,))
    yield Form("Inverse", "plain", [real(2, 3, 3)])
    yield Form("UnfoldTensor", "plain", [_X], attributes={"dim": 2, "size": 3, "step": 2})
    yield Form("UnfoldTensor", "default", [_X], attributes={"size": 4})
    yield Form("UnfoldTensor", "open", [_X], attributes={"dim": 1, "size": 2}, free=(0,))
    finite = np.array([[1, np.inf], [2, 3]], np.float32)
    yield Form("IsAllFinite", "plain", [finite, _X], [np.bool_])
    yield Form("IsAllFinite", "nan-only", [finite], [np.bool_], {"isnan_only": 1})
    yield Form("DynamicTimeWarping", "plain", [real(5, 6)], [np.int32])
    yield Form("MurmurHash3", "plain", [whole(0, 99, 4, dtype=np.int32)], [np.uint32])


def _renamed() -> Iterator[Form]:
    places = whole(-2, 2, 4, 2)
    yield Form("GatherND", "int64", [_X, places])
    yield Form("GatherND", "int32", [_X, places.astype(np.int32)])
    yield Form("GatherND", "open", [_X, places], free=(0, 2))
    table = const(real(7, 4))
    yield Form("TorchEmbedding", "plain", [table, whole(0, 7, 2, 3)])
    yield Form(
        "TorchEmbedding", "padding", [table, whole(0, 7, 2, 3), const(np.int64(1)), const(False)]
    )
    for upper in (0, 1):
        yield Form("Trilu", f"upper{upper}", [real(3, 5, 4)], attributes={"upper": upper})
    yield Form("Trilu", "diagonal", [real(3, 5, 4), const(np.int64(-1))], attributes={"upper": 0})
    yield Form("Trilu", "open", [real(3, 5, 4)], free=(0,))
    yield Form(
        "Range",
        "constant",
        [const(np.int64(1)), const(np.int64(9)), const(np.int64(2))],
        [np.int64],
    )
    yield Form("Range", "late", [const(np.int64(0)), np.array(6), const(np.int64(1))], [np.int64])
    yield Form("Range", "default", [const(np.float32(0)), np.array(5, np.float32)])
    pads = const(np.array([0, 1, 1, 1, 0, 2]))
    for mode in ("constant", "reflect", "edge"):
        yield Form("Pad", mode, [_X, pads], attributes={"mode": mode})
    yield Form("Pad", "value", [_X, pads, const(np.float32(3.5))])
    yield Form("Pad", "open", [_X, pads], free=(0, 1))
    several = np.array([2, 1, 1, 3, 2, 7], np.float32)
    yield Form("Unique", "all", [several], [np.float32, np.int64, np.int64])
    yield Form("ExpandDims", "front", [_X, const(np.int32(0))])
    yield Form("ExpandDims", "back", [_X, const(np.int32(-1))])
    yield Form("SampleOp", "plain", [_X])


def _products() -> Iterator[Form]:
    a, b = real(2, 3, 8), real(2, 8, 5, seed=1)
    turned = real(2, 5, 8, seed=1)
    yield Form("FusedMatMul", "plain", [a, b])
    yield Form("FusedMatMul", "alpha", [a, b], attributes={"alpha": 0.125})
    yield Form(
        "FusedMatMul", "transposed", [real(2, 8, 3), turned], attributes={"transA": 1, "transB": 1}
    )
    yield Form("FusedMatMul", "open", [a, turned], attributes={"transB": 1}, free=(0,))
    yield Form(
        "FusedMatMul",
        "batches",
        [real(3, 2, 8), real(8, 2, 5, seed=1)],
        attributes={"transBatchA": 1, "transBatchB": 1},
    )
    yield Form("TransposeMatMul", "alpha", [a, turned], attributes={"alpha": 0.125, "transB": 1})
    given: dict[str, dict[str, Any]] = {
        "Relu": {},
        "LeakyRelu": {"activation_alpha": 0.2},
        "HardSigmoid": {"activation_alpha": 0.3, "activation_beta": 0.4},
        "Softmax": {"activation_axis": -1},
    }
    for name, more in given.items():
        attributes = {"activation": name, "transB": 1, "alpha": 0.5, **more}
        yield Form("FusedMatMulActivation", name, [a, turned], attributes=attributes)
    for name in ("Relu", "LeakyRelu"):
        attributes = {"activation": name, "transB": 1, "alpha": 0.5, "beta": 2.0, **given[name]}
        inputs = [real(3, 8), real(5, 8, seed=1), const(real(5, seed=2))]
        yield Form("FusedGemm", name, inputs, attributes=attributes)
    yield Form(
        "FusedGemm",
        "open",
        [real(3, 8), const(real(8, 5, seed=1))],
        [np.float32],
        {"activation": "Relu"},
        (0,),
    )
    numbers = [
        whole(-300, 300, 3, 4, dtype=np.int16),
        whole(-300, 300, 4, 5, seed=1, dtype=np.int16),
    ]
    yield Form("MatMulInteger16", "plain", numbers, [np.int32])
    yield Form("ComplexMul", "plain", [real(2, 3, 2), real(2, 3, 2, seed=1)])
    yield Form("ComplexMul", "broadcast", [real(2, 3, 2), real(1, 3, 2, seed=1)])
    yield Form("ComplexMulConj", "plain", [real(2, 3, 2), real(2, 3, 2, seed=1)])
    yield Form("SparseToDenseMatMul", "plain", [real(3, 4), real(4, 5, seed=1)], runs=False)


def _waves() -> Iterator[Form]:
    attributes = {"signal_ndim": 1, "normalized": 0, "onesided": 1}
    yield Form("Rfft", "1d", [real(3, 8)], attributes=attributes)
    yield Form("Rfft", "open", [real(3, 8)], attributes=attributes, free=(0,))
    yield Form("Irfft", "1d", [real(3, 5, 2)], attributes=attributes)
    two = {**attributes, "signal_ndim": 2}
    yield Form("Rfft", "2d", [real(3, 6, 8)], attributes=two)
    yield Form("Irfft", "2d", [real(3, 6, 5, 2)], attributes=two)

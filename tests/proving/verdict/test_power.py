"""Which constants are changed to see whether a comparison notices it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from onnx import ModelProto, numpy_helper, parser

from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.verdict.constants import kinds
from graphfix.proving.verdict.power import changed_models


def _model(constants: str, body: str) -> ModelProto:
    return parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 17]>
        g (float[1, 2, 4, 4] x) => (float[1, 2, 8, 8] y) <{constants}> {{ {body} }}"""
    )


def _changed(model: ModelProto) -> Iterator[RunnableModel]:
    runnable = RunnableModel(model)
    return changed_models(runnable, kinds(runnable))


SCALES = "float[4] scales = {1.0, 1.0, 2.0, 2.0}"
RESIZE = "y = Resize (z, , scales)"


def test_sizes_stay_where_there_are_other_floats() -> None:
    model = _model(f"{SCALES}, float[2, 1, 1] w = {{2.0, 3.0}}", f"z = Mul (x, w) {RESIZE}")
    first = next(_changed(model)).proto.graph.initializer
    found = {tensor.name: numpy_helper.to_array(tensor) for tensor in first}
    np.testing.assert_array_equal(found["scales"], np.array([1, 1, 2, 2], np.float32))
    np.testing.assert_allclose(found["w"].reshape(-1), [2.1, 3.15], rtol=1e-6)


def test_sizes_are_changed_where_there_is_nothing_else() -> None:
    model = _model(SCALES, f"z = Neg (x) {RESIZE}")
    first = next(_changed(model)).proto.graph.initializer
    np.testing.assert_allclose(numpy_helper.to_array(first[0]), [1.05, 1.05, 2.1, 2.1], rtol=1e-6)


def test_a_scalar_stays_one() -> None:
    model = _model("float w = {2.0}, int64 n = {3}", "z = Mul (x, w) y = Resize (z, , scales)")
    changed = [other.proto.graph.initializer for other in _changed(model)]
    assert len(changed) > 1
    for tensors in changed:
        assert [list(tensor.dims) for tensor in tensors] == [[], []]
    assert numpy_helper.to_array(changed[0][0]) == np.float32(2.1)

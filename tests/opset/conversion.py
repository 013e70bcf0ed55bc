"""Converting small models in tests: text in, model and numbers out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import count
from typing import Any

import onnx
from hypothesis import currently_in_test_context
from onnx import ModelProto

from graphfix.analysis.inference import infer_model
from graphfix.authoring.workspace import Workspace
from graphfix.ir.model import Model
from graphfix.opset.stepping import StepBlocked, lower_one, move_to
from graphfix.pipeline.model_files import load
from graphfix.testing import assert_same, assert_same_at_small_sides, assert_valid, outputs_of


def model_of(text: str | ModelProto, opset: int = 0) -> ModelProto:
    """Return the model of a text; stamped with an opset that the parser need not know."""
    proto = onnx.parser.parse_model(text) if isinstance(text, str) else text
    if opset:
        proto.opset_import[0].version = opset
    return proto


def loaded(proto: ModelProto) -> tuple[Model, Workspace]:
    """Return a model with its types inferred, and its names."""
    model = load(proto)
    infer_model(model)
    return model, Workspace(model)


def converted(proto: ModelProto, version: int) -> ModelProto:
    """Return the model at another opset; raises what blocks it."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "")
    return ModelProto.FromString(_converted_in(test, proto.SerializeToString(), version))


@lru_cache(maxsize=64)
def _converted_in(test: str, proto: bytes, version: int) -> bytes:
    """Convert a model once in a test, however many inputs its examples compare on."""
    del test
    model, workspace = loaded(ModelProto.FromString(proto))
    move_to(model, workspace, version)
    return model.to_proto().SerializeToString()


def stepped(proto: ModelProto, version: int) -> ModelProto:
    """Return the model at a lower opset, loaded again after each step."""
    while proto.opset_import[0].version > version:
        model, workspace = loaded(proto)
        lower_one(model, workspace)
        proto = model.to_proto()
    return proto


def reasons(proto: ModelProto, version: int) -> list[str]:
    """Return why an opset cannot be reached, and assert that nothing changed."""
    model, workspace = loaded(proto)
    try:
        move_to(model, workspace, version)
    except StepBlocked as blocked:
        assert model.to_proto() == proto
        return [f"{blocker.node.op}: {blocker.reason}" for blocker in blocked.blockers]
    raise AssertionError(f"opset {version} was reached")


def check(proto: ModelProto) -> None:
    """Assert that the checker of ONNX has no complaint."""
    assert_valid(proto)


def operators(proto: ModelProto) -> list[str]:
    """Return the operators of the main graph in order, constants left out."""
    return [node.op_type for node in proto.graph.node if node.op_type != "Constant"]


def with_free_sizes(proto: ModelProto, *, axes: Sequence[int] | None = None) -> ModelProto:
    """Return a model whose inputs are of any size: what was of one size stays so.

    Vectors of int64 keep theirs, as these hold axes and sizes. `axes` are those that are freed.
    """
    freed = ModelProto()
    freed.CopyFrom(proto)
    del freed.graph.value_info[:]
    for info in freed.graph.input:
        tensor = info.type.tensor_type
        if tensor.elem_type == onnx.TensorProto.INT64 and len(tensor.shape.dim) < 2:
            continue
        for axis, dim in enumerate(tensor.shape.dim):
            if dim.HasField("dim_value") and (axes is None or axis in axes):
                dim.dim_param = f"size_{dim.dim_value}"
    for info in freed.graph.output:
        for axis, dim in enumerate(info.type.tensor_type.shape.dim):
            dim.dim_param = f"{info.name}_{axis}"
    return freed


@cache
def _examples(step: tuple[str, ...]) -> Iterator[int]:
    """Count the examples of a step from 1 on."""
    del step
    return count(1)


def assert_converts_with_free_sizes(
    proto: ModelProto, version: int, feed: Mapping[str, Any], *, rtol: float, atol: float
) -> None:
    """Assert that a conversion of the model with free sizes is right, at sizes of 0 and 1 as well.

    Where it is blocked, the first axes alone are freed; what is blocked then needs the sizes. Of
    the examples that hypothesis makes of an operator and a step the first two are tried.
    """
    step = (*operators(proto), str(proto.opset_import[0].version), str(version))
    if currently_in_test_context() and next(_examples(step)) > 2:
        return
    for axes in (None, (0,)):
        freed = with_free_sizes(proto, axes=axes)
        try:
            result = converted(freed, version)
        except StepBlocked:
            continue
        if result != freed and freed != proto:
            assert_same(outputs_of(freed, feed), outputs_of(result, feed), rtol=rtol, atol=atol)
            assert_same_at_small_sides(freed, result, feed, rtol=rtol, atol=atol)
        return


def assert_converts(
    proto: ModelProto,
    version: int,
    feed: Mapping[str, Any],
    *,
    ops: list[str] | None = None,
    rtol: float = 0.0,
    atol: float = 0.0,
    at_any_size: bool = True,
) -> ModelProto:
    """Assert that a conversion is valid, settled, and gives what the model gave before.

    So it has to with free dimensions of 0 and 1, and where sizes are freed, unless the model means
    nothing at some of them (not `at_any_size`). `ops` are the `operators` that it has then.
    """
    result = converted(proto, version)
    assert result.opset_import[0].version == version
    check(result)
    assert converted(result, version) == result
    if ops is not None:
        assert operators(result) == ops
    assert_same(outputs_of(proto, feed), outputs_of(result, feed), rtol=rtol, atol=atol)
    assert_same_at_small_sides(proto, result, feed, rtol=rtol, atol=atol)
    if at_any_size:
        assert_converts_with_free_sizes(proto, version, feed, rtol=rtol, atol=atol)
    return result

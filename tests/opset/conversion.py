"""Converting small models in tests: text in, model and numbers out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import onnx
from onnx import ModelProto

from graphfix.authoring.workspace import Workspace
from graphfix.inference import infer_model
from graphfix.model import Model
from graphfix.opset.stepping import StepBlocked, lower_one, move_to
from graphfix.pipeline.model_files import load
from graphfix.testing import assert_same, outputs_of


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
    model, workspace = loaded(proto)
    move_to(model, workspace, version)
    return model.to_proto()


def stepped(proto: ModelProto, version: int) -> ModelProto:
    """Return the model at a lower opset, loaded anew after each step."""
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
    onnx.checker.check_model(  # pyright: ignore[reportUnknownMemberType]
        proto, full_check=True
    )


def operators(proto: ModelProto) -> list[str]:
    """Return the operators of the main graph in order, constants left out."""
    return [node.op_type for node in proto.graph.node if node.op_type != "Constant"]


def assert_converts(
    proto: ModelProto,
    version: int,
    feed: Mapping[str, Any],
    *,
    ops: list[str] | None = None,
    rtol: float = 0.0,
    atol: float = 0.0,
) -> ModelProto:
    """Assert that a conversion is valid, settled, and gives what the model gave before.

    `ops` are the `operators` that it has then.
    """
    result = converted(proto, version)
    assert result.opset_import[0].version == version
    check(result)
    assert converted(result, version) == result
    if ops is not None:
        assert operators(result) == ops
    assert_same(outputs_of(proto, feed), outputs_of(result, feed), rtol=rtol, atol=atol)
    return result

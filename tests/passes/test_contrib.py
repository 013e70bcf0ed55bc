"""Operators of com.microsoft for language models: inside of branches, and in half precision."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

from benchmarks.coverage.contrib.form import Const
from benchmarks.coverage.contrib.results import expected_of
from benchmarks.opset.comparison import outputs_differ, run
from graphfix.ir.protos import all_nodes
from graphfix.report import Status
from graphfix.testing import run_pass
from tests.passes.contrib_models import FORMS, Form, name_of, pass_of

OPERATORS = frozenset(
    {
        "CausalConvWithState",
        "DecoderMaskedMultiHeadAttention",
        "EngramGate",
        "HyperConnectionPostMix",
        "HyperConnectionPreMix",
        "LinearAttention",
        "NGramRepeatBlock",
        "PackedAttention",
        "PackedMultiHeadAttention",
        "RestorePadding",
    }
)
OWN = [form for form in FORMS if form.operator in OPERATORS]
HALVES = [form for form in OWN if form.name in ("plain", "state", "gated-delta", "cross", "shared")]


def in_a_branch(model: ModelProto) -> ModelProto:
    """Return a model whose nodes are in both branches of If."""
    graph = model.graph
    subgraphs = [helper.make_graph(graph.node, side, [], graph.output) for side in ("then", "else")]
    names = [info.name for info in graph.output]
    condition = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    node = helper.make_node("If", ["c"], names, then_branch=subgraphs[0], else_branch=subgraphs[1])
    whole = helper.make_graph(
        [node], "g", [*graph.input, condition], graph.output, graph.initializer
    )
    return helper.make_model(whole, opset_imports=model.opset_import, ir_version=model.ir_version)


@pytest.mark.parametrize("form", OWN, ids=name_of)
def test_in_a_branch(form: Form) -> None:
    done = run_pass(pass_of(form), in_a_branch(form.model()))
    assert done.with_status(Status.APPLIED), done.outcomes
    assert "com.microsoft" not in {node.domain for node in all_nodes(done.after.graph.node)}
    given = run(done.after, {**form.feed(), "c": np.array(True)})
    assert not outputs_differ(given, expected_of(form), values=True)


def half(operand: Any) -> Any:
    """Return floating point operands in half precision."""
    if isinstance(operand, Const):
        return Const(narrowed(operand.array))
    return None if operand is None else narrowed(operand)


def narrowed(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return float32 as float16, and others as they are."""
    return array.astype(np.float16) if array.dtype == np.float32 else array


@pytest.mark.parametrize("form", HALVES, ids=name_of)
def test_in_half_precision(form: Form) -> None:
    kinds = [np.float16 if kind is np.float32 else kind for kind in form.outputs]
    narrow = replace(form, inputs=[half(operand) for operand in form.inputs], outputs=kinds)
    done = run_pass(pass_of(form), narrow.model())
    assert done.with_status(Status.APPLIED), done.outcomes
    for value, wanted in zip(run(done.after, narrow.feed()), expected_of(form), strict=True):
        assert value.dtype == (np.float16 if wanted.dtype == np.float32 else wanted.dtype)
        np.testing.assert_allclose(
            value.astype(np.float64), wanted.astype(np.float64), rtol=2e-2, atol=2e-2
        )

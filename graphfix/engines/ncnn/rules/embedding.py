"""ncnn: the layer that pnnx makes of rows taken from a table, and the integers it reads."""

from __future__ import annotations

from collections.abc import Generator

from onnx import TensorProto

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.analysis.memo import inputs_of, kept_stepwise, origin_through
from graphfix.authoring.declaring import Unknown
from graphfix.engines.common_rules import given_inputs, unbound_ends
from graphfix.engines.ncnn.rules import FACTS
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, Yes, model_rule, rule
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView, Value

# With this number as every index pnnx runs the model to learn shapes, where they are int64.
_TRIED = 7
_COUNTED = frozenset({"Reshape", "Squeeze", "Unsqueeze"})
_INTEGERS = ("int32", "int64")


def is_embedding(node: NodeView) -> bool:
    """Say whether a Gather becomes Embed, which has no axis that could be explicit."""
    return not node.has("axis") and takes_rows(node)


def takes_rows(node: NodeView) -> bool:
    """Say whether a Gather takes whole rows of a matrix by integers that are fed."""
    return _reads_table(node) and not _has_few_rows(node)


def _reads_table(node: NodeView) -> bool:
    if node.op != "Gather" or node.attr("axis", 0):
        return False
    table, indices = node.need(0), node.need(1)
    if table.rank != 2 or not known_with_sizes(table) or indices.type_name not in _INTEGERS:
        return False
    return _is_fed(indices, node)


def _has_few_rows(node: NodeView) -> bool:
    """Say whether pnnx tries a table by an index that it does not have."""
    rows, indices = node.need(0).dim(0), node.need(1)
    return (
        rows is not None and rows <= _TRIED and indices.type_name == "int64" and indices.rank != 0
    )


def _is_fed(value: Value, reader: NodeView) -> bool:
    """Say whether a tensor is an input of the graph whose axes are counted differently."""
    return _before_counting(value) in inputs_of(reader.graph)


_before_counting = origin_through(lambda maker: maker.op in _COUNTED)


@kept_stepwise(in_a_loop=False)
def is_of_indices(value: Value) -> Generator[Value, bool, bool]:
    """Say whether all that reads integers, but for their sizes, takes rows of a table by them."""
    users = [user for user in value.consumers if user.op != "Shape"]
    if value.is_graph_output or not users:
        return False
    for user in users:
        if user.op in _COUNTED:
            counted = user.output(0)
            if counted is None or not (yield counted):
                return False
        elif not _reads_table(user):
            return False
    return True


@rule(
    "Gather",
    feature="const:Gather.indices",
    severity=REJECT,
    text="layer Gather not exists or registered; indices element out of data bounds",
    source=f"{FACTS}: rows of a stored matrix are taken where the axis is not explicit and the"
    " indices are inputs; int64 with eight rows at least",
)
def gather_by_computed(node: NodeView, target: Target) -> Answer:
    """ncnn requires Gather indices to be constant, or graph inputs that index a table."""
    indices = node.input(1)
    if indices is None or known_with_sizes(indices) or is_embedding(node):
        return False
    if _reads_table(node) and _has_few_rows(node):
        said = f"pnnx tries a Gather by {_TRIED}; {node.need(0).name} has fewer rows"
        return Yes(feature="shape:Gather.rows", message=said)
    return Yes(feature="attr:Gather.axis=0") if takes_rows(node) else True


@model_rule(feature="io:int64-input", severity=REJECT, source=FACTS)
def integers_at_the_ends(model: Model, target: Target) -> list[Answer]:
    """ncnn binds float32 inputs and outputs only, and integers that index a table."""
    indices = {tensor.name for tensor in given_inputs(model) if is_of_indices(Value(tensor))}
    return unbound_ends(model, target, but=indices)


@model_rule(
    feature="io:int32-indices",
    severity=REJECT,
    text="indices element out of data bounds",
    source="tools/pnnx/src/pass_onnx/shape_inference.cpp fills inputs of float32 and int64 alone"
    " before it runs the model to learn shapes: small models are taken, of others pnnx ends",
)
def indices_that_are_not_filled(model: Model, target: Target) -> list[Answer]:
    """pnnx tests the model with uninitialised values for int32 indices of a table."""
    return [
        Unknown(f"what lies in the memory of {tensor.name}")
        for tensor in given_inputs(model)
        if tensor.elem_type == TensorProto.INT32 and is_of_indices(Value(tensor))
    ]

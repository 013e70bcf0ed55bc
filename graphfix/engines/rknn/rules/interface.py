"""RKNN: inputs and outputs of the graph."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.analysis.memo import kept_stepwise
from graphfix.engines.operands import is_stored
from graphfix.engines.profile import Target
from graphfix.engines.rknn.rules.toolkit import TOOLKIT
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, model_rule, rule
from graphfix.engines.rule_makers import (
    ignores_sparse_initializers,
    refuses_empty_outputs,
    wants_nodes_in_order,
)
from graphfix.ir.graph import Graph, Variable
from graphfix.ir.model import Model
from graphfix.ir.storage.weights import type_name
from graphfix.ir.views import NodeView, Value

_UNBOUND = frozenset({"float64", "int16", "uint8", "uint16", "uint32", "uint64"})
# What the toolkit takes out, so that an output is the tensor before it.
_COPIES = frozenset({"Identity", "Dropout"})


@model_rule(
    feature="io:scalar-input",
    severity=REJECT,
    text="Invalid rank for input: {input} Got: 0 Expected: 1",
    source=TOOLKIT,
)
def scalar_input(model: Model, target: Target) -> list[Answer]:
    """RKNN does not support a scalar graph input."""
    return [
        Yes(message=f"{target.title} does not support the scalar input {tensor.name}")
        for tensor in _given(model)
        if tensor.shape is not None and not len(tensor.shape)
    ]


@model_rule(
    feature="io:input-type",
    severity=REJECT,
    text="Not support input data type '{type}'!",
    source=f"{TOOLKIT}; float64 is built and not run, uint8 ends the process",
)
def input_type(model: Model, target: Target) -> list[Answer]:
    """RKNN does not support the element type of a graph input."""
    return [
        Yes(
            feature=f"io:{name}-input",
            message=f"{target.title} does not support input {tensor.name} of type {name}",
        )
        for tensor in _given(model)
        if (name := type_name(tensor.elem_type)) in _UNBOUND
    ]


@model_rule(
    feature="io:output-of-constants",
    severity=REJECT,
    text="All outputs {names} of model are constants, The model is invalid!",
    source=f"{TOOLKIT}; where others are none, such an output does not come",
)
def constant_output(model: Model, target: Target) -> list[Answer]:
    """RKNN drops a graph output that is constant."""
    return [
        Yes(message=f"{target.title} drops the constant output {value.name}")
        for value in _outputs(model.graph)
        if known_with_sizes(value)
    ]


@model_rule(
    feature="io:repeated-output",
    severity=REJECT,
    text="{found} of {count} outputs came",
    source=f"{TOOLKIT}: two outputs of one tensor are one, and those after it move up",
)
def repeated_output(model: Model, target: Target) -> list[Answer]:
    """RKNN returns one output where two graph outputs are the same tensor."""
    found: list[Answer] = []
    seen: dict[str, str] = {}
    for value in _outputs(model.graph):
        origin = _origin(value).name
        if origin in seen:
            found.append(
                Yes(message=f"RKNN returns one of the outputs {seen[origin]} and {value.name}")
            )
        seen.setdefault(origin, value.name)
    return found


@rule(
    "Gemm",
    feature="form:Gemm.fed-bias",
    severity=REJECT,
    text="Invalid rank for input: {input} Got: 1 Expected: 2",
    source=f"{TOOLKIT}: facts/graphs.json; of rank 2, or computed, it is taken, as is that of Conv",
)
def fed_bias(node: NodeView, target: Target) -> Answer:
    """RKNN adds an axis to a 1D graph input that is the bias of Gemm."""
    bias = node.input(2)
    if bias is None or bias.producer is not None or is_stored(bias):
        return False
    return bias.rank == 1


@model_rule(
    feature="domain:first",
    severity=REJECT,
    text="No Adapter From Version $14 for Reshape",
    source=f"{TOOLKIT}: the first opset that is imported is taken for that of the model",
)
def foreign_import(model: Model, target: Target) -> Answer:
    """RKNN takes the opset of the first domain imported, which is not the ONNX domain here."""
    domain = next(iter(model.graph.opsets), "")
    if domain in ("", "ai.onnx"):
        return None
    return Yes(
        feature=f"domain:first.{domain}",
        message=f"{target.title} reads the version of {domain} as the opset of the model",
    )


@model_rule(
    feature="io:unused-input",
    severity=REJECT,
    text="The input shape {found} is wrong, expect {expected}!",
    source=f"{TOOLKIT}: facts/graphs.json; the last may be unread, and one whose shape is read",
)
def unread_input(model: Model, target: Target) -> list[Answer]:
    """RKNN drops a graph input that no node reads, and feeds its data to the next one."""
    given = _given(model)
    found: list[Answer] = []
    for place, tensor in enumerate(given):
        value, later = Value(tensor), given[place + 1 :]
        if value.is_graph_output:
            continue
        if value.is_used:
            if all(_leads_nowhere(user) for user in value.consumers):
                message = (
                    f"RKNN cannot build nodes that read input {tensor.name} and reach no output"
                )
                found.append(
                    Yes(message=message, text="argument of type 'NoneType' is not iterable")
                )
        elif any(Value(other).is_used for other in later):
            alike = all(
                (one.shape, one.elem_type) == (tensor.shape, tensor.elem_type) for one in later
            )
            message = f"{target.title} feeds the unused input {tensor.name} to the next one"
            found.append(Yes(message=message, severity=WRONG if alike else REJECT))
    return found


def _leads_nowhere(user: NodeView) -> bool:
    outputs = [value for value in user.outputs if value is not None]
    return not any(value.is_used or value.is_graph_output for value in outputs)


def _given(model: Model) -> list[Variable]:
    return [t for t in model.graph.inputs if isinstance(t, Variable) and t.opaque is None]


def _outputs(graph: Graph) -> Iterator[Value]:
    yield from (Value(tensor) for tensor in graph.outputs)


@kept_stepwise(in_a_loop=None)
def _before_copies(value: Value) -> Generator[Value, Value | None, Value | None]:
    maker = value.producer
    if maker is None or maker.op not in _COPIES or maker.domain:
        return value
    before = maker.input(0)
    if before is None or maker.node.outputs[0] is not value.tensor:
        return value
    return (yield before)


def _origin(value: Value) -> Value:
    return _before_copies(value) or value


SPARSE_INITIALIZER = ignores_sparse_initializers(versions="rknn", source=TOOLKIT)


EMPTY_OUTPUT = refuses_empty_outputs(
    versions="rknn", text="of model are constants, The model is invalid!", source=TOOLKIT
)
UNSORTED = wants_nodes_in_order(
    versions="rknn",
    text="KeyError of the name of a tensor",
    source=f"{TOOLKIT}: facts/graphs.json",
)

"""What TensorRT's parser sees of a tensor, which is not always what ONNX says, and shape tensors.

Files of onnx-tensorrt are cited at commit 6ba67d3, the parser of TensorRT 8.6.1. A tensor that
gives sizes, bounds or lengths is evaluated on the host. In 8.x it has at most one dimension
(ShapeTensor.cpp:17-130 of 8.6.1; from 9.0 on it may have more) and comes from a few kinds of layers
only (NvInfer.h 8.6.1, ITensor, IGatherLayer, IScatterLayer).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import islice

from onnx import TensorProto

from graphfix.analysis.memo import after, inputs_of, kept_stepwise, operands, results, walk
from graphfix.authoring.declaring import Unknown
from graphfix.engines.common_rules import given_inputs
from graphfix.engines.profile import Target
from graphfix.engines.rule import BUILDER, REJECT, Answer, Yes, model_rule, rule
from graphfix.ir.graph import Constant, Graph, Node, Tensor, Variable
from graphfix.ir.model import Model
from graphfix.ir.storage.weights import type_name
from graphfix.ir.views import NodeView, Value
from graphfix.report import Severity

_DEPTH = 16


def is_weights(value: Value | None) -> bool:
    """Say whether the parser holds the values of an input: "is_weights()" in its source.

    That is an initializer, whether or not the caller may override it, and what a Constant node
    gives (builtin_op_importers.cpp:556); nothing else, however constant it is.
    """
    if value is None:
        return False
    tensor = value.tensor
    if isinstance(tensor, Constant):
        return True
    node = tensor.inputs[0] if tensor.inputs else tensor.draft
    return node is not None and node.op == "Constant"


def is_imported(body: Graph) -> bool:
    """Say whether the parser imports a body: not a branch that a known condition excludes.

    Where the condition of If is an initializer or a Constant only the chosen branch is imported,
    with what is defined in it (builtin_op_importers.cpp:2139-2154 of 8.6.1).
    """
    if body.parent is None:
        return True
    node = NodeView(body.parent)
    return node.op != "If" or bool(node.domain) or body is not _excluded(node)


def _excluded(node: NodeView) -> Graph | None:
    condition = node.input(0)
    values = condition.array() if is_weights(condition) and condition is not None else None
    if values is None or values.size != 1:
        return None
    chosen = bool(values.flatten()[0])
    return dict(node.node.graphs()).get("else_branch" if chosen else "then_branch")


def engine_type(value: Value, target: Target) -> str:
    """Return the element type that the engine gives a tensor, in ONNX's names; empty if unknown.

    int64 and float64 are lowered as the profile says. uint8 weights become int32
    (onnx2trt_utils.cpp:634, 685; WeightsContext.cpp:266, 308 of 10.1), and QuantizeLinear
    gives int8 whatever its zero point is (builtin_op_importers.cpp:1300).
    """
    if not value.elem_type:
        return ""
    name = value.type_name
    name = target.dtype_aliases.get(name, name)
    return _uint8(value) if name == "uint8" else name


def _uint8(value: Value) -> str:
    """Follow uint8 back to where it comes from."""
    for _ in range(_DEPTH):
        if is_weights(value):
            return "int32"
        producer = value.producer
        if producer is None or producer.op == "Cast" or value.type_name != "uint8":
            return "uint8"
        if producer.op == "QuantizeLinear":
            return "int8"
        first = producer.input(0)
        if first is None:
            return "uint8"
        value = first
    return "uint8"


def type_finding(node: NodeView, value: Value, text: str = "") -> Yes:
    """Return a yes about the element type of `value`."""
    return Yes(feature=f"dtype:{node.op}.{value.type_name}", text=text)


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text, for long lists of operators."""
    return tuple(text.split())


def opset_of(node: NodeView) -> int:
    """Return the opset that the parser takes a node to be of.

    It asks for that of the default domain, whatever the node's is. With one import that one
    counts, whatever its domain; with none it is 1 (ImporterContext.hpp:235-255).
    """
    opsets = node.graph.opsets
    found = opsets.get("")
    if found is not None:
        return found
    return next(iter(opsets.values()), 1)


_NAMES = {"float32": "FLOAT", "float16": "HALF"}


def engine_name(dtype: str) -> str:
    """Return the name of an element type in the parser's messages: ``UINT8``, ``HALF``."""
    return _NAMES.get(dtype, dtype.upper())


def every(node: NodeView) -> tuple[int, ...]:
    """Return the positions of all inputs."""
    return tuple(range(len(node.node.inputs)))


def rank(value: Value | None) -> int | None:
    """Return the rank of a tensor; None where it is missing or unknown."""
    return None if value is None else value.rank


def unknown_rank(value: Value) -> Unknown:
    """Return the answer for a tensor whose rank is not known."""
    return Unknown(f"rank of {value.name}")


def is_dynamic(value: Value) -> Answer:
    """Say whether a size of a tensor is known only at run time; unknown where its rank is."""
    return unknown_rank(value) if value.rank is None else value.static_shape is None


def form(feature: str, severity: Severity | None = None, text: str = "", message: str = "") -> Yes:
    """Return a yes with its own feature."""
    return Yes(feature=feature, severity=severity, text=text, message=message)


def is_graph_input(value: Value) -> bool:
    """Say whether the caller gives the tensor: an input of the main graph, not an initializer."""
    tensor = value.tensor
    return isinstance(tensor, Variable) and not tensor.inputs and tensor.draft is None


_INTEGERS = frozenset({TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL})
_LIMIT = 200

# Operator -> inputs that the engine evaluates as shape tensors.
_SHAPE_INPUTS: dict[str, frozenset[int]] = {
    "Reshape": frozenset({1}),
    "Expand": frozenset({1}),
    "Tile": frozenset({1}),
    "ConstantOfShape": frozenset({0}),
    "Slice": frozenset({1, 2, 4}),
    "Pad": frozenset({1}),
    "Resize": frozenset({3}),
    "Range": frozenset({0, 1, 2}),
    "OneHot": frozenset({1}),
    "Split": frozenset({1}),
    "TopK": frozenset({1}),
    "Loop": frozenset({0}),
}
# Operators whose output values are made of the values of input 0, or of all inputs.
_FIRST = frozenset(
    words(
        "Reshape Squeeze Unsqueeze Flatten Transpose Slice Gather Cast Identity Expand "
        "Tile ReduceSum ReduceProd ReduceMax ReduceMin Neg Abs Not Pad Split Floor Ceil"
    )
)
_ALL = frozenset(
    words(
        "Add Sub Mul Div Mod Min Max Concat Where Equal Less Greater LessOrEqual "
        "GreaterOrEqual And Or Sum"
    )
)
# Layers that give no shape tensor, by operator.
_LAYERS = {
    "Scatter": "IScatterLayer",
    "ScatterElements": "IScatterLayer",
    "ScatterND": "IScatterLayer",
    "GatherND": "IGatherLayer",
    "GatherElements": "IGatherLayer",
    "TopK": "ITopKLayer",
    "ArgMax": "ITopKLayer",
    "ArgMin": "ITopKLayer",
    "CumSum": "ILoopOutputLayer",
    "Loop": "ILoopOutputLayer",
    "Scan": "ILoopOutputLayer",
    "NonMaxSuppression": "INMSLayer",
}
# Layers on floats that give none either.
_FLOAT_LAYERS = {
    **dict.fromkeys(
        words("Relu LeakyRelu Sigmoid Tanh Elu Selu Softplus Softsign HardSigmoid"),
        "IActivationLayer",
    ),
    **dict.fromkeys(("MatMul", "Gemm"), "IMatrixMultiplyLayer"),
    **dict.fromkeys(("MaxPool", "AveragePool"), "IPoolingLayer"),
    "Conv": "IConvolutionLayer",
    "ConvTranspose": "IDeconvolutionLayer",
    "Softmax": "ISoftMaxLayer",
    "Resize": "IResizeLayer",
}


@kept_stepwise(in_a_loop=False)
def gives_shape(value: Value) -> Generator[Value, bool, bool]:
    """Say whether the values of a tensor end in a size, a bound or a length."""
    for user in value.consumers:
        if _is_shape_of(value, user):
            return True
        for result in _handed_on(value, user):
            if (yield result):
                return True
    return False


def shape_users(node: Node) -> list[Node]:
    """Return the nodes whose sizes, bounds or lengths the values of a node end in."""
    found: dict[NodeView, None] = {}
    for start in NodeView(node).outputs:
        for value in islice(walk([] if start is None else [start], _onward), _LIMIT):
            found |= dict.fromkeys(user for user in value.consumers if _is_shape_of(value, user))
    return [view.node for view in found]


def _onward(value: Value) -> Iterator[Value]:
    for user in value.consumers:
        yield from _handed_on(value, user)


def _place(value: Value, user: NodeView) -> int:
    return next(i for i, other in enumerate(user.node.inputs) if other is value.tensor)


def _is_shape_of(value: Value, user: NodeView) -> bool:
    shapes = _SHAPE_INPUTS.get(user.op)
    return shapes is not None and _place(value, user) in shapes


def _handed_on(value: Value, user: NodeView) -> list[Value]:
    """Return what a node computes of the values of a tensor, as far as sizes are made so."""
    if user.op in _FIRST:
        return [] if _place(value, user) or _is_shape_of(value, user) else results(user)
    return results(user) if user.op in _ALL and not _is_shape_of(value, user) else []


def _rank(tensor: Tensor) -> int:
    shape = tensor.shape
    return 0 if shape is None else len(shape)


@rule(
    feature="shape:rank2",
    versions="trt6-fulldims..trt8",
    severity=REJECT,
    text="[shuffleNode.cpp::symbolicExecute] Error Code 4: Internal Error (IShuffleLayer applied "
    "to shape tensor must have 0 or 1 reshape dimensions: dimensions were [-1,2])",
    source="ShapeTensor.cpp:17-130 (8.6.1); NVIDIA/TensorRT issues 2618, 2755, 2487",
)
def shape_of_rank_2(node: NodeView, target: Target) -> Answer:
    """TensorRT supports at most 1D tensors in the computation of a shape; {op} returns 2D."""
    raw = node.node
    if not raw.outputs or not raw.inputs:
        return None
    output = raw.outputs[0]
    if _rank(output) < 2 or output.elem_type not in _INTEGERS:
        return None
    if raw.op not in _FIRST and raw.op not in _ALL:
        return None
    computed = [t for t in raw.inputs if t.inputs] if raw.op in _ALL else raw.inputs[:1]
    if any(_rank(tensor) >= 2 and tensor.inputs for tensor in computed):
        return None  # said where the second dimension comes from
    if not gives_shape(Value(output)):
        return None
    return Yes(feature=f"shape:{raw.op}.rank{_rank(output)}")


@rule(
    tuple(_LAYERS),
    feature="shape:shape-tensor",
    versions="trt7.0..trt10.10",
    severity=REJECT,
    text="[graph.cpp::symbolicExecute] Error Code 4: Internal Error (this layer cannot be used to "
    "compute a shape tensor)",
    source="NvInfer.h 8.6.1:165-172, 2999-3012, 6275-6300; tensorrt-rtx 1.4.0, which is like "
    "10.15, and 1.7.1 build all of them",
)
def no_shape_tensor(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support {op} in the computation of a shape."""
    for output in node.node.outputs:
        if output.elem_type in _INTEGERS and output.outputs and gives_shape(Value(output)):
            layer = _LAYERS[node.op]
            return Yes(
                feature=f"shape:{node.op}.shape-tensor",
                text=f"[graph.cpp::symbolicExecute] Error Code 4: Internal Error ({node.name}: an "
                f"{layer} cannot be used to compute a shape tensor)",
            )
    return None


@rule(
    "Cast",
    feature="shape:shape-tensor",
    versions="trt7.0..trt10.10",
    severity=REJECT,
    text="[graph.cpp::symbolicExecute] Error Code 4: Internal Error (this layer cannot be used to "
    "compute a shape tensor)",
    source="NvInfer.h 8.6.1:165-172; tensorrt-rtx 1.4.0, which is like 10.15, and 1.7.1 build "
    "sizes from MaxPool, Conv and MatMul",
)
def shape_of_floats(node: NodeView, target: Target) -> Answer:
    """TensorRT cannot compute a shape from floats through this Cast."""
    raw = node.node
    if not raw.outputs or not raw.inputs:
        return None
    if raw.inputs[0].elem_type in _INTEGERS or raw.outputs[0].elem_type not in _INTEGERS:
        return None
    if not gives_shape(Value(raw.outputs[0])):
        return None
    for value in islice(walk([Value(raw.inputs[0])], _values_before), _LIMIT):
        maker = value.producer
        layer = None if maker is None else _FLOAT_LAYERS.get(maker.op)
        if maker is None or layer is None:
            continue
        if target.level < (9, 0) or layer != "IActivationLayer":
            return Yes(
                feature=f"shape:{maker.op}.shape-tensor",
                text=f"[graph.cpp::symbolicExecute] Error Code 4: Internal Error ({maker.name}:"
                f" an {layer} cannot be used to compute a shape tensor)",
            )
    return None


def _values_before(value: Value) -> list[Value]:
    maker = value.producer  # sizes of a tensor are known without what computes its elements
    return [] if maker is not None and maker.op in ("Shape", "Size") else after(value)


@rule(
    tuple(op for op in _SHAPE_INPUTS if op != "Loop"),
    feature="shape:loop-variable",
    versions="trt7.0..",
    severity=REJECT,
    text="[graph.cpp::symbolicExecute] Error Code 4: Internal Error (an IRecurrenceLayer cannot be "
    "used to compute a shape tensor)",
    source="NvInfer.h 8.6.1:5529-5710",
)
def shape_of_loop_variable(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support shapes or bounds of {op} that change between Loop iterations."""
    graph = node.node.graph
    if graph.parent is None or graph.parent.op not in ("Loop", "Scan"):
        return None
    wanted = _SHAPE_INPUTS[node.op]
    taken = [v for i, v in enumerate(node.inputs) if i in wanted and v is not None]
    sizes = [value for value in taken if isinstance(value.tensor, Variable)]
    if any(value in inputs_of(graph) for value in islice(walk(sizes, _after_sizes), _LIMIT)):
        return Yes(feature=f"shape:{node.op}.loop-variable")
    return None


def _after_sizes(value: Value) -> list[Value]:
    maker = value.producer
    return operands(maker) if maker is not None and maker.op in _ALL | _FIRST else []


_FLOATS = frozenset({TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE})
_SCALES = {"Resize": 2, "Upsample": 1}


@model_rule(
    feature="io:float-shape-input",
    versions="trt7.0..",
    severity=BUILDER,
    text="network input that is shape tensor must have type Int32",
    source="NvInfer.h 8.6.1, INetworkDefinition::addInput; NVIDIA/TensorRT issue 3176; "
    "tensorrt-rtx 1.4.0 to 1.7.1 for the scales of Resize and Upsample",
)
def shape_input_of_floats(model: Model, target: Target) -> list[Answer]:
    """TensorRT requires integer graph inputs for shapes and bounds, and this one is float."""
    scales = target.level >= (10, 15)
    return [
        f"graph input {tensor.name} is {type_name(tensor.elem_type)} and gives sizes or bounds; "
        "the engine takes integers only for those"
        for tensor in given_inputs(model)
        if tensor.elem_type in _FLOATS
        and _rank(tensor) < 2
        and (gives_shape(Value(tensor)) or (scales and _gives_scales(tensor)))
    ]


def _gives_scales(tensor: Tensor) -> bool:
    places = ((user, _SCALES.get(user.op)) for user in tensor.outputs)
    return any(place is not None and user.inputs[place] is tensor for user, place in places)

"""TFLite: names, outputs, cells, indices and normalizations."""

from __future__ import annotations

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.authoring.declaring import Unknown
from graphfix.engines.operands import joins_axes, normalizes_several_axes
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, model_rule, rule
from graphfix.engines.rule_makers import ignores_sparse_initializers, refuses_empty_outputs
from graphfix.engines.tflite.rules import MEASURED
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView, Value

_CELLS = {"GRU": (3,), "LSTM": (3, 5), "RNN": (3,)}  # bias and first state
_WEIGHTS = (1, 2, 3)  # the inputs W, R and B
_MATRIX = 2  # the rank
_VOLUME = 5  # the rank of what has three dimensions next to batch and channels


@model_rule(
    feature="io:name",
    severity=REJECT,
    text="'ascii' codec can't encode character '\\xdf' in position 0",
    source=MEASURED,
)
def name_beyond_ascii(model: Model, target: Target) -> list[Answer]:
    """onnx2tf requires ASCII names of inputs."""
    return [
        Yes(message=f"onnx2tf requires ASCII names; input {tensor.name} has another")
        for tensor in model.graph.inputs
        if not tensor.name.isascii()
    ]


@rule(
    ("GRU", "LSTM", "RNN"),
    feature="form:{op}.unset-input",
    severity=REJECT,
    text="'NoneType' object is not subscriptable",
    source=f"{MEASURED}: facts/asked.json, recurrent-*: with a bias, and an LSTM with the first of"
    " its states, they are taken",
)
def cell_without_states(node: NodeView, target: Target) -> Answer:
    """onnx2tf requires the bias B of {op}, and initial_h of LSTM."""
    return any(node.input(place) is None for place in _CELLS[node.op])


@rule(
    ("Softmax", "LogSoftmax"),
    feature="form:{op}.flattened",
    severity=WRONG,
    source=f"{MEASURED}: over the last axis, and from opset 13 on, they are equal",
)
def softmax_of_flattened(node: NodeView, target: Target) -> Answer:
    """onnx2tf applies {op} to one axis; ONNX before opset 13 flattens all axes from there on."""
    return joins_axes(node)


@rule(
    "MatMul",
    feature="rank:MatMul.1",
    severity=REJECT,
    text="'tfl.batch_matmul' op failed to verify that operand 0 is 2-D or higher",
    source=f"{MEASURED}: facts/graphs.json; constants of more dimensions, and a vector that comes"
    " second, are taken",
)
def matmul_of_a_vector(node: NodeView, target: Target) -> Answer:
    """onnx2tf does not support MatMul of a vector, or its row, by a vector or a computed matrix."""
    left, right = node.input(0), node.input(1)
    if left is None or right is None or left.rank not in (None, 1, _MATRIX):
        return None
    if left.rank is None or right.rank is None:
        return Unknown(f"rank of {(left if left.rank is None else right).name}")
    if left.rank == _MATRIX and not _is_row_of_vector(left):
        return None
    computed = right.rank == _MATRIX and not right.is_constant
    column = right.producer is not None and right.producer.op == "Unsqueeze"
    return (computed and not column) or (left.rank == 1 and right.rank == 1)


def _is_row_of_vector(value: Value) -> bool:
    maker = value.producer
    return maker is not None and maker.op == "Unsqueeze" and maker.need(0).rank == 1


@rule(
    "Attention",
    feature="op:Attention",
    severity=REJECT,
    source=f"{MEASURED}: facts/graphs.json; past keys, groups of heads, softcap and is_causal are"
    " taken",
)
def attention_behind_a_mask(node: NodeView, target: Target) -> Answer:
    """onnx2tf does not support attn_mask or qk_matmul_output of Attention."""
    return node.input(3) is not None or node.output(3) is not None


@rule(
    "GatherElements",
    feature="op:GatherElements",
    severity=REJECT,
    text="Output tensors of a Functional model must be the output of a TensorFlow `Layer`",
    source=f"{MEASURED}: facts/graphs.json; of matrices, and by indices that are fed, it is taken",
)
def elements_by_constants(node: NodeView, target: Target) -> Answer:
    """onnx2tf does not support constant GatherElements indices of rank 3 or higher."""
    indices = node.input(1)
    if indices is None or not known_with_sizes(indices):
        return None
    return Unknown(f"rank of {indices.name}") if indices.rank is None else indices.rank > _MATRIX


@model_rule(
    feature="io:constant-output",
    severity=REJECT,
    text="1 of 2 outputs came",
    source=f"{MEASURED}: such an output is left out, and what follows from sizes is one",
)
def constant_output(model: Model, target: Target) -> list[Answer]:
    """onnx2tf drops an output that does not depend on the values of an input."""
    return [
        Yes(message=f"{target.title} drops the constant output {tensor.name}")
        for tensor in model.graph.outputs
        if known_with_sizes(Value(tensor)) and not _counts_elements(Value(tensor))
    ]


def _counts_elements(value: Value) -> bool:
    """Say whether a Size gives an output, which is not computed before, as Shape is."""
    return value.producer is not None and value.producer.op == "Size"


@rule(
    "LayerNormalization",
    feature="form:LayerNormalization.axes",
    severity=REJECT,
    text="Eager execution of tf.constant with unsupported shape",
    source=f"{MEASURED}: over the last axis it is taken",
)
def normalization_of_several_axes(node: NodeView, target: Target) -> Answer:
    """onnx2tf supports LayerNormalization over the last axis only."""
    return normalizes_several_axes(node)


@rule(
    ("Conv", "ConvTranspose"),
    feature="const:{op}.W",
    severity=REJECT,
    text="list index out of range; axes don't match array",
    source=MEASURED,
)
def computed_weights(node: NodeView, target: Target) -> Answer:
    """onnx2tf requires constant weights of {op}."""
    weights = node.input(1)
    return weights is not None and not known_with_sizes(weights)


@rule(
    "ConvTranspose",
    feature="form:ConvTranspose.bias",
    severity=WRONG,
    source=f"{MEASURED}: the result lacks the bias; without one, and of images, it is equal",
)
def bias_of_a_volume(node: NodeView, target: Target) -> Answer:
    """onnx2tf drops the bias of a 3D ConvTranspose."""
    x, weights = node.input(0), node.input(1)
    if x is None or weights is None or node.input(2) is None:
        return None
    rank = x.rank if x.rank is not None else weights.rank
    return Unknown(f"rank of {x.name}") if rank is None else rank == _VOLUME


@rule(
    "DFT",
    feature="op:DFT",
    severity=REJECT,
    text='Exception encountered when calling layer "tf.cond"',
    source=f"{MEASURED}: facts/asked.json, dft-*",
)
def transform_of_part(node: NodeView, target: Target) -> Answer:
    """onnx2tf does not support DFT with onesided=1, dft_length or axis as an input."""
    given = node.input(1) is not None or node.input(2) is not None
    return given or bool(node.attr("onesided", 0))


@rule(
    ("GRU", "LSTM", "RNN"),
    feature="const:{op}.W",
    severity=REJECT,
    text="You are passing KerasTensor, an intermediate TF-Keras symbolic input/output",
    source=f"{MEASURED}: facts/asked.json, recurrent-fed; first states may be fed",
)
def cell_of_fed_weights(node: NodeView, target: Target) -> Answer:
    """onnx2tf requires constant weights and bias of {op}."""
    given = [node.input(place) for place in _WEIGHTS]
    return any(value is not None and not known_with_sizes(value) for value in given)


EMPTY_OUTPUT = refuses_empty_outputs(
    versions="tflite",
    text="Invalid tensor size.",
    source=f"{MEASURED}: facts/asked.json, slice",
)
SPARSE_INITIALIZER = ignores_sparse_initializers(versions="tflite", source=MEASURED)

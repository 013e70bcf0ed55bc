"""TFLite: names, outputs, cells, indices and normalizations."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.authoring.views import NodeView, Value
from graphfix.engines.known_values import known_with_sizes
from graphfix.engines.operands import (
    joins_axes,
    normalizes_several_axes,
)
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, model_rule, rule
from graphfix.engines.rule_makers import ignores_sparse_initializers
from graphfix.engines.tflite.rules import MEASURED
from graphfix.model import Model

_CELLS = {"GRU": (3, 5), "LSTM": (3, 5, 6), "RNN": (3, 5)}  # bias and first states
_MATRIX = 2  # the rank
_VOLUME = 5  # the rank of what has three dimensions beside batch and channels


@model_rule(
    feature="io:name",
    versions="tflite",
    severity=REJECT,
    text="'ascii' codec can't encode character '\\xdf' in position 0",
    source=MEASURED,
)
def name_beyond_ascii(model: Model, target: Target) -> list[Answer]:
    """An input has a name that is not ASCII."""
    return [
        Yes(message=f"the name of input {tensor.name} is not ASCII, which {target.title} wants")
        for tensor in model.graph.inputs
        if not tensor.name.isascii()
    ]


@rule(
    "Mod",
    feature="attr:Mod.fmod=1",
    versions="tflite",
    severity=WRONG,
    source=f"{MEASURED}: facts/graphs.json; of floats and integers",
)
def mod_truncated(node: NodeView, target: Target) -> Answer:
    """Mod with fmod gives the sign of the divisor."""
    return bool(node.attr("fmod", 0))


@rule(
    "ScatterElements",
    feature="attr:ScatterElements.reduction",
    versions="tflite",
    severity=REJECT,
    source=f"{MEASURED}: reduction add ends the conversion",
)
def scatter_elements_reduction(node: NodeView, target: Target) -> Answer:
    """ScatterElements that adds or compares is not converted."""
    how = node.attr("reduction", "none")
    return how != "none" and Yes(feature=f"attr:ScatterElements.reduction={how}")


@rule(
    "ScatterND",
    feature="attr:ScatterND.reduction",
    versions="tflite",
    severity=WRONG,
    source=f"{MEASURED}: reductions add and min",
)
def scatter_nd_reduction(node: NodeView, target: Target) -> Answer:
    """What is scattered replaces the data instead of being added to it or compared with it."""
    how = node.attr("reduction", "none")
    return how != "none" and Yes(feature=f"attr:ScatterND.reduction={how}")


@rule(
    ("GRU", "LSTM", "RNN"),
    feature="form:{op}.unset-input",
    versions="tflite",
    severity=REJECT,
    text="'NoneType' object is not subscriptable; An `initial_state` was passed that is not "
    "compatible with `cell.state_size`",
    source=f"{MEASURED}: with a bias and first states they are taken",
)
def cell_without_states(node: NodeView, target: Target) -> Answer:
    """A cell that lacks its bias or a first state is not converted."""
    return any(node.input(place) is None for place in _CELLS[node.op])


@rule(
    ("GRU", "LSTM", "RNN"),
    feature="attr:{op}.layout=1",
    versions="tflite",
    severity=REJECT,
    source=MEASURED,
)
def cell_by_batch(node: NodeView, target: Target) -> Answer:
    """A cell whose batch comes first is not converted."""
    return bool(node.attr("layout", 0))


@rule(
    ("Softmax", "LogSoftmax"),
    feature="form:{op}.flattened",
    versions="tflite",
    severity=WRONG,
    source=f"{MEASURED}: over the last axis, and from opset 13 on, they are equal",
)
def softmax_of_flattened(node: NodeView, target: Target) -> Answer:
    """Before opset 13 all axes from the given one on are one, and here it is that one alone."""
    return joins_axes(node)


@rule(
    "Slice",
    feature="form:Slice.negative-steps",
    versions="tflite",
    severity=WRONG,
    source=f"{MEASURED}: starts -1, ends -7 and steps -1 of 6; what hangs on constants alone is"
    " computed before, and right",
)
def slice_backwards(node: NodeView, target: Target) -> Answer:
    """A slice that runs backwards gives other elements."""
    x, steps = node.input(0), node.input(4)
    if steps is None or x is None or known_with_sizes(x):
        return None
    array = steps.array()
    return Unknown(f"values of {steps.name}") if array is None else bool((array < 0).any())


@rule(
    "OneHot",
    feature="op:OneHot",
    versions="tflite",
    severity=WRONG,
    source=f"{MEASURED}: the values 0 and 1 are equal",
)
def one_hot_values(node: NodeView, target: Target) -> Answer:
    """The values of OneHot are others than 0 and 1, and the first of them is counted twice."""
    values = node.input(2)
    array = values.array() if values is not None else None
    return array is None or array.tolist() != [0, 1]


@rule(
    "MatMul",
    feature="rank:MatMul.1",
    versions="tflite",
    severity=REJECT,
    text="'tfl.batch_matmul' op failed to verify that operand 0 is 2-D or higher",
    source=f"{MEASURED}: facts/graphs.json; constants of more dimensions, and a vector that comes"
    " second, are taken",
)
def matmul_of_a_vector(node: NodeView, target: Target) -> Answer:
    """A vector is multiplied by a vector, or it or its row by a matrix that is computed."""
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
    versions="tflite",
    severity=REJECT,
    source=f"{MEASURED}: facts/graphs.json; past keys, groups of heads, softcap and is_causal are"
    " taken",
)
def attention_behind_a_mask(node: NodeView, target: Target) -> Answer:
    """Attention has a mask, or gives the products of queries and keys."""
    return node.input(3) is not None or node.output(3) is not None


@rule(
    "GatherElements",
    feature="op:GatherElements",
    versions="tflite",
    severity=REJECT,
    text="Output tensors of a Functional model must be the output of a TensorFlow `Layer`",
    source=f"{MEASURED}: facts/graphs.json; of matrices, and by indices that are fed, it is taken",
)
def elements_by_constants(node: NodeView, target: Target) -> Answer:
    """The indices of GatherElements are constant, and of more than two dimensions."""
    indices = node.input(1)
    if indices is None or not known_with_sizes(indices):
        return None
    return Unknown(f"rank of {indices.name}") if indices.rank is None else indices.rank > _MATRIX


@model_rule(
    feature="io:constant-output",
    versions="tflite",
    severity=REJECT,
    text="1 of 2 outputs came",
    source=f"{MEASURED}: such an output is left out",
)
def constant_output(model: Model, target: Target) -> list[Answer]:
    """An output does not depend on an input."""
    return [
        Yes(message=f"output {tensor.name} is constant, and {target.title} leaves it out")
        for tensor in model.graph.outputs
        if Value(tensor).is_constant
    ]


@rule(
    "LayerNormalization",
    feature="form:LayerNormalization.axes",
    versions="tflite",
    severity=REJECT,
    text="Eager execution of tf.constant with unsupported shape",
    source=f"{MEASURED}: over the last axis it is taken",
)
def normalization_of_several_axes(node: NodeView, target: Target) -> Answer:
    """LayerNormalization over more than the last axis is not converted."""
    return normalizes_several_axes(node)


@rule(
    ("Conv", "ConvTranspose"),
    feature="const:{op}.W",
    versions="tflite",
    severity=REJECT,
    text="list index out of range; axes don't match array",
    source=MEASURED,
)
def computed_weights(node: NodeView, target: Target) -> Answer:
    """The weights are fed or computed."""
    weights = node.input(1)
    return weights is not None and not known_with_sizes(weights)


@rule(
    "ArgMax",
    feature="attr:ArgMax.select_last_index",
    versions="tflite",
    severity=REJECT,
    source=MEASURED,
)
def last_of_equals(node: NodeView, target: Target) -> Answer:
    """The last of several maxima is not found."""
    return bool(node.attr("select_last_index", 0))


@rule(
    "Clip",
    feature="form:Clip.no-bounds",
    versions="tflite",
    severity=REJECT,
    text="'tf_node'",
    source=MEASURED,
)
def clip_without_bounds(node: NodeView, target: Target) -> Answer:
    """A Clip with neither bound is not converted."""
    given = [node.input(1), node.input(2), node.attr("min", None), node.attr("max", None)]
    return all(bound is None for bound in given)


@rule(
    "ConvTranspose",
    feature="form:ConvTranspose.bias",
    versions="tflite",
    severity=WRONG,
    source=f"{MEASURED}: the result lacks the bias; without one, and of images, it is equal",
)
def bias_of_a_volume(node: NodeView, target: Target) -> Answer:
    """The bias of a ConvTranspose of three dimensions is left out."""
    x, weights = node.input(0), node.input(1)
    if x is None or weights is None or node.input(2) is None:
        return None
    rank = x.rank if x.rank is not None else weights.rank
    return Unknown(f"rank of {x.name}") if rank is None else rank == _VOLUME


SPARSE_INITIALIZER = ignores_sparse_initializers(versions="tflite", source=MEASURED)

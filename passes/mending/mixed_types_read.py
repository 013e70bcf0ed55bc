"""Read operands of two types, where ONNX asks for one, as frameworks take them.

What it does: Walks over a file that ONNX's type constraints refuse, with the types that follow from
    what is before each node. Where operands do not fit, a Cast (of a constant the constant itself)
    says how they are read: floats of two types as the wider one, int32 next to int64 as int64, a
    constant of one element in the type of the tensor, bounds of Clip and the value of Pad in the
    type of the data, scales of Resize in float32, states of Loop and branches of If in the wider
    type, a tensor that goes into a sequence in the type of that. An output of the model keeps the
    type that it is declared with. A local function in which operands meet, or whose results do,
    gives way to its nodes. Each place says what was assumed;
    `graphfix/validity/mending/kinds.toml` lists the kinds.
Why engines need it: onnxruntime and TensorRT refuse to load the file ("Type parameter (T) of Optype
    (Mul) bound to different types (tensor(float16) and tensor(float)"). Converters to float16 leave
    such places where a node is on their block list, in subgraphs, and at constants.
Before: y = Mul (x, g)               with x: float16, g: float
After:
    x_as_float32 = Cast <to = 1> (x)
    y = Mul (x_as_float32, g)
When it refuses: A node can be read in two ways: floats next to computed integers, indices that are
    fractions, branches of truth values and of numbers. Both readings are named. It leaves alone
    what a newer opset takes, operators that ONNX does not have, and functions that ONNX's inliner
    cannot write out.
Accuracy: Mended: the file has no meaning to compare with. The result is compared with what another
    evaluator computes from the file as it came, each operator by itself on values of the types that
    are there, promoted when they meet. Exit code 0 needs --allow-mended.
References: https://onnx.ai/onnx/repo-docs/IR.html#type-denotations;
    https://numpy.org/neps/nep-0050-scalar-promotion.html;
    https://pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
"""

from graphfix.authoring import MENDED, PREPARE, Editor, graph_pass
from graphfix.validity.mending.whole_files import mended_types


@graph_pass(
    stage=PREPARE,
    removes="model:types-differ model:element-type model:type-contradiction model:stored-type",
    emits="Cast",
    accuracy=MENDED,
)
def mixed_types_read(editor: Editor) -> None:
    """Read the main graph, its subgraphs and the functions that it calls, see the module."""
    read = mended_types(editor.model)
    for node, reason in read.unclear:
        editor.refuse(node, reason)
    if read.places:
        editor.reload(read.proto)
    for place in read.places:
        editor.record(place.node, place.said)

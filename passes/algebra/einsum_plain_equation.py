"""Write an Einsum with lower-case letters and without an ellipsis.

What it does: Gives each axis a letter of its own, those that an ellipsis stands for too, and writes
    out the result where the equation leaves it to the letters' order.
Why engines need it: TensorRT takes lower-case letters only, and up to 10.11 no ellipsis.
Before: y = Einsum <equation = "...iJ,...Jk"> (x, z)       x: [N, 2, 3], z: [N, 3, 4]
After: y = Einsum <equation = "abc,acd->abd"> (x, z)
When it refuses: All letters are lower-case and no ellipsis stands for an axis, a rank is unknown,
    there are more than 26 axes, or an axis of an ellipsis may have size 1 in one operand and
    another in a second one, which letters must not have.
Accuracy: Exact: the operator stays.
References: https://onnx.ai/onnx/operators/onnx__Einsum.html; onnx/onnx-tensorrt release/8.6-GA,
    builtin_op_importers.cpp:1382-1398 and docs/operators.md
"""

from string import ascii_lowercase

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._equation import of_ellipsis, read


@rewrite(
    "Einsum",
    removes="attr:Einsum.equation attr:Einsum.ellipsis",
    emits="Einsum",
    since=12,
    claims="nan inf",
)
def einsum_plain_equation(node: NodeView, build: Builder) -> Value:
    """Name the axes again, see the module."""
    terms, wanted = read(node)
    labels = list(dict.fromkeys(label for term in terms for label in term.labels))
    if set(labels) <= set(ascii_lowercase):
        raise Refuse("the letters must be others than a to z; they are plain already")
    if len(labels) > len(ascii_lowercase):
        raise Refuse(f"there must be at most 26 axes; there are {len(labels)}")
    for label in filter(of_ellipsis, labels):
        sizes = {term.size(label) for term in terms if label in term.labels}
        users = sum(label in term.labels for term in terms)
        if users > 1 and (len(sizes) > 1 or None in sizes):
            raise Refuse(
                f"sizes of an ellipsis axis must be equal; they are {sorted(map(str, sizes))}"
            )
    letters = dict(zip(labels, ascii_lowercase, strict=False))
    words = ",".join("".join(letters[label] for label in term.labels) for term in terms)
    result = "".join(letters[label] for label in wanted)
    return build.Einsum(*(term.value for term in terms), equation=f"{words}->{result}")

"""Types of operators without schema: they follow from what a pass writes for them."""

from __future__ import annotations

from graphfix.authoring.building import Builder, written_types
from graphfix.authoring.declaring import InferredType, Pass, rewrite
from graphfix.authoring.registry import Catalogue
from graphfix.authoring.workspace import Workspace
from graphfix.ir.graph import Shape
from graphfix.ir.views import NodeView, Refuse, Value
from graphfix.pipeline.model_files import load
from graphfix.pipeline.model_types import infer_types
from graphfix.testing import parse

LOCAL = '<ir_version: 8, opset_import: ["" : 17, "local" : 1]> '


def inferred(text: str, *passes: Pass) -> dict[str, tuple[int, Shape | None]]:
    """Return the types of what the nodes of a model compute."""
    model = load(parse(text))
    infer_types(model, Catalogue(passes))
    tensors = [tensor for node in model.graph.nodes for tensor in node.outputs]
    return {tensor.name: (tensor.elem_type, tensor.shape) for tensor in tensors}


@rewrite("local::Halves", emits="Cast Concat Reshape Shape Slice")
def halves_to_reshape(node: NodeView, build: Builder) -> Value:
    """Write six columns as two by three, in float32."""
    x = node.need(0)
    front = build.Slice(build.Shape(x), starts=[0], ends=[-1], axes=[0])
    return build.Reshape(build.Cast(x, to=1), build.Concat(front, [2], [3], axis=0))


def test_they_follow_through_sizes_that_are_computed_and_what_reads_them_knows_them() -> None:
    found = inferred(
        LOCAL + "g (float16[N, 6] x) => (y) { t = local.Halves (x) y = Neg (t) }",
        halves_to_reshape,
    )
    assert found == {"t": (1, ("N", 2, 3)), "y": (1, ("N", 2, 3))}


def test_a_name_that_inference_makes_up_is_no_size_of_the_model() -> None:
    @rewrite("local::Places", emits="NonZero Concat Reshape Shape")
    def places_to_nonzero(node: NodeView, build: Builder) -> Value:
        """Write NonZero, of which nothing tells how many there are."""
        found = build.NonZero(node.need(0))
        return build.Reshape(found, build.Concat(build.Shape(found), [1], axis=0))

    text = LOCAL + "g (float[N, M] x) => (y) { y = local.Places (x) }"
    assert inferred(text, places_to_nonzero)["y"] == (7, (2, None, 1))


def test_the_opset_of_the_file_is_no_matter() -> None:
    @rewrite("local::Picked", emits="Where", since=9)
    def picked_to_where(node: NodeView, build: Builder) -> Value:
        """Write Where, which came with opset 9."""
        return build.Where(node.need(0), node.need(1), node.need(1))

    text = (
        '<ir_version: 3, opset_import: ["" : 7, "local" : 1]> g (bool[2, 1] c, float[3] x) => '
        "(float[2, 3] y) { t = local.Picked (c, x) y = Neg (t) }"
    )
    assert inferred(text, picked_to_where)["t"] == (1, (2, 3))


def test_what_says_its_types_is_not_written() -> None:
    def types(node: NodeView) -> list[InferredType | None]:
        return [InferredType(7, (4,))] if node.has("said") else []

    def unsaid(node: NodeView) -> list[InferredType | None] | None:
        return types(node) or None

    asked: list[str] = []

    @rewrite("local::Odd", emits="Neg", infer=unsaid)
    def odd_to_neg(node: NodeView, build: Builder) -> Value:
        """Write Neg."""
        asked.append(node.need(0).name)
        return build.Neg(node.need(0))

    text = (
        LOCAL + "g (float[2] x) => (float[2] y) { t = local.Odd <said = 1> (x) y = Cast<to=1>(t) }"
    )
    assert inferred(text, odd_to_neg)["t"] == (7, (4,))
    assert not asked
    assert inferred(text.replace("<said = 1>", ""), odd_to_neg)["t"] == (1, (2,))
    assert asked == ["x"]


def test_a_refusal_and_a_fault_leave_them_open() -> None:
    @rewrite("local::Odd", emits="Neg")
    def odd_to_neg(node: NodeView, build: Builder) -> Value:
        """Refuse, or fail."""
        if node.has("fails"):
            raise ZeroDivisionError("on purpose")
        raise Refuse("it is odd")

    for how in ("", "<fails = 1>", "<unread = 1>"):
        text = LOCAL + f"g (float[2] x) => (y) {{ t = local.Odd {how} (x) y = Neg (t) }}"
        assert inferred(text, odd_to_neg) == {"t": (0, None), "y": (0, None)}


def test_an_argument_that_is_not_read_leaves_them_open() -> None:
    @rewrite("local::Odd", emits="Neg")
    def odd_to_neg(node: NodeView, build: Builder) -> Value:
        """Leave the attribute unread."""
        return build.Neg(node.need(0))

    text = LOCAL + "g (float[2] x) => (y) { t = local.Odd <axis = 1> (x) y = Neg (t) }"
    assert inferred(text, odd_to_neg)["t"] == (0, None)


def test_each_node_is_written_once_while_nothing_new_is_known_of_it() -> None:
    asked: list[str] = []

    @rewrite("local::Odd", emits="Neg")
    def odd_to_neg(node: NodeView, build: Builder) -> Value:
        """Refuse the first; each of the others is known one round after the one before it."""
        x = node.need(0)
        asked.append(x.name)
        if x.name == "x" or not x.elem_type:
            raise Refuse("it is odd")
        return build.Neg(x)

    chain = "".join(f"a{n} = local.Odd (b{n}) b{n + 1} = Abs (a{n}) " for n in range(8))
    inferred(
        LOCAL + f"g (float[2] x, float[2] b0) => (y) {{ t = local.Odd (x) {chain} y = Abs (t) }}",
        odd_to_neg,
    )
    assert asked.count("x") == 1
    assert max(asked.count(f"b{n}") for n in range(8)) <= 3  # not once a round


def test_a_chain_of_any_length_is_followed() -> None:
    @rewrite("local::Odd", emits="Neg")
    def odd_to_neg(node: NodeView, build: Builder) -> Value:
        """Write Neg."""
        return build.Neg(node.need(0))

    chain = "".join(f"a{n} = local.Odd (b{n}) b{n + 1} = Abs (a{n}) " for n in range(200))
    found = inferred(LOCAL + f"g (float[N, 2] b0) => (y) {{ {chain} y = Abs (b200) }}", odd_to_neg)
    assert set(found.values()) == {(1, ("N", 2))}


def test_a_node_is_asked_about_where_one_of_its_inputs_stays_unknown() -> None:
    @rewrite("local::First", emits="Neg")
    def first_to_neg(node: NodeView, build: Builder) -> Value:
        """Write Neg of the first of two."""
        node.waive(inputs=(1,))
        return build.Neg(node.need(0))

    text = "g (float[2] x) => (y) { u = other.Unknown (x) t = local.First (x, u) y = Abs (t) }"
    head = LOCAL.replace('"local" : 1', '"local" : 1, "other" : 1')
    assert inferred(head + text, first_to_neg)["y"] == (1, (2,))


def test_the_names_of_what_was_written_are_free_again() -> None:
    model = load(parse(LOCAL + "g (float16[N, 6] x) => (y) { y = local.Halves (x) }"))
    workspace = Workspace(model, passes=(halves_to_reshape,))
    before = workspace.mark()
    (known,) = written_types(halves_to_reshape, NodeView(model.graph.nodes[0]), workspace)
    assert known == InferredType(1, ("N", 2, 3))
    assert workspace.mark() == before
    assert not model.graph.initializers
    assert [node.op for node in model.graph.nodes] == ["Halves"]

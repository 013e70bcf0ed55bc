"""blocked-channels-to-plain: held to the convolution in order, and to onnxruntime's own kernels.

A blocked model is written for blocks of 8 and of 16, whatever the processor at hand has; where it
has the same ones, onnxruntime runs the blocked model too.
"""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, numpy_helper, parser

import graphfix
from graphfix.report import Status
from graphfix.testing import assert_refused, assert_rewrite, outputs_of, run_pass
from tests.passes.places import in_branch

PASS = "blocked-channels-to-plain"
HEAD = '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1, "com.microsoft.nchwc" : 1]> '
Array = np.ndarray[Any, Any]
onnxruntime: Any = import_module("onnxruntime")  # it has no types
both_blocks = pytest.mark.parametrize("block", [8, 16])


@cache
def own_block() -> int:
    """Return how many channels a block has on this processor; 0 where it has no layout."""
    text = HEAD + "g (float[1,4,1,1] x) => (float[1,c,1,1] y)"
    text += "{ y = com.microsoft.nchwc.ReorderInput (x) }"
    try:
        (found,) = onnxruntime.InferenceSession(parser.parse_model(text).SerializeToString()).run(
            None, {"x": np.ones((1, 4, 1, 1), np.float32)}
        )
    except Exception:  # a build of onnxruntime without the layout raises what it likes
        return 0
    return int(np.asarray(found).shape[1])


def up(count: int, block: int) -> int:
    """Return a number of channels, the last block filled up."""
    return -(-count // block) * block


def filled(array: Array, block: int, *, inner: bool = True) -> Array:
    """Return weights, or a bias, with zeros that fill blocks up, not reordered."""
    sizes = [up(array.shape[0], block) - array.shape[0]]
    if array.ndim > 1:
        sizes += [up(array.shape[1], block) - array.shape[1] if inner else 0, 0, 0]
    return np.pad(array, [(0, size) for size in sizes])


def in_blocks(weights: Array, block: int, *, inner: bool = True) -> Array:
    """Return OIHW weights as onnxruntime stores them: each element written to its place."""
    whole = filled(weights, block, inner=inner)
    out, channels, height, width = whole.shape
    step = block if inner else 1
    stored: Array = np.zeros(
        (out // block, channels // step, height, width, step, block), np.float32
    )
    for o, i in np.ndindex(out, channels):
        stored[o // block, i // step, :, :, i % step, o % block] = whole[o, i]
    return stored.reshape(whole.shape)


def model(text: str, **weights: Array) -> ModelProto:
    """Return a model of this text and these initializers."""
    parsed = parser.parse_model(HEAD + text)
    parsed.graph.initializer.extend(numpy_helper.from_array(a, n) for n, a in weights.items())
    return parsed


def drawn(*shape: int) -> Array:
    """Return numbers that depend on the shape alone."""
    return np.random.default_rng(shape).uniform(-1, 1, shape).astype(np.float32)


def assert_plain(
    blocked: ModelProto, plain: ModelProto, feed: dict[str, Array], block: int, ops: list[str]
) -> None:
    """Assert that the pass gives these operators, and what the plain model gives.

    Without weights that fill a block up in one way alone, the file does not tell the block.
    """
    given = (
        {}
        if any(i.dims[0] == up(20, block) for i in blocked.graph.initializer if i.dims)
        else {"block": block}
    )
    done = run_pass(PASS, blocked, options=given)
    assert [outcome.status for outcome in done.outcomes] == [Status.APPLIED], done.reasons
    assert done.ops == ops
    wanted, found = outputs_of(plain, feed), outputs_of(done.after, feed)
    for name, array in wanted.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-5, atol=1e-5)
    if block == own_block():
        assert_rewrite(PASS, blocked, feeds=[feed], options=given, rtol=1e-5, atol=1e-5)


@both_blocks
@pytest.mark.parametrize("sizes", ["2,12,5,6", "N,12,H,W"])
def test_what_fills_blocks_up_is_cut_off(block: int, sizes: str) -> None:
    w, b = drawn(20, 12, 3, 3), drawn(20)
    ends = f"g (float[{sizes}] x) => (float[N,20,I,J] y)"
    conv = 'Conv <pads = [1,1,1,1], strides = [2,1], activation = "{}"{}> '
    blocked = model(
        ends
        + "{ r = com.microsoft.nchwc.ReorderInput (x) c = com.microsoft.nchwc."
        + conv.format("LeakyRelu", ", activation_params = [0.25]")
        + "(r, w, b) y = com.microsoft.nchwc.ReorderOutput <channels = 20> (c) }",
        w=in_blocks(w, block),
        b=filled(b, block),
    )
    plain = model(
        ends
        + "{ c = Conv <pads = [1,1,1,1], strides = [2,1]> (x, w, b) "
        + "y = LeakyRelu <alpha = 0.25> (c) }",
        w=w,
        b=b,
    )
    assert_plain(blocked, plain, {"x": drawn(2, 12, 5, 6)}, block, ["Conv", "LeakyRelu"])
    after = run_pass(PASS, blocked).after
    assert sorted(list(i.dims) for i in after.graph.initializer) == [[20], [20, 12, 3, 3]]


@both_blocks
def test_few_channels_are_read_as_they_are(block: int) -> None:
    """The first convolution of a network reads images of 3 channels; the layout begins with it."""
    w, deep = drawn(4, 3, 3, 3), drawn(4, 1, 3, 3)
    ends = "g (float[1,3,H,W] x) => (float[N,4,I,J] y)"
    blocked = model(
        ends + "{ a = com.microsoft.nchwc.Conv (x, w) "
        f"b = com.microsoft.nchwc.Conv <group = {block}> (a, deep) "
        "y = com.microsoft.nchwc.ReorderOutput <channels = 4> (b) }",
        w=in_blocks(w, block, inner=False),
        deep=in_blocks(deep, block, inner=False),
    )
    plain = model(ends + "{ a = Conv (x, w) y = Conv <group = 4> (a, deep) }", w=w, deep=deep)
    assert_plain(blocked, plain, {"x": drawn(1, 3, 7, 8)}, block, ["Conv", "Conv"])


@both_blocks
def test_groups_of_whole_blocks(block: int) -> None:
    w = drawn(2 * block, block, 1, 1)
    last = drawn(4, 2 * block, 1, 1)
    ends = f"g (float[1,{2 * block},3,4] x) => (float[1,4,3,4] y)"
    blocked = model(
        ends + "{ r = com.microsoft.nchwc.ReorderInput (x) "
        "c = com.microsoft.nchwc.Conv <group = 2> (r, w) d = com.microsoft.nchwc.Conv (c, last) "
        "y = com.microsoft.nchwc.ReorderOutput <channels = 4> (d) }",
        w=in_blocks(w, block),
        last=in_blocks(last, block),
    )
    plain = model(ends + "{ c = Conv <group = 2> (x, w) y = Conv (c, last) }", w=w, last=last)
    assert_plain(blocked, plain, {"x": drawn(1, 2 * block, 3, 4)}, block, ["Conv", "Conv"])


BETWEEN = {
    "pools": (
        "a = {n}MaxPool <kernel_shape = [2,2], strides = [2,2], ceil_mode = 1> (r) "
        "y1 = {n}AveragePool <kernel_shape = [2,2], pads = [1,1,0,0], count_include_pad = 1> (a)",
        ["MaxPool", "AveragePool"],
    ),
    "averages": ("y1 = {n}GlobalAveragePool (r)", ["GlobalAveragePool"]),
    "maxima": ("y1 = {n}GlobalMaxPool (r)", ["GlobalMaxPool"]),
    "elements": (
        "a = Mul (r, half) b = com.microsoft.QuickGelu <alpha = 1.5> (a) c = Add (b, r) "
        "d = Sigmoid (c) y1 = Sum (d, c, r)",
        ["Mul", "QuickGelu", "Add", "Sigmoid", "Sum"],
    ),
}


@both_blocks
@pytest.mark.parametrize("between", BETWEEN)
@pytest.mark.parametrize("sizes", ["2,12,6,8", "N,12,H,W"])
def test_what_is_between(block: int, between: str, sizes: str) -> None:
    text, ops = BETWEEN[between]
    ends = f"g (float[{sizes}] x) => (float[N,12,I,J] y) <float half = {{0.5}}>"
    blocked = model(
        ends
        + "{ r = com.microsoft.nchwc.ReorderInput (x) "
        + text.format(n="com.microsoft.nchwc.")
        + " y = com.microsoft.nchwc.ReorderOutput <channels = 12> (y1) }"
    )
    plain = model(ends + "{ r = Identity (x) " + text.format(n="") + " y = Identity (y1) }")
    assert_plain(blocked, plain, {"x": drawn(2, 12, 6, 8)}, block, ops)


@both_blocks
@pytest.mark.parametrize(
    ("written", "plain"),
    [
        (
            "",
            'mode = "nearest", nearest_mode = "floor", '
            'coordinate_transformation_mode = "asymmetric"',
        ),
        (
            ', mode = "linear", coordinate_transformation_mode = "half_pixel"',
            'mode = "linear", coordinate_transformation_mode = "half_pixel"',
        ),
        (
            ', mode = "linear", coordinate_transformation_mode = "align_corners"',
            'mode = "linear", coordinate_transformation_mode = "align_corners"',
        ),
        (', mode = "linear"', 'mode = "linear", coordinate_transformation_mode = "asymmetric"'),
    ],
)
def test_upsampling(block: int, written: str, plain: str) -> None:
    ends = "g (float[1,12,H,W] x) => (float[N,12,I,J] y) <float[4] s = {1, 1, 2, 3}>"
    blocked = model(
        ends + "{ r = com.microsoft.nchwc.ReorderInput (x) "
        f"u = com.microsoft.nchwc.Upsample <scales = [1,1,2,3]{written}> (r) "
        "y = com.microsoft.nchwc.ReorderOutput <channels = 12> (u) }"
    )
    ordered = model(ends + f"{{ y = Resize <{plain}> (x, , s) }}")
    assert_plain(blocked, ordered, {"x": drawn(1, 12, 3, 4)}, block, ["Resize"])


@both_blocks
def test_sums_and_joined_channels(block: int) -> None:
    """What Conv adds comes before its activation; whole blocks are joined in their order."""
    w, last = drawn(2 * block, block, 1, 1), drawn(4, 3 * block, 1, 1)
    ends = f"g (float[1,{block},H,W] x, float[1,{2 * block},H,W] z) => (float[1,4,H,W] y)"
    blocked = model(
        ends + "{ r = com.microsoft.nchwc.ReorderInput (x) s = com.microsoft.nchwc.ReorderInput (z)"
        'c = com.microsoft.nchwc.Conv <activation = "HardSigmoid", activation_params = [0.3, 0.4]> '
        "(r, w, , s) j = Concat <axis = 1> (c, r) d = com.microsoft.nchwc.Conv (j, last) "
        "y = com.microsoft.nchwc.ReorderOutput <channels = 4> (d) }",
        w=in_blocks(w, block),
        last=in_blocks(last, block),
    )
    plain = model(
        ends + "{ a = Conv (x, w) b = Add (a, z) c = HardSigmoid <alpha = 0.3, beta = 0.4> (b) "
        "j = Concat <axis = 1> (c, x) y = Conv (j, last) }",
        w=w,
        last=last,
    )
    feed = {"x": drawn(1, block, 2, 3), "z": drawn(1, 2 * block, 2, 3)}
    assert_plain(blocked, plain, feed, block, ["Conv", "Add", "HardSigmoid", "Concat", "Conv"])


@both_blocks
def test_channels_that_come_last(block: int) -> None:
    w = drawn(20, 12, 1, 1)
    ends = "g (float[1,H,W,12] x) => (float[1,H,W,20] y)"
    blocked = model(
        ends + "{ r = com.microsoft.nchwc.ReorderInput <channels_last = 1> (x) "
        "c = com.microsoft.nchwc.Conv (r, w) "
        "y = com.microsoft.nchwc.ReorderOutput <channels = 20, channels_last = 1> (c) }",
        w=in_blocks(w, block),
    )
    plain = model(
        ends + "{ r = Transpose <perm = [0,3,1,2]> (x) c = Conv (r, w) "
        "y = Transpose <perm = [0,2,3,1]> (c) }",
        w=w,
    )
    ops = ["Transpose", "Conv", "Transpose"]
    assert_plain(blocked, plain, {"x": drawn(1, 2, 3, 12)}, block, ops)


@both_blocks
def test_parts_that_plain_nodes_join(block: int) -> None:
    """Nodes outside of the layout read one part of it and feed another, in a branch too."""
    w = drawn(20, 20, 1, 1)
    ends = "g (float[1,20,H,W] x) => (float[1,20,H,W] y)"
    blocked = model(
        ends + "{ r = com.microsoft.nchwc.ReorderInput (x) a = com.microsoft.nchwc.Conv (r, w) "
        "p = com.microsoft.nchwc.ReorderOutput <channels = 20> (a) "
        "q = Softmax <axis = 1> (p) s = com.microsoft.nchwc.ReorderInput (q) "
        "t = com.microsoft.nchwc.Conv (s, w) u = Add (t, a) "
        "y = com.microsoft.nchwc.ReorderOutput <channels = 20> (u) }",
        w=in_blocks(w, block),
    )
    plain = model(
        ends + "{ p = Conv (x, w) q = Softmax <axis = 1> (p) t = Conv (q, w) y = Add (t, p) }", w=w
    )
    feed = {"x": drawn(1, 20, 2, 3)}
    assert_plain(blocked, plain, feed, block, ["Conv", "Softmax", "Conv", "Add"])
    inside = run_pass(PASS, in_branch(blocked))
    assert [outcome.status for outcome in inside.outcomes] == [Status.APPLIED]
    found = outputs_of(inside.after, {"c": np.array(True), **feed})
    np.testing.assert_allclose(found["y"], outputs_of(plain, feed)["y"], rtol=1e-5, atol=1e-5)


def test_what_follows_outside_is_given_alike_to_the_proof() -> None:
    """A Cast between two blocked ends rounds what is next to a half; it is not of the part."""
    block = own_block()
    if not block:
        pytest.skip("onnxruntime has no blocked layout on this processor")
    blocked = model(
        "g (float[1,20,H,W] x) => (float[1,20,H,W] y) "
        "{ r = com.microsoft.nchwc.ReorderInput (x) a = com.microsoft.nchwc.Conv (r, w) "
        "p = com.microsoft.nchwc.ReorderOutput <channels = 20> (a) h = Cast <to = 10> (p) "
        "q = Cast <to = 1> (h) s = com.microsoft.nchwc.ReorderInput (q) "
        "t = com.microsoft.nchwc.Conv (s, w) u = Add (t, a) "
        "y = com.microsoft.nchwc.ReorderOutput <channels = 20> (u) }",
        w=in_blocks(drawn(20, 20, 1, 1), block),
    )
    result = graphfix.run(blocked, "trt8")
    assert result.exit_code == 0
    (site,) = next(o for o in result.report.outcomes if o.pass_id == PASS).sites
    assert site.certificate is not None
    assert {tried.name for tried in site.certificate.sizes} == {"x", "q"}


@both_blocks
@pytest.mark.parametrize("sizes", ["2,12,5,6", "N,12,H,W"])
def test_operands_that_broadcast_have_their_blocks_apart(block: int, sizes: str) -> None:
    """Where heights or widths differ, onnxruntime gives blocks an axis of their own."""
    w, whole = drawn(20, 12, 1, 1), up(20, block)
    ends = f"g (float[{sizes}] x) => (float[N,20,I,J] y)"
    blocked = model(
        ends
        + "{ r = com.microsoft.nchwc.ReorderInput (x) c = com.microsoft.nchwc.Conv (r, w)"
        + "p = com.microsoft.nchwc.GlobalAveragePool (c) d = Reshape (c, five) "
        + "q = Reshape (p, five) s = Sigmoid (q) m = Mul (d, s) n = Reshape (m, four)"
        + "y = com.microsoft.nchwc.ReorderOutput <channels = 20> (n) }",
        w=in_blocks(w, block),
        five=np.array([0, whole // block, 0, 0, block]),
        four=np.array([0, whole, 0, 0]),
    )
    plain = model(
        ends + "{ c = Conv (x, w) p = GlobalAveragePool (c) s = Sigmoid (p) y = Mul (c, s) }", w=w
    )
    feed = {"x": drawn(2, 12, 5, 6)}
    assert_plain(blocked, plain, feed, block, ["Conv", "GlobalAveragePool", "Sigmoid", "Mul"])


def test_sizes_that_both_fit_need_the_option() -> None:
    w = drawn(32, 16, 1, 1)
    ends = "g (float[1,16,2,3] x) => (float[1,32,2,3] y)"
    text = ends + (
        "{ r = com.microsoft.nchwc.ReorderInput (x) c = com.microsoft.nchwc.Conv (r, w) "
        "y = com.microsoft.nchwc.ReorderOutput <channels = 32> (c) }"
    )
    feed = {"x": drawn(1, 16, 2, 3)}
    wanted = outputs_of(model(ends + "{ y = Conv (x, w) }", w=w), feed)["y"]
    for block in (8, 16):
        blocked = model(text, w=in_blocks(w, block))
        assert_refused(PASS, blocked, "8 and 16 fit them all")
        done = run_pass(PASS, blocked, options={"block": block})
        assert done.ops == ["Conv"]
        np.testing.assert_allclose(outputs_of(done.after, feed)["y"], wanted, rtol=1e-5, atol=1e-5)


REFUSED = {
    "{ r = com.microsoft.nchwc.ReorderInput (x) c = com.microsoft.nchwc.Conv (r, x) "
    "y = com.microsoft.nchwc.ReorderOutput <channels = 12> (c) }": "must be constant",
    "{ r = com.microsoft.nchwc.ReorderInput (x) c = Softmax <axis = 1> (r) "
    "y = com.microsoft.nchwc.ReorderOutput <channels = 12> (c) }": "Softmax",
    "{ r = com.microsoft.nchwc.ReorderInput (x) c = Mul (r, x) "
    "y = com.microsoft.nchwc.ReorderOutput <channels = 12> (c) }": "x, which is not blocked,",
    "{ r = com.microsoft.nchwc.ReorderInput (x) a = com.microsoft.nchwc.GlobalMaxPool (r) "
    "c = Mul (r, a) y = com.microsoft.nchwc.ReorderOutput <channels = 12> (c) }": (
        "the height and width of a must be known to be those"
    ),
    "{ r = com.microsoft.nchwc.ReorderInput (x) "
    "a = com.microsoft.nchwc.AveragePool <kernel_shape = [2,2], ceil_mode = 1> (r) "
    "y = com.microsoft.nchwc.ReorderOutput <channels = 12> (a) }": "ceil_mode of AveragePool",
    "{ y = com.microsoft.nchwc.ReorderOutput <channels = 12> (x) }": "x must be blocked",
    "{ y = com.microsoft.nchwc.ReorderInput (x) }": "y must be read in its own graph alone",
    "{ r = com.microsoft.nchwc.ReorderInput (x) y = Neg (x) }": "nothing is",
    "<int64[4] s = {0, 8, 0, 0}> { r = com.microsoft.nchwc.ReorderInput (x) a = Reshape (r, s) "
    "y = com.microsoft.nchwc.ReorderOutput <channels = 12> (a) }": "must be to [0, 1, 0, 0, 16]",
    "<int64[5] s = {0, 1, 0, 0, 16}> { r = com.microsoft.nchwc.ReorderInput (x) "
    "a = Reshape (r, s) b = Mul (a, r) "
    "y = com.microsoft.nchwc.ReorderOutput <channels = 12> (b) }": "some blocks are apart",
    "<int64[5] s = {0, 1, 0, 0, 16}> { r = com.microsoft.nchwc.ReorderInput (x) "
    "a = Reshape (r, s) y = com.microsoft.nchwc.ReorderOutput <channels = 12> (a) }": (
        "must read blocks without an axis of their own"
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_refusals(text: str) -> None:
    refusing = model("g (float[1,12,H,W] x) => (float[A,B,C,D] y)" + text)
    done = run_pass(PASS, refusing, options={"block": 16})
    assert done.ops == [node.op_type for node in refusing.graph.node]
    (reason,) = done.reasons
    assert REFUSED[text] in reason


def test_weights_that_read_what_fills_up_are_refused() -> None:
    text = (
        "g (float[1,12,H,W] x) => (float[A,4,C,D] y) { r = com.microsoft.nchwc.ReorderInput (x) "
        "c = com.microsoft.nchwc.Conv (r, w) "
        "y = com.microsoft.nchwc.ReorderOutput <channels = 4> (c) }"
    )
    assert_refused(PASS, model(text, w=np.ones((16, 16, 1, 1), np.float32)), "only the 12 channels")


@pytest.mark.parametrize("sizes", ["1,3,32,24", "N,3,H,W"])
def test_what_onnxruntime_saves(tmp_path: Path, sizes: str) -> None:
    """A network is saved at level all, repaired, and compared by the run itself."""
    if not own_block():
        pytest.skip("onnxruntime has no blocked layout on this processor")
    weights = {
        "w0": drawn(8, 3, 3, 3), "w1": drawn(20, 8, 3, 3), "w2": drawn(20, 1, 3, 3),
        "w3": drawn(20, 20, 1, 1), "w4": drawn(4, 20, 3, 3), "k": drawn(20),
    }  # fmt: skip
    network = model(
        f"g (float[{sizes}] x) => (float[A,4,C,D] y) <float[4] s = {{1, 1, 2, 2}}> {{"
        "a = Conv <pads = [1,1,1,1]> (x, w0) b = Relu (a)"
        "c = Conv <strides = [2,2], pads = [1,1,1,1]> (b, w1) d = BatchNormalization (c,k,k,k,e)"
        "h = Conv <pads = [1,1,1,1], group = 20> (d, w2) i = Clip (h, l, m)"
        "n = Conv (i, w3) o = Add (n, d) p = MaxPool <kernel_shape = [3,3], pads = [1,1,1,1]> (o)"
        'q = Resize <mode = "nearest", coordinate_transformation_mode = "asymmetric",'
        ' nearest_mode = "floor"> (p, , s) y = Conv <pads = [1,1,1,1]> (q, w4) }',
        **weights,
        e=np.abs(weights["k"]) + 1,
        l=np.array(0, np.float32),
        m=np.array(6, np.float32),
    )
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "all.onnx")
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    onnxruntime.InferenceSession(network.SerializeToString(), options)
    saved = ModelProto.FromString((tmp_path / "all.onnx").read_bytes())
    assert "com.microsoft.nchwc" in {node.domain for node in saved.graph.node}
    result = graphfix.run(saved, "trt8")
    assert result.exit_code == 0, result.report.findings_after
    assert result.report.verification.status == "equal"
    assert "nchwc" not in {node.domain.split(".")[-1] for node in result.model.graph.nodes}

"""What models are estimated to take, against what onnxruntime takes; whether there is room."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from msgspec import Struct
from onnx import ModelProto, parser

from graphfix.errors import EngineFailed
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.proving.inputs.needs import bytes_made, peak_bytes
from graphfix.proving.inputs.room import Room, elements
from graphfix.proving.values.kinds import Feed, Value
from graphfix.proving.whole.samples import Samples
from graphfix.worker.limits import Limits
from graphfix.worker.service import ask
from graphfix.worker.sessions import open_session

MIB = 2**20
HEAD = '<ir_version: 8, opset_import: ["" : 17]> g '
CHAIN = (
    "(float[N, 16, S, T] x) => (float[N, 16, S, T] y) "
    "{ a = Relu (x)  b = Exp (a)  c = Add (b, a)  y = Mul (c, x) }"
)
MODELS: dict[str, tuple[str, dict[str, tuple[int, ...]]]] = {
    "chain": (CHAIN, {"x": (2, 16, 256, 512)}),
    "conv": (
        "(float[N, 16, S, T] x, float[32, 16, 3, 3] w) => (float[N, 32, U, V] y) "
        "{ a = Conv <pads = [1, 1, 1, 1]> (x, w)  y = Relu (a) }",
        {"x": (1, 16, 512, 512), "w": (32, 16, 3, 3)},
    ),
    "conv-transpose": (
        "(float[N, 32, S, T] x, float[32, 32, 4, 4] w) => (float[N, 32, U, V] y) "
        "{ y = ConvTranspose <pads = [1, 1, 1, 1], strides = [2, 2]> (x, w) }",
        {"x": (1, 32, 128, 128), "w": (32, 32, 4, 4)},
    ),
    "attention": (
        "(float[H, S, 32] q, float[H, 32, S] k, float[H, S, 32] v) => (float[H, S, 32] y) "
        "{ a = MatMul (q, k)  b = Softmax <axis = -1> (a)  y = MatMul (b, v) }",
        {"q": (8, 1024, 32), "k": (8, 32, 1024), "v": (8, 1024, 32)},
    ),
    "reshaped": (  # what follows from sizes is followed
        "(float[N, 16, S] x) => (float[P, Q, 2] y) { s = Shape (x)  i = Constant "
        "<value = int64[1] {0}> ()  n = Gather (s, i)  t = Constant <value = int64[2] {-1, 2}> () "
        "d = Concat <axis = 0> (n, t)  a = Reshape (x, d)  y = Exp (a) }",
        {"x": (4, 16, 65536)},
    ),
    "branch": (
        "(float[N, S] x, bool c) => (float[N, S] y) { y = If (c) <then_branch = t () => "
        "(float[N, S] p) { a = Exp (x)  p = Add (a, x) }, else_branch = e () => (float[N, S] q) "
        "{ q = Neg (x) }> }",
        {"x": (4096, 2048), "c": ()},
    ),
}


class Measured(Struct):
    """The bytes that a run took on top of the inputs."""

    taken: int


def measure(folder: Path, request: dict[str, list[int]], _: Limits) -> Measured:
    """Run a model once, in a child of its own."""
    session = open_session((folder / "m.onnx").read_bytes())
    bools = {"c"}
    feed: Feed = {n: np.ones(s, np.bool_ if n in bools else np.float32) for n, s in request.items()}
    before = _status("VmRSS")
    session.run(None, feed)
    return Measured(_status("VmHWM") - before)


def _status(key: str) -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(key)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc, as Linux has it")
@pytest.mark.parametrize("name", list(MODELS))
def test_an_estimate_is_what_onnxruntime_takes_or_up_to_twice_that(
    tmp_path: Path, name: str
) -> None:
    text, shapes = MODELS[name]
    model = parser.parse_model(HEAD + text)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    request = {key: list(shape) for key, shape in shapes.items()}
    task = f"{__name__}:measure"
    taken = ask(task, tmp_path, request, Limits(60.0, 2 << 30), Measured).taken
    fed = 4 * elements(shapes)
    assert taken > 8 * MIB
    assert 0.95 * (taken + fed) < peak_bytes(model, shapes) < 2.1 * (taken + fed)


def test_what_cannot_be_inferred_counts_as_the_largest_that_is_read() -> None:
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17, "mine" : 1]> g (float[N] x) => (float[M] y) '
        "{ a = mine.Odd (x)  y = mine.Odd (a) }"
    )
    assert peak_bytes(model, {"x": (1000,)}) == 3 * 4000


def _chain() -> ModelProto:
    return parser.parse_model(HEAD + CHAIN)


def test_there_is_room_for_what_fits_and_the_option_is_named_for_what_does_not() -> None:
    room = Room(_chain(), 1 << 30)
    assert room.fits({"x": (1, 16, 64, 64)})
    assert room.short == ""
    large = {"x": (4, 16, 1024, 1024)}
    assert not room.fits(large)
    needed = room.needed(large)
    assert 4 * 4 * elements(large) < needed < 20 * 4 * elements(large)
    size = math.ceil((needed + 2**29) / 2**30)
    assert room.short.endswith(f"GiB; --max-memory {size}GiB gives more")
    # It is no less than what it says that is needed.
    assert Room(_chain(), size << 30).fits(large)


def test_more_than_a_machine_has_is_said_to_be_that() -> None:
    room = Room(_chain(), 1 << 30)
    assert not room.fits({"x": (1 << 400, 16, 2, 2)})
    assert room.short == "it needs more memory than a machine has"


def test_an_array_of_more_dimensions_than_there_are_is_not_drawn() -> None:
    dims = ", ".join(f"d{i}" for i in range(70))
    model = parser.parse_model(HEAD + f"(float[{dims}] x) => (float[{dims}] y) {{ y = Neg (x) }}")
    samples = Samples(model, _Hungry(1), FeedMaker(model), None, 5.0, room=Room(model, 1 << 28))
    assert samples.next(0) is None
    assert samples.last_error is not None
    assert samples.last_error.message.startswith("has 70 dimensions, arrays ")


class _Hungry:
    """An engine that runs out of memory from some number of elements on."""

    name = "hungry"

    def __init__(self, most: int) -> None:
        self.most = most
        self.seen: list[int] = []

    def run(self, feed: Feed) -> dict[str, Value]:
        (x,) = feed.values()
        assert isinstance(x, np.ndarray)
        self.seen.append(x.size)
        if x.size > self.most:
            raise MemoryError("bad_alloc")
        return {"y": x}


def test_smaller_inputs_are_tried_where_memory_runs_out() -> None:
    model = _chain()
    maker = FeedMaker(model)
    engine = _Hungry(1200)
    room = Room(model, 1 << 30)
    drawn = Samples(model, engine, maker, None, 60.0, room=room).next(0)
    assert drawn is not None
    assert engine.seen[-1] <= 1200 < engine.seen[0]
    # What is no smaller than what did not fit is not tried at all.
    assert all(
        later <= first // 4 for first, later in zip(engine.seen, engine.seen[1:], strict=False)
    )
    assert "--max-memory 3GiB gives more" in room.short


def test_memory_that_suffices_for_nothing_is_said() -> None:
    model = parser.parse_model(HEAD + "(float[8] x) => (float[8] y) { y = Relu (x) }")
    samples = Samples(model, _Hungry(4), FeedMaker(model), None, 60.0, room=Room(model, 1 << 30))
    with pytest.raises(MemoryError):
        samples.next(0)


def test_sizes_that_do_not_fit_are_not_drawn() -> None:
    model = parser.parse_model(
        HEAD + "(float[A, B, C, D] x) => (float[A, B, C, D] y) { y = Relu (x) }"
    )
    maker = FeedMaker(model)
    sizes = [elements(maker.shapes(0, attempt)) for attempt in range(maker.attempts())]
    assert max(sizes) >= 2**27  # half a gigabyte of one input, and as much for each copy

    class Refusing(_Hungry):
        def run(self, feed: Feed) -> dict[str, Value]:
            super().run(feed)
            raise EngineFailed("no size is right")

    engine = Refusing(1 << 40)
    room = Room(model, 1 << 28)
    assert Samples(model, engine, maker, None, 60.0, room=room).next(0) is None
    assert len(engine.seen) > 20
    assert 16 * max(engine.seen) < 1 << 28


def test_the_smallest_inputs_come_first_where_that_is_asked_for() -> None:
    model = _chain()
    maker = FeedMaker(model)
    engine = _Hungry(1 << 40)
    samples = Samples(model, engine, maker, None, 60.0, smallest_first=True)
    assert samples.next(0) is not None
    sizes = [elements(maker.shapes(0, attempt)) for attempt in range(maker.attempts())]
    assert engine.seen == [min(sizes)]


def test_bytes_that_nodes_compute_are_counted_as_far_as_shapes_are_known() -> None:
    text = (
        "(float[N, 3] x, float[M] t) => (float[P, Q] y, float[R] z) { s = Shape (x) "
        "i = Constant <value = int64[1] {0}> ()  n = Gather (s, i)  d = Concat <axis = 0> (n, n) "
        "m = ConstantOfShape (d)  y = Neg (m)  p = NonZero (t)  z = Gather (t, p) }"
    )
    shapes, indices = 2 * 8 + 8 + 8 + 2 * 8, 4
    model = parser.parse_model(HEAD + text)
    for size in (1, 1000):
        made = bytes_made(model, {"x": (size, 3), "t": (indices,)})
        assert made == shapes + 2 * 4 * size * size, size

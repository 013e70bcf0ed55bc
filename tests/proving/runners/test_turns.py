"""Big models, compared one after the other: the same verdicts in a part of the memory."""

from __future__ import annotations

import gc
import resource
import tempfile
import weakref
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import parser
from onnx.external_data_helper import (
    convert_model_to_external_data,
    write_external_data_tensors,
)

from graphfix.errors import EngineFailed
from graphfix.proving.models import compare_files, run_model
from graphfix.proving.runners import evaluators
from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.runners.outside_weights import SMALLEST, bytes_inside, outlined
from graphfix.proving.runners.turns import Turns
from graphfix.proving.values.kinds import Array, Feed, Value
from graphfix.proving.values.shelf import Shelf
from graphfix.proving.whole import comparison as whole
from graphfix.proving.whole import loading, preparing
from graphfix.proving.whole.options import ComparisonOptions
from graphfix.report import Verdict, Verification
from graphfix.worker.limits import available_memory

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g (float[N, 512] x) => (float[N, 512] y)'
# Eight matrices of 1 MiB, and what normalises between them.
WEIGHTS = 8 * 2**20
LIMIT = 2 * WEIGHTS + 2**20


@cache
def weights() -> list[tuple[Array, Array]]:
    rng = np.random.default_rng(3)
    return [
        (
            rng.standard_normal((512, 512)).astype(np.float32) / np.float32(22.6),
            rng.standard_normal(512).astype(np.float32),
        )
        for _ in range(8)
    ]


@cache
def table() -> Array:
    return np.random.default_rng(5).standard_normal((2**14, 512)).astype(np.float32)


def layers(tail: str = "y = Tanh(h8)", *, swapped: bool = False) -> onnx.ModelProto:
    """Build a model of WEIGHTS bytes; `tail` makes its output."""
    steps = "".join(f"m{n} = MatMul(h{n}, w{n}) h{n + 1} = Add(m{n}, b{n})" for n in range(8))
    model = parser.parse_model(f"{HEAD} {{ h0 = Identity(x) {steps} {tail} }}")
    for n, (matrix, bias) in enumerate(weights()):
        name = f"w{(5, 4)[n - 4] if swapped and n in (4, 5) else n}"
        model.graph.initializer.append(onnx.numpy_helper.from_array(matrix, name))
        model.graph.initializer.append(onnx.numpy_helper.from_array(bias, f"b{n}"))
    return model


def write(path: Path, model: onnx.ModelProto, *, external: bool = False) -> Path:
    if external:
        name = f"{path.stem}.data"
        model = onnx.ModelProto.FromString(model.SerializeToString())
        convert_model_to_external_data(model, True, name, 4096)
        write_external_data_tensors(model, str(path.parent))
    path.write_bytes(model.SerializeToString())
    return path


def task(before: Path, after: Path, limit: int | None, scratch: Path) -> preparing.Task:
    loaded = loading.load([before, after], Evaluators({}), limit, scratch)
    assert isinstance(loaded, list)
    return preparing.Task(loaded[0], loaded[1])


def verdict(before: Path, after: Path, limit: int | None, scratch: Path) -> Verification:
    return whole.compare(task(before, after, limit, scratch))


TAIL = "q = Sigmoid(h8) y = Mul(h8, q)"
SAME = "n = Neg(h8) e = Exp(n) o = Constant<value_float = 1.0>() s = Add(e, o) y = Div(h8, s)"

SLIGHTLY = "q = Sigmoid(h8) r = Mul(h8, q) e = Constant<value_float = 0.999>() y = Mul(r, e)"


@pytest.mark.parametrize("external", [False, True], ids=["inside", "external"])
@pytest.mark.parametrize(
    ("tail", "swapped", "status"),
    [
        (SAME, False, Verdict.EQUAL),
        (SLIGHTLY, False, Verdict.MISMATCH),
        (TAIL, True, Verdict.MISMATCH),
    ],
    ids=["equal", "slightly wrong", "weights exchanged"],
)
def test_models_that_take_turns_get_the_verdict_that_they_get_side_by_side(
    tmp_path: Path, tail: str, swapped: bool, status: Verdict, external: bool
) -> None:
    old = write(tmp_path / "before.onnx", layers(TAIL), external=external)
    new = write(tmp_path / "after.onnx", layers(tail, swapped=swapped), external=external)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    together = verdict(old, new, None, scratch)
    assert list(scratch.iterdir()) == []
    assert task(old, new, None, scratch).before.turns is None
    assert task(old, new, LIMIT, scratch).before.turns is not None
    in_turn = verdict(old, new, LIMIT, scratch)
    assert together.status is status
    assert in_turn.status is status
    assert in_turn.method == together.method
    assert [found.name for found in in_turn.outputs] == ["y"]
    one, two = in_turn.outputs[0].max_abs, together.outputs[0].max_abs
    assert one is not None
    assert two is not None
    # Kernels that have not arranged the weights for themselves round differently.
    assert one == pytest.approx(two, rel=0.01, abs=1e-5)


@pytest.mark.parametrize("external", [False, True], ids=["inside", "external"])
def test_a_child_with_room_for_twice_one_model_compares_two_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, external: bool
) -> None:
    places = tmp_path / "models", tmp_path / "temporary"
    for place in places:
        place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(places[1]))
    # Address space for what onnxruntime reserves next to the weights.
    limit = 2**27
    old, new = (deep_model(tail) for tail in (TAIL, SAME))
    one = write(places[0] / "before.onnx", old, external=external)
    two = write(places[0] / "after.onnx", new, external=external)
    before = sorted(places[0].iterdir())
    options = ComparisonOptions(memory_limit=limit, samples=1)
    assert evaluators.COPIES * 2 * evaluators.weight_bytes(old) > limit
    found = compare_files(one, two, options)
    assert (found.status, found.reason) == (Verdict.EQUAL, "")
    wrong = write(places[0] / "after.onnx", deep_model("y = Tanh(h8)"), external=external)
    found = compare_files(one, wrong, options)
    assert found.status is Verdict.MISMATCH
    feed = {"x": np.ones((1, 512), np.float32)}
    ran = run_model(one, [feed], memory_limit=limit)[0]["y"]
    np.testing.assert_allclose(ran, run_model(one, [feed])[0]["y"], rtol=1e-4, atol=1e-4)
    assert sorted(places[0].iterdir()) == before
    assert list(places[1].iterdir()) == []


def deep_model(tail: str) -> onnx.ModelProto:
    """Build a model with 40 MiB of weights: a big table next to the layers."""
    model = layers(f"{tail.replace('y =', 'z =')} y = Add(z, row)")
    model.graph.initializer.append(onnx.numpy_helper.from_array(table(), "table"))
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(77), "at"))
    model.graph.node.insert(0, onnx.helper.make_node("Gather", ["table", "at"], ["row"]))
    return model


def test_what_does_not_fit_twice_is_refused_with_figures(tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx", layers(), external=True)
    found = compare_files(path, path, ComparisonOptions(memory_limit=2 * WEIGHTS - 1))
    assert (found.status, found.reason) == (Verdict.SKIPPED, "needs 16 MiB, 16 MiB available")
    found = compare_files(path, path, ComparisonOptions(memory_limit=2**23))
    assert (found.status, found.reason) == (Verdict.SKIPPED, "needs 16 MiB, 8 MiB available")


def full(folder: Path) -> int:
    assert folder.is_dir()
    return 0


def test_weights_that_no_file_can_hold_for_an_engine_need_their_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "m.onnx", layers())
    monkeypatch.setattr("graphfix.proving.runners.outside_weights.free_bytes", full)
    inside = bytes_inside(loading.read_model(path))
    refused = loading.load([path], Evaluators({}), 2 * WEIGHTS + 2**17, tmp_path)
    assert refused == "needs 24 MiB, 16 MiB available"
    assert isinstance(loading.load([path], Evaluators({}), 3 * inside, tmp_path), list)
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.onnx"]


def test_big_models_take_turns_wherever_there_is_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "m.onnx", layers(), external=True)
    found = loading.load([path, path], Evaluators({}), None, tmp_path)
    assert isinstance(found, list)
    assert [model.turns for model in found] == [None, None]
    monkeypatch.setattr(loading, "BIG", WEIGHTS)
    found = loading.load([path, path], Evaluators({}), None, tmp_path)
    assert isinstance(found, list)
    assert found[0].turns is found[1].turns is not None
    assert [model.most_changed for model in found] == [2**28, 2**28]


def test_weights_inside_a_model_move_to_a_file_as_they_are(tmp_path: Path) -> None:
    model = layers()
    expected = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    moved = outlined(model, tmp_path)
    assert moved is not None
    light, folder = moved
    assert light.ByteSize() < 2**17
    for tensor in light.graph.initializer:
        external = tensor.data_location == onnx.TensorProto.EXTERNAL
        assert external == (expected[tensor.name].nbytes >= SMALLEST)
        found = onnx.numpy_helper.to_array(tensor, folder)
        np.testing.assert_array_equal(found, expected[tensor.name])
    assert outlined(light, tmp_path) is None


def test_weights_stay_where_their_file_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def taken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("graphfix.proving.runners.outside_weights._written", taken)
    model = layers()
    assert outlined(model, tmp_path) is None
    assert model == layers()


def test_a_model_with_some_external_data_keeps_the_rest_inside(tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx", layers(), external=True)
    model = loading.read_model(path)
    model.graph.initializer.append(
        onnx.numpy_helper.from_array(np.ones((2**19,), np.float32), "more")
    )
    assert outlined(model, tmp_path) is None
    assert bytes_inside(model) > 2**21


class Loud:
    """An engine that says when it is loaded."""

    def __init__(self, name: str, said: list[str]) -> None:
        self.name = name
        said.append(name)

    def run(self, feed: Feed) -> dict[str, Value]:
        return {self.name: feed["x"]}


def test_one_engine_is_loaded_at_a_time() -> None:
    said: list[str] = []
    loaded: weakref.WeakSet[Loud] = weakref.WeakSet()

    def opener(name: str) -> Loud:
        gc.collect()
        assert len(loaded) == 0
        engine = Loud(name, said)
        loaded.add(engine)
        return engine

    turns = Turns(0)
    one = turns.open(lambda: opener("one"))
    two = turns.open(lambda: opener("two"))
    assert (one.name, two.name) == ("one", "two")
    one.run({"x": None})
    one.run({"x": None})
    two.run({"x": None})
    assert said == ["one", "two", "one", "two"]


class Failing(Loud):
    """An engine that fails, as onnxruntime does: another exception is what it was raised for."""

    def run(self, feed: Feed) -> dict[str, Value]:
        try:
            raise ValueError(self.name)
        except ValueError as error:
            raise EngineFailed(f"{error} is no size") from None


def test_an_error_that_is_kept_keeps_no_engine() -> None:
    loaded: weakref.WeakSet[Loud] = weakref.WeakSet()

    def opener(kind: type[Loud]) -> Loud:
        engine = kind(kind.__name__, [])
        loaded.add(engine)
        return engine

    turns = Turns(0)
    failing = turns.open(lambda: opener(Failing))
    other = turns.open(lambda: opener(Loud))
    with pytest.raises(EngineFailed, match="Failing is no size") as kept:
        failing.run({"x": None})
    other.run({"x": None})
    assert [engine.name for engine in loaded] == ["Loud"]
    assert kept.value.__context__ is None


def test_values_past_the_limit_are_kept_in_files(tmp_path: Path) -> None:
    array = np.arange(2**15, dtype=np.float32).reshape(8, -1)
    half = array.astype(np.float16)
    shelf = Shelf(tmp_path, in_memory=array.nbytes)
    first = shelf.put({"x": array, "s": [half, None], "text": np.array(["a"], object)})
    assert first["x"] is array
    assert len(list(tmp_path.iterdir())) == 1
    kept = first["s"]
    assert isinstance(kept, list)
    np.testing.assert_array_equal(kept[0], half)
    second = shelf.put({"x": array, "small": array[:1]})
    assert len(list(tmp_path.iterdir())) == 2
    mapped = second["x"]
    assert mapped is not array
    np.testing.assert_array_equal(mapped, array, strict=True)
    assert Shelf(None, in_memory=0).put({"x": array})["x"] is array


def test_verdicts_do_not_depend_on_where_values_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = write(tmp_path / "before.onnx", layers(TAIL))
    new = write(tmp_path / "after.onnx", layers(SAME))
    in_memory = whole.compare(task(old, new, None, tmp_path))
    monkeypatch.setattr("graphfix.proving.values.shelf._SMALL", 0)
    monkeypatch.setattr(Shelf.__init__, "__defaults__", (0,))
    on_disk = whole.compare(replace(task(old, new, None, tmp_path), scratch=tmp_path))
    # Inputs and outputs of five samples, and the outputs at sizes of 1.
    assert len(list(tmp_path.glob("value-*.bin"))) == 11
    assert on_disk == in_memory


def test_the_limit_of_the_address_space_is_what_is_available() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    used = pages * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**27, hard))
    try:
        available = available_memory()
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    assert available is not None
    assert 2**26 < available <= 2**27 + 2**24

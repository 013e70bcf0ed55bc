"""dynamic-quantize-lstm-to-scan: step by step as the kernel of onnxruntime, on one thread."""

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, numpy_helper, parser

import graphfix
from graphfix.report import APPROXIMATE, EXACT
from graphfix.testing import assert_refused, assert_rewrite, outputs_of, run_pass
from tests.passes.contrib_models import forms_test
from tests.passes.places import in_branch

PASS = "dynamic-quantize-lstm-to-scan"
HEAD = '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> '
HIDDEN, WIDTH = 3, 5
ALL = "x, w, r, b, , h, c, , ws, wz, rs, rz"
Array = np.ndarray[Any, Any]
_SMALL = "a batch of 0 ends the process of onnxruntime, and no steps leave its memory"
test_forms = forms_test(PASS)


def drawn(seed: int, *shape: int) -> Array:
    """Return float32 numbers."""
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def lstm(
    sizes: str = "4,1,5",
    inputs: str = ALL,
    attributes: str = "",
    *,
    kind: type[np.integer[Any]] = np.int8,
    columns: bool = False,
    ways: int = 1,
) -> ModelProto:
    """Return a model of one DynamicQuantizeLSTM; `columns` gives each column a scale."""
    batch = sizes.split(",")[1]
    text = (
        f"g (float[{sizes}] x, float[{ways},{batch},{HIDDEN}] h, float[{ways},{batch},{HIDDEN}] c) "
        f"=> (float[T,{ways},N,{HIDDEN}] y, float[{ways},N,{HIDDEN}] yh, "
        f"float[{ways},N,{HIDDEN}] yc) {{ y, yh, yc = com.microsoft.DynamicQuantizeLSTM "
        f"<hidden_size = {HIDDEN}{attributes}> ({inputs}) }}"
    )
    low, high = np.iinfo(kind).min, np.iinfo(kind).max + 1
    draw = np.random.default_rng(1)
    shape = (ways, 4 * HIDDEN) if columns else (ways,)
    zero = np.full(shape, 0 if kind is np.int8 else 113, kind)
    weights = {
        "w": draw.integers(low, high, (ways, WIDTH, 4 * HIDDEN)).astype(kind),
        "r": draw.integers(low, high, (ways, HIDDEN, 4 * HIDDEN)).astype(kind),
        "b": drawn(2, ways, 8 * HIDDEN),
        "ws": np.abs(drawn(3, *shape)) / 50,
        "rs": np.abs(drawn(4, *shape)) / 50,
        "wz": zero,
        "rz": zero,
    }
    model = parser.parse_model(HEAD + text)
    used = inputs.replace(" ", "").split(",")
    model.graph.initializer.extend(
        numpy_helper.from_array(array, name) for name, array in weights.items() if name in used
    )
    for given in list(model.graph.input):
        if given.name not in used:
            model.graph.input.remove(given)
    return model


def feed(steps: int = 4, batch: int = 1, ways: int = 1) -> dict[str, Array]:
    """Return inputs; those that a model lacks are left out by `of`."""
    state = (ways, batch, HIDDEN)
    return {"x": 3 * drawn(5, steps, batch, WIDTH), "h": drawn(6, *state), "c": drawn(7, *state)}


def assert_same(model: ModelProto, given: dict[str, Array]) -> set[str]:
    """Assert that the pass computes the same; return how its sites are labelled."""
    names = {tensor.name for tensor in model.graph.input}
    inputs = {name: array for name, array in given.items() if name in names}
    done = assert_rewrite(PASS, model, feeds=[inputs], rtol=1e-6, atol=1e-6, no_small_sides=_SMALL)
    return {str(site.accuracy) for outcome in done.outcomes for site in outcome.sites}


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("kind", [np.int8, np.uint8])
def test_weights(kind: type[np.integer[Any]], columns: bool) -> None:
    assert assert_same(lstm(kind=kind, columns=columns), feed()) == {str(EXACT)}


@pytest.mark.parametrize("way", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("sizes", ["4,1,5", "T,1,5"])
def test_directions(way: str, sizes: str) -> None:
    ways = 2 if way == "bidirectional" else 1
    model = lstm(sizes, attributes=f', direction = "{way}"', ways=ways)
    for steps in (4,) if sizes[0] == "4" else (1, 4, 7):
        assert assert_same(model, feed(steps, ways=ways)) == {str(EXACT)}


@pytest.mark.parametrize("way", ["forward", "reverse"])
def test_no_steps(way: str) -> None:
    """onnxruntime returns no sequence, and states that are 0, or what its memory held."""
    done = run_pass(PASS, lstm("T,1,5", attributes=f', direction = "{way}"'))
    found = outputs_of(done.after, feed(0))
    assert found["y"].shape == (0, 1, 1, HIDDEN)
    np.testing.assert_array_equal(found["yh"], np.zeros((1, 1, HIDDEN), np.float32))
    np.testing.assert_array_equal(found["yc"], np.zeros((1, 1, HIDDEN), np.float32))


@pytest.mark.parametrize("sizes", ["4,1,5", "T,N,5"])
def test_states_that_begin_with_zero_and_no_bias(sizes: str) -> None:
    assert_same(lstm(sizes, "x, w, r, , , , , , ws, wz, rs, rz"), feed())


def test_several_sequences_depend_on_the_threads() -> None:
    model = lstm("4,3,5")
    assert assert_same(model, feed(batch=3)) == {str(APPROXIMATE)}
    (site,) = run_pass(PASS, model).outcomes[0].sites
    assert site.note.startswith("exact where one thread has the whole batch")


def test_in_a_branch() -> None:
    model = in_branch(lstm(inputs="x, w, r, b, , h, , , ws, wz, rs, rz"))
    assert_same(model, {**feed(), "c": np.array(True)})


@pytest.mark.parametrize(
    ("inputs", "attributes", "reason"),
    [
        ("x, w, r, b, n, h, c, , ws, wz, rs, rz", "", "lengths of sequences"),
        ("x, w, r, b, , h, c, p, ws, wz, rs, rz", "", "peepholes"),
        (ALL, ", clip = 1.0", "clip and input_forget"),
        (ALL, ", input_forget = 1", "clip and input_forget"),
        (ALL, ', activations = ["Relu", "Tanh", "Tanh"]', "the activations must be those of ONNX"),
    ],
)
def test_refusals(inputs: str, attributes: str, reason: str) -> None:
    model = lstm(inputs=inputs, attributes=attributes)
    model.graph.initializer.append(numpy_helper.from_array(np.array([4], np.int32), "n"))
    peepholes = np.zeros((1, 3 * HIDDEN), np.float32)
    model.graph.initializer.append(numpy_helper.from_array(peepholes, "p"))
    assert_refused(PASS, model, reason)


def test_computed_weights_are_refused() -> None:
    model = lstm()
    (stored,) = [tensor for tensor in model.graph.initializer if tensor.name == "w"]
    model.graph.initializer.remove(stored)
    shape = f"int8[1,{WIDTH},{4 * HIDDEN}] w"
    given = parser.parse_model(HEAD + f"g ({shape}) => ({shape})" + "{ }").graph.input[0]
    model.graph.input.append(given)
    assert_refused(PASS, model, "the weights w must be a constant")


def test_a_whole_run() -> None:
    result = graphfix.run(lstm("T,1,5"), "trt8")
    assert result.exit_code == 0, result.report.findings_after
    assert result.report.verification.status == "equal"

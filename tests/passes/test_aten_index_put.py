"""aten-index-put: lists of indices in every spelling, masks, and values that broadcast."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from graphfix.report import Status
from graphfix.testing import assert_refused, outputs_of, run_pass
from passes.aten.aten_index_put import evaluate
from tests.passes.aten_models import PYTORCH, array_of

PASS = "aten-index-put"
X = array_of(4, 3, 5)
ROWS, COLUMNS = np.array([0, 3, -1]), np.array([2, 0, -2])
FOUR: list[tuple[list[Any], tuple[int, ...]]] = [
    ([ROWS[:2]], (2, 3, 5)),
    ([ROWS[:2]], (1,)),
    ([ROWS[:2], COLUMNS[:2]], (2, 5)),
    ([ROWS[:2], COLUMNS[:2]], ()),
    ([np.array([[0], [2]]), COLUMNS[:2]], (2, 2, 5)),
    ([None, COLUMNS[:2]], (4, 2, 5)),
    ([None, COLUMNS[:2], np.array([4, 1])], (4, 2)),
    ([X > 0], ()),
    ([X[:, 0, 0] > 0], (1,)),
    ([np.array([True, False, True, False])], (2, 3, 5)),
    ([np.array([True, False, True, False])], (3, 5)),
]  # fmt: skip


def model_of(
    indices: Sequence[Any],
    values: Any,
    *,
    added: bool = False,
    listed: str = "SequenceConstruct",
    opset: int = 17,
    dynamic: bool = False,
) -> tuple[ModelProto, dict[str, Any]]:
    """Return a model that puts values at places of `X`."""
    feed = {"x": X, "v": np.asarray(values, np.float32)}
    feed |= {f"i{at}": np.asarray(i) for at, i in enumerate(indices) if i is not None}
    names = [f"i{at}" if i is not None else "none" for at, i in enumerate(indices)]
    nodes = [helper.make_node("Constant", [], ["none"])] if "none" in names else []
    flag = numpy_helper.from_array(np.array(added), "flag")
    if listed == "attributes":
        nodes.append(
            helper.make_node(
                "ATen", ["x", *names, "v"], ["y"], domain="aten",
                operator="index_put", accumulate=int(added),
            )
        )  # fmt: skip
    else:
        nodes.append(helper.make_node(listed, names, ["l"]))
        nodes.append(
            helper.make_node(
                "ATen", ["x", "l", "v", "flag"], ["y"], domain=PYTORCH, operator="index_put",
                overload_name="",
            )
        )  # fmt: skip
    graph = helper.make_graph(
        nodes,
        "g",
        [
            helper.make_tensor_value_info(
                name,
                helper.np_dtype_to_tensor_dtype(a.dtype),
                [f"N{d}" if dynamic else d for d in a.shape],
            )
            for name, a in feed.items()
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * 3)],
        [flag],
    )
    imports = [helper.make_opsetid(d, v) for d, v in (("", opset), (PYTORCH, 1), ("aten", 1))]
    return helper.make_model(graph, opset_imports=imports, ir_version=8), feed


def holds(model: ModelProto, feed: dict[str, Any], expected: Any) -> None:
    """Assert that the pass replaces the call and gives these values."""
    done = run_pass(PASS, model)
    assert [o.status for o in done.outcomes] == [Status.APPLIED], done.outcomes
    onnx.checker.check_model(done.after, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], expected)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("listed", ["SequenceConstruct", "ListConstruct", "attributes"])
@pytest.mark.parametrize(("indices", "shape"), FOUR)
def test_places(indices: list[Any], shape: tuple[int, ...], listed: str, dynamic: bool) -> None:
    values = array_of(*shape, seed=9)
    if dynamic and any(np.ndim(i) == 2 for i in indices):
        return  # indices of two shapes must be known, see the refusals
    if dynamic and values.size == 1 and np.asarray(indices[0]).dtype == bool:
        return  # whether it is one number is not known
    expected = X.copy()
    expected[tuple(slice(None) if i is None else i for i in indices)] = values
    given: Any = list(indices)
    assert np.array_equal(evaluate([X, given, values], {})[0], expected)
    holds(*model_of(indices, values, listed=listed, dynamic=dynamic), expected)


@pytest.mark.parametrize("listed", ["SequenceConstruct", "attributes"])
def test_values_that_are_added_where_they_meet(listed: str) -> None:
    places = np.array([1, 1, 3])
    values = np.ones((3, 3, 5), np.float32)
    expected = X.copy()
    np.add.at(expected, (places,), values)
    holds(*model_of([places], values, added=True, listed=listed), expected)


def test_indices_from_the_end() -> None:
    expected = X.copy()
    expected[ROWS[1:2], COLUMNS[2:]] = 7
    holds(*model_of([ROWS[1:2], COLUMNS[2:]], 7.0), expected)


def test_refusals() -> None:
    model, _ = model_of([ROWS, None, COLUMNS], 1.0)
    assert_refused(PASS, model, "an axis between is taken whole")
    model, _ = model_of([ROWS], 1.0, added=True, opset=15)
    assert_refused(PASS, model, "the opset must be at least 16 to add values; it is 15")
    model, _ = model_of([X > 0, ROWS], 1.0)
    assert_refused(PASS, model, "a mask must be the only index")
    model, _ = model_of([np.array([[0], [2]]), COLUMNS[:2]], 1.0, dynamic=True)
    assert_refused(PASS, model, "the indices must have one shape, or known ones")

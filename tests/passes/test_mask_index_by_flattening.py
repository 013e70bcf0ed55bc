"""mask-index-by-flattening: x[mask] as PyTorch's exporter writes it for masks of any rank."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto

import graphfix
from graphfix.rendering.wording import headline
from graphfix.report import Status, Verdict
from graphfix.testing import outputs_of, run_pass
from tests.passes.shape_models import text

PASS = "mask-index-by-flattening"
NUMBERS = np.arange(60).reshape(3, 4, 5)
MASKS = (NUMBERS[..., 0] % 3 == 1, np.zeros((3, 4), bool), np.ones((3, 4), bool))


def exported(
    x: str = "float[3,4,5]",
    mask: str = "bool[3,4]",
    result: str = "float[K,5]",
    opset: int = 9,
    axis: int = 0,
    between: str = "j = Cast <to = 7> (i)",
) -> ModelProto:
    """Return x[mask] as PyTorch 2 writes it for opset 9, or with the axes as an input."""
    squeeze = "Squeeze <axes = [1]> (t)" if opset < 13 else "Squeeze (t, one)"
    return text(
        f"g ({x} x, {mask} mask) => ({result} y) <int64[1] one = {{1}}> {{ n = NonZero (mask) "
        f"t = Transpose <perm = [1, 0]> (n) i = {squeeze} {between} "
        f"y = Gather <axis = {axis}> (x, j) }}",
        opset,
    )


def mended(model: ModelProto) -> ModelProto:
    done = run_pass(PASS, model)
    sites = [site for o in done.with_status(Status.APPLIED) for site in o.sites]
    assert len(sites) == 2
    assert all("x[mask]" in site.note for site in sites)
    onnx.checker.check_model(done.after, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    assert [o.status for o in run_pass(PASS, done.after).outcomes] == [Status.NOT_NEEDED]
    return done.after


@pytest.mark.parametrize("opset", [9, 10, 11, 13, 17])
@pytest.mark.parametrize("kind", ["float", "double", "int64", "int32", "bool", "float16"])
def test_every_type_and_opset(kind: str, opset: int) -> None:
    after = mended(exported(f"{kind}[3,4,5]", result=f"{kind}[K,5]", opset=opset))
    dtype: Any = onnx.helper.tensor_dtype_to_np_dtype(
        after.graph.input[0].type.tensor_type.elem_type
    )
    x = NUMBERS.astype(dtype)
    for mask in MASKS:
        np.testing.assert_array_equal(outputs_of(after, {"x": x, "mask": mask})["y"], x[mask])


def test_the_file_as_it_came_runs_with_no_mask() -> None:
    model = exported()
    for mask in MASKS[::2]:
        with pytest.raises(Exception, match=r"(?i)squeeze"):
            outputs_of(model, {"x": NUMBERS.astype(np.float32), "mask": mask})


@pytest.mark.parametrize(
    ("x", "mask", "result", "sizes"),
    [
        ("float[3,4]", "bool[3,4]", "float[K]", [3, 4]),
        ("float[3,4,5]", "bool[3,4,5]", "float[K]", [3, 4, 5]),
        ("float[N,4,5]", "bool[N,4]", "float[K,5]", [3, 4, 5]),
        ("float[N,M]", "bool[N,M]", "float[K]", [12, 5]),
        ("float[N,M,5]", "float[N,M]", "float[K,5]", [3, 4, 5]),
        ("float[3,4,2,2]", "bool[3,4]", "float[K,2,2]", [3, 4, 2, 2]),
    ],
)
def test_ranks_and_dynamic_sizes(x: str, mask: str, result: str, sizes: list[int]) -> None:
    after = mended(exported(x, mask, result))
    data = np.arange(np.prod(sizes)).reshape(sizes).astype(np.float32)
    rank = mask.count(",") + 1
    chosen = data.reshape([*sizes[:rank], -1])[..., 0] % 3 == 1
    given = chosen if mask.startswith("bool") else chosen.astype(np.float32)
    assert 0 < chosen.sum() < chosen.size
    y = outputs_of(after, {"x": data, "mask": given})["y"]
    np.testing.assert_array_equal(y, data[chosen])


def test_a_whole_run() -> None:
    result: Any = graphfix.run(exported(), target="trt8")
    assert not [finding for finding in result.report.findings_after if finding.blocks]
    x, mask = NUMBERS.astype(np.float32), MASKS[0]
    y = outputs_of(result.model.to_proto(), {"x": x, "mask": mask})["y"]
    np.testing.assert_array_equal(y, x[mask])


def test_in_a_branch() -> None:
    body = (
        "n = NonZero (mask) t = Transpose <perm = [1, 0]> (n) i = Squeeze <axes = [1]> (t) "
        "j = Cast <to = 7> (i) r = Gather (x, j)"
    )
    model = text(
        "g (float[3,4] x, bool[3,4] mask, bool c) => (float[K] y) { y = If (c) <then_branch = "
        f"a () => (float[K] r) {{ {body} }}, else_branch = b () => (float[L] s) "
        "{ s = Constant <value = float[1] {7}> () }> }",
        11,
    )
    done = run_pass(PASS, model)
    assert [o.status for o in done.outcomes] == [Status.APPLIED]
    x = NUMBERS[..., 0].astype(np.float32)
    feed = {"x": x, "mask": MASKS[0], "c": np.array(True)}
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], x[MASKS[0]])


def test_what_cannot_be_compared_is_not_called_equal() -> None:
    result: Any = graphfix.run(exported(), target="trt8")
    assert result.exit_code == 1
    assert result.report.verification.status is not Verdict.EQUAL
    assert "could not show that it is equal" in headline(result.report, 1).sentence

"""What people meet with TensorRT: the smallest model that shows it, the engine's text, the cure.

Each file here holds a family of rows; a row has the number under which the failures are ranked in
the facts that the project was built from. `check_row` is the same for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx

import graphfix
from graphfix.pipeline.results import Result
from graphfix.proving.whole.interface import compare_interfaces
from graphfix.report import Finding, Status
from graphfix.testing import assert_same, outputs_of
from tests.passes.detection_models import evaluators_of

Array = np.ndarray[Any, Any]
Numbers = Callable[[Mapping[str, Array]], Mapping[str, Array]]
_FREE = 3  # the size of a dimension that has no number


@dataclass(frozen=True)
class Row:
    """One failure.

    Attributes:
        number: Its number among the failures, several rows may share it.
        target: The engine that shows it.
        graph: ``(inputs) => (outputs) {nodes}`` as `onnx.parser` reads it.
        text: What the engine says, as a part of it; for what it misreads in silence, empty.
        feature: What the finding is about.
        fixed_by: The passes that cure it, all of which have to be applied.
        refused: Without a cure: why the pass that comes nearest refuses; empty where none does.
        opset: The opset.
        imports: Further opset imports.
        functions: Local functions.
        given: Arguments of `graphfix.run`.
        feeds: Inputs; made where left out.
        expected: The numbers, where onnxruntime cannot run the model as it is.
        rtol: How far apart floats may be.
    """

    number: str
    target: str
    graph: str
    text: str
    feature: str
    fixed_by: tuple[str, ...] = ()
    refused: str | None = None
    opset: int = 17
    imports: str = ""
    functions: str = ""
    given: Mapping[str, Any] = field(default_factory=dict[str, Any])
    feeds: Mapping[str, Array] | None = None
    expected: Numbers | None = None
    rtol: float = 1e-5

    @property
    def model(self) -> onnx.ModelProto:
        """The model; parsed again each time. An output without type gets floats of any shape."""
        model = onnx.parser.parse_model(
            f'<ir_version: {8 if self.opset < 21 else 10}, opset_import: ["": {self.opset}'
            f"{self.imports}]> g {self.graph}\n{self.functions}"
        )
        for output in model.graph.output:
            if not output.HasField("type"):
                output.type.CopyFrom(onnx.helper.make_tensor_type_proto(1, None))
        return model


def name_of(row: Row) -> str:
    """Return what a row is called among the tests."""
    return f"{row.number}-{row.feature.replace(':', '-')}"


def check_row(row: Row) -> Result:
    """Assert that the failure is found with its text, and cured, or refused with the reason."""
    found = [f for f in graphfix.check(row.model, row.target) if f.feature == row.feature]
    assert found, [f.feature for f in graphfix.check(row.model, row.target)]
    assert all(f.blocks and f.certain for f in found)
    if row.text:
        assert any(row.text in f.engine_text for f in found), found
    else:
        assert all(f.severity == "wrong" for f in found)
    result = graphfix.run(row.model, row.target, verify="full", **row.given)
    left = [f for f in result.report.findings_after if f.blocks]
    if row.refused is not None:
        _assert_refused(row, result, left)
        return result
    assert not left, left
    assert result.exit_code in (0, 1), result.report
    statuses = {o.pass_id for o in result.report.outcomes if o.status is Status.APPLIED}
    assert set(row.fixed_by) <= statuses, statuses
    _assert_numbers(row, result)
    return result


def _assert_refused(row: Row, result: Result, left: list[Finding]) -> None:
    assert result.exit_code == 1
    assert row.feature in [f.feature for f in left]
    reasons = [o.reason for o in result.report.outcomes if o.status is Status.REFUSED]
    assert not row.refused or any(row.refused in reason for reason in reasons), reasons
    assert not row.fixed_by, "a row is cured or refused"


def _assert_numbers(row: Row, result: Result) -> None:
    proto = result.model.to_proto()
    if all(output.type.tensor_type.HasField("shape") for output in proto.graph.output):
        onnx.checker.check_model(proto, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    known = {key: model for name in row.fixed_by for key, model in evaluators_of(name).items()}
    for seed in range(3):
        feed = dict(row.feeds) if row.feeds is not None else _made(row.model, seed)
        expected = outputs_of(row.model, feed) if row.expected is None else row.expected(feed)
        fitting = {
            i.name: feed[i.name].astype(
                onnx.helper.tensor_dtype_to_np_dtype(i.type.tensor_type.elem_type)
            )
            for i in proto.graph.input
        }
        computed = outputs_of(proto, fitting, known)
        actual = compare_interfaces(row.model, proto).read(computed)
        assert_same(dict(expected), actual, rtol=row.rtol, atol=1e-6)


def _made(model: onnx.ModelProto, seed: int) -> dict[str, Array]:
    """Return numbers for each input: floats around zero, small integers, both bools."""
    random = np.random.default_rng(seed)
    made: dict[str, Array] = {}
    for value in model.graph.input:
        kind = _dtype(value)
        shape = [d.dim_value or _FREE for d in value.type.tensor_type.shape.dim]
        if kind.kind == "f":
            made[value.name] = random.standard_normal(shape).astype(kind)
        else:
            low, high = (0, 2) if kind.kind == "b" else (0 if kind.kind == "u" else -3, 9)
            made[value.name] = random.integers(low, high, shape).astype(kind)
    return made


def _dtype(value: onnx.ValueInfoProto) -> np.dtype[Any]:
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type))

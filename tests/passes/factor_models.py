"""What operators with factors as attributes have in common, one test after the other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import parser

import graphfix
from graphfix.authoring.declaring import Evaluate
from graphfix.report import Verdict
from graphfix.testing import Rewritten, assert_refused, assert_rewrite, assert_untouched, outputs_of
from tests.passes.lowering_models import PLACES, written

Array = np.ndarray[Any, Any]
X = np.array([-3, -0.5, 0, 1, 7], np.float32)


@dataclass(frozen=True)
class Factored:
    """An operator that computes each element of x by itself.

    Attributes:
        declared: The pass.
        operator: The operator, of ONNX's own domain.
        factors: Its attributes; one is 2.
        emitted: The operators that stand for it.
        wanted: What it makes of `X`.
        evaluate: The model of it in numpy.
    """

    declared: str
    operator: str
    factors: Mapping[str, float]
    emitted: Sequence[str]
    wanted: Array
    evaluate: Evaluate

    def body(self, *names: str) -> str:
        """Return the operator on x as text, with some of its attributes."""
        numbers = ", ".join(f"{name} = {self.factors[name]}" for name in names)
        return f"@y = {self.operator} <{numbers}> (x)" if names else f"@y = {self.operator} (x)"


class FactorTests:
    """The tests of one operator."""

    case: ClassVar[Factored]

    @property
    def body(self) -> str:
        """The operator with all of its attributes."""
        return self.case.body(*self.case.factors)

    def rewritten(
        self, text: str, feed: dict[str, Any], *, rtol: float = 0.0, atol: float = 0.0
    ) -> Rewritten:
        """Assert that the pass keeps the values of a model."""
        models = {("", self.case.operator): self.case.evaluate}
        return assert_rewrite(
            self.case.declared, text, feeds=[feed], evaluators=models, rtol=rtol, atol=atol
        )

    @pytest.mark.parametrize("opset", [9, 17])
    @pytest.mark.parametrize("place", PLACES)
    def test_is_written_out(self, place: str, opset: int) -> None:
        text = written(self.body, "float[5] x", "float[5]", place=place, opset=opset)
        feed = {"x": X, **({"c": np.array(True)} if place == "branch" else {})}
        done = self.rewritten(text, feed, rtol=1e-6)
        found = outputs_of(done.after, feed)["y"]
        np.testing.assert_allclose(found, self.case.wanted, rtol=1e-6, atol=1e-6)
        assert found.dtype == np.float32

    @pytest.mark.parametrize("opset", [7, 17])
    def test_the_model_of_it_computes_the_definition(self, opset: int) -> None:
        text = written(self.body, "float[5] x", "float[5]", opset=opset)
        done = self.rewritten(text, {"x": X}, rtol=1e-6)
        assert done.ops == self.case.emitted
        (computed,) = self.case.evaluate([X], dict(self.case.factors))
        np.testing.assert_allclose(computed, self.case.wanted, rtol=1e-6, atol=1e-6)

    @pytest.mark.parametrize(("rows", "columns"), [(2, 3), (1, 1), (0, 3)])
    def test_sizes_may_be_open_and_halves_stay_halves(self, rows: int, columns: int) -> None:
        text = written(self.body, "float16[N, M] x", "float16[N, M]")
        x = np.linspace(-2, 2, rows * columns, dtype=np.float16).reshape(rows, columns)
        done = self.rewritten(text, {"x": x}, rtol=2e-3, atol=1e-3)
        found = outputs_of(done.after, {"x": x})["y"]
        assert (found.dtype, found.shape) == (np.float16, (rows, columns))

    # Each operator inherits the test, which is what the health check warns of.
    @settings(
        max_examples=10, deadline=None, suppress_health_check=[HealthCheck.differing_executors]
    )
    @given(st.lists(st.floats(-8, 8, width=16), min_size=1, max_size=6), st.floats(-4, 4, width=16))
    def test_any_numbers(self, numbers: list[float], factor: float) -> None:
        body = self.body.replace("2.0", f"{factor:.9f}")
        x = np.array(numbers, np.float32)
        text = written(body, "float[N] x", "float[N]")
        self.rewritten(text, {"x": x}, rtol=1e-5, atol=1e-6)

    def test_what_follows_is_typed(self) -> None:
        text = written(
            "@h = " + self.body.removeprefix("@y = ") + "\n@y = Neg (@h)", "float[N] x", "float[N]"
        )
        assert not [f for f in graphfix.check(parser.parse_model(text), target="trt8") if f.missing]

    def test_a_target_without_it_gets_plain_operators_proved(self) -> None:
        text = written(self.body, "float[2, 3] x", "float[2, 3]", opset=7)
        result = graphfix.run(parser.parse_model(text), "trt8.6")
        assert (result.exit_code, result.report.verification.status) == (0, Verdict.EQUAL)

    @pytest.mark.parametrize(
        ("kind", "reason"),
        [
            ("double[3]", "x must be float32 or float16; it is float64"),
            ("int32[3]", "x must be float32 or float16; it is int32"),
        ],
    )
    def test_refuses_other_types(self, kind: str, reason: str) -> None:
        assert_refused(self.case.declared, written(self.body, f"{kind} x", kind), reason)

    def test_leaves_others_alone(self) -> None:
        assert_untouched(self.case.declared, written("@y = Neg (x)", "float[3] x", "float[3]"))


class NeutralFactorTests(FactorTests):
    """The tests of an operator that does nothing where its attributes are not given."""

    def test_factors_that_are_not_given_change_nothing(self) -> None:
        text = written(self.case.body(), "float[5] x", "float[5]")
        done = self.rewritten(text, {"x": X})
        assert np.array_equal(outputs_of(done.after, {"x": X})["y"], X)


class NeededFactorTests(FactorTests):
    """The tests of an operator whose attributes have no default."""

    @pytest.mark.parametrize(("name", "missing"), [("alpha", "beta"), ("beta", "alpha")])
    def test_a_factor_has_to_be_given(self, name: str, missing: str) -> None:
        text = written(self.case.body(name), "float[3] x", "float[3]")
        assert_refused(self.case.declared, text, f"{missing} must be given")

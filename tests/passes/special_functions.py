"""What holds for every pass that writes functions of one variable by polynomials."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import ModelProto, TensorProto

from graphfix.authoring.declaring import Evaluate
from graphfix.report import Accuracy, Status
from graphfix.testing import assert_refused, assert_untouched, outputs_of, run_pass
from tests.passes.aten_models import LAYOUTS, Array, aten_model, replaced
from tests.passes.resize_models import in_branch


@dataclass(frozen=True)
class Special:
    """A pass and what its functions are.

    Attributes:
        declared: The pass.
        evaluate: Its numpy model.
        table: By operator, values of numbers rounded to float32.
        ends: By operator, what PyTorch gives at -inf, -2, -0, 0, inf and NaN.
        rtol: The error that the pass states, of the value.
        atol: The error next to that, of 1.
        half: Numbers that float16 is tried on, from and to.
    """

    declared: str
    evaluate: Evaluate
    table: Mapping[str, Mapping[float, float]]
    ends: Mapping[str, tuple[float, ...]]
    rtol: float
    atol: float = 0.0
    half: tuple[float, float] = (0.25, 4.0)

    def rewritten(self, model: ModelProto) -> ModelProto:
        """Return the result of the pass, after asserting that it says what it is."""
        done = run_pass(self.declared, model)
        sites = [site for o in done.with_status(Status.APPLIED) for site in o.sites]
        assert [site.accuracy for site in sites] == [Accuracy.APPROXIMATE]
        assert all("float32: error at most" in site.note for site in sites)
        onnx.checker.check_model(done.after, full_check=True)  # pyright: ignore[reportUnknownMemberType]
        return done.after

    def computed(self, operator: str, x: Array, **how: int | str) -> Array:
        """Return what the pass computes of numbers, of open size."""
        model = aten_model(operator, ["N"], **how)  # type: ignore[arg-type]
        y: Array = outputs_of(self.rewritten(model), {"x": x})["y"]
        assert y.dtype == x.dtype
        return y

    def holds_to_the_table(self, operator: str) -> None:
        """Compare the pass and its numpy model with values of others."""
        x = np.array(list(self.table[operator]), np.float32)
        wanted = np.array(list(self.table[operator].values()))
        y = self.computed(operator, x)
        np.testing.assert_allclose(y, wanted, rtol=self.rtol, atol=self.atol)
        wide = self.evaluate([x.astype(np.float64)], {"operator": operator})[0]
        np.testing.assert_allclose(wide, wanted, rtol=1e-9, atol=1e-12)

    def holds_to_its_model(self, operator: str, x: Array) -> None:
        """Compare the pass with its numpy model, which the table holds to others."""
        wanted = self.evaluate([x.astype(np.float64)], {"operator": operator})[0]
        y = self.computed(operator, x)
        np.testing.assert_allclose(y, wanted, rtol=self.rtol, atol=self.atol)

    def has_the_ends_of_pytorch(self, operator: str) -> None:
        """Compare both at numbers that are special."""
        x = np.array([-np.inf, -2, -0.0, 0.0, np.inf, np.nan], np.float32)
        wanted = np.array(self.ends[operator], np.float32)
        np.testing.assert_allclose(self.computed(operator, x), wanted, rtol=1e-6)
        given = self.evaluate([x], {"operator": operator})[0]
        np.testing.assert_allclose(given, wanted, rtol=1e-6)

    def is_written_in_every_form(self, operator: str) -> None:
        """Try opsets, layouts, float16, integers and a branch."""
        low, high = self.half
        x = np.linspace(low, high, 11).astype(np.float32)
        wanted = self.evaluate([x], {"operator": operator})[0]
        rtol, atol = max(self.rtol, 2e-6), max(self.atol, 1e-6)
        for opset in (9, 11, 13, 18):
            got = self.computed(operator, x, opset=opset)
            np.testing.assert_allclose(got, wanted, rtol=rtol, atol=atol)
        for layout in LAYOUTS:
            got = self.computed(operator, x, layout=layout)
            np.testing.assert_allclose(got, wanted, rtol=rtol, atol=atol)
        small = x.astype(np.float16)
        got = self.computed(operator, small, dtype=TensorProto.FLOAT16)
        wide = self.evaluate([small.astype(np.float64)], {"operator": operator})[0]
        np.testing.assert_allclose(got, wide, rtol=1e-3, atol=1e-3)
        numbers = np.array([1, 2, 3])
        done = replaced(
            self.declared,
            self.evaluate,
            operator,
            [numbers],
            accuracy=Accuracy.APPROXIMATE,
            rtol=2e-6,
        )
        assert outputs_of(done.after, {"x0": numbers})["y0"].dtype == np.float32
        branch = run_pass(self.declared, in_branch(aten_model(operator, [11])))
        assert sum(len(o.sites) for o in branch.with_status(Status.APPLIED)) == 2
        inside = outputs_of(branch.after, {"x": x, "c": np.array(False)})["y"]
        np.testing.assert_allclose(inside, wanted, rtol=rtol, atol=atol)

    def is_refused_or_left_alone(self, operator: str) -> None:
        """Try what it cannot do, and what is not its own."""
        wide = aten_model(operator, [3], dtype=TensorProto.DOUBLE)
        assert_refused(self.declared, wide, "more digits")
        early = aten_model(operator, [3], opset=8)
        assert_refused(self.declared, early, "the opset must be at least 9, which has Where")
        assert_untouched(self.declared, aten_model("erfinv", [3]))

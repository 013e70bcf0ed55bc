"""scale-to-mul: a product."""

from passes.contrib.onnx_experiments import scale as evaluate
from tests.passes.factor_models import Factored, NeutralFactorTests, X


class TestScaleToMul(NeutralFactorTests):
    case = Factored(
        declared="scale-to-mul",
        operator="Scale",
        factors={"scale": 2.0},
        emitted=["Mul"],
        wanted=X * 2,
        evaluate=evaluate,
    )

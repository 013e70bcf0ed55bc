"""affine-to-mul: a product and a sum."""

from passes.contrib.onnx_experiments import affine as evaluate
from tests.passes.factor_models import Factored, NeutralFactorTests, X


class TestAffineToMul(NeutralFactorTests):
    case = Factored(
        declared="affine-to-mul",
        operator="Affine",
        factors={"alpha": 2.0, "beta": 0.5},
        emitted=["Mul", "Add"],
        wanted=X * 2 + 0.5,
        evaluate=evaluate,
    )

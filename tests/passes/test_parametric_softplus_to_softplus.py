"""parametric-softplus-to-softplus: Softplus between two products."""

import numpy as np

from passes.contrib.onnx_experiments import parametric_softplus as evaluate
from tests.passes.factor_models import Factored, NeededFactorTests, X


class TestParametricSoftplusToSoftplus(NeededFactorTests):
    case = Factored(
        declared="parametric-softplus-to-softplus",
        operator="ParametricSoftplus",
        factors={"alpha": 2.0, "beta": 0.5},
        emitted=["Mul", "Softplus", "Mul"],
        wanted=2 * np.log1p(np.exp(X / 2)),
        evaluate=evaluate,
    )

"""scaled-tanh-to-tanh: Tanh between two products."""

import numpy as np

from passes.contrib.onnx_experiments import scaled_tanh as evaluate
from tests.passes.factor_models import Factored, NeededFactorTests, X


class TestScaledTanhToTanh(NeededFactorTests):
    case = Factored(
        declared="scaled-tanh-to-tanh",
        operator="ScaledTanh",
        factors={"alpha": 2.0, "beta": 0.5},
        emitted=["Mul", "Tanh", "Mul"],
        wanted=2 * np.tanh(X / 2),
        evaluate=evaluate,
    )

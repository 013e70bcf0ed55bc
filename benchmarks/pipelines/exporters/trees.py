"""Fit an estimator on drawn data and convert it: trees.py NAME ROW FOLDER.

ROW is JSON: `cls` (module and class), `kwargs`, `by` (sklearn, xgboost, lightgbm, catboost), `goal`
(classes, a pair of them, values, or labels of text), `pipeline` (of `STEPS`), `zipmap`.
"""

import json
import sys
from importlib import import_module
from typing import Any

PRELOADED = ("numpy", "sklearn.ensemble", "skl2onnx", "onnxmltools")

STEPS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "scale": ("sklearn.preprocessing", "StandardScaler", {}),
    "robust": ("sklearn.preprocessing", "RobustScaler", {}),
    "minmax": ("sklearn.preprocessing", "MinMaxScaler", {}),
    "poly": ("sklearn.preprocessing", "PolynomialFeatures", {"degree": 2}),
    "impute": ("sklearn.impute", "SimpleImputer", {}),
    "bins": ("sklearn.preprocessing", "KBinsDiscretizer", {"n_bins": 3, "encode": "onehot-dense"}),
    "normalize": ("sklearn.preprocessing", "Normalizer", {}),
    "pca": ("sklearn.decomposition", "PCA", {"n_components": 3}),
    "select": ("sklearn.feature_selection", "SelectKBest", {"k": 3}),
}


def fitted(row: dict[str, Any]) -> tuple[Any, Any]:
    """Return the estimator and its data."""
    np: Any = import_module("numpy")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 6)).astype(np.float32)
    y: Any = x[:, 0] * 2 - x[:, 1] ** 2 + 0.1 * rng.normal(size=200)
    goal = row.get("goal", "classes")
    if goal != "values":
        y = (y > 0).astype(np.int64) + (y > 1)
    if goal == "labels":
        y = np.array(["low", "middle", "high"])[y]
    if goal == "pair":
        y = (y > 0).astype(np.int64)
    module, name = row["cls"].rsplit(".", 1)
    model = getattr(import_module(module), name)(**row.get("kwargs", {}))
    if "pipeline" in row:
        steps: list[Any] = []
        for step in row["pipeline"]:
            where, cls, given = STEPS[step]
            steps.append(getattr(import_module(where), cls)(**given))
        model = import_module("sklearn.pipeline").make_pipeline(*steps, model)
    if row.get("by") == "unsupervised":
        return model.fit(x), x
    return model.fit(x, y), x


def main() -> None:
    """Fit and convert what the command line names."""
    name, row, folder = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
    model, x = fitted(row)
    out = f"{folder}/{name}.onnx"
    by = row.get("by", "sklearn")
    if by == "catboost":
        model.save_model(out, format="onnx")
        return
    tools: Any = import_module("onnxmltools")
    kinds: Any = import_module("onnxmltools.convert.common.data_types")
    first = [("input", kinds.FloatTensorType([None, x.shape[1]]))]
    if by in ("xgboost", "lightgbm"):
        kwargs = {"zipmap": row.get("zipmap", False)} if by == "lightgbm" else {}
        convert = getattr(tools, f"convert_{by}")
        made = convert(model, initial_types=first, target_opset=row.get("opset", 15), **kwargs)
    else:
        skl: Any = import_module("skl2onnx")
        first = [("input", skl.common.data_types.FloatTensorType([None, x.shape[1]]))]
        options = None
        if hasattr(model, "predict_proba") and "zipmap" in row:
            options = {id(model): {"zipmap": row["zipmap"]}}
        opsets = {"": 17, "ai.onnx.ml": 3}
        made = skl.convert_sklearn(model, initial_types=first, options=options, target_opset=opsets)
    with open(out, "wb") as stream:
        stream.write(made.SerializeToString())


if __name__ == "__main__":
    main()

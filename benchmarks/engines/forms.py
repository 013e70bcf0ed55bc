"""Ask a real engine about the forms that its rules are of: graphs of a few nodes, as texts.

    python -m benchmarks.engines.forms --engine mnn3.6

The graphs lie in ``facts/forms.json`` of the family, each with its opset and the inputs that are
drawn and then held as constants, such as weights; what the engine makes of each is written next to
it as ``verdict``: ``equal``, ``wrong``, ``refused`` or ``crashed``. Tests of the family compare its
rules with these. To ask about another form, add its graph and run this.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, numpy_helper

from benchmarks.engines.kernels import Asker, facts_of, written
from graphfix.proving.models import run_model

Array = np.ndarray[Any, Any]
_RANGE = 3.0  # of floats: where curves of activations are curved
_COUNT = 3  # integers are below it


def model_of(form: Mapping[str, Any]) -> tuple[ModelProto, dict[str, Array]]:
    """Return the model of a form and its inputs.

    Args:
        form: ``opset``, ``graph``, and ``held``, the inputs that become constants.
    """
    ir = 8 if form["opset"] < 19 else 9
    head = f'<ir_version: {ir}, opset_import: ["" : {form["opset"]}]> g '
    model = onnx.parser.parse_model(head + form["graph"])
    numbers = np.random.default_rng(0)
    drawn = {info.name: _drawn(info, numbers) for info in model.graph.input}
    kept = [info for info in model.graph.input if info.name not in form.get("held", ())]
    for name in form.get("held", ()):
        model.graph.initializer.append(numpy_helper.from_array(drawn.pop(name), name))
    del model.graph.input[:]
    model.graph.input.extend(kept)
    return model, drawn


def _drawn(info: onnx.ValueInfoProto, numbers: np.random.Generator) -> Array:
    tensor = info.type.tensor_type
    shape = [dim.dim_value for dim in tensor.shape.dim]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    if dtype.kind == "f":
        return np.asarray(numbers.uniform(-_RANGE, _RANGE, shape)).astype(dtype)
    return np.asarray(numbers.integers(0, _COUNT, shape)).astype(dtype)


def asked(asker: Asker, forms: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what becomes of each form."""
    for form in forms:
        model, feed = model_of(form)
        with written(model) as path:
            (expected,) = run_model(path, [feed])
            yield asker.verdict(path, feed, expected)[0]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--engine", required=True, metavar="TARGET")
    given = parser.parse_args()
    path = facts_of(given.engine, "forms.json")
    forms = json.loads(path.read_text(encoding="utf-8"))
    asker = Asker(given.engine, seconds=60.0)
    verdicts = list(asked(asker, forms))
    asker.close()
    answered = [{**form, "verdict": said} for form, said in zip(forms, verdicts, strict=True)]
    lines = ",\n".join(f" {json.dumps(form)}" for form in answered)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Run a file in an engine, in the environment of that engine: asked.py ENGINE MODEL FEEDS ANSWERS.

FEEDS is an .npz of `NUMBER:NAME` for each draw and input, ANSWERS becomes one of `NUMBER:INDEX` for
each draw and output. ENGINE is onnxruntime or openvino.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
flat: Any = import_module("judging").flat

PRELOADED = ("numpy",)


def _of_onnxruntime(path: str) -> Any:
    ort: Any = import_module("onnxruntime")
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def run(feed: dict[str, Any]) -> list[Any]:
        return list(session.run(None, feed))

    return run


def _of_openvino(path: str) -> Any:
    openvino: Any = import_module("openvino")
    core = openvino.Core()
    # Else it rounds activations to 8 bits next to weights of 8 bits and fewer.
    hints = {"EXECUTION_MODE_HINT": "ACCURACY", "INFERENCE_PRECISION_HINT": "f32"}
    hints = {**hints, "INFERENCE_NUM_THREADS": "1"}
    compiled = core.compile_model(core.read_model(path), "CPU", hints)

    def run(feed: dict[str, Any]) -> list[Any]:
        found = compiled(feed)
        return [np.array(found[one]) for one in compiled.outputs]

    return run


def main() -> None:
    """Answer what the command line asks."""
    engine, model, feeds, answers = sys.argv[1:]
    run = {"onnxruntime": _of_onnxruntime, "openvino": _of_openvino}[engine](model)
    draws: dict[str, dict[str, Any]] = {}
    with np.load(feeds, allow_pickle=False) as stored:
        for key in stored.files:
            number, _, name = key.partition(":")
            given = stored[key]
            draws.setdefault(number, {})[name] = (
                given.astype(object) if given.dtype.kind == "U" else given
            )
    found: dict[str, Any] = {}
    for number, feed in draws.items():
        for index, value in enumerate(flat(run(feed))):
            found[f"{number}:{index}"] = value
    np.savez(answers, **found)


if __name__ == "__main__":
    main()

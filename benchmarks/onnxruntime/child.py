"""Loads and runs models in the onnxruntime of the interpreter that runs this (Python 3.8 on).

    child.py load FOLDER ANSWERS     each FOLDER/*.onnx is loaded
    child.py run FOLDER ANSWERS      and run on the in_* of the .npz next to it

Models are dealt with in forked processes with limits of memory and CPU time; each that is run has
one of its own. ANSWERS gets one line of JSON per model; `run` writes the outputs to
FOLDER/<name>.out.npz. Nothing but numpy and onnxruntime is needed, and nothing of graphfix.
"""

import json
import os
import resource
import sys
from importlib import import_module
from typing import Any, Callable, Dict, Iterator, List, cast

import numpy as np

ort: Any = import_module("onnxruntime")
Answer = Dict[str, Any]
Work = Callable[[str], Answer]

MEMORY = 8 << 30
SECONDS = 60


def session(path: str) -> Any:
    """Load a model with optimisations off and one thread."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except TypeError:  # 1.4 knows no argument `providers`
        return ort.InferenceSession(path, options)


def load(path: str) -> Answer:
    """Load a model; return what the engine says where it refuses."""
    try:
        session(path)
    except Exception as error:
        return {"loaded": False, "error": str(error)}
    return {"loaded": True}


def run(path: str) -> Answer:
    """Load and run a model; its outputs go to a file next to it."""
    answer: Answer = {"loaded": False}
    try:
        loaded = session(path)
        answer["loaded"] = True
        with np.load(path[: -len(".onnx")] + ".npz") as stored:
            feed = {name[3:]: stored[name] for name in stored.files if name.startswith("in_")}
        found = loaded.run(None, feed)
        arrays: Dict[str, Any] = {}
        for number, value in enumerate(found):
            if isinstance(value, list):
                parts = cast("List[object]", value)
                arrays.update(
                    ("out_%d_%d" % (number, i), _plain(part)) for i, part in enumerate(parts)
                )
            else:
                arrays["out_%d" % number] = _plain(value)
        np.savez(path[: -len(".onnx")] + ".out.npz", **arrays)
        answer["ran"] = True
    except Exception as error:
        answer["error"] = str(error)
    return answer


def _plain(value: Any) -> Any:
    array: Any = np.asarray(value)
    return array.astype(str) if array.dtype == object else array


def answers(work: Work, paths: List[str]) -> Iterator[Answer]:
    """Yield what `work` says of each path, from forked processes that end when a model is fatal."""
    while paths:
        done = _in_child(work, paths)
        for answer in done:
            yield answer
        paths = paths[len(done) :]


def _in_child(work: Work, paths: List[str]) -> List[Answer]:
    """Call `work` on paths in a forked process until one ends it; return the answers so far."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        with os.fdopen(write, "w") as pipe:
            for path in paths:
                pipe.write(json.dumps(work(path)) + "\n")
                pipe.flush()
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        found: List[Answer] = [json.loads(line) for line in pipe if line.endswith("\n")]
    _, status = os.waitpid(child, 0)
    if len(found) < len(paths) and status:
        found.append({"loaded": False, "error": "the process ended with status %d" % status})
    return found


def main() -> None:
    """Deal with every model of a folder."""
    kind, folder, target = sys.argv[1:]
    work: Work = {"load": load, "run": run}[kind]
    together = {"load": 200, "run": 1}[kind]
    names = sorted(name for name in os.listdir(folder) if name.endswith(".onnx"))
    with open(target, "w") as out:
        for start in range(0, len(names), together):
            some = names[start : start + together]
            paths = [os.path.join(folder, name) for name in some]
            for name, answer in zip(some, answers(work, paths)):
                out.write(json.dumps(dict(answer, name=name)) + "\n")
                out.flush()


if __name__ == "__main__":
    main()

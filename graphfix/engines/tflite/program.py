"""Convert ONNX files with onnx2tf and run them in LiteRT: stand-alone, for a Python that has both.

The file is converted as onnx2tf's command does it with ``-osd`` and ``-k`` or ``-kat`` with all
inputs, so that these lie as in ONNX, except that one run of onnxsim stands for its three and that
the float32 file alone is made.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import tempfile
from importlib import import_module
from importlib.metadata import version as version_of
from typing import TYPE_CHECKING, Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Array = npt.NDArray[Any]

tf: Any = import_module("tensorflow")
onnx: Any = import_module("onnx")
onnxsim: Any = import_module("onnxsim")
onnx2tf: Any = import_module("onnx2tf")
runtime: Any = import_module("onnxruntime")
litert: Any = import_module("ai_edge_litert.interpreter")

# What onnx2tf would get from the network for inputs that look like pictures, to try numbers with.
_PICTURES = "calibration_image_sample_data_20x128x128x3_float32.npy"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# The ranks at which it moves channels to the end; whoever has one of these operators moves them,
# wherever they come from.
with open(os.path.join(os.path.dirname(__file__), "imaging.json"), encoding="utf-8") as _file:
    _IMAGING = json.load(_file)
_PLACE = re.compile(r"(?:input_|output_|Identity_|Call:)(?P<place>\d+)")


class RefusedError(Exception):
    """What onnx2tf, TensorFlow or LiteRT said, and where.

    Attributes:
        stage: ``convert``, ``build`` (of the TFLite file) or ``load``.
    """

    def __init__(self, stage: str, said: str) -> None:
        """Keep the stage."""
        super().__init__(said)
        self.stage = stage


def version() -> str:
    """Return the version of the converter."""
    return version_of("onnx2tf")


def load(path: str, shapes: dict[str, list[int]]) -> Callable[[dict[str, Array]], dict[str, Array]]:
    """Convert a file and load what came of it.

    Args:
        path: The .onnx file.
        shapes: The name of an input -> its shape.

    Returns:
        A function from the inputs by name to the outputs by name, in the layout of the ONNX graph.

    Raises:
        RefusedError: The converter or the interpreter does not take the file.
    """
    loaded = [(shapes, _Loaded(path, shapes))]

    def run(feed: dict[str, Array]) -> dict[str, Array]:
        given = {name: list(array.shape) for name, array in feed.items()}
        if given != loaded[-1][0]:
            loaded[:] = [(given, _Loaded(path, given))]
        return loaded[-1][1].run(feed)

    return run


class _Loaded:
    """A file that was converted for inputs of certain shapes."""

    def __init__(self, path: str, shapes: dict[str, list[int]]) -> None:
        model = onnx.load(path)
        layouts = _layouts(model)
        model = _simplified(model, shapes)
        self._names = [info.name for info in model.graph.output]
        self._session: Any = _session(model)
        converted = _converted(model, layouts)
        if len(converted.outputs) != len(self._names):
            said = f"{len(converted.outputs)} of {len(self._names)} outputs came"
            raise RefusedError("convert", said)
        self._places = {tensor.name: place for place, tensor in enumerate(converted.inputs)}
        self._interpreter = _opened(_written(converted))

    def run(self, feed: dict[str, Array]) -> dict[str, Array]:
        """Return the outputs in the layout of the ONNX graph: channels and scalars are restored."""
        given = {self._places.get(_spelled(name)): value for name, value in feed.items()}
        engine = self._interpreter
        fed: dict[str, Array] = {}
        for detail in engine.get_input_details():
            value = given[_place(detail["name"])].astype(detail["dtype"])
            value = value if value.ndim else value.reshape((1,))
            fed[f"input_{_place(detail['name'])}"] = value
            engine.set_tensor(detail["index"], value)
        if engine.get_signature_list():  # outputs that are one tensor have one name elsewhere
            results = engine.get_signature_runner()(**fed)
            found = {_place(name): value for name, value in results.items()}
        else:
            engine.invoke()
            details = engine.get_output_details()
            found = {_place(d["name"]): engine.get_tensor(d["index"]) for d in details}
        return self._restored([found[place] for place in range(len(self._names))], feed)

    def _restored(self, found: list[Array], feed: dict[str, Array]) -> dict[str, Array]:
        """Return the outputs by name, with channels and scalars as ONNX has them.

        Where the sizes do not tell, the numbers of onnxruntime do: the layout is that which is
        nearer to them.
        """
        results = dict(zip(self._names, found, strict=True))
        if self._session is None:
            return results
        wanted = {output.name: tuple(output.shape) for output in self._session.get_outputs()}
        expected: dict[str, Array] = {}
        for name, value in results.items():
            shape = wanted.get(name)
            if shape == () and value.size == 1:
                results[name] = value.reshape(())
            if value.ndim not in _IMAGING["ranks"] or shape is None:
                continue
            moved = np.moveaxis(value, -1, 1)
            if value.shape != moved.shape:
                fits = _fits(moved, shape) and not _fits(value, shape)
                results[name] = moved if fits else value
            elif not np.array_equal(value, moved):
                if not expected:
                    expected = dict(zip(wanted, self._session.run(None, feed), strict=True))
                results[name] = min((value, moved), key=lambda a: _distance(a, expected[name]))
        return results


def _session(model: Any) -> Any:
    """Return the model in onnxruntime, None where it does not take it."""
    try:
        return runtime.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"]
        )
    except Exception:  # onnxruntime's have no common base
        return None


def _fits(array: Array, shape: tuple[Any, ...]) -> bool:
    if array.ndim != len(shape):
        return False
    pairs = zip(array.shape, shape, strict=True)
    return all(size == known or not isinstance(known, int) for size, known in pairs)


def _distance(one: Array, two: Array) -> float:
    return float(np.abs(one.astype(np.float64) - two.astype(np.float64)).sum())


def _simplified(model: Any, shapes: dict[str, list[int]]) -> Any:
    """Return the model with its inputs fixed and simplified; as it is where onnxsim fails."""
    for info in model.graph.input:
        dims = info.type.tensor_type.shape.dim
        for dim, size in zip(dims, shapes.get(info.name, ()), strict=False):
            dim.dim_value = size
    try:
        return onnxsim.simplify(model)[0]
    except Exception:  # onnx2tf continues as well
        return model


def _spelled(name: str) -> str:
    """Return a name as onnx2tf gives it to TensorFlow, and knows it in its options by."""
    return re.sub("^/", "wa/", name.replace(":", "__"))


def _converted(model: Any, layouts: dict[str, list[str]]) -> Any:
    """Return the Keras model; its outputs are in the order of the graph."""
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(said):
        if not os.path.isfile(_PICTURES):
            draw = np.random.default_rng(0)
            np.save(_PICTURES, draw.random((20, 128, 128, 3), dtype=np.float32))
        path = os.path.join(folder, "model.onnx")
        try:
            onnx.save(model, path)
            return onnx2tf.convert(
                input_onnx_file_path=path,
                output_folder_path=folder,
                output_signaturedefs=True,
                **layouts,
                not_use_onnxsim=True,
                disable_model_save=True,
                verbosity="error",
            )
        except SystemExit:
            raise RefusedError("convert", _complaint(said.getvalue())) from None
        except Exception as error:
            node = getattr(error, "onnx_op_name", None)
            where = f"onnx_op_name: {node}: " if node else ""
            raise RefusedError("convert", f"{where}{str(error) or type(error).__name__}") from None


def _complaint(said: str) -> str:
    """Return the node and the first complaint of what onnx2tf printed before it ended."""
    lines = _COLOUR.sub("", said).splitlines()
    errors = [line for line in lines if line.startswith("ERROR: ") and "trace log" not in line]
    node = next((line for line in errors if "onnx_op_name" in line), "")
    first = errors[0] if errors else "it ended without a message"
    return f"{node.replace('ERROR: ', '')} {first}".strip()


def _layouts(model: Any) -> dict[str, list[str]]:
    """Return the options that say how inputs lie: as pictures (``-k``) or as they are (``-kat``).

    Grids of places, whose last axis are coordinates, are no pictures.
    """
    ranks = {info.name: len(info.type.tensor_type.shape.dim) for info in model.graph.input}
    grids = _grids(model.graph)
    pictures = [name for name, rank in ranks.items() if rank in _IMAGING["ranks"]]
    if not pictures or {node.op_type for node in model.graph.node}.isdisjoint(
        _IMAGING["operators"]
    ):
        return {"keep_shape_absolutely_input_names": list(map(_spelled, ranks))}
    options = {
        "keep_ncw_or_nchw_or_ncdhw_input_names": [n for n in pictures if n not in grids],
        "keep_shape_absolutely_input_names": [n for n in pictures if n in grids],
    }
    return {option: list(map(_spelled, names)) for option, names in options.items() if names}


def _grids(graph: Any) -> set[str]:
    """Return what goes into the grids of GridSample, through operators that keep axes apart."""
    found: set[str] = set()
    for node in reversed(graph.node):
        if node.op_type == "GridSample":
            found.add(node.input[1])
        elif node.op_type in _IMAGING["keeping"] and not found.isdisjoint(node.output):
            found |= set(node.input)
    return found


def _written(model: Any) -> bytes:
    """Return the TFLite file."""
    signature = [
        tf.TensorSpec(tensor.shape, tensor.dtype, f"input_{place}")
        for place, tensor in enumerate(model.inputs)
    ]

    def called(*inputs: Any) -> Any:
        return model(inputs)

    function = tf.function(called, input_signature=signature)
    try:
        converter = tf.lite.TFLiteConverter.from_concrete_functions(
            [function.get_concrete_function()], model
        )
        converter.target_spec.supported_ops = [
            tf.lite.OpsSet.TFLITE_BUILTINS,
            tf.lite.OpsSet.SELECT_TF_OPS,
        ]
        return bytes(converter.convert())
    except Exception as error:
        raise RefusedError("build", str(error)) from None


def _opened(content: bytes) -> Any:
    try:
        interpreter = litert.Interpreter(model_content=content)
        interpreter.allocate_tensors()
    except (RuntimeError, ValueError) as error:
        raise RefusedError("load", str(error)) from None
    return interpreter


def _place(name: str) -> int:
    """Return the place of an input or output by the name that it has in the TFLite file.

    Those are ``serving_default_input_1:0``, ``PartitionedCall:1`` and ``output_1``, or
    ``Identity_1``, where the first is ``Identity``.
    """
    match = _PLACE.search(name)
    return int(match.group("place")) if match else 0

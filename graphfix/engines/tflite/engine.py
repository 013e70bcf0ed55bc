"""TensorFlow Lite as an engine family: files that onnx2tf converts and LiteRT runs."""

from __future__ import annotations

import json
import re
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from graphfix.engines.engine import Engine
from graphfix.engines.interface import Fed, NextStep, Written
from graphfix.ir.printing import shell_line

if TYPE_CHECKING:
    from graphfix.engines.profile import Target
    from graphfix.ir.views import NodeView

_NODE = re.compile(r"onnx_op_name: (?P<name>\S+)")
_WITH_SUBGRAPHS = frozenset({"If", "Loop"})
_MISSING = re.compile(r"No module named 'onnx2tf\.ops\.(?P<op>\w+)'")


class TFLite(Engine):
    """Google's TensorFlow Lite (LiteRT), by the converter onnx2tf."""

    family = "tflite"
    title = "TFLite by onnx2tf"
    guesses = True
    spellings = ("onnx2tf", "litert")
    order = 14
    wants_sizes = True
    requirements = MappingProxyType({"tflite1.29": ("onnx2tf==1.29.24",)})
    newest_python = MappingProxyType({"tflite1.29": "3.12"})

    def computes_early(self, node: NodeView) -> bool:
        """Say whether onnxsim computes a node: it runs for fixed sizes, whatever the file says.

        It leaves DequantizeLinear alone (facts/asked.json, dequantize-stored).
        """
        from graphfix.analysis.shape_only_values import gives_shapes_alone

        return node.op != "DequantizeLinear" and gives_shapes_alone(node)

    def blamed(self, said: str) -> tuple[str, str]:
        """Return the operator and the name of the node in a message of onnx2tf."""
        node, missing = _NODE.search(said), _MISSING.search(said)
        name = re.sub("^wa/", "/", node["name"].rstrip(":")) if node else ""
        return missing["op"] if missing else "", name

    def next_step(self, written: Written, target: Target) -> NextStep:
        """Return the line that converts the file with onnx2tf, as the runner does it, and more.

        The program runs what comes of it. Pictures go in as ONNX has them, and come out with
        their channels last.

        Source: the help text of onnx2tf 1.29.24. ``-k`` and ``-kat`` keep the layout of inputs,
        ``-ois`` sets their sizes, and ``-osd`` takes names that TensorFlow's pattern refuses.
        """
        inputs, operators = written.contents()
        imaging = json.loads(Path(__file__).with_name("imaging.json").read_text(encoding="utf-8"))
        words = ["onnx2tf", "-i", written.path, "-o", "converted", "-osd"]
        pictures = [name for name, shape in inputs if len(shape) in imaging["ranks"]]
        moved = bool(pictures) and not operators.isdisjoint(imaging["operators"])
        if moved:
            # Grids have a coordinate for each axis of space, and lie as they are.
            known = dict(inputs) if "GridSample" in operators else {}
            grids = [n for n in pictures if n in known and known[n][-1] == len(known[n]) - 2]
            kept = [name for name in pictures if name not in grids]
            for option, names in (("-k", kept), ("-kat", grids)):
                words += [option, *map(_spelled, names)] if names else []
        elif inputs:
            words += ["-kat", *(_spelled(name) for name, _ in inputs)]
        sizes = [
            f"{name}:" + ",".join(_size(size, place) for place, size in enumerate(shape))
            for name, shape in inputs
            if not all(isinstance(size, int) for size in shape)
        ]
        line = shell_line([*words, "-ois", *sizes] if sizes else words)
        note = "Put a size for each <name>." if sizes else ""
        if sizes and not operators.isdisjoint(_WITH_SUBGRAPHS):
            note += (
                " Sizes that are computed in subgraphs are not known to onnx2tf then, which fails"
                " at some: `--shape` of graphfix run fixes them for good."
            )
        return NextStep(line, "Convert it", note, _program(written, words, moved=moved))


def _program(written: Written, words: list[str], *, moved: bool) -> str:
    """Return the program that converts a file, by these words and the sizes, and runs it."""
    from graphfix.engines.feeding import FEED, listed, program_of, quoted

    ends = written.ends() if written.ends is not None else None
    sizes = [
        f"{fed.name}:{','.join(map(str, fed.shape))}"
        for fed in (ends.inputs if ends is not None else ())
        if fed.open
    ]
    return program_of(
        Path(__file__).with_name(FEED),
        written,
        _taken,
        convert=listed([*words, "-ois", *sizes] if sizes else words),
        model=quoted(f"converted/{PurePath(written.path).stem}_float32.tflite"),
        layout="  # channels are last (NHWC)" if moved else "",
    )


def _taken(fed: Fed) -> Fed:
    """Return an input as the TFLite file has it: by another name, a scalar as a vector."""
    return replace(fed, name=_spelled(fed.name), shape=fed.shape or (1,))


def _spelled(name: str) -> str:
    """Return the name of an input as -k and -kat of onnx2tf want it."""
    return re.sub("^/", "wa/", name.replace(":", "__"))


def _size(size: int | str | None, place: int) -> str:
    return str(size) if isinstance(size, int) else f"<{size or f'dim{place}'}>"

"""Every edit on networks of the open corpus: does the result load, is what it promises shown?

    python -m benchmarks.edits CORPUS [--pattern P] [--edit NAME ...] [--rows FILE] [-o FILE]

CORPUS is a folder of models (`../shared/corpus/open`). For each network the edits are chosen from
what it has: its first input and output, a tensor in the middle that all goes through, a node that
can be bypassed. An edit that fits nothing in a network (a layout of text, a second output where
there is one) is left out there, and said so; others are tried then, until it was done on ten.

Rows go to JSON lines, so that a further run continues after them. Writes `results/edits.md` and
ends with 1 where a result does not load, or a promise is not shown.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto

from benchmarks import RESULTS
from benchmarks.edited_network import Network
from graphfix import edits
from graphfix.errors import GraphfixError
from graphfix.ir.model import Model
from graphfix.ir.storage.weights import load_array

NETWORKS = (
    "exported/resnet__dynamo__op18.onnx",
    "exported/mobilenetv2__ts__op11.onnx",
    "exported/efficientnet__dynamo__op18.onnx",
    "exported/bert__ts__op17.onnx",
    "exported/gpt2__ts__op17.onnx",
    "exported/swin__ts__op17.onnx",
    "exported/detr__ts__op17.onnx",
    "exported/lstm_bi__ts__op17.onnx",
    "thirdparty/silero-vad--silero_vad_16k_op15.onnx",
    "thirdparty/onnxruntime--gh_issue_18338.onnx",
)
# Networks whose batch is fixed to 1.
FIXED = (
    "exported/clip__ts__op17.onnx",
    "exported/convnext__ts__op17.onnx",
    "exported/detr__ts__op17.onnx",
    "exported/distilbert__ts__op17.onnx",
    "exported/mamba__ts__op17.onnx",
    "exported/mobilenetv2__dynamo__op18.onnx",
    "exported/mobilenetv2_deeplab__ts__op17.onnx",
    "exported/qwen2__dynamo__op18.onnx",
    "exported/qwen2__ts__op17.onnx",
    "exported/sam_vision__dynamo__op18.onnx",
    "exported/sam_vision__ts__op17.onnx",
    "exported/swin2sr__ts__op14.onnx",
    "exported/swin__ts__op17.onnx",
    "exported/vitpose__ts__op17.onnx",
    "exported/wav2vec2__ts__op17.onnx",
    "thirdparty/BlazeFaceBarra--face_detection_front_128x128_barracuda.onnx",
    "thirdparty/onnxconverter---test_model_1_no_opt.onnx",
    "thirdparty/Ultra-Light-Fa--version-slim-320.onnx",
)
# Where fewer than ten networks have what an edit needs, these are tried.
OTHERS = (
    "exported/lstm_bi__dynamo__op18.onnx",
    "exported/resnet__ts__op17.onnx",
    "exported/bert__dynamo__op18.onnx",
    "exported/vit_interp_pos__dynamo__op18.onnx",
    "exported/unet_pad_argmax__dynamo__op18.onnx",
    "exported/segformer__dynamo__op18.onnx",
    "exported/detr__dynamo__op18.onnx",
    "exported/sam_vision__dynamo__op18.onnx",
    "thirdparty/basic-pitch--saved_models_icassp_2022_nmp.onnx",
    "thirdparty/piper--silero_vad.onnx",
    "thirdparty/onnxruntime--squeezenet_tensor_input.onnx",
    "exported/convnext__dynamo__op18.onnx",
)
# Networks with a cache, a suppression, the head of a detector, or rows whose number data decides.
SPECIAL = (
    "exported/deformable_detr__ts__op17.onnx",
    "exported/detr__ts__op14.onnx",
    "exported/detr__ts__op17.onnx",
    "exported/expand_as_arange__ts__op9.onnx",
    "exported/fast_nms_mask__dynamo__op18.onnx",
    "exported/fast_nms_mask__ts__op17.onnx",
    "exported/mask_assign__dynamo__op18.onnx",
    "exported/nms_end2end__ts__op11.onnx",
    "exported/nms_end2end__ts__op13.onnx",
    "exported/nms_end2end__ts__op17.onnx",
    "exported/nonzero__dynamo__op18.onnx",
    "exported/nonzero__ts__op17.onnx",
    "exported/where_nonzero_form__dynamo__op18.onnx",
    "exported/where_nonzero_form__ts__op17.onnx",
    "thirdparty/onnxruntime--attention_past_state.u8s8.onnx",
    "thirdparty/onnxruntime--gpt2_past.onnx",
    "thirdparty/onnxruntime--simplified_ssd.onnx",
)
WANTED = 10

Chosen = Callable[[], "edits.Edit | None"]


@dataclass(frozen=True)
class Row:
    """What became of one edit of one network.

    Attributes:
        status: ``proved``, ``not shown``, ``wrong``, ``refused``, ``does not load`` or ``absent``.
        said: What was done, or the reason.
    """

    network: str
    edit: str
    status: str
    said: str
    seconds: float


def edits_of(net: Network) -> Iterator[tuple[str, Chosen]]:
    """Yield every edit with what chooses a form of it that fits the network; None if none does."""
    graph = net.proto.graph
    first, last = net.inputs[0], net.outputs[0]
    middle = net.middle()
    yield "rename", lambda: edits.Rename(first.name, "graphfix_input")
    yield "rename-node", lambda: edits.RenameNode("index:0", "graphfix_node")
    yield "prefix", lambda: edits.Prefix("p/")
    sizes = [d for i in net.inputs for d in i.type.tensor_type.shape.dim]
    symbol = next((d.dim_param for d in sizes if d.dim_param), "")
    yield "dim", lambda: edits.Dim(symbol, 2) if symbol else None
    shape = tuple(
        d.dim_value if d.HasField("dim_value") else f"size_{axis}"
        for axis, d in enumerate(first.type.tensor_type.shape.dim)
    )
    yield "shape", lambda: edits.Shape(first.name, shape)
    yield "extract", net.part
    yield "split", net.cut
    yield "keep-outputs", lambda: edits.KeepOutputs((last.name,))
    yield "drop-output", lambda: edits.DropOutput(last.name) if len(net.outputs) > 1 else None
    yield "add-output", lambda: edits.AddOutput(middle) if middle else None
    dropped = (edits.DropInput(i.name, "1") for i in net.inputs)
    yield "drop-input", lambda: net.first_possible(dropped)
    yield "reorder-inputs", lambda: edits.ReorderInputs((net.inputs[-1].name,))
    yield "reorder-outputs", lambda: edits.ReorderOutputs((net.outputs[-1].name,))
    after = net.helper_model("behind", last.type, "Identity")
    yield "join", lambda: edits.Join(after, ((last.name, "from"),))
    front = net.helper_model("front_of", first.type, "Identity")
    yield "join in front", lambda: edits.Join(front, (("to", first.name),))
    floats = first.type.tensor_type.elem_type == TensorProto.FLOAT
    yield "input-type", lambda: edits.InputType(first.name, "float64" if floats else "int32")
    yield "output-type", lambda: edits.OutputType(last.name, "float64")
    ranked = (edits.Layout(i.name, "NHWC") for i in (*net.inputs, *net.outputs))
    yield "layout", lambda: net.first_possible(ranked)
    normal = (
        edits.Normalize(i.name, mean, std)
        for i in net.inputs
        for mean, std in (((0.5, 0.25, 0.1), (2.0, 3.0, 4.0)), ((0.5,), (2.0,)))
    )
    yield "normalize", lambda: net.first_possible(normal)
    yield (
        "swap-channels",
        lambda: net.first_possible(edits.SwapChannels(i.name) for i in net.inputs),
    )
    names = [f"index:{i}" for i in range(len(graph.node))]
    ops = ("Relu", "Clip", "Sigmoid", "Erf", "Tanh", "Add", "Softmax")
    likely = [f"index:{i}" for i, n in enumerate(graph.node) if n.op_type in ops]
    deleted = (edits.Delete(name) for name in (*likely, *names))
    yield "delete", lambda: net.first_possible(deleted)
    kind = net.subject.inferred.get(middle)
    inner = net.helper_model("inner", kind, "Identity") if kind is not None else None
    yield "insert", lambda: edits.Insert(middle, inner) if inner is not None else None
    yield "replace", lambda: _replaced(net)
    set_to = (
        edits.SetAttribute(f"index:{i}", name, value)
        for i, node in enumerate(graph.node)
        for name, value in (("epsilon", "0.001"), ("beta", "1"))
        if name in {attribute.name for attribute in node.attribute} or node.op_type == "Gemm"
    )
    yield "set", lambda: net.first_possible(set_to)
    yield "weights", lambda: _scaled_weights(net)
    yield "to float16", lambda: net.first_possible([edits.To("float16")])
    yield "to float16 for trt10", lambda: net.first_possible([edits.To("float16", target="trt10")])
    yield from special(net)


def special(net: Network) -> Iterator[tuple[str, Chosen]]:
    """Yield the edits of what few networks have: caches, suppressions, heads, rows by data."""
    ops = {node.op_type for node in net.proto.graph.node}
    has_cache = any("past" in info.name for info in net.inputs)
    yield "static-cache", lambda: edits.StaticCache(64) if has_cache else None
    rows = (node.output[0] for node in net.proto.graph.node if node.op_type == "NonZero")
    of_data = next(rows, "")
    yield "bound", lambda: edits.Bound(of_data, 8) if of_data else None
    is_whole = "NonMaxSuppression" in ops
    yield "detach-nms", lambda: edits.DetachNms() if is_whole else None
    yield "attach-nms", lambda: None if is_whole else net.first_possible([edits.AttachNms()])


def _scaled_weights(net: Network) -> edits.Edit | None:
    stored = net.proto.graph.initializer
    weight = next((t for t in stored if t.data_type == 1 and len(t.dims) > 1), None)
    if weight is None:
        return None
    values = load_array(weight, net.model.base_dir) * np.float32(1.01)
    return edits.SetWeights(weight.name, values)


def freed_batch(net: Network) -> Iterator[tuple[str, Chosen]]:
    """Yield the edit that frees the first size of every input."""
    shapes = [(i.name, [d.dim_value for d in i.type.tensor_type.shape.dim]) for i in net.inputs]
    freed = edits.Dynamic(tuple((name, ("N", *sizes[1:])) for name, sizes in shapes))
    yield "dynamic", lambda: freed


def _replaced(net: Network) -> edits.Edit | None:
    for index, node in enumerate(net.proto.graph.node):
        kind = net.subject.inferred.get(node.output[0])
        if node.op_type in ("Relu", "Sigmoid", "Tanh", "Erf", "Sqrt") and kind is not None:
            return edits.Replace(f"index:{index}", net.helper_model("sub", kind, node.op_type))
    return None


def row_of(net: Network, name: str, option: str, edit: edits.Edit | None) -> Row:
    """Do one edit and say what became of it."""
    start = time.perf_counter()
    if edit is None:
        return Row(name, option, "absent", "nothing of the kind is in it", 0.0)
    try:
        found = edits.edit(net.model, [edit])
    except GraphfixError as error:
        return Row(name, option, "refused", str(error), time.perf_counter() - start)
    models = list(found.parts.values()) or [found.model]
    trouble = next((t for model in models if (t := _load_trouble(model))), "")
    status = {0: "proved", 1: "not shown", 4: "wrong"}[found.exit_code]
    reasons = [p.verification.reason for p in found.proofs if not p.equal]
    said = trouble or "; ".join(reasons) or "; ".join(found.steps[0].said)
    seconds = time.perf_counter() - start
    return Row(name, option, "does not load" if trouble else status, said, seconds)


def _load_trouble(model: Model) -> str:
    """Return what onnxruntime says of a model that it does not load; empty where it loads it."""
    ort: Any = import_module("onnxruntime")
    proto: ModelProto = model.to_proto()
    options = ort.SessionOptions()
    options.log_severity_level = 4
    try:
        ort.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        return str(error).splitlines()[0]
    return ""


def _measured(option: str, rows: Sequence[Row]) -> int:
    """Return how many networks an edit was done on."""
    return sum(row.edit == option and row.status != "absent" for row in rows)


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a page."""
    freed = [row for row in rows if row.edit == "dynamic"]
    networks = [name for name in NETWORKS if any(row.network == name for row in rows)]
    options = list(dict.fromkeys(row.edit for row in rows if row not in freed))
    cells = {(row.edit, row.network): row for row in rows}
    count = {status: sum(row.status == status for row in rows) for status in _STATUSES}
    lines = [
        "# Edits on networks",
        "",
        "`python -m benchmarks.edits ../shared/corpus/open` on CPU: each edit of `graphfix edit`",
        "on networks of the open corpus, the result loaded in onnxruntime, its promise proved.",
        "",
        f"{sum(row.status != 'absent' for row in rows)} edits: "
        + ", ".join(f"{number} {status}" for status, number in count.items()),
        "(absent: nothing of the kind is in the network).",
        "",
        f"| edit | {' | '.join(Path(n).stem for n in networks)} | others |",
        f"|---|{'---|' * len(networks)}---|",
    ]
    for option in options:
        found = [cells.get((option, network)) for network in networks]
        texts = [row.status if row else "" for row in found]
        lines.append(f"| {option} | {' | '.join(texts)} | {_others(option, cells)} |")
    names = ", ".join(Path(name).stem for name in OTHERS)
    lines += ["", f"Others, where an edit fits fewer than ten of these: {names}."]
    few = [row for row in rows if row.network in SPECIAL and row.edit in _SPECIAL]
    if few:
        lines += ["", "Edits that few networks have anything for:", ""]
        lines += ["| network | edit | status |", "|---|---|---|"]
        lines += [
            f"| {Path(row.network).stem} | {row.edit} | {row.status} |"
            for row in few
            if row.status != "absent"
        ]
    if freed:
        lines += [
            "",
            "A batch of 1 freed (`--dynamic`): shown for every size, and by numbers at 1, 2 and 5:",
            "",
        ]
        lines += ["| network | status | constants that were made to follow |", "|---|---|---|"]
        for row in freed:
            followed = row.said.count(";") - 1 if row.status == "proved" else 0
            lines.append(f"| {Path(row.network).stem} | {row.status} | {followed or ''} |")
    others = [row for row in rows if row.status not in ("proved", "absent")]
    if others:
        lines += ["", "| network | edit | status | reason |", "|---|---|---|---|"]
        lines += [
            f"| {Path(r.network).stem} | {r.edit} | {r.status} | {r.said.replace('|', '/')} |"
            for r in others
        ]
    return "\n".join(lines) + "\n"


def _others(option: str, cells: Mapping[tuple[str, str], Row]) -> str:
    found = Counter(
        row.status
        for name in OTHERS
        if (row := cells.get((option, name))) is not None and row.status != "absent"
    )
    return ", ".join(f"{number} {status}" for status, number in found.items())


_SPECIAL = ("static-cache", "bound", "detach-nms", "attach-nms")
_STATUSES = ("proved", "not shown", "wrong", "refused", "does not load", "absent")


def _tasks(corpus: Path, pattern: str, folder: Path) -> Iterator[tuple[str, str, Chosen, Network]]:
    """Yield networks with what is to be done with them."""
    kinds = ((NETWORKS, edits_of), (FIXED, freed_batch), (OTHERS, edits_of), (SPECIAL, special))
    for names, chosen in kinds:
        for name in names:
            if fnmatch.fnmatch(name, pattern):
                net = Network(corpus / name, folder)
                for option, choose in chosen(net):
                    yield name, option, choose, net


def main() -> int:
    """Measure what is not measured yet, and write the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.edits")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--pattern", default="*")
    parser.add_argument("--edit", nargs="*", help="only these")
    parser.add_argument("--rows", type=Path, default=Path("edits.jsonl"))
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "edits.md")
    asked = parser.parse_args()
    rows: list[Row] = []
    if asked.rows.exists():
        rows = [Row(**json.loads(line)) for line in asked.rows.read_text("utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as folder, asked.rows.open("a", encoding="utf-8") as stream:
        for name, option, choose, net in _tasks(asked.corpus, asked.pattern, Path(folder)):
            done = {row.edit for row in rows if row.network == name}
            enough = name in OTHERS and _measured(option, rows) >= WANTED
            is_asked = option in (asked.edit or [option])
            if not is_asked or option in done or (enough and option != "dynamic"):
                continue
            row = row_of(net, name, option, choose())
            rows.append(row)
            stream.write(json.dumps(asdict(row)) + "\n")
            stream.flush()
            sys.stderr.write(f"{name} {option}: {row.status} {row.said}\n")
    asked.output.write_text(table(rows), encoding="utf-8")
    return int(any(row.status in ("wrong", "not shown", "does not load") for row in rows))


if __name__ == "__main__":
    sys.exit(main())

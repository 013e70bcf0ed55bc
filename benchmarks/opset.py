"""Convert models to other opsets and compare what they compute.

    python benchmarks/opset.py nodes [--source 28] [--to 17 13] [--limit N] [--pattern P]
    python benchmarks/opset.py corpus FOLDER [--to 17 13] [--limit N] [--pattern P]

`nodes` takes the node tests that come with onnx, stamped with opset SOURCE where every operator of
the model has the same schema there, and compares with the expected outputs of the test. `corpus`
takes the `*.onnx` below FOLDER whose opset is higher than the target and that onnxruntime runs,
and compares with what the file itself computes, on the `in_*` of the `.npz` beside it or on inputs
that are made. onnxruntime runs with optimisations off; where it has no kernel for a converted node
test the reference evaluator decides, and the table counts these.

A node test that onnxruntime fails as it comes, unconverted, is counted as `engine`.

Writes `results/opset-nodes.md` or `results/opset-corpus.md` (`-o` for another file) and ends with
1 when a converted model computes something else, fails the checker, or a conversion raised.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from children import call_in_child

HERE = Path(__file__).resolve().parent
STATUSES = ("equal", "refused", "mismatch", "invalid", "raised", "does not run", "engine")
_GIB = 1024**3
_UNNAMED = re.compile(r"of \S+(?= is unknown)")
# Reordered sums and decomposed normalisations; a fraction of the largest value of the output.
_TOLERANCE = {"float64": 1e-6, "float32": 1e-3, "float16": 1e-2, "bfloat16": 2**-6}


@dataclass(frozen=True)
class Row:
    """What became of one model at one target."""

    name: str
    target: int
    status: str
    reason: str = ""
    engine: str = "onnxruntime"
    changed: bool = True


def converted(proto: onnx.ModelProto, target: int) -> tuple[onnx.ModelProto | None, list[str]]:
    """Return the model at `target`, or None and the reasons of all blockers."""
    api = import_module("graphfix.pipeline.api")
    stepping = import_module("graphfix.opset.stepping")
    workspace = import_module("graphfix.authoring.workspace")
    infer = import_module("graphfix.inference")
    model = api.load(proto)
    infer.infer_model(model)
    try:
        stepping.move_to(model, workspace.Workspace(model), target)
    except stepping.StepBlocked as blocked:
        reasons = {f"{b.node.op}: {b.reason}": None for b in blocked.blockers}
        return None, list(reasons)
    return model.to_proto(), []


def run(proto: onnx.ModelProto, feed: Mapping[str, Any]) -> list[Any]:
    """Run in onnxruntime with optimisations off."""
    ort: Any = import_module("onnxruntime")
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = ort.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return list(session.run(None, dict(feed)))


def reference(proto: onnx.ModelProto, feed: Mapping[str, Any]) -> list[Any]:
    """Run in the reference evaluator."""
    module = import_module("onnx.reference")
    return list(module.ReferenceEvaluator(proto).run(None, dict(feed)))


def difference(result: Any, expected: Any) -> str:
    """Return how two outputs differ, or an empty string."""
    if expected is None or result is None:
        return "" if result is expected else "one is empty"
    if isinstance(expected, list | tuple):
        if len(result) != len(expected):
            return f"{len(result)} parts, expected {len(expected)}"
        parts = (difference(a, b) for a, b in zip(result, expected, strict=True))
        return next((wrong for wrong in parts if wrong), "")
    result, expected = np.asarray(result), np.asarray(expected)
    if result.dtype != expected.dtype and expected.dtype.kind not in "OUT":
        return f"dtype {result.dtype}, expected {expected.dtype}"
    if result.shape != expected.shape:
        return f"shape {list(result.shape)}, expected {list(expected.shape)}"
    tolerance = _TOLERANCE.get(expected.dtype.name)
    if tolerance is None:
        wrong = int(np.count_nonzero(result != expected))
        return f"{wrong} of {result.size} values differ" if wrong else ""
    wide, wanted = result.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(wanted)
    if not np.array_equal(wide[~finite], wanted[~finite], equal_nan=True):
        return "NaN or infinity at other places"
    scale = float(np.max(np.abs(wanted[finite]), initial=0.0))
    distance = np.abs(wide[finite] - wanted[finite])
    # Written so that a NaN in the result, for which every comparison is false, counts as wrong.
    good = distance <= tolerance * np.abs(wanted[finite]) + tolerance / 10 * scale
    return "" if good.all() else f"values differ by up to {float(np.max(distance)):.3g}"


def judge(
    name: str,
    proto: onnx.ModelProto,
    target: int,
    sets: Sequence[tuple[Mapping[str, Any], Sequence[Any]]],
    *,
    fallback: bool,
    complained: bool = False,
) -> Row:
    """Convert one model, check it, and compare its outputs on each input set."""
    try:
        result, reasons = converted(proto, target)
    except Exception as error:
        return Row(name, target, "raised", _line(error))
    if result is None:
        return Row(name, target, "refused", " | ".join(reasons))
    changed = [n.SerializeToString() for n in result.graph.node] != [
        n.SerializeToString() for n in proto.graph.node
    ]
    if not complained:
        try:
            onnx.checker.check_model(result, full_check=True)
        except Exception as error:
            return Row(name, target, "invalid", _line(error))
    engine = "onnxruntime"
    for feed, expected in sets:
        try:
            given = run(result, feed)
        except Exception as error:
            if not fallback:
                return Row(name, target, "does not run", _line(error))
            engine = "reference"
            try:
                given = reference(result, feed)
            except Exception as second:
                return Row(name, target, "does not run", _line(second), engine)
        for position, (one, other) in enumerate(zip(given, expected, strict=True)):
            wrong = difference(one, other)
            if wrong:
                return Row(name, target, "mismatch", f"output {position}: {wrong}", engine)
    return Row(name, target, "equal", "", engine, changed)


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def stamped(proto: onnx.ModelProto, source: int) -> onnx.ModelProto | None:
    """Return the model with opset `source`, None where an operator has another schema there."""
    own = next((o.version for o in proto.opset_import if o.domain in ("", "ai.onnx")), None)
    if own is None:
        return None
    graphs: list[Any] = [proto.graph, *proto.functions]
    while graphs:
        for node in graphs.pop().node:
            graphs.extend(a.g for a in node.attribute if a.HasField("g"))
            if node.domain in ("", "ai.onnx"):
                try:
                    one = onnx.defs.get_schema(node.op_type, own, "")
                    other = onnx.defs.get_schema(node.op_type, source, "")
                except onnx.defs.SchemaError:
                    return None
                if one.since_version != other.since_version or other.deprecated:
                    return None
                found: Any = other  # the stubs of onnx leave out the field
                if found.node_determinism == onnx.defs.OpSchema.NodeDeterminism.NonDeterministic:
                    return None  # no two runs of it agree
    result = onnx.ModelProto()
    result.CopyFrom(proto)
    for entries in (result.opset_import, *(f.opset_import for f in result.functions)):
        for entry in entries:
            if entry.domain in ("", "ai.onnx"):
                entry.version = source
    return result


def node_jobs(given: argparse.Namespace) -> Iterator[tuple[str, Any]]:
    """Yield a name and a job for each node test."""
    loader = import_module("onnx.backend.test.loader")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        tests = loader.load_model_tests(kind="node")
    for test in tests:
        proto = stamped(test.model, given.source)
        if proto is None:
            continue
        sets: list[tuple[dict[str, Any], list[Any]]] = []
        for inputs, outputs in test.data_sets:
            names = [info.name for info in proto.graph.input]
            feed = dict(zip(names, map(_array, inputs), strict=False))
            sets.append((feed, [_array(value) for value in outputs]))
        yield (
            test.name,
            lambda name=test.name, proto=proto, sets=sets, test=test: [
                _excused(judge(name, proto, target, sets, fallback=True), test.model, sets)
                for target in given.to
            ],
        )


def _excused(
    row: Row, own: onnx.ModelProto, sets: Sequence[tuple[Mapping[str, Any], Sequence[Any]]]
) -> Row:
    """Tell an engine that fails the test as it comes from a wrong conversion."""
    if row.status != "mismatch":
        return row
    for feed, expected in sets:
        try:
            given = run(own, feed)
        except Exception:
            return row
        wrong = [difference(one, other) for one, other in zip(given, expected, strict=True)]
        if any(wrong):
            return replace(row, status="engine")
    return row


def _array(value: Any) -> Any:
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def corpus_jobs(given: argparse.Namespace) -> Iterator[tuple[str, Any]]:
    """Yield a name and a job for each model of a folder."""
    for path in sorted(given.folder.rglob("*.onnx")):
        name = str(path.relative_to(given.folder))
        yield name, lambda name=name, path=path: corpus_rows(name, path, given.to)


def corpus_rows(name: str, path: Path, targets: Sequence[int]) -> list[Row]:
    """Return the rows of one file; none where onnxruntime does not run it."""
    try:
        proto = onnx.load(path)
    except Exception:
        return []
    own = next((o.version for o in proto.opset_import if o.domain in ("", "ai.onnx")), 0)
    targets = [target for target in targets if target < own]
    if not targets:
        return []
    sets: list[tuple[dict[str, Any], list[Any]]] = []
    for feed in _feeds(proto, path):
        try:
            sets.append((feed, run(proto, feed)))
        except Exception:
            continue
    if not sets:
        return []
    try:
        onnx.checker.check_model(proto, full_check=True)
        complained = False
    except Exception:
        complained = True
    return [
        judge(name, proto, target, sets, fallback=False, complained=complained)
        for target in targets
    ]


def _feeds(proto: onnx.ModelProto, path: Path) -> list[dict[str, Any]]:
    stored = path.with_suffix(".npz")
    if stored.is_file():
        with np.load(stored, allow_pickle=False) as opened:
            arrays = dict(opened)
        own = {t.name for t in proto.graph.initializer}
        names = [info.name for info in proto.graph.input if info.name not in own]
        feed: dict[str, Any] = {}
        for position, name in enumerate(names):
            number = name[1:] if name[1:].isdigit() else str(position)
            key = f"in_{name}" if f"in_{name}" in arrays else f"in_{number}"
            if key in arrays:
                feed[name] = arrays[key]
        return [feed]
    feeds = import_module("graphfix.feeds")
    try:
        return list(feeds.make_feeds(proto, samples=2))
    except Exception:
        return []


def sweep(given: argparse.Namespace) -> list[Row]:
    """Run every job in a child of its own."""
    jobs = node_jobs(given) if given.kind == "nodes" else corpus_jobs(given)
    import_module("onnxruntime")
    import_module("graphfix.opset.stepping")
    import_module("graphfix.opset.adapting").adapters()
    rows: list[Row] = []
    count = 0
    for name, job in jobs:
        if not fnmatch.fnmatch(name, given.pattern):
            continue
        if given.limit is not None and count >= given.limit:
            break
        count += 1
        rows.extend(_in_child(name, job, given))
        if count % 100 == 0:
            print(count, file=sys.stderr)
    return rows


def _in_child(name: str, job: Any, given: argparse.Namespace) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="opset-") as folder:
        scratch = Path(folder)

        def call() -> int:
            found = [vars_of(row) for row in job()]
            (scratch / "rows.json").write_text(json.dumps(found), encoding="utf-8")
            return 0

        ended = call_in_child(call, scratch, timeout=120, memory_bytes=12 * _GIB)
        answer = scratch / "rows.json"
        if answer.is_file():
            return [Row(**fields) for fields in json.loads(answer.read_text(encoding="utf-8"))]
        why = "timed out" if ended.timed_out else f"code {ended.code}: {ended.stderr[-200:]}"
        return [Row(name, target, "raised", " ".join(why.split())) for target in given.to]


def vars_of(row: Row) -> dict[str, Any]:
    """Return the fields of a row."""
    return {name: getattr(row, name) for name in Row.__dataclass_fields__}


def table(rows: Sequence[Row], given: argparse.Namespace, seconds: float) -> str:
    """Return the figures, then what was refused and what went wrong."""
    lines = [
        f"# Opset conversion: {given.kind}",
        "",
        f"onnx {onnx.__version__}, onnxruntime {import_module('onnxruntime').__version__}, "
        f"{seconds:.0f} s." + (f" Source: opset {given.source}." if given.kind == "nodes" else ""),
        "",
        "| set | to | models | " + " | ".join(STATUSES) + " | equal % | by the reference alone |",
        "|---|---|---|" + "---|" * (len(STATUSES) + 2),
    ]
    for label, chosen in _sets(rows, given.kind):
        for target in given.to:
            here = [row for row in chosen if row.target == target]
            counts = Counter(row.status for row in here)
            share = 100 * counts["equal"] / len(here) if here else 0.0
            alone = sum(row.engine == "reference" and row.status == "equal" for row in here)
            cells = " | ".join(str(counts[status]) for status in STATUSES)
            lines.append(f"| {label} | {target} | {len(here)} | {cells} | {share:.1f} | {alone} |")
    for target in given.to:
        lines += ["", f"## Refused on the way to {target}", "", "| reason | models |", "|---|---|"]
        reasons = Counter(
            part
            for row in rows
            if row.target == target and row.status == "refused"
            for part in dict.fromkeys(_UNNAMED.sub("of some value", row.reason).split(" | "))
        )
        lines += [f"| {reason} | {count} |" for reason, count in reasons.most_common()]
    bad = [row for row in rows if row.status not in ("equal", "refused")]
    lines += ["", "## Anything else", "", "| model | to | status | reason |", "|---|---|---|---|"]
    lines += [f"| {r.name} | {r.target} | {r.status} ({r.engine}) | {r.reason} |" for r in bad]
    return "\n".join(lines) + "\n"


def _sets(rows: Sequence[Row], kind: str) -> list[tuple[str, list[Row]]]:
    if kind == "corpus":
        return [("all", list(rows))]
    plain = [row for row in rows if "_expanded" not in row.name]
    bodies = [row for row in rows if "_expanded" in row.name]
    return [("hand-written", plain), ("function bodies", bodies)]


def main(words: Sequence[str]) -> int:
    """Run the sweep, write the table, and say whether anything went wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kind", choices=("nodes", "corpus"))
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--source", type=int, default=onnx.defs.onnx_opset_version())
    parser.add_argument("--to", type=int, nargs="+", default=[17, 13])
    parser.add_argument("--limit", type=int)
    parser.add_argument("--pattern", default="*")
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args(words)
    if given.kind == "corpus" and given.folder is None:
        parser.error("corpus needs a folder")
    start = time.monotonic()
    rows = sweep(given)
    text = table(rows, given, time.monotonic() - start)
    output = given.output or HERE / "results" / f"opset-{given.kind}.md"
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text, encoding="utf-8")
    print(output)
    return int(any(row.status in ("mismatch", "invalid", "raised") for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

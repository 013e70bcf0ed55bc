"""float16 and bfloat16 of networks as engines compute them: `graphfix edit --to float16 --target`.

    python -m benchmarks.half_engines CORPUS [--target trt10,trt11] [--begin NETWORK] [-o FILE]

CORPUS is a folder of models (`../shared/corpus/open`). Each is repaired for the target, turned into
the type for it, and checked again; then it runs in onnxruntime on inputs that the edit did not see.
Writes `results/half-engines.md`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import graphfix
from benchmarks import RESULTS
from graphfix import edits
from graphfix.edits.options.precision import TOLERANCES
from graphfix.edits.precision.loss import Feeds, difference, ran
from graphfix.errors import GraphfixError
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.report import Verification

NETWORKS = (
    "bert__ts__op17",
    "bert__dynamo__op18",
    "distilbert__ts__op14",
    "gpt2__ts__op17",
    "qwen2__ts__op17",
    "swin__ts__op17",
    "swin2sr__ts__op17",
    "segformer__ts__op17",
    "detr__ts__op17",
    "deformable_detr__ts__op17",
    "convnext__ts__op17",
    "efficientnet__ts__op17",
    "resnet__dynamo__op18",
    "mobilenetv2__ts__op11",
    "mobilenetv2_deeplab__ts__op17",
    "sam_vision__ts__op17",
    "mamba__ts__op17",
    "vitpose__ts__op17",
    "clip__ts__op17",
    "lstm_bi__ts__op17",
    "mha__ts__op17",
    "group_norm__ts__op17",
    "small_cnn_dyn__ts__op17",
)
_FIRST_FRESH = 100


def main() -> int:
    """Measure and write the table; 1 where an edit does not end with 0, or a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--target", default="trt10,trt11")
    parser.add_argument("--begin", default=NETWORKS[0], metavar="NETWORK")
    parser.add_argument("--type", default="float16")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "half-engines.md")
    asked = parser.parse_args()
    rows: list[str] = []
    for name in NETWORKS[NETWORKS.index(asked.begin) :]:
        path = asked.corpus / "exported" / f"{name}.onnx"
        for target in asked.target.split(",") if path.is_file() else ():
            rows.append(f"| {name} | {target} | {' | '.join(_cells(path, target, asked.type))} |")
            print(rows[-1], flush=True)
    asked.output.write_text(_page(rows, asked.type), encoding="utf-8")
    return int(any(" no: " in row for row in rows))


def _cells(path: Path, target: str, kind: str) -> Iterator[str]:
    try:
        repaired = graphfix.run(path, target=target, verify="off").model
        done = edits.to(repaired, kind, target=target)
    except GraphfixError as error:
        yield from (f"no: {error.message[:90]}", "", "", "", "")
        return
    said = done.steps[0].said
    summed = [text for text in said if text.startswith("added up")]
    yield said[0].partition(" nodes")[0]
    yield str(len(summed[0].split(": ", 1)[1].split(", ")) if summed else 0)
    yield _moved(done.proofs[0].verification)
    before, after = repaired.to_proto(), done.model.to_proto()
    feeds = _fresh(repaired)
    try:
        given = [ran(proto, repaired.base_dir, feeds) for proto in (before, after)] if feeds else []
    except GraphfixError as error:
        given = []
        yield f"not run: {error.message[:60]}"
    if given:
        yield _moved(difference(given[0], given[1], TOLERANCES[kind]))
    elif not feeds:
        yield "not run: no made input runs"
    left = [f for f in graphfix.check(repaired, target=target) if f.blocks]
    new = [f for f in graphfix.check(done.model, target=target) if f.blocks]
    yield f"{len(new)} ({len(left)} before)" if len(new) <= len(left) else f"no: {len(new)}"


def _fresh(model: graphfix.Model) -> Feeds:
    maker = FeedMaker(model.to_proto())
    for attempt in (0, 3, 9, 16):
        try:
            feeds = [dict(maker.draw(_FIRST_FRESH + sample, attempt)) for sample in range(3)]
            ran(model.to_proto(), model.base_dir, feeds)
        except GraphfixError:
            continue
        return feeds
    return []


def _moved(found: Verification) -> str:
    most = max((row.max_rel for row in found.outputs if row.max_rel is not None), default=0.0)
    return f"{most:.1e}" if found.status == "equal" else f"no: {most:.1e}, {found.reason}"


def _page(rows: list[str], kind: str) -> str:
    head = "| network | target | nodes | added up in float32 | as the engine | fresh | findings |"
    return "\n".join(
        [
            f"# {kind} of networks, as engines compute",
            "",
            "`python -m benchmarks.half_engines ../shared/corpus/open`: each network is repaired",
            f"for the target and turned into {kind} for it. How many nodes are of the type, how",
            "many products and Softmax are added up in float32 between casts, how far the outputs",
            "move on the samples where each node rounds and adds up as the engine may (of their",
            f"largest number; {TOLERANCES[kind]:g} is promised), how far in onnxruntime on three",
            "inputs that the edit did not see, and what the target refuses of the result.",
            "",
            head,
            "|---|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


if __name__ == "__main__":
    raise SystemExit(main())

"""Ask a real engine what it makes of models of one operator each.

    python -m benchmarks.engines.kernels --engine openvino2024.0 [--rows FILE] [--only Resize GRU]

Each model of `benchmarks.engines.probes` is loaded and run in the engine, one process for many, a
new one after a death. A row of the file says of a model: ``equal``, ``wrong`` (it computes other
numbers than onnxruntime), ``refused`` or ``crashed`` (death, or out of time), with the engine's
words; ``taken`` where nothing here runs what the engine has taken. A further run continues after
the rows that are there.

The models are made once, which takes some minutes, and lie below ``$GRAPHFIX_PROBES`` or in the
user's cache folder. The target needs no profile yet: profiles are made of these rows.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

import onnx

from benchmarks.differential.scope import Array
from benchmarks.engines.probes import arrays_of, stored
from graphfix.engines.engine import Engine, engine_of
from graphfix.engines.targets import load_target
from graphfix.ir.schemas import form_of
from graphfix.ir.storage.weights import dtype_of
from graphfix.learning import verdicts

_SECONDS = 30.0
_MEMORY = 3 << 30
_OF_OTHERS = 2  # what `numpy.dtype.isbuiltin` is for the types of ml_dtypes


def cache() -> Path:
    """Return where generated models lie: ``$GRAPHFIX_PROBES``, or the user's cache folder."""
    given = os.environ.get("GRAPHFIX_PROBES")
    return Path(given) if given else Path.home() / ".cache" / "graphfix" / "probes"


class Asker(verdicts.Asker):
    """The engine of a target, started again where a model has killed it."""

    def __init__(self, target: str, *, seconds: float = _SECONDS, memory: int = _MEMORY) -> None:
        """Remember the engine; see `graphfix.engines.engine.Engine.host`."""
        known = load_target(target) if _is_target(target) else None
        family = family_of(target)
        name = known.name if known is not None else target
        super().__init__(
            lambda: family.host(name, seconds=seconds, memory=memory),
            static=known is not None and known.static_shapes,
            half=family.arithmetic == "float16",
        )

    def verdict(
        self, path: Path, given: Mapping[str, Array], expected: Mapping[str, Array]
    ) -> tuple[str, str]:
        """Return what becomes of a model, and the engine's words.

        What takes too long or too much is a failure as well: these models are small.

        Args:
            path: The model.
            given: Its inputs.
            expected: What it computes.
        """
        verdict, words = super().verdict(path, given, expected)
        if verdict == verdicts.UNANSWERED:
            verdict = verdicts.REFUSED if self.host_is_alive else verdicts.CRASHED
        return verdict, words


def family_of(target: str) -> Engine:
    """Return the family of a target, which may have no profile yet."""
    return engine_of(load_target(target).family if _is_target(target) else _family(target))


@contextmanager
def written(model: onnx.ModelProto) -> Generator[Path]:
    """Give a file of a model, for as long as it is asked about."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.onnx")
        path.write_bytes(model.SerializeToString())
        yield path


def facts_of(target: str, name: str) -> Path:
    """Return a file of facts of a target's family."""
    folder = family_of(target).folder
    assert folder is not None, target
    return folder / "facts" / name


def _is_target(name: str) -> bool:
    from graphfix.engines.targets import target_names

    return name in target_names()


def _family(target: str) -> str:
    """Return the family of a target that has no profile yet: profiles are made of what it says."""
    return target.rstrip("0123456789.")


def _beyond_numpy(path: Path) -> bool:
    """Say whether a model has an input or an output of a type that numpy lacks, as bfloat16."""
    graph = onnx.ModelProto.FromString(path.read_bytes()).graph
    infos = (*graph.input, *graph.output)
    dtypes = [dtype_of(info.type.tensor_type.elem_type) for info in infos]
    return any(dtype is not None and dtype.isbuiltin == _OF_OTHERS for dtype in dtypes)


def _is_of(opset: int, op: str, since: int) -> bool:
    """Say whether a form is the one that models of an opset have."""
    form = form_of(op, opset)
    return form is not None and form.since == since


def _stamped(path: Path, opset: int, folder: Path) -> Path:
    """Return a probe as a model of an opset that has its form, where it is one of a newer opset.

    Args:
        path: The model.
        opset: The newest opset that the engine is asked about.
        folder: Where a model that is made is put.
    """
    model = onnx.ModelProto.FromString(path.read_bytes())
    newer = [entry for entry in model.opset_import if not entry.domain and entry.version > opset]
    if not newer:
        return path
    newer[0].version = opset
    made = folder / "probe.onnx"
    made.write_bytes(model.SerializeToString())
    return made


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--engine", required=True, metavar="TARGET")
    parser.add_argument("--rows", type=Path, help="JSON lines; goes on where they end")
    parser.add_argument("--only", nargs="+", default=[], metavar="OP")
    parser.add_argument(
        "--type",
        default="",
        metavar="NAME",
        help="only models of this type: float32",
    )
    parser.add_argument(
        "--each", type=int, default=0, metavar="N", help="stop at N right models of a form, or 4N"
    )
    parser.add_argument("--seconds", type=float, default=_SECONDS, help="for each model")
    parser.add_argument(
        "--opset", type=int, metavar="N", help="only the forms that models of opset N have"
    )
    parser.add_argument(
        "--bound", nargs="+", metavar="TYPE", help="only models with inputs of these element types"
    )
    parser.add_argument(
        "--no-scalars", action="store_true", help="no models with inputs or outputs of rank 0"
    )
    given = parser.parse_args()
    rows: Path = given.rows or cache() / f"{given.engine}.jsonl"
    rows.parent.mkdir(parents=True, exist_ok=True)
    lines = rows.read_text(encoding="utf-8").splitlines() if rows.is_file() else []
    known = [json.loads(line) for line in lines]
    done = {row["name"] for row in known}
    asked = Counter((row["op"], row["since"]) for row in known)
    right = Counter((row["op"], row["since"]) for row in known if row["verdict"] == "equal")
    asker = Asker(given.engine, seconds=given.seconds)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, rows.open("a", encoding="utf-8") as stream:
        models = list(stored(cache() / "models"))
        if given.each:  # of many types and ranks
            random.Random(0).shuffle(models)
        for path, row in models:
            if row["name"] in done or (given.only and row["op"] not in given.only):
                continue
            if given.type and next(iter(row["types"].values()), given.type) != given.type:
                continue
            form = (row["op"], row["since"])
            if given.opset and not _is_of(given.opset, *form):
                continue
            if given.each and (right[form] >= given.each or asked[form] >= 4 * given.each):
                continue
            inputs, outputs = arrays_of(path, row)
            if not all(array.size for array in (*inputs.values(), *outputs.values())):
                continue  # what has no elements shows nothing of types and ranks
            if _beyond_numpy(path):
                continue  # nothing can be given to an engine, or taken from it
            if given.bound and any(
                array.dtype.name not in given.bound for array in inputs.values()
            ):
                continue  # what the engine says is not about the operator
            if given.no_scalars and not all(a.ndim for a in (*inputs.values(), *outputs.values())):
                continue
            asked_with = _stamped(path, given.opset, Path(folder)) if given.opset else path
            verdict, words = asker.verdict(asked_with, inputs, outputs)
            counts[verdict] += 1
            asked[form] += 1
            right[form] += verdict == "equal"
            kept = {key: row[key] for key in ("name", "op", "since", "types", "rank", "attributes")}
            stream.write(json.dumps({**kept, "verdict": verdict, "words": words}) + "\n")
            stream.flush()
    asker.close()
    print(f"{given.engine}: {dict(counts)}; rows in {rows}", file=sys.stderr)


if __name__ == "__main__":
    main()

"""What a real engine makes of the models of a folder: as they are, after onnxsim, after graphfix.

    python -m benchmarks.engines FOLDER --engine openvino2026.4 [--sample 40] [--rows FILE]

Each model that onnxruntime runs on drawn inputs is loaded and run in the engine in three forms.
What graphfix calls fixed is counted, and what of that the engine refuses or computes wrongly; and
what it finds in the model as it is, beside what the engine makes of that. An engine whose family
`wants_sizes` gets all three forms with the sizes of the drawn inputs. Where the file is not fixed
as it is and has inputs or outputs of types that the engine does not bind, graphfix runs anew with
``--allow-io-change``, and then with ``--allow-lossy`` as well, and the same numbers are fed in the
types that it has declared. A further run goes on behind the rows of the last; the table is
``results/engines-E.md``.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from benchmarks import RESULTS
from benchmarks.engines.kernels import Asker, difference, family_of
from graphfix.engines.targets import load_target
from graphfix.errors import GraphfixError
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.proving.models import run_model
from graphfix.storage.weights import dtype_of

_ATTEMPTS = (0, 3, 9, 16, 22)
_SECONDS = 120.0
_MEMORY = 4 << 30
_MILLIONTH = 1e-6
_CONSENTS = (["--allow-io-change"], ["--allow-io-change", "--allow-lossy"])
_FOLDERS = re.compile(r"/\S*/(?=site-packages/)")  # where an engine happens to be installed
_SIMPLIFYING = (
    "import sys, onnx, onnxsim; m, _ = onnxsim.simplify(sys.argv[1]); onnx.save(m, sys.argv[2])"
)
FORMS = ("as it is", "onnxsim", "graphfix")
VERDICTS = ("equal", "wrong", "refused", "crashed", "none")
_TAKES_NOT = ("refused", "crashed")
_REFUSED = {"reject", "builder"}
_BLOCKS = {*_REFUSED, "wrong"}
Row = dict[str, Any]


def measured(path: Path, name: str, asker: Asker, target: str, folder: Path) -> Row:
    """Return what becomes of one model."""
    row: Row = {"file": name}
    drawn = _drawn(path)
    if drawn is None:
        return {**row, "runs": False}
    feed, expected = drawn
    made: dict[str, Path | None] = {"as it is": path}
    sizes: list[str] = []
    if family_of(target).wants_sizes:
        sized = folder / "sized.onnx"
        sizes = _with_sizes(path, feed, sized)
        made["as it is"] = sized if sizes else path
    simplifying = [sys.executable, "-c", _SIMPLIFYING, str(made["as it is"])]
    made["onnxsim"] = _made(simplifying, folder / "sim.onnx")
    fixed = folder / "fixed.onnx"
    command = [sys.executable, "-m", "graphfix", "run", str(path), "--target", target, "--force"]
    command += [*sizes, "-o", str(fixed)]
    code = _code(command)
    bound = load_target(target).io_dtypes
    ends = {value.dtype.name for value in (*feed.values(), *expected.values())}
    consents = _CONSENTS if bound is not None and ends - bound else ()
    consent: list[str] = []
    for consent in consents if code == 1 else ():
        code = _code([*command, *consent])
        if code != 1:
            break
    made["graphfix"] = fixed if fixed.is_file() else None
    for form, file in made.items():
        if file is None:
            row[form] = ["none", ""]
            continue
        inputs = onnx.ModelProto.FromString(file.read_bytes()).graph.input
        types = {info.name: info.type.tensor_type.elem_type for info in inputs}
        given = {
            name: value.astype(dtype_of(types[name]), copy=False) if consent else value
            for name, value in feed.items()
            if name in types
        }
        row[form] = list(asker.verdict(file, given, expected))
    found = _found(made["as it is"] or path, target)
    return {
        **row,
        "runs": True,
        "code": code,
        "found": found,
        "sized": bool(sizes),
        "consent": consent,
    }


def _with_sizes(path: Path, feed: Mapping[str, Any], out: Path) -> list[str]:
    """Write a model with the sizes of inputs that it leaves open; return graphfix's options.

    Args:
        path: The model.
        feed: Its inputs.
        out: Where to; nothing is written where it leaves none open.
    """
    fixing: Any = import_module("onnxruntime.tools.onnx_model_utils")
    model = onnx.ModelProto.FromString(path.read_bytes())
    options: list[str] = []
    for info in model.graph.input:
        dims = info.type.tensor_type.shape.dim
        if info.name not in feed or all(dim.HasField("dim_value") for dim in dims):
            continue
        shape = feed[info.name].shape
        fixing.make_input_shape_fixed(model.graph, info.name, list(shape))
        options += ["--shape", f"{info.name}={'x'.join(map(str, shape))}"]
    if options:
        out.write_bytes(model.SerializeToString())
    return options


def _found(path: Path, target: str) -> list[str]:
    """Return the severities of what `graphfix check` finds in a model."""
    command = [sys.executable, "-m", "graphfix", "check", str(path), "--target", target, "--json"]
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        findings = json.loads(ended.stdout)["findings"]
    except (ValueError, KeyError):  # it ended with an error
        return []
    return sorted({finding["severity"] for finding in findings})


def _drawn(path: Path) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return inputs that onnxruntime runs a model on, and what it computes.

    Where inputs that differ by a millionth give other results than engines may, sums in another
    order would, too: others are drawn.
    """
    try:
        maker = FeedMaker(onnx.ModelProto.FromString(path.read_bytes()))
        for attempt in _ATTEMPTS:
            feed = maker.draw(0, attempt)
            try:
                outputs, shaken = run_model(path, [feed, _shaken(feed)], timeout=_SECONDS)
            except GraphfixError:
                continue
            if any(difference(outputs[name], shaken[name]) for name in _arrays(outputs)):
                continue
            if all(isinstance(v, np.ndarray) for v in (*outputs.values(), *feed.values())):
                return feed, outputs
            return None
    except Exception as error:  # damaged files of the corpus
        print(f"{path.name}: {error}", file=sys.stderr)
    return None


def _arrays(values: Mapping[str, Any]) -> list[str]:
    return [name for name, value in values.items() if isinstance(value, np.ndarray)]


def _shaken(feed: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs whose floats are larger or smaller by a millionth."""
    numbers = np.random.default_rng(0)
    shaken = dict(feed)
    for name in _arrays(feed):
        array = feed[name]
        if array.dtype.kind == "f":
            signs = numbers.choice((-_MILLIONTH, _MILLIONTH), array.shape)
            shaken[name] = (array * (1 + signs)).astype(array.dtype)
    return shaken


def _made(command: Sequence[str], out: Path) -> Path | None:
    out.unlink(missing_ok=True)
    _code([*command, str(out)])
    return out if out.is_file() else None


def _code(command: Sequence[str]) -> int:
    try:
        return subprocess.run(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=_SECONDS * 3
        ).returncode
    except subprocess.TimeoutExpired:
        return -1


def table(engine: str, rows: Sequence[Row]) -> str:
    """Return the page."""
    known = [row for row in rows if row["runs"]]
    sized = sum(row.get("sized", False) for row in known)
    lines = [
        f"# {engine} on networks",
        "",
        f"{len(known)} models that onnxruntime runs, of {len(rows)} that were tried, in the engine"
        f" itself; {_closeness(engine)}. Made by `python -m"
        f" benchmarks.engines FOLDER --engine {engine}`.",
        *_note_on_sizes(sized),
        *_note_on_consent(known),
        "",
        "| form | " + " | ".join(VERDICTS) + " |",
        "|---" * (len(VERDICTS) + 1) + "|",
    ]
    for form in FORMS:
        counts = [sum(row[form][0] == verdict for row in known) for verdict in VERDICTS]
        lines.append(f"| {form} | " + " | ".join(map(str, counts)) + " |")
    fixed = [row for row in known if row["code"] == 0]
    broken = [row for row in fixed if row["graphfix"][0] != "equal"]
    lines += [
        "",
        f"graphfix calls {len(fixed)} of them fixed; of these the engine refuses or computes"
        f" wrongly {len(broken)}.",
        *_agreement(known),
    ]
    left = [row for row in known if row["graphfix"][0] != "equal"]
    if left:
        lines += ["", "| not equal after graphfix | exit code | verdict | the engine's words |"]
        lines += ["|---|---|---|---|"]
        for row in left:
            verdict, words = row["graphfix"]
            said = _FOLDERS.sub("", words).replace("|", "/").replace("<", "&lt;")[:160]
            lines.append(f"| {row['file']} | {row['code']} | {verdict} | {said} |")
    return "\n".join(lines) + "\n"


def _closeness(engine: str) -> str:
    if family_of(engine).arithmetic == "float16":
        return "it computes in float16: floats within 1e-2 of each and of the largest number"
    return "floats within 1e-3 of each and 1e-4 of the largest number"


def _note_on_sizes(sized: int) -> list[str]:
    if not sized:
        return []
    said = f"{sized} of them leave sizes of inputs open; these were fixed in all three forms"
    return ["", f"{said}, for graphfix with `--shape`."]


def _note_on_consent(known: Sequence[Row]) -> list[str]:
    asked = [row for row in known if row.get("consent")]
    if not asked:
        return []
    lossy = sum("--allow-lossy" in (row["consent"] or ()) for row in asked)
    equal = sum(row["graphfix"][0] == "equal" for row in asked)
    return [
        "",
        f"{len(asked)} of them have inputs or outputs of types that the engine does not bind, and"
        f" were not fixed with these kept: `--allow-io-change`, and for {lossy} `--allow-lossy` as"
        f" well; the same numbers are fed in the types that were declared. {equal} of these are"
        " equal afterwards.",
    ]


def _agreement(known: Sequence[Row]) -> list[str]:
    """Say how what graphfix finds in models as they are agrees with the engine."""
    pairs = [(set(row["found"]), row["as it is"][0]) for row in known if "found" in row]
    if not pairs:
        return []
    refused = [(bool(found & _REFUSED), said in _TAKES_NOT) for found, said in pairs]
    agree = sum(one == two for one, two in refused)
    wrong = [found & _BLOCKS for found, said in pairs if said == "wrong"]
    equal = [found for found, said in pairs if said == "equal"]
    lone = sum("wrong" in found for found in equal)
    blocked = sum(bool(found & _BLOCKS) == (said != "equal") for found, said in pairs)
    return [
        "",
        f"What `check` says of the models as they are: taken or not as by the engine {agree} of"
        f" {len(pairs)}; a finding where the engine refuses or errs and none where it is right"
        f" {blocked} of {len(pairs)}; warned of what the engine computes wrongly"
        f" {sum(map(bool, wrong))} of {len(wrong)}; called wrong though it is right {lone} of"
        f" {len(equal)}.",
    ]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--engine", required=True, metavar="TARGET")
    parser.add_argument(
        "--sample", type=int, metavar="N", help="N of the models, the same each time"
    )
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after these")
    parser.add_argument("--rows", type=Path, help="JSON lines; goes on where they end")
    parser.add_argument("-o", "--output", type=Path, help="the page")
    given = parser.parse_args()
    files = sorted(given.folder.rglob("*.onnx"))
    random.Random(0).shuffle(files)
    files = files[: given.sample]
    rows: Path = given.rows or Path(tempfile.gettempdir()) / f"engines-{given.engine}.jsonl"
    lines = rows.read_text(encoding="utf-8").splitlines() if rows.is_file() else []
    found: list[Row] = [json.loads(line) for line in lines]
    done = {row["file"] for row in found}
    began = time.monotonic()
    asker = Asker(given.engine, seconds=_SECONDS, memory=_MEMORY)
    with tempfile.TemporaryDirectory(prefix="engines-") as name, rows.open("a") as stream:
        for path in files:
            known = path.relative_to(given.folder).as_posix()
            if known in done or time.monotonic() - began > given.seconds:
                continue
            with tempfile.TemporaryDirectory(dir=name) as folder:
                found.append(measured(path, known, asker, given.engine, Path(folder)))
            stream.write(json.dumps(found[-1]) + "\n")
            stream.flush()
    asker.close()
    page = given.output or RESULTS / f"engines-{given.engine}.md"
    page.write_text(table(given.engine, found), encoding="utf-8")


if __name__ == "__main__":
    main()

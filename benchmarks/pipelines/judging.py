"""Hold what graphfix wrote to the original in onnxruntime: no module of graphfix is used.

Called by `forked` with the original, the result, the file for the answer in JSON, and where another
engine is to run the result, the Python that has it and its name.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
draws: Any = import_module("draws")
maps: Any = import_module("maps")
off_weights: Any = import_module("off_weights")
widening: Any = import_module("widening")

Answers = Callable[[Sequence[Any]], list[list[Any]]]
Fits = Callable[[Sequence[int]], bool]

PRELOADED = ("onnx", "onnxruntime")
# How far outputs may be apart, as a share of the largest value: rounding of float32, of float16,
# one step of 8 bits in the middle of a network. More is let through only where onnxruntime's own
# optimizations move an output of the original by a quarter of it, and never more than `_MOST`.
_FLOAT, _HALF, _STEPS, _MOST = 1e-3, 2e-2, 3e-2, 0.1
_NOISE = 4.0
# An original that onnxruntime's optimizations change by more than this is no reference: scales that
# are infinite, for one. Nor is it one for another engine where such a rounding error of its weights
# does: the best of candidates that are equal up to rounding, as random weights make them. The same
# holds of float16 where the original in float32, in which the engine computes, is another.
_MEANINGLESS = 0.5
_QUANTIZED = ("integer", "quant", "qlinear", "bits")
_QUANTIZERS = ("QuantizeLinear", "DequantizeLinear")
_COUNT = 3
_HALF_TYPE = 10  # of TensorProto
# onnxruntime's optimizations leave out a Relu before these: nothing but the plain run is right.
_FLOAT8 = frozenset({17, 18, 19, 20})
_WITHOUT_HALF = ("openvino",)  # which compute it in float32
# Of outputs that are 0 everywhere.
_TINY = 1e-5


def flat(values: Iterable[Any]) -> list[Any]:
    """Return arrays, of sequences and maps too; texts are of numpy's own type."""
    found: list[Any] = []
    for value in values:
        kind = str(value.__class__.__name__)
        if kind == "dict":
            found.extend(map(_array, (list(value), list(value.values()))))
        elif kind in ("list", "tuple"):
            found.extend(flat(value) or [np.zeros(0)])
        else:
            found.append(_array(value))
    return found


def _array(value: Any) -> Any:
    found = np.asarray(value)
    return found.astype(np.str_) if found.dtype == object else found


def apart(left: Any, right: Any, *, steps: bool = False) -> float:
    """Return how far two arrays are apart.

    Args:
        left: What it should be.
        right: What it is.
        steps: Whether the network rounds to steps, so that a value at the middle of a step moves
            some outputs by several: twice the root of the mean square counts then, or three tenths
            of the largest difference where that is more.

    Returns:
        For floats, and integers of 8 bits, the largest difference as a share of the largest value;
        for others the share of elements that differ. Infinity for other shapes, types or places of
        what is not finite.
    """
    if left.shape != right.shape or left.dtype != right.dtype:
        return float("inf")
    if left.size == 0:
        return 0.0
    if left.dtype.kind in "fV" or str(left.dtype) in ("int8", "uint8"):
        a: Any = left.astype(np.float64)
        b: Any = right.astype(np.float64)
        finite: Any = np.isfinite(a)
        if not np.array_equal(a[~finite], b[~finite], equal_nan=True) or np.any(
            ~np.isfinite(b[finite])
        ):
            return float("inf")
        most: float = 255.0 if left.dtype.kind in "iu" else _most(a[finite], _TINY)
        difference: Any = a[finite] - b[finite]
        largest: float = _most(difference, 0.0) / most
        if not steps:
            return largest
        mean = float(np.linalg.norm(difference)) / max(int(difference.size), 1) ** 0.5
        return float(max(2 * mean / most, 0.3 * largest))
    return int(np.count_nonzero(left != right)) / int(left.size)


def _most(values: Any, least: float) -> float:
    return float(np.max(np.abs(values), initial=least))


def bound(operators: Iterable[str], types: Iterable[int]) -> float:
    """Return how far outputs may be apart, from the operators and element types of the original."""
    if any(part in op.lower() for op in operators for part in _QUANTIZED):
        return _STEPS
    return _HALF if {10, 16} & set(types) else _FLOAT  # float16, bfloat16 of TensorProto


def compared(worst: Sequence[float], noise: Sequence[float], base: float) -> tuple[str, float]:
    """Return the status and the worst difference, as a share of what is let through.

    Args:
        worst: Of each output, how far the result is apart.
        noise: Of each output, how far the original is from itself without optimizations.
        base: What is let through anyway.
    """
    shares = [
        found / min(max(base, _NOISE * own), max(base, _MOST))
        for found, own in zip(worst, noise, strict=True)
    ]
    most = max(shares, default=0.0)
    return ("equal" if most <= 1 else "different"), most


def furthest(apart_of: Sequence[Sequence[float]]) -> list[float]:
    """Return the most of each output over all draws.

    Args:
        apart_of: For each draw, how far each output is apart. Where a network divides by what is
            next to 0, one draw shows it and another does not. A sequence has as many as the batch.
    """
    most = max(map(len, apart_of), default=0)
    return [max(one[place] for one in apart_of if place < len(one)) for place in range(most)]


def _described(path: str) -> tuple[set[str], set[int], bytes]:
    """Return operators, element types, and the file with 4-bit products of full precision.

    Raises:
        ValueError: A scale is infinite, as calibration on masks leaves it: 0 becomes NaN, and what
            NaN is quantized to is left open.
    """
    onnx: Any = import_module("onnx")
    model = onnx.load(path)
    _refuse_infinite_scales(model, onnx)
    operators: set[str] = set()
    types = {one.data_type for one in model.graph.initializer}
    graphs = [model.graph, *model.functions]
    while graphs:
        graph = graphs.pop()
        for node in graph.node:
            operators.add(node.op_type)
            for one in node.attribute:
                graphs.extend([one.g] if one.type == onnx.AttributeProto.GRAPH else [])
                if one.name == "to" and node.op_type == "Cast":
                    types.add(one.i)
                # Its formula is meant, not onnxruntime's rounding of activations to 8 bits.
                if one.name == "accuracy_level":
                    one.i = 0
    return operators, types, model.SerializeToString()


def _refuse_infinite_scales(model: Any, onnx: Any) -> None:
    scales = {node.input[1] for node in model.graph.node if node.op_type in _QUANTIZERS}
    for stored in model.graph.initializer:
        if stored.name in scales and not np.isfinite(onnx.numpy_helper.to_array(stored)).all():
            raise ValueError(f"the scale {stored.name} is not finite")


def _started(source: str, described: bytes | None) -> tuple[Any, Any]:
    """Return sessions with and without optimizations; the same one where only one can be had."""
    what: Any = described if described is not None else source
    plain = None
    try:
        plain = draws.session_of(what, optimized=False)
    except Exception:  # onnxruntime's own: it has some kernels for what its optimizers write alone
        best = draws.session_of(what)
        return best, best
    try:
        return draws.session_of(what), plain
    except Exception:  # some files load only without
        return plain, plain


def judged(original: str, result: str, engine: tuple[str, str] | None = None) -> dict[str, Any]:
    """Return what is known of an original, and of a result.

    Args:
        original: A file.
        result: What it became; empty where there is none.
        engine: A Python, and the engine in it that runs the result (see `asked`); where there is
            none, the onnxruntime of this process does.
    """
    answer: dict[str, Any] = {"runs": False, "status": "-", "share": 0.0, "reason": ""}
    try:
        operators, types, described = _described(original)
        best, plain = _started(original, described)
        fits = fitting(described, best.get_inputs())
        sizes = draws.running_sizes(best, fits)
    except Exception as error:  # whatever onnx and onnxruntime raise: the file is no reference
        return {**answer, "reason": _short(error)}
    optimized = not types & _FLOAT8
    best = best if optimized else plain
    base = bound(operators, types)
    steps = base == _STEPS
    is_half = _HALF_TYPE in types and engine is not None and engine[1] in _WITHOUT_HALF
    off = _session_of_rounded(described, alone=not steps, optimized=optimized) if engine else None
    labels: dict[int, list[Any]] = maps.labels_lost(original, result) if result else {}
    given = [
        (feed, maps.columns(wanted, labels), maps.columns(own, labels))
        for feed, wanted, own in _references(best, plain, sizes, fits)
    ]
    noise = furthest(
        [
            [apart(a, b, steps=steps) for a, b in zip(flat(wanted), flat(own), strict=True)]
            for _, wanted, own in given
        ]
    )
    if max(noise, default=0.0) > _MEANINGLESS:
        reason = "onnxruntime computes something else without optimizations"
        return {**answer, "reason": reason}
    answer |= {"runs": True, "sizes": sizes}
    if off is not None:
        moved = [
            [apart(a, b, steps=steps) for a, b in zip(flat(wanted), flat(own), strict=True)]
            for wanted, own in ((w, maps.columns(o, labels)) for w, o in _moved(off, best, given))
        ]
        of_rounding = furthest(moved) if moved else noise
        if steps:
            noise = list(map(max, noise, of_rounding))
        elif max(of_rounding, default=0.0) > _MEANINGLESS:
            reason = "onnxruntime computes something else with weights off by a rounding error"
            return {**answer, "runs": False, "reason": reason}
        elif is_half and _as_float32(described, best, given) > _MEANINGLESS:
            reason = "onnxruntime computes something else in float32 than in float16"
            return {**answer, "runs": False, "reason": reason}
    if not result:
        return answer
    try:
        inputs, answers = _of_engine(result, engine) if engine else _of_this(result)
    except Exception as error:
        return {**answer, "status": "does not load", "reason": _short(error)}
    if inputs is not None and [one.name for one in best.get_inputs()] != inputs:
        return {**answer, "status": "other inputs"}
    try:
        found = answers([feed for feed, _, _ in given])
    except Exception as error:
        return {**answer, "status": "does not run", "reason": _short(error)}
    status, share, reason = _held(given, found, noise, base, steps=steps)
    if status == "different":  # what onnxruntime's optimizations round is its own
        again = found if engine else _plainly(result, given)
        if again is not None:
            unoptimized = [(feed, own, own) for feed, _, own in given]
            tried = _held(unoptimized, again, noise, base, steps=steps)
            status, share, reason = min((status, share, reason), tried, key=lambda one: one[1])
    return {**answer, "status": status, "share": round(share, 4), "reason": reason}


def _held(
    given: Sequence[Any], found: Sequence[Any], noise: Sequence[float], base: float, *, steps: bool
) -> tuple[str, float, str]:
    """Return the status, how far the worst output is apart, and why, of what a result computes."""
    worst: list[list[float]] = []
    for (_, wanted, _), right in zip(given, found, strict=True):
        left = flat(wanted)
        if len(left) != len(right):
            return "different", float("inf"), "other outputs"
        worst.append([apart(a, b, steps=steps) for a, b in zip(left, right, strict=True)])
    return (*compared(furthest(worst), noise, base), "")


def _plainly(result: str, given: Sequence[Any]) -> list[list[Any]] | None:
    """Return what a result computes without optimizations; None where it does not run so."""
    try:
        session = draws.session_of(result, optimized=False)
        return [flat(session.run(None, feed)) for feed, _, _ in given]
    except Exception:  # of onnxruntime's own classes, which share no base
        return None


def fitting(described: bytes, inputs: Sequence[Any]) -> Fits:
    """Return what says whether a file has a meaning at sizes: inference finds none odd.

    It is onnxruntime's, which knows the sizes of its own operators too.
    onnxruntime runs a Concat of an empty tensor whatever the other sizes are, and leaves part of
    the result as the memory was. Of a file that inference refuses at any size nothing is known.
    """
    onnx: Any = import_module("onnx")
    model = onnx.load_from_string(described)
    del model.graph.value_info[:]

    def inferred(sizes: Sequence[int] | None) -> bool:
        for one in inputs if sizes is not None else ():
            shape = [draws.size_of(d, i, len(one.shape), sizes) for i, d in enumerate(one.shape)]
            declared = next(given for given in model.graph.input if given.name == one.name)
            for dim, size in zip(declared.type.tensor_type.shape.dim, shape, strict=False):
                dim.dim_value = size
        try:
            draws.session_of(model.SerializeToString(), optimized=False)
        except Exception:  # of onnxruntime's own classes, and of protobuf's above 2 GiB
            return False
        return True

    readable = inferred(None)
    return lambda sizes: not readable or inferred(sizes)


def _references(
    best: Any, plain: Any, sizes: Sequence[int], fits: Fits
) -> Iterator[tuple[Any, Any, Any]]:
    """Yield inputs at two sizes, and what the original computes, optimized and not."""
    inputs = best.get_inputs()
    names = [one.name for one in best.get_outputs()]
    free = any(not isinstance(d, int) for one in inputs for d in one.shape)
    more = [other for other in draws.SIZES if other != sizes][: int(free)]
    for one in [sizes, *more]:
        if one != sizes and not (_means(best, one) and fits(one)):
            continue
        for feed in draws.feeds(inputs, one, _COUNT, 7):
            try:
                yield feed, best.run(names, feed), plain.run(names, feed)
            except Exception:  # at the other sizes the original need not run
                break


def _session_of_rounded(described: bytes, *, alone: bool, optimized: bool) -> Any:
    """Return a session, or None: some files load as they are alone."""
    try:
        return draws.session_of(off_weights.rounded(described, alone=alone), optimized=optimized)
    except Exception:  # of onnxruntime's own classes, which share no base
        return None


def _moved(off: Any, best: Any, given: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield what the original computes, and what it does where its weights are rounded."""
    names = [one.name for one in best.get_outputs()]
    for feed, wanted, _ in given:
        try:
            yield wanted, off.run(names, feed)
        except Exception:  # a scale may be off where it must not be
            return


def _as_float32(described: bytes, best: Any, given: Sequence[Any]) -> float:
    """Return how far the original is from itself in float32; 0 where that does not run."""
    names = [one.name for one in best.get_outputs()]
    worst: list[float] = []
    try:
        wide = draws.session_of(widening.widened(described))
        for feed, wanted, _ in given:
            found = flat(wide.run(names, widening.fed(feed)))
            pairs = zip(flat(wanted), found, strict=True)
            worst += [apart(a, b.astype(a.dtype)) for a, b in pairs]
    except Exception:  # of onnxruntime's own classes: some kernels have one type alone
        return 0.0
    return max((each for each in worst if np.isfinite(each)), default=0.0)


def _means(session: Any, sizes: Sequence[int]) -> bool:
    """Say whether a session runs at sizes, and computes the same again."""
    try:
        return bool(draws.repeats(session, sizes))
    except Exception:  # at these sizes the original need not run
        return False


def _of_this(result: str) -> tuple[list[str], Answers]:
    """Return the inputs of a result, and what runs it in this process."""
    session, _ = _started(result, None)

    def run(feeds: Sequence[Any]) -> list[list[Any]]:
        return [flat(session.run(None, feed)) for feed in feeds]

    return [one.name for one in session.get_inputs()], run


def _of_engine(result: str, engine: tuple[str, str]) -> tuple[None, Answers]:
    """Return what runs a result in an engine of another environment."""
    python, name = engine

    def run(feeds: Sequence[Any]) -> list[list[Any]]:
        named = [
            (f"{i}:{key}", value) for i, feed in enumerate(feeds) for key, value in feed.items()
        ]
        given = {key: _array(value) for key, value in named}
        script = Path(__file__).resolve().with_name("asked.py")
        with tempfile.TemporaryDirectory(prefix="judged-") as made:
            feeds_file, answers = f"{made}/feeds.npz", f"{made}/answers.npz"
            np.savez(feeds_file, **given)
            words = [python, str(script), name, result, feeds_file, answers]
            ended = subprocess.run(words, capture_output=True, text=True, timeout=100)
            if ended.returncode:
                raise RuntimeError((ended.stderr.strip() or "says nothing").splitlines()[-1])
            with np.load(answers) as stored:
                keys = [key.partition(":") for key in stored.files]
                found: list[list[Any]] = [[] for _ in feeds]
                for number, _, index in sorted(keys, key=lambda key: (int(key[0]), int(key[2]))):
                    found[int(number)].append(stored[f"{number}:{index}"])
        return found

    return None, run


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:160]


def main() -> None:
    """Judge what the command line names."""
    original, result, answer, *engine = sys.argv[1:]
    found = judged(original, result, (engine[0], engine[1]) if engine else None)
    Path(answer).write_text(json.dumps(found), "utf-8")


if __name__ == "__main__":
    main()

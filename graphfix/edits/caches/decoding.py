"""Greedy decoding with a decoder whose caches grow and with its static form, in a child process.

Both read the tokens that the first chooses; what the second chooses is compared. Where the caches
of the second hold nothing yet they are filled with random numbers, on which nothing may depend.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from onnx import TensorProto, helper

from graphfix.proving.verdict.numbers import eps_of, magnitude_of, tolerance
from graphfix.worker.limits import Limits
from graphfix.worker.sessions import open_session

Array = np.ndarray[Any, Any]
TOKENS, _PROMPT = 32, 5
_HIDDEN = np.finfo(np.float16).min  # what a mask that is added has where nothing is seen
LEAST = TOKENS + _PROMPT  # places of a cache for both
_OTHER = 6  # for sizes that have nothing to do with the past, such as that of what was encoded
_TYPES = {
    "float": np.float32,
    "float16": np.float16,
    "double": np.float64,
    "int64": np.int64,
    "int32": np.int32,
    "bool": np.bool_,
}


class Interface(Struct, frozen=True):
    """What a child has to know of both models.

    Attributes:
        model: The file of the model.
        static: The file of its static form for one token.
        prefill: That for a prompt; empty where there is none.
        caches: Past, present and axis of each cache.
        each: Inputs that have something for each new token.
        masks: Inputs that are 1 for what is looked at, or 0 where they are added to scores.
        positions: Inputs that count the tokens.
        lengths: Inputs of the last place that is looked at.
        totals: Inputs of the number of places.
        position: The input of the static form for the position.
        seed: For what is random.
        mapped: Whether weights are used from where they lie.
    """

    model: str
    static: str
    prefill: str
    caches: tuple[tuple[str, str, int], ...]
    each: tuple[str, ...]
    masks: tuple[str, ...]
    positions: tuple[str, ...]
    lengths: tuple[str, ...]
    totals: tuple[str, ...]
    position: str
    seed: int
    mapped: bool


class Decoded(Struct, frozen=True):
    """What came of it.

    Attributes:
        tokens: How many tokens were chosen by the model.
        same: How many of them the static form chose, too.
        ties: How many differ between two whose scores are no further apart than noise.
        worst: The largest difference of a score, as a share of what noise allows.
        largest: That difference.
        failure: Why a model did not run; empty where both did.
        ours: Whether it is the static form that did not.
        flat: Whether the scores are the same numbers at each place, which shows nothing.
        ahead: Whether a prompt at once gives the model other scores than its tokens one by one.
    """

    tokens: int = 0
    same: int = 0
    ties: int = 0
    worst: float = 0.0
    largest: float = 0.0
    failure: str = ""
    ours: bool = False
    flat: bool = False
    ahead: bool = False


def answer(folder: Path, asked: Interface, _: Limits) -> Decoded:
    """Decode with both, one after the other; in a child."""
    try:
        start = _Start(asked)
        caches = {past: start.caches[past].take(range(0), axis) for past, _, axis in asked.caches}
    except Exception as error:
        return Decoded(failure=_line(error), ours=_opens(asked))
    try:
        given, wanted = _chosen(asked, start, dict(caches))
        noise = _noise(asked, start, dict(caches), given, wanted)
        ahead = bool(asked.prefill) and _looks_ahead(asked, dict(caches), given, wanted, noise)
    except Exception as error:
        return Decoded(failure=_line(error))
    try:
        found = _followed(asked, start, given)
    except Exception as error:
        return Decoded(failure=_line(error), ours=True)
    return replace(_compared(wanted, found, noise), ahead=ahead)


def _opens(asked: Interface) -> bool:
    """Say whether the model can be run at all."""
    try:
        _Session(asked.model, mapped=asked.mapped)
    except Exception:
        return False
    return True


def _line(error: Exception) -> str:
    return str(error).strip().replace("\n", " ")[:300]


class _Session:
    """A file that is open, and the inputs and outputs of it."""

    def __init__(
        self, path: str, *, mapped: bool, optimised: bool = False, arena: bool = False
    ) -> None:
        """Open a file; see `open_session`."""
        model, folder = Path(path).read_bytes(), str(Path(path).parent)
        self.session = open_session(
            model, folder=folder, optimised=optimised, mapped=mapped, arena=arena
        )
        del model
        self.inputs: dict[str, tuple[Any, list[Any]]] = {
            info.name: (_dtype(info.type), list(info.shape)) for info in self.session.get_inputs()
        }
        self.outputs: list[str] = [info.name for info in self.session.get_outputs()]

    def run(self, feed: Mapping[str, Array]) -> dict[str, Array]:
        given = {name: feed[name].astype(kind) for name, (kind, _) in self.inputs.items()}
        return dict(zip(self.outputs, self.session.run(None, given), strict=True))


class _Model(_Session):
    """The model, with what it has in its caches."""

    def __init__(self, asked: Interface, path: str, *, optimised: bool) -> None:
        super().__init__(path, optimised=optimised, mapped=asked.mapped)
        self.asked = asked
        self.caches: dict[str, Array] = {}

    def step(self, place: int, given: Mapping[str, Array], new: int = 1) -> dict[str, Array]:
        """Run it for the tokens from a place on."""
        asked, feed = self.asked, dict(given) | self.caches
        total = place + new
        places = np.arange(place, total)
        seen = np.arange(total) <= places[:, None]
        for name in asked.masks:
            kind, shape = self.inputs[name]
            whole = seen[None, None] if kind == np.bool_ else np.where(seen, 0, _HIDDEN)[None, None]
            feed[name] = np.ones((1, total)) if len(shape) == 2 else whole
        for name in asked.positions:
            feed[name] = places.reshape((1,) * (len(self.inputs[name][1]) - 1) + (-1,))
        for name in asked.lengths:
            feed[name] = np.full((1,) * len(self.inputs[name][1]), total - 1)
        for name in asked.totals:
            feed[name] = np.full((1,) * len(self.inputs[name][1]), total)
        found = self.run(feed)
        self.caches = {past: found.pop(present) for past, present, _ in asked.caches}
        return found


class _Static(_Session):
    """The static form.

    Its caches may be big: they are in memory twice, for a step to read one and to write the other.

    Attributes:
        memory: The caches, by their inputs, and those that the next step writes.
    """

    def __init__(self, asked: Interface, path: str) -> None:
        super().__init__(path, mapped=asked.mapped, arena=True)
        self.asked = asked
        self.memory: tuple[dict[str, Any], dict[str, Any]] = ({}, {})

    def fill(self, caches: dict[str, Array]) -> None:
        """Take what is in the caches to begin with, out of a dictionary that is empty then."""
        of_numpy: Any = import_module("onnxruntime").OrtValue.ortvalue_from_numpy
        for name in tuple(caches):
            kept = caches.pop(name)
            for memory, array in zip(self.memory, (kept, np.empty_like(kept)), strict=True):
                memory[name] = of_numpy(array)

    def step(self, place: int, given: Mapping[str, Array]) -> dict[str, Array]:
        """Run it for the tokens from a place on."""
        bound: Any = self.session.io_binding()
        for name, value in {**given, self.asked.position: np.array([place])}.items():
            bound.bind_cpu_input(name, value.astype(self.inputs[name][0], copy=False))
        old, new = self.memory
        presents = {present: past for past, present, _ in self.asked.caches}
        for present, past in presents.items():
            bound.bind_ortvalue_input(past, old[past])
            bound.bind_ortvalue_output(present, new[past])
        others = [name for name in self.outputs if name not in presents]
        for name in others:
            bound.bind_output(name)
        self.session.run_with_iobinding(bound)
        self.memory = (new, old)
        results = bound.get_outputs()[len(presents) :]
        return {name: result.numpy() for name, result in zip(others, results, strict=True)}


class _Start:
    """What both are fed with that does not follow from the position, and caches to begin with.

    Attributes:
        caches: Of the static form, full of random numbers.
        random: What draws.
    """

    def __init__(self, asked: Interface) -> None:
        static = _Static(asked, asked.static)
        self.random = np.random.default_rng(asked.seed)
        known = {past for past, _, _ in asked.caches} | {asked.position}
        self.shapes: dict[str, list[int]] = {}
        self.kinds: dict[str, Any] = {}
        self.each: set[str] = set()
        for name, (kind, shape) in static.inputs.items():
            if name in known:
                continue
            self.kinds[name] = kind
            self.shapes[name] = [size if isinstance(size, int) else _OTHER for size in shape]
            if name in asked.each:
                self.each.add(name)
        tokens = [n for n in self.shapes if n.endswith("input_ids")]
        one = {n for n, s in self.shapes.items() if len(s) == 2 and s[1] == 1}
        self.tokens = next(iter(tokens), "")
        if self.tokens:
            self.each.add(self.tokens)
        elif not self.each:
            self.each |= one
        self.fixed = {name: self._drawn(name) for name in self.shapes if name not in self.each}
        self.caches: dict[str, Array] = {}
        for past, _, _ in asked.caches:
            kind, shape = static.inputs[past]
            sizes = [size if isinstance(size, int) else _OTHER for size in shape]
            self.caches[past] = self.random.standard_normal(sizes, np.float32).astype(kind)

    def _drawn(self, name: str) -> Array:
        kind, shape = self.kinds[name], self.shapes[name]
        if np.dtype(kind).kind == "f":
            return self.random.standard_normal(shape)
        return np.ones(shape, np.int64)

    def at(self, token: int) -> dict[str, Array]:
        """Return what a step is fed with."""
        drawn = {name: self._drawn(name) for name in self.each if name != self.tokens}
        if self.tokens:
            drawn[self.tokens] = np.full(self.shapes[self.tokens], token)
        return self.fixed | drawn


def _chosen(
    asked: Interface, start: _Start, caches: dict[str, Array]
) -> tuple[list[dict[str, Array]], list[dict[str, Array]]]:
    """Let the model choose: return what each step was fed with, and its scores."""
    model = _Model(asked, asked.model, optimised=False)
    model.caches = caches
    given: list[dict[str, Array]] = []
    wanted: list[dict[str, Array]] = []
    token = int(start.random.integers(1, 9))
    for place in range(LEAST - 1):
        given.append(start.at(token))
        wanted.append(model.step(place, given[-1]))
        scores = _scores(wanted[-1])
        is_prompt = place < _PROMPT - 1
        token = int(start.random.integers(0, scores.size)) if is_prompt else int(scores.argmax())
    return given, wanted


def _noise(
    asked: Interface,
    start: _Start,
    caches: dict[str, Array],
    given: list[dict[str, Array]],
    wanted: list[dict[str, Array]],
) -> dict[str, float]:
    """Return by how much rounding alone moves the scores of the model."""
    model = _Model(asked, asked.model, optimised=not asked.mapped)
    model.caches = caches
    noise: dict[str, float] = {}
    for place, (fed, expected) in enumerate(zip(given, wanted, strict=True)):
        for name, value in model.step(place, fed).items():
            noise[name] = max(noise.get(name, 0.0), _apart(value, expected[name]))
        model.caches = {name: _rounded(x, start.random) for name, x in model.caches.items()}
    return noise


def _looks_ahead(
    asked: Interface,
    caches: dict[str, Array],
    given: list[dict[str, Array]],
    wanted: list[dict[str, Array]],
    noise: dict[str, float],
) -> bool:
    """Say whether the scores of a prompt are others where the model gets it at once.

    The model then lets a token see those after it, which its static form does not. One that takes
    no prompt at once has nothing to differ from.
    """
    model = _Model(asked, asked.model, optimised=False)
    model.caches = caches
    prompt = given[:_PROMPT]
    fed = {
        name: np.concatenate([each[name] for each in prompt], 1) if name in asked.each else value
        for name, value in prompt[0].items()
    }
    try:
        found = model.step(0, fed, len(prompt))
    except Exception:
        return False
    for name, value in found.items():
        for at in range(_PROMPT if value.ndim > 1 and value.shape[1] == _PROMPT else 0):
            expected = wanted[at][name]
            allowed = tolerance(value.dtype, magnitude_of(expected), noise[name])
            if _apart(value[:, at : at + 1], expected) > allowed:
                return True
    return False


def _followed(
    asked: Interface, start: _Start, given: list[dict[str, Array]]
) -> list[dict[str, Array]]:
    """Return the scores of the static form, of a prompt as its second form computes them."""
    found: list[dict[str, Array]] = []
    memory = None
    if asked.prefill:
        prefill = _Static(asked, asked.prefill)
        prefill.fill(start.caches)
        rows = prefill.step(0, _joined(prefill, given[:_PROMPT]))
        found += [{n: v[:, at : at + 1] for n, v in rows.items()} for at in range(_PROMPT)]
        memory = prefill.memory
        del prefill
    static = _Static(asked, asked.static)
    if memory is not None:
        static.memory = memory
    static.fill(start.caches)
    found += [static.step(at, given[at]) for at in range(len(found), len(given))]
    return found


def _joined(prefill: _Static, given: list[dict[str, Array]]) -> dict[str, Array]:
    """Return what a prompt is fed with: its tokens, and further ones that nothing may depend on."""
    joined: dict[str, Array] = {}
    for name, value in given[0].items():
        shape = prefill.inputs[name][1]
        if list(value.shape) == [s if isinstance(s, int) else _OTHER for s in shape]:
            joined[name] = value
            continue
        rows = [each[name] for each in given]
        joined[name] = np.concatenate(rows + rows[-1:] * (shape[1] - len(rows)), 1)
    return joined


def _compared(
    wanted: list[dict[str, Array]], found: list[dict[str, Array]], noise: dict[str, float]
) -> Decoded:
    same = ties = 0
    worst = largest = 0.0
    for place, (expected, ours) in enumerate(zip(wanted, found, strict=True)):
        for name, value in expected.items():
            allowed = tolerance(value.dtype, magnitude_of(value), noise[name])
            difference = _apart(value, ours[name])
            largest = max(largest, difference)
            worst = max(worst, difference / allowed if allowed else float(difference > 0))
        if place < _PROMPT - 1:
            continue
        scores, chosen = _scores(expected), int(_scores(ours).argmax())
        allowed = tolerance(scores.dtype, magnitude_of(scores), max(noise.values()))
        if chosen == int(scores.argmax()):
            same += 1
        elif float(scores.max()) - float(scores[chosen]) <= 2 * allowed:
            ties += 1
    first = _scores(wanted[0])
    flat = all(np.array_equal(first, _scores(expected)) for expected in wanted[1:])
    return Decoded(len(wanted) - _PROMPT + 1, same, ties, worst, largest, flat=flat)


def _rounded(cache: Array, random: np.random.Generator) -> Array:
    """Return a cache whose elements are rounded to one side or the other, as another kernel may."""
    sizes: list[int] = list(cache.shape)
    drawn = random.uniform(-1.0, 1.0, sizes) * eps_of(cache.dtype)
    rounded: Array = (cache * (1.0 + drawn)).astype(cache.dtype)
    return rounded


def _scores(outputs: dict[str, Array]) -> Array:
    """Return the scores of the last token."""
    first = "logits" if "logits" in outputs else next(iter(outputs))
    scores = outputs[first]
    last: Array = scores.reshape(-1, scores.shape[-1])[-1]
    return last


def _apart(one: Array, other: Array) -> float:
    if one.shape != other.shape:
        return float("inf")
    wide = np.abs(one.astype(np.float64) - other.astype(np.float64))
    apart = float(wide.max(initial=0.0))
    return float("inf") if np.isnan(apart) else apart


def _dtype(text: str) -> Any:
    """Return numpy's type for what onnxruntime calls ``tensor(float16)``."""
    name = text.removeprefix("tensor(").removesuffix(")")
    if name == "bfloat16":
        return helper.tensor_dtype_to_np_dtype(TensorProto.BFLOAT16)
    return _TYPES.get(name, np.dtype(name) if name in np.sctypeDict else np.float32)

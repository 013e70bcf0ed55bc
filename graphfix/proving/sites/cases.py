"""What a child that certifies is given, as files, and what it writes: models, values, results.

The model's own values at the borders of its sites are inputs like no made ones: sizes that agree,
indices that hit, masks that mask. The whole model is run once for all of them. How many sites are
certified, and which one is at work, the children write down.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np
import onnx
from msgspec import Struct, field
from onnx import ModelProto

from graphfix.errors import GraphfixError
from graphfix.ir.protos import required_inputs, with_outputs
from graphfix.ir.storage.weights import numpy_dtype
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.proving.inputs.room import Room
from graphfix.proving.runners.evaluators import Evaluators, Listed, weight_bytes
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.runners.outside_weights import bytes_inside
from graphfix.proving.runners.turns import Turns
from graphfix.proving.sites.shorter import Shorter
from graphfix.proving.sites.site_proof import Case
from graphfix.proving.values.kinds import Feed, Value, is_floating, leaves
from graphfix.proving.verdict.numbers import finite
from graphfix.proving.whole.loading import read_model
from graphfix.proving.whole.options import long_sides
from graphfix.proving.whole.samples import Samples
from graphfix.proving.whole.smaller_images import with_sides
from graphfix.report import Accuracy, Certificate
from graphfix.worker.limits import gibibytes
from graphfix.worker.messages import packed, unpacked

# The number under which the run of the whole model is explicit.
WATCHING = -1
_CASES = "cases.json"
_MODELS = "cases.bin"
_RESULTS = "results.jsonl"


class CertificationRequest(Struct, frozen=True):
    """How the sites of a folder are certified.

    Attributes:
        evaluators: See `graphfix.proving.runners.evaluators.listed`.
        seconds: No site is begun after so many.
        patience: The seconds that one site may take; 0 for as many as there are.
        gentle: Only inputs of the kind that a model meets.
        together: Compute constants in groups.
        watched: How the whole model is run for its own values; None where it is not.
        whole: Run sites with shorter axes once at their own sizes as well.
        stored: Begin each site with its stored inputs, and store those on which its sides differ.
    """

    evaluators: Listed
    seconds: float = float("inf")
    patience: float = 0.0
    gentle: bool = False
    together: bool = False
    watched: CaptureRequest | None = None
    whole: bool = False
    stored: bool = False


class StoredCase(Struct, frozen=True):
    """A site to certify, its models as bytes.

    Attributes:
        before: What was removed.
        after: What was added.
        accuracy: Its label.
        claims: The special numbers that go through as they did.
        names: What its inputs and outputs are called in the model.
    """

    before: bytes
    after: bytes
    accuracy: Accuracy
    claims: tuple[str, ...]
    names: Mapping[str, str]


class _Entry(Struct, frozen=True):
    number: int
    sizes: tuple[int, int]
    accuracy: Accuracy
    claims: frozenset[str]
    names: dict[str, str]


class ReadCase(Struct, frozen=True):
    """A site as a child reads it: its number, and the names that it has in the model."""

    number: int
    case: Case
    names: dict[str, str]


class Result(Struct, frozen=True):
    """What became of a site: it was begun, or has a certificate, which took so many seconds."""

    number: int
    certificate: Certificate | None
    cost: float = 0.0


def write_cases(folder: Path, cases: Sequence[tuple[int, StoredCase]]) -> None:
    """Write sites, each with its number."""
    with (folder / _MODELS).open("wb") as stream:
        for _, case in cases:
            stream.write(case.before)
            stream.write(case.after)
    entries = [
        _Entry(
            number,
            (len(case.before), len(case.after)),
            case.accuracy,
            frozenset(case.claims),
            dict(case.names),
        )
        for number, case in cases
    ]
    (folder / _CASES).write_text(packed(entries), encoding="utf-8")


def read_cases(folder: Path) -> Iterator[ReadCase]:
    """Yield what `write_cases` wrote."""
    entries = unpacked((folder / _CASES).read_text(encoding="utf-8"), list[_Entry])
    with (folder / _MODELS).open("rb") as stream:
        for entry in entries:
            before, after = (ModelProto.FromString(stream.read(size)) for size in entry.sizes)
            case = Case(before, after, entry.accuracy, entry.claims)
            yield ReadCase(entry.number, case, entry.names)


class Log:
    """Takes down what is done, a line for each step, for whoever started this process."""

    def __init__(self, folder: Path) -> None:
        """Continue after what is there."""
        self._stream = (folder / _RESULTS).open("a", encoding="utf-8")

    def begin(self, number: int) -> None:
        """Note that a site is begun."""
        self._write(Result(number, None))

    def end(self, number: int, certificate: Certificate, cost: float) -> None:
        """Note the certificate of a site."""
        self._write(Result(number, certificate, cost))

    def close(self) -> None:
        """Take nothing down any more."""
        self._stream.close()

    def _write(self, result: Result) -> None:
        self._stream.write(packed(result) + "\n")
        self._stream.flush()


def read_results(folder: Path) -> Iterator[Result]:
    """Yield what a child noted, as far as it came."""
    path = folder / _RESULTS
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            yield unpacked(line, Result)
        except ValueError:
            return  # the child died while it wrote this line


def given_file(folder: Path, number: int) -> Path:
    """Return where the inputs lie that a site is to begin with."""
    return folder / f"given-{number}.json"


def failing_file(folder: Path, number: int) -> Path:
    """Return where the inputs are put on which a site differs."""
    return folder / f"failing-{number}.json"


_LOOK = 0.5  # seconds


class Counted:
    """Counts the sites of several children, and tells how many are done."""

    def __init__(
        self,
        total: int,
        progress: Callable[[int, int], None],
        at: Callable[[str], None] | None = None,
    ) -> None:
        """Begin with none of `total`; `at` is given the name of the site that was begun."""
        self._total = total
        self._progress = progress
        self._at = at
        self._done: dict[Path, int] = {}
        self._lock = threading.Lock()

    def look(self, folder: Path, names: Sequence[str]) -> None:
        """Count what a child has done by now; `names` are those of its sites by number."""
        done, begun = 0, ""
        for result in read_results(folder):
            done += result.certificate is not None
            open_now = result.certificate is None and result.number != WATCHING
            begun = names[result.number] if open_now else ""
        with self._lock:
            self._done[folder] = done
            if begun and self._at is not None:
                self._at(begun)
            self._progress(min(sum(self._done.values()), self._total), self._total)


@contextmanager
def watched(folder: Path, counted: Counted | None, names: Sequence[str]) -> Generator[None]:
    """Count what the child of a folder does meanwhile; does nothing where no one asks."""
    if counted is None:
        yield
        return
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(_LOOK):
            counted.look(folder, names)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    counted.look(folder, names)


# Bigger models are not run for this: it would cost more than the proofs. Weights in files of their
# own are mapped from there; those inside the model are copied more than once.
MOST_INSIDE = 256 * 2**20
MOST_WEIGHTS = 2**30
MOST_NODES = 4000
# Seconds after which the run is given up.
PATIENCE = 5.0
# Values with more elements than this together are no sample: their site is proved on smaller ones.
MOST_ELEMENTS = 2**20


class WholeModel(Struct, frozen=True):
    """How the whole model is run.

    Attributes:
        open: Gives a file with the model as it came; its argument, if not None, stands for it.
        inputs: The user's inputs.
        seed: For inputs that are made.
        bindings: Shapes that the user fixed.
        too_big: Why it is not run; empty where it is.
        corner: Whether it may be run on a corner of its images.
    """

    open: Callable[[onnx.ModelProto | None], AbstractContextManager[Path]]
    inputs: Path | None = None
    seed: int = 0
    bindings: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    too_big: str = ""
    corner: bool = False

    def request(self, path: Path | None) -> CaptureRequest:
        """Return what `capture_activations` has to be given."""
        return CaptureRequest(
            path.absolute() if path is not None else None,
            self.inputs.absolute() if self.inputs is not None else None,
            self.seed,
            dict(self.bindings),
            self.too_big,
            self.corner,
        )


class CaptureRequest(Struct, frozen=True):
    """`WholeModel` as a child is given it: with the file of the model, None where it is too big."""

    model: Path | None
    inputs: Path | None
    seed: int
    bindings: dict[str, tuple[int, ...]]
    too_big: str
    corner: bool = False


def too_big(model: onnx.ModelProto) -> str:
    """Return why a model is not run for the values inside it; empty where it is small enough."""
    weights = weight_bytes(model)
    if weights > MOST_WEIGHTS or (weights > MOST_INSIDE and bytes_inside(model) > MOST_INSIDE):
        return f"it has {gibibytes(weights)} of weights"
    if len(model.graph.node) > MOST_NODES:
        return f"it has {len(model.graph.node)} nodes"
    return ""


def capture_activations(
    request: CaptureRequest,
    types: Mapping[str, int],
    evaluators: Evaluators,
    room: int | None = None,
    *,
    corner: bool = False,
) -> tuple[dict[str, Value], str]:
    """Run the whole model once.

    Args:
        request: See `WholeModel.request`.
        types: The tensors to look at, with their element types (0: unknown or no tensor).
        evaluators: Numpy models of operators that no engine has.
        room: The bytes that may be taken; None where no one says.
        corner: Run it on a corner of its images, see `graphfix.proving.whole.options`.

    Returns:
        The values of those that the main graph has, and why there is none; one of them is empty.
    """
    path = request.model
    if path is None:
        return {}, request.too_big
    try:
        model = read_model(path)
        if corner:
            model = with_sides(model, long_sides(model))
        values = _weights(model, str(path.parent), types)
        probed = _probed(model, types)
        # For one run, weights are not arranged for the kernels.
        engine = RunnableModel(probed, str(path.parent), evaluators, Turns(0)).open()
        maker = FeedMaker(model, request.seed, request.bindings)
        sized = Room(probed, room, weight_bytes(model))
        samples = Samples(model, engine, maker, request.inputs, PATIENCE, room=sized)
        drawn = samples.next(0)
    except GraphfixError as error:
        return {}, error.message
    except MemoryError:
        return {}, "it does not fit in memory"
    if drawn is None:
        last = samples.last_error
        return {}, last.message if last is not None else "it does not run on any input"
    for found in drawn:
        values.update((name, value) for name, value in found.items() if name in types)
    return values, ""


def captured_feed(
    model: onnx.ModelProto, names: Mapping[str, str], values: Feed, short: Shorter | None = None
) -> Feed | None:
    """Return the model's own values as inputs of a site; None where they are not all there.

    Args:
        model: The site as it was.
        names: What the inputs of the site are called in the whole model.
        values: What the whole model computed.
        short: The site with shorter axes, to which the values are cut.
    """
    feed: Feed = {}
    for info in required_inputs(model.graph):
        name = names.get(info.name)
        axes = {} if short is None else short.names.get(info.name, {})
        if name is None or name not in values or not _fits(values[name], info, axes):
            return None
        feed[info.name] = values[name]
    if short is not None:
        if not short.has_room(feed):
            return None
        feed = short.cut(feed)
    arrays = [a for value in feed.values() for _, a in leaves(value) if a is not None]
    if not feed or sum(array.size for array in arrays) > MOST_ELEMENTS:
        return None
    # No pass claims anything about what is not finite.
    plain = all(not is_floating(a.dtype) or finite(a) for a in arrays)
    return feed if plain else None


def _fits(value: Value, info: onnx.ValueInfoProto, axes: Mapping[int, str]) -> bool:
    if info.type.WhichOneof("value") != "tensor_type":
        return value is not None and not isinstance(value, np.ndarray)
    kind = info.type.tensor_type
    if not isinstance(value, np.ndarray) or value.dtype != numpy_dtype(kind.elem_type):
        return False
    if not kind.HasField("shape"):
        return True
    dims = kind.shape.dim
    return len(dims) == value.ndim and all(
        axis in axes or not dim.HasField("dim_value") or dim.dim_value == value.shape[axis]
        for axis, dim in enumerate(dims)
    )


def _weights(model: onnx.ModelProto, folder: str, types: Mapping[str, int]) -> dict[str, Value]:
    return {
        tensor.name: onnx.numpy_helper.to_array(tensor, folder)
        for tensor in model.graph.initializer
        if tensor.name in types and np.prod(tensor.dims, dtype=float) <= MOST_ELEMENTS
    }


def _probed(model: onnx.ModelProto, types: Mapping[str, int]) -> onnx.ModelProto:
    """Return a model whose outputs are what is looked at."""
    made = [name for node in model.graph.node for name in node.output if name in types]
    return with_outputs(model, made, types) if made else model

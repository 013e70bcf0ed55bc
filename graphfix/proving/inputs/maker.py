"""Make the input sets of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
import onnx

from graphfix.errors import EngineFailed, InvalidModel, UsageError
from graphfix.ir.inlining import inline
from graphfix.ir.protos import required_inputs
from graphfix.ir.storage.weights import numpy_dtype
from graphfix.proving.inputs import draws, features, roles, sizes, thresholds
from graphfix.proving.inputs.known_sizes import contracted_sizes, declared_sizes, known_sizes
from graphfix.proving.inputs.ranges import Range, drawn_from
from graphfix.proving.inputs.uses import Use, consumers, uses_of
from graphfix.proving.values.kinds import Array, Feed, Value, is_floating, is_integer

_MOST_DIMENSIONS = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32
_GUESSED_RANKS = (2, 4, 3, 1, 0, 5)
# More elements than any machine has addresses for.
_ADDRESSABLE = 1 << 47
# Sizes that differ, and then square images.
_GUESSED_SIZES = ((2, 3, 7, 5, 11), (2, 3, 8, 8, 8))


def check_inputs_fit(graph: onnx.GraphProto, where: str) -> None:
    """Check that the inputs of a model can exist, by their declared sizes.

    Raises:
        InvalidModel: One has more elements than any machine has addresses for.
    """
    for info in required_inputs(graph):
        dims = info.type.tensor_type.shape.dim
        count = prod(dim.dim_value for dim in dims if dim.dim_value > 0)
        if count > _ADDRESSABLE:
            raise InvalidModel(
                f"input {info.name!r} has {count} elements, which no memory holds", where=where
            )


@dataclass(slots=True)
class FeedMaker:
    """Draws input sets for one model.

    Attributes:
        model: The model; its weights are not looked at.
        seed: The same seed gives the same inputs.
        bindings: Shapes that the user fixed, by input name.
        limits: Shapes of the same inputs in another model that has to run too: a static
            dimension there replaces a dynamic one here.
        ranges: Input -> least and largest number to draw for it.
    """

    model: onnx.ModelProto
    seed: int = 0
    bindings: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    limits: Mapping[str, list[int | None]] = field(default_factory=dict[str, "list[int | None]"])
    ranges: Mapping[str, Range] = field(default_factory=dict[str, Range])
    _inputs: list[onnx.ValueInfoProto] = field(init=False)
    _readers: dict[str, list[Use]] = field(init=False)
    _shapes: dict[str, list[int | str] | None] = field(init=False)
    _constants: dict[str, Array] = field(init=False)
    _stored: dict[str, onnx.TensorProto] = field(init=False)
    _pairs: list[tuple[str, str]] = field(init=False)
    _optionals: list[str] = field(init=False)
    _contracted: dict[str, int] = field(init=False)
    _dims_of: dict[str, list[int | str] | None] = field(init=False)
    _decided: dict[str, int] = field(init=False)
    _kinds: dict[str, str] = field(init=False)
    _used: dict[str, list[Use]] = field(init=False)
    _side: int = field(init=False, default=0)
    _absent: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        """Look at the uses of the inputs.

        Raises:
            UsageError: `bindings` names an input that the model lacks, or contradicts its shape.
        """
        self._inputs = required_inputs(self.model.graph)
        names = [info.name for info in self._inputs]
        for name in self.bindings:
            if name not in names:
                raise UsageError(
                    f"the model has no input {name!r}",
                    where="--shape",
                    hint=f"its inputs are {', '.join(names) or 'none'}",
                )
        flat = inlined(self.model)
        self._readers = consumers(flat.graph)
        self._shapes = known_sizes(flat)
        self._contracted = contracted_sizes(flat.graph, self._shapes)
        self._constants = thresholds.small_numbers(flat.graph)
        self._stored = {tensor.name: tensor for tensor in flat.graph.initializer}
        self._pairs = thresholds.compared_pairs(names, self._readers)
        optional = [i.name for i in self._inputs if i.type.WhichOneof("value") == "optional_type"]
        self._optionals = [name for name in optional if name not in self.ranges]
        for info in self._inputs:
            self._check_binding(info)
        # What every draw asks for depends on the model alone.
        self._dims_of = {i.name: self._find_shape(i.name, i.type) for i in self._inputs}
        self._decided = self._find_decided()
        self._kinds = self._find_kinds()
        self._used = {info.name: uses_of(info.name, self._readers) for info in self._inputs}

    def _check_binding(self, info: onnx.ValueInfoProto) -> None:
        bound = self.bindings.get(info.name)
        declared = declared_sizes(info.type)
        if bound is None or declared is None:
            return
        fixed = [size for size in declared if isinstance(size, int)]
        agrees = len(declared) == len(bound) and all(
            not isinstance(size, int) or size == given
            for size, given in zip(declared, bound, strict=True)
        )
        if not agrees:
            raise UsageError(
                f"{info.name} is declared as {declared}, not as {list(bound)}",
                where="--shape",
                hint=f"{len(declared)} dimensions, of which {len(fixed)} are fixed",
            )

    def draw(
        self,
        sample: int,
        attempt: int = 0,
        redraw: int = 0,
        *,
        other_side: bool = False,
        edge: Mapping[str, int] | None = None,
    ) -> Feed:
        """Return one input set; raises `EngineFailed` for an input that has no known type.

        Args:
            sample: Its number; style and sizes change with it.
            attempt: Up to `attempts` - 1; another guess at the dynamic dimensions.
            redraw: Other values for the same sample.
            other_side: Whether what depends on a single value goes the other way.
            edge: Sizes of dimensions that go before those of the attempt; see `edges`.
        """
        rng = np.random.default_rng([self.seed, sample, redraw])
        chosen = self._sizes(sample, attempt, edge)
        style = sample + redraw
        self._side = int(other_side)
        # What does not run without an optional has the other side, and sizes are of what is there.
        self._absent = 0 if other_side or edge else style
        feed = {
            info.name: self._value(info.name, info.type, chosen, style, attempt, rng)
            for info in self._inputs
        }
        if self._pairs:
            thresholds.meet(feed, self._pairs, self._readers, style + self._side, rng)
        for name, (low, high) in self.ranges.items():
            feed[name] = drawn_from(feed[name], low, high, rng, f"--range {name}")
        return feed

    def shapes(
        self, sample: int, attempt: int = 0, edge: Mapping[str, int] | None = None
    ) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the inputs that `draw` would draw, where these are known."""
        chosen = self._sizes(sample, attempt, edge)
        found: dict[str, tuple[int, ...]] = {}
        for info in self._inputs:
            shape = self._dims_of[info.name]
            if shape is not None:
                found[info.name] = tuple(_concrete(size, chosen) for size in shape)
        return found

    def has_sides(self) -> bool:
        """Whether an input alternates: a truth value, an optional, a number that is compared."""
        return bool(self._optionals) or any(
            info.type.tensor_type.elem_type == onnx.TensorProto.BOOL
            or thresholds.compared_with(self._used[info.name], self._constants)
            for info in self._inputs
        )

    def is_dynamic(self) -> bool:
        """Whether sizes can vary, that is, whether another attempt changes anything."""
        return bool(self._symbols()) or None in self._dims_of.values()

    def attempts(self) -> int:
        """How many guesses at the dynamic dimensions there are."""
        return sizes.attempts_for(self._symbols())

    def edges(self, tried: Sequence[int]) -> list[dict[str, int]]:
        """Return sizes of 0, 1 or both, for the dynamic dimensions together and for each alone."""
        return sizes.edges(list(self._symbols()), tried)

    def free_sizes(self) -> list[str]:
        """Return the names of the dynamic dimensions, made-up ones for those without."""
        return list(self._symbols())

    def neighbour(self, attempt: int) -> int:
        """Another attempt, in which the dimensions that mattered least have another size."""
        symbols = self._symbols()
        return sizes.neighbour(attempt, symbols) if attempt >= sizes.ATTEMPTS else attempt

    def _find_shape(self, name: str, kind: onnx.TypeProto) -> list[int | str] | None:
        """Return the dims of an input: numbers, names, and made-up names for unnamed ones."""
        if name in self.bindings:
            return list(self.bindings[name])
        declared = declared_sizes(kind)
        if declared is None:
            return None
        limit = self.limits.get(name)
        result: list[int | str] = []
        for axis, size in enumerate(declared):
            other = limit[axis] if limit is not None and len(limit) == len(declared) else None
            if isinstance(size, str) and other is not None:
                result.append(other)
            elif size == "":
                result.append(f"{name}:{axis}")
            else:
                result.append(size)
        return result

    def _symbols(self) -> dict[str, str]:
        pinned = self._pinned()
        return {name: kind for name, kind in self._kinds.items() if name not in pinned}

    def _find_kinds(self) -> dict[str, str]:
        """Return what the names in the shapes of inputs count, those that are decided too."""
        kinds: dict[str, str] = {}
        for shape in self._dims_of.values():
            for axis, size in enumerate(shape or ()):
                if isinstance(size, str):
                    for part in sizes.names_in(size):
                        kinds.setdefault(part, sizes.kind_of(part, axis, len(shape or ())))
        return kinds

    def _pinned(self) -> dict[str, int]:
        """Return sizes of dimension names that a product, a binding or the other model decides."""
        return self._decided

    def _find_decided(self) -> dict[str, int]:
        decided = dict(self._contracted)
        for info in self._inputs:
            declared = declared_sizes(info.type)
            fixed = self._dims_of[info.name]
            if declared is None or fixed is None or len(fixed) != len(declared):
                continue
            for name, size in zip(declared, fixed, strict=True):
                if isinstance(name, str) and name and isinstance(size, int):
                    decided[name] = size
        return decided

    def _sizes(self, sample: int, attempt: int, edge: Mapping[str, int] | None) -> dict[str, int]:
        return sizes.choose(self._symbols(), sample, attempt, edge) | self._pinned()

    def _value(
        self,
        name: str,
        kind: onnx.TypeProto,
        chosen: Mapping[str, int],
        style: int,
        attempt: int,
        rng: np.random.Generator,
    ) -> Value:
        form = kind.WhichOneof("value")
        if form in (None, "sparse_tensor_type", "opaque_type"):
            raise EngineFailed(f"no values can be made for an input of {form or 'unknown type'}")
        if form == "optional_type":
            if name in self._optionals and self._absent >> self._optionals.index(name) & 1:
                return None
            element = kind.optional_type.elem_type
            return self._value(name, element, chosen, style, attempt, rng)
        if form == "sequence_type":
            element = kind.sequence_type.elem_type
            count = 2 + style % 2
            return [self._value(name, element, chosen, style, attempt, rng) for _ in range(count)]
        if form == "map_type":
            return self._map(name, kind.map_type, style, rng)
        shape = self._dims_of[name]
        if shape is None:
            turn, place = divmod(attempt, len(_GUESSED_RANKS))
            rank = _GUESSED_RANKS[place]
            shape = list[int | str](_GUESSED_SIZES[min(turn, 1)][:rank] if rank != 1 else [4])
        concrete = tuple(_concrete(size, chosen) for size in shape)
        if prod(concrete) > _ADDRESSABLE:  # numpy has errors of its own for such arrays
            raise MemoryError(f"input {name!r} has {prod(concrete)} elements")
        return self._tensor(name, kind.tensor_type.elem_type, concrete, chosen, style, attempt, rng)

    def _tensor(
        self,
        name: str,
        elem_type: int,
        shape: tuple[int, ...],
        chosen: Mapping[str, int],
        style: int,
        attempt: int,
        rng: np.random.Generator,
    ) -> Array:
        if len(shape) > _MOST_DIMENSIONS:
            raise EngineFailed(
                f"has {len(shape)} dimensions, arrays {_MOST_DIMENSIONS}", where=name
            )
        uses = self._used[name]
        dtype = numpy_dtype(elem_type)
        if elem_type == onnx.TensorProto.STRING:
            return draws.strings(shape, uses, rng)
        if dtype.kind == "b":
            return draws.booleans(shape, style + self._side, rng)
        if dtype.kind == "c":
            parts = draws.floats(shape, style, uses, rng) + 1j * rng.standard_normal(shape)
            return np.asarray(parts).astype(dtype)
        only = draws.categories(uses)
        if only and dtype.kind in "fi":
            return draws.cast(rng.choice(np.array(only), shape), dtype)
        numbers = thresholds.compared_with(uses, self._constants)
        if is_floating(dtype):
            drawn = draws.floats(shape, style, uses, rng)
            rows = self._known_rows(name, shape, style)
            if rows is not None:
                return draws.cast(rows, dtype)
            if draws.is_free(shape, uses):
                drawn = thresholds.with_compared(drawn, numbers, style + self._side, rng)
            return draws.cast(drawn, dtype)
        if not is_integer(dtype):
            raise EngineFailed(f"no values of type {dtype} can be made", where=name)
        values = roles.draw(uses, shape, lambda tensor: self._dims(tensor, chosen), rng)
        if values is None:
            conservative = attempt >= sizes.CONSERVATIVE_FROM
            values = draws.integers(dtype, shape, name, uses, conservative, rng)
            values = thresholds.with_compared(values, numbers, style + self._side, rng)
        return draws.cast(values, dtype)

    def _known_rows(self, name: str, shape: tuple[int, ...], style: int) -> Array | None:
        """Return rows such as a model of ai.onnx.ml was made for, in all styles but one."""
        if style % draws.STYLES == 1:
            return None
        return features.table(
            name, shape, self._readers, self._shapes, self._stored, [self.seed, style]
        )

    def _map(
        self, name: str, kind: onnx.TypeProto.Map, style: int, rng: np.random.Generator
    ) -> dict[object, object]:
        vocabulary: list[object] = ["a", "b", "c"]
        if kind.key_type != onnx.TensorProto.STRING:
            vocabulary = [0, 1, 2]
        for use in self._used[name]:
            for attribute in use.node.attribute:
                if attribute.name in ("string_vocabulary", "int64_vocabulary"):
                    texts = [text.decode("utf-8", "replace") for text in attribute.strings]
                    vocabulary = [*texts, *attribute.ints]
        dtype = numpy_dtype(kind.value_type.tensor_type.elem_type)
        values = draws.floats((len(vocabulary),), style, [], rng)
        return {
            key: dtype.type(value).item() for key, value in zip(vocabulary, values, strict=True)
        }

    def _dims(self, tensor: str, chosen: Mapping[str, int]) -> list[int] | None:
        if tensor in self.bindings:
            return list(self.bindings[tensor])
        shape = self._shapes.get(tensor)
        if shape is None:
            return None
        result: list[int] = []
        for axis, size in enumerate(shape):
            known = size if isinstance(size, int) else sizes.evaluate(size, chosen)
            known = chosen.get(f"{tensor}:{axis}") if known is None else known
            if known is None:
                return None
            result.append(known)
        return result


def make_feeds(
    model: onnx.ModelProto,
    *,
    samples: int = 5,
    seed: int = 0,
    bindings: Mapping[str, tuple[int, ...]] | None = None,
) -> list[Feed]:
    """Return input sets for a model, without running it.

    Where a model only runs with certain sizes of its dynamic dimensions, give them in
    `bindings` (input name to shape) or use `FeedMaker.draw` with further attempts.

    Raises:
        UsageError: `bindings` does not fit the inputs of the model.
    """
    maker = FeedMaker(model, seed, bindings or {})
    return [maker.draw(sample) for sample in range(samples)]


def _concrete(size: int | str, chosen: Mapping[str, int]) -> int:
    if isinstance(size, int):
        return size
    known = sizes.evaluate(size, chosen)
    return 1 if known is None else known


def static_limits(model: onnx.ModelProto) -> dict[str, list[int | None]]:
    """Return the static dims of the inputs of a model, None for each dynamic one."""
    result: dict[str, list[int | None]] = {}
    for info in required_inputs(model.graph):
        declared = declared_sizes(info.type)
        if declared is not None:
            result[info.name] = [size if isinstance(size, int) else None for size in declared]
    return result


def inlined(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model without local functions; as it is where they cannot be inlined."""
    if not model.functions:
        return model
    try:
        return inline(model)
    except Exception:  # an invalid function costs hints about its inputs, nothing else
        return model

"""Calls of ATen operators with arguments that are not at their defaults, judged by PyTorch."""

from __future__ import annotations

import ast
import random
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from onnx import TensorProto, helper

from benchmarks.attack.building import Case, Feed, Net, feeds_in, target
from benchmarks.attack.pytorch import Called, PyTorch, Tensor, entries_of, is_list

DOMAIN = "org.pytorch.aten"
KINDS = {
    "f": "float32", "d": "float64", "h": "float16", "l": "int64", "i": "int32", "b": "uint8",
    "t": "bool",
}  # fmt: skip
PLACES = ("main", "main", "if", "function")
LAYOUTS = ("exporter", "exporter", "no overload", "named", "named with overload")
NORMAL, TIES, SPECIAL, ZEROS, GROWN, EMPTY, ONES = range(7)
_ROWS: dict[str, list[str]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)


@dataclass(frozen=True)
class _Slot:
    """A tensor of a row: the letter of what it holds, and numbers after it."""

    letter: str
    numbers: tuple[int, ...]

    @property
    def dims(self) -> tuple[int, ...]:
        """Its shape."""
        return self.numbers[1:] if self.letter in "NM" else self.numbers

    def kind(self, own: str) -> Any:
        """Return its type, where the row is of the type `own`."""
        letter = self.letter.lower()
        if letter in "nmq":
            return np.dtype(np.int64)
        if letter in "ag" or (letter == "u" and own not in "fdh"):
            return np.dtype(KINDS[own] if own in "fdh" else "float32")
        return np.dtype(KINDS.get(letter, KINDS[own]))


def cases(torch: PyTorch | None) -> Iterator[Case]:
    """Yield models of one call; none where no PyTorch is given."""
    if torch is None:
        return
    for table in _ROWS.values():
        for row in table:
            kinds, _, text = row.partition(" ")
            for kind in kinds.removeprefix("~"):
                case = _case(torch, kind, text, open_ties=kinds.startswith("~"))
                if case is not None:
                    yield case


def _case(torch: PyTorch, kind: str, text: str, *, open_ties: bool) -> Case | None:
    name, _, written = text.partition(" ")
    operator, _, overload = name.partition(".")
    draw = random.Random(f"{kind} {text}")
    given, named = _arguments(written)
    slots: dict[str, _Slot] = {}
    given = [_placed(a, slots) for a in given]
    named = {key: _placed(a, slots) for key, a in named.items()}
    arguments, needed, said = torch.bound(operator, overload, given, named)
    if arguments is None:
        raise ValueError(f"{text}: {said}")
    if draw.random() < 0.5:
        arguments = arguments[:needed]
    dynamic, scope, layout = draw.random() < 0.5, draw.choice(PLACES), draw.choice(LAYOUTS)
    held = list(slots)[1:] if draw.random() < 0.25 else []
    modes = range(7) if dynamic else range(4)
    feeds = [_feed(slots, kind, mode, draw.randrange(10**6)) for mode in modes]
    kept = {n: feeds[0][n] for n in held}
    feeds = [{n: v for n, v in feed.items() if n not in kept} for feed in feeds]
    full = torch.bound(operator, overload, given, named)[0]
    called = Called(operator, overload, tuple(full), kept)
    expected = torch.ask(called, feeds[:1])[0]
    if isinstance(expected, str):
        return None
    net = Net(17, imports={DOMAIN: 1}, by_node=draw.random() < 0.5)
    for n, array in feeds[0].items():
        dims = [f"N{d}" if dynamic and d > 1 else d for d in array.shape]
        net.take(n, helper.np_dtype_to_tensor_dtype(array.dtype), dims)
    for n, array in kept.items():
        net.hold(array, array.dtype, n)
    outs = [f"y{k}" for k in range(len(expected))]
    _write(net, called, arguments, layout, outs)
    for out, array in zip(outs, expected, strict=True):
        net.give(out, helper.np_dtype_to_tensor_dtype(array.dtype), [None] * array.ndim)
    floats = kind in "fdh"
    return Case(
        f"{kind} {text}",
        "aten",
        net.model(scope),
        feeds_in(scope, feeds),
        [target("ort")],
        special=frozenset([SPECIAL]) if floats else frozenset(),
        undefined=frozenset([TIES, ZEROS, GROWN] if open_ties else []),
        called=called,
    )


def _arguments(text: str) -> tuple[list[Any], dict[str, Any]]:
    tree = ast.parse(f"f{text}", mode="eval").body
    assert isinstance(tree, ast.Call)
    return [_read(a) for a in tree.args], {str(k.arg): _read(k.value) for k in tree.keywords}


def _read(node: ast.expr) -> Any:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _Slot(node.func.id, tuple(ast.literal_eval(a) for a in node.args))
    if isinstance(node, ast.List):
        return [_read(entry) for entry in node.elts]
    if isinstance(node, ast.Name):
        return float(node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Name):
        return -float(node.operand.id)
    return ast.literal_eval(node)


def _placed(argument: Any, slots: dict[str, _Slot]) -> Any:
    if isinstance(argument, _Slot):
        name = f"x{len(slots)}"
        slots[name] = argument
        return Tensor(name)
    return [_placed(a, slots) for a in entries_of(argument)] if is_list(argument) else argument


def _write(net: Net, called: Called, arguments: Sequence[Any], layout: str, outs: Any) -> None:
    overload = "" if called.overload == "default" or layout in ("no overload", "named") else (
        called.overload
    )  # fmt: skip
    names = [_name(net, a) for a in arguments]
    named = layout.startswith("named")
    attributes: dict[str, Any] = {} if named else {"operator": called.operator}
    if overload or layout == "exporter":
        attributes["overload_name"] = overload
    op = called.operator if named else "ATen"
    net.nodes.append(helper.make_node(op, names, outs, "call", domain=DOMAIN, **attributes))


def _name(net: Net, argument: Any) -> str:
    if argument is None:
        return ""
    if isinstance(argument, Tensor):
        return argument.name
    if isinstance(argument, str):
        name = f"s{len(net.stored) + len(net.nodes)}"
        text = TensorProto(name=name, data_type=TensorProto.STRING, string_data=[argument.encode()])
        net.stored.append(text)
        return name
    entries = entries_of(argument)
    if any(isinstance(entry, Tensor) for entry in entries):
        names = [_name(net, entry) if entry is not None else _none(net) for entry in entries]
        return net.add("SequenceConstruct", *names)
    array: Any = np.asarray(argument)
    return net.hold(array, array.dtype if array.size else np.int64)


def _none(net: Net) -> str:
    name = f"none{len(net.nodes)}"
    net.nodes.append(helper.make_node("Constant", [], [name]))
    return name


def _feed(slots: dict[str, _Slot], kind: str, mode: int, seed: int) -> Feed:
    random_: Any = np.random.default_rng(seed)
    sizes = sorted({d for slot in slots.values() for d in slot.dims if d > 1})
    other = {d: d for d in sizes}
    if mode == GROWN:
        other = {d: d + 1 for d in sizes}
    elif mode == EMPTY and sizes:
        other[int(random_.choice(sizes))] = 0
    elif mode == ONES:
        other = dict.fromkeys(sizes, 1)
    feed: Feed = {}
    for name, slot in slots.items():
        shape = tuple(other.get(d, d) for d in slot.dims)
        dtype = slot.kind(kind)
        made = np.asarray(_values(random_, slot, shape, dtype, mode, other))
        feed[name] = made.astype(dtype).reshape(shape)
    return feed


def _values(random_: Any, slot: _Slot, shape: Any, dtype: Any, mode: int, other: Any) -> Any:
    letter, numpy = slot.letter, cast("Any", np)
    if letter in "NM":
        most = max(other.get(slot.numbers[0], slot.numbers[0]), 1)
        return random_.integers(-most if letter == "M" else 0, most, shape)
    if letter == "Q":
        return numpy.arange(numpy.prod(shape, dtype=int))
    if letter == "G":
        return random_.choice([-1.0, 1.0], shape)
    if letter == "A":
        half = random_.normal(size=shape)
        return half @ np.swapaxes(half, -1, -2) + np.eye(shape[-1])
    if letter == "T" or dtype.kind == "b":
        return numpy.zeros(shape) if mode == ZEROS else random_.integers(0, 2, shape)
    if letter == "U":
        return random_.uniform(0.02, 0.98, shape)
    if letter == "S":
        wide = random_.uniform(-0.9, 0.9, shape)
        return wide if dtype.kind == "f" else random_.integers(0, 4, shape)
    if letter == "P":
        return random_.integers(1, 6, shape) if mode or dtype.kind != "f" else (
            random_.uniform(0.1, 4, shape)
        )  # fmt: skip
    made: Any
    if mode == TIES:
        made = random_.choice(
            [-1.0, -0.0, 0.0, 1.0, 2.0] if dtype.kind != "u" else [0, 1, 2], shape
        )
    elif mode == SPECIAL and dtype.kind == "f":
        made = random_.choice(
            [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -2.5, np.finfo(dtype).max / 4, 0.5], shape
        )
    elif mode == SPECIAL:
        made = random_.choice([-100, 100, 37, -1, 1, 0] if dtype.kind == "i" else [0, 1, 90], shape)
    elif mode == ZEROS:
        made = numpy.zeros(shape)
    elif dtype.kind == "f":
        made = numpy.round(random_.normal(size=shape) * 3, 1)
    else:
        made = random_.integers(0 if dtype.kind == "u" else -9, 12, shape)
    if letter == "Z":
        made = numpy.where(made == 0, 3, made)
    return numpy.sort(made, axis=-1) if letter == "K" and shape else made

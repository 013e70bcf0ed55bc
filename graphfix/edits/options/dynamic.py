"""The edit that makes a fixed size of inputs free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Unpack

from onnx import GraphProto, ModelProto, NodeProto, TensorShapeProto, helper

from graphfix.authoring.registry import shipped_passes
from graphfix.edits.addressing import matching
from graphfix.edits.by_item.looking import Shown, look
from graphfix.edits.declared_sizes import Size
from graphfix.edits.declaring import Given, Group, option
from graphfix.edits.engine import Edited, How, ModelLike, edit
from graphfix.edits.free_sizes import Freed, Freeing
from graphfix.edits.known_tensors import drop_unused
from graphfix.edits.outside import DOMAIN, NUMPY, with_import
from graphfix.edits.step import Claim, Equal, FreeSize, Step, Subject
from graphfix.edits.step import Shown as Claimed
from graphfix.errors import UsageError
from graphfix.ir.model import Model
from graphfix.ir.protos import copied, required_inputs
from graphfix.pipeline.model_types import evaluators_for
from graphfix.report import Verdict, Verification

ORIGINAL = "@original"
_TIMES = (1, 2, 5)
_AT_MOST = 12  # further sizes that are tried
_ITEMS = 4096  # in all of them together
_ITEMS_OF_MANY_NODES = 128
_MANY_NODES = 100
_PRACTICAL = 1 << 40  # no tensor has as many items


@dataclass(frozen=True, slots=True)
class Dynamic:
    """Free a size of inputs that is fixed, and follow it to all constants that it is baked into.

    Attributes:
        shapes: Input -> its sizes: a symbol for the one that becomes free, for all of them the
            same one; the others as they are.
    """

    shapes: tuple[tuple[str, tuple[Size, ...]], ...]
    option: str = field(default="--dynamic", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Free it; see `graphfix.edits.step.Edit`."""
        where = self.option
        known = {info.name: info for info in required_inputs(subject.proto.graph)}
        axes: dict[str, int] = {}
        symbols: dict[str, int] = {}
        for name, sizes in self.shapes:
            matching(known, name, "input", where)
            dims = known[name].type.tensor_type.shape.dim
            if len(dims) != len(sizes):
                raise UsageError(
                    f"{name!r} has {len(dims)} dimensions, not {len(sizes)}",
                    where=where,
                    hint=f"it is {_sizes_text(dims)}",
                )
            for axis, (dim, size) in enumerate(zip(dims, sizes, strict=True)):
                if size is None or size in (dim.dim_value, dim.dim_param):
                    continue
                if not isinstance(size, str) or not dim.dim_value:
                    old = dim.dim_value or dim.dim_param or "?"
                    raise UsageError(
                        f"size {axis} of {name!r} is {old}, not {size}",
                        where=where,
                        hint=f"it is {_sizes_text(dims)}; only a number becomes free",
                    )
                if name in axes:
                    raise UsageError(
                        f"two sizes of {name!r} would become free",
                        where=where,
                        hint=f"one at a time: {self._proposed(subject)}",
                    )
                axes[name] = axis
                if symbols.setdefault(size, dim.dim_value) != dim.dim_value:
                    raise UsageError(f"{size!r} is of two sizes", where=where)
        if len(symbols) != 1:
            several = " and ".join(symbols)
            text = f"{several} would become free" if symbols else "no size would become free"
            hint = self._proposed(subject)
            raise UsageError(text, where=where, hint=f"one at a time: {hint}" if symbols else hint)
        ((symbol, size),) = symbols.items()
        freed = Freeing(subject.proto, subject.base_dir, axes, size, where).freed(symbol)
        drop_unused(freed.proto, subject.proto)
        said = [f"{symbol} is free in {', '.join(axes)}; it was {size}", *freed.said]
        if not subject.proves:
            return Step(freed.proto, tuple(said), ())
        shown = look(freed, subject.proto, subject.base_dir, axes, size)
        times = [*_TIMES, *(each // size for each in _tried(shown, size))]
        tried = sorted({size * each for each in times})
        why = "".join(f": {doubt}" for doubt in shown.found.doubts[:1])
        claims: list[Claim] = [
            self._claim(subject, freed, axes, (symbol, size, each // size), why) for each in tried
        ]
        free = FreeSize(symbol, shown.every, 1, _most(shown), tuple(tried))
        return Step(freed.proto, tuple(said), (_of_all(free, shown), *claims), free_size=free)

    def _proposed(self, subject: Subject) -> str:
        """Return an edit of these inputs that holds for all sizes, or say that none is known."""
        known = {info.name: info for info in required_inputs(subject.proto.graph)}
        for name, wanted in self.shapes:
            dims = known[name].type.tensor_type.shape.dim
            ours = [place for place, size in enumerate(wanted) if isinstance(size, str)]
            for axis in sorted(range(len(dims)), key=lambda place: (place not in ours, place)):
                size = dims[axis].dim_value
                if not size:
                    continue
                at, folder = {name: axis}, subject.base_dir
                try:
                    freed = Freeing(subject.proto, folder, at, size, "").freed("N")
                    if look(freed, subject.proto, folder, at, size).every:
                        return f"{self.option} {name}={_sizes_text(dims, axis)}"
                except UsageError:
                    continue
        return f"no size of {', '.join(name for name, _ in self.shapes)} is known to work"

    def _claim(
        self,
        subject: Subject,
        freed: Freed,
        axes: dict[str, int],
        at: tuple[str, int, int],
        why: str,
    ) -> Equal:
        symbol, size, times = at
        made = copied(freed.proto)
        needed = [copied(info) for info in required_inputs(made.graph)]
        for info in needed:
            if info.name in axes:  # other sizes are drawn, this one is not
                info.type.tensor_type.shape.dim[axes[info.name]].dim_value = size * times
        made.graph.ClearField("input")
        made.graph.input.extend(needed)
        made.ir_version = max(made.ir_version, 4)  # before, each stored tensor was an input
        shapes: dict[str, tuple[int, ...]] = {}
        for info in made.graph.input:
            if info.name in axes:
                dims = info.type.tensor_type.shape.dim
                if all(d.HasField("dim_value") for i, d in enumerate(dims) if i != axes[info.name]):
                    shapes[info.name] = tuple(
                        size * times if i == axes[info.name] else d.dim_value
                        for i, d in enumerate(dims)
                    )
        reference = ModelProto(ir_version=made.ir_version, opset_import=made.opset_import)
        reference.graph.CopyFrom(
            GraphProto(
                name="items",
                node=[self._items(subject, freed, axes, size)],
                input=needed,
                output=made.graph.output,
            )
        )
        return Equal(
            f"with {symbol} = {size * times} it computes what the model did item by item",
            made,
            with_import(reference),
            NUMPY,
            shapes,
            made_first=True,
            adjacent={ORIGINAL: subject.proto},
            stops=f"does not run with {symbol} = {size * times}, and depends on the size in a way "
            f"that cannot be freed{why}",
            where=self.option,
        )

    def _items(self, subject: Subject, freed: Freed, axes: dict[str, int], size: int) -> NodeProto:
        inputs = [info.name for info in required_inputs(subject.proto.graph)]
        # What is an input as well is the same on both sides.
        outputs = [i.name for i in subject.proto.graph.output if i.name not in inputs]
        known = evaluators_for(Model(subject.proto, base_dir=subject.base_dir), shipped_passes())
        places = [f"{domain}|{op}|{place}" for (domain, op), place in known.items()]
        node = helper.make_node("Items", inputs, outputs, domain=DOMAIN)
        grown = [freed.axes[name] for name in outputs]
        for name, value in (
            ("path", ORIGINAL),
            ("inputs", inputs),
            ("outputs", outputs),
            ("in_axes", [axes.get(name, -1) for name in inputs]),
            ("out_axes", [-1 if axis is None else axis for axis in grown]),
            ("size", size),
            ("numpy", places),
        ):
            if value != []:
                node.attribute.append(helper.make_attribute(name, value))
        return node


@option(
    "dynamic",
    "NAME=Nx3x224x224,...",
    "Make a fixed input dimension dynamic.",
    Group.SHAPES,
    long_form="NAME=Nx3x224x224 or NAME=Nx16,NAME=Nx16",
    after="shape",
)
def read_dynamic(given: Given) -> Dynamic:
    """Return the edit that a text asks for."""
    return Dynamic(tuple(given.shape(part) for part in given.text.split(",")))


def dynamic(
    model: ModelLike, sizes: Mapping[str, Sequence[int | str | None]], **how: Unpack[How]
) -> Edited:
    """Free a fixed size of inputs: a symbol stands for it, the other sizes are as they are."""
    return edit(model, [Dynamic(tuple((n, tuple(s)) for n, s in sizes.items()))], **how)


def _sizes_text(dims: Sequence[TensorShapeProto.Dimension], free: int = -1) -> str:
    """Return sizes as the option takes them: ``1x3x8x8``, one of them as a symbol."""
    sizes = [str(dim.dim_value or dim.dim_param or "?") for dim in dims]
    if free >= 0:
        sizes[free] = "N" if "N" not in sizes else "B"
    return "x".join(sizes)


def _tried(shown: Shown, size: int) -> list[int]:
    """Return the further sizes to try, near what may change, the smallest first."""
    left = (_ITEMS if shown.found.nodes < _MANY_NODES else _ITEMS_OF_MANY_NODES) * size
    tried: list[int] = []
    for each in shown.sizes(size):
        left -= each
        if left < 0 or len(tried) == _AT_MOST:
            break
        tried.append(each)
    return tried


def _most(shown: Shown) -> int | None:
    """Return up to how many items sizes fit into their types; None where no model gets there."""
    return shown.found.most if shown.every and shown.found.most < _PRACTICAL else None


def _of_all(free: FreeSize, shown: Shown) -> Claimed:
    """Return the claim for every size, as it was read off the operators."""
    upto = "" if free.most is None else f" up to {free.most}"
    text = f"with every {free.symbol} from 1 on{upto} it computes what the model did item by item"
    if shown.every:
        method = f"each of {shown.found.nodes} nodes keeps the items apart, whatever their number"
        return Claimed(text, Verification(Verdict.EQUAL, method=method))
    reasons = [str(doubt) for doubt in shown.found.doubts[:3]]
    if not reasons:
        reasons = [f"only multiples of {shown.step} are items of the model"]
    at = ", ".join(map(str, free.tried))
    reason = f"{'; '.join(reasons)}; what numbers say is of {free.symbol} = {at} alone"
    return Claimed(text, Verification(Verdict.INCONCLUSIVE, reason))

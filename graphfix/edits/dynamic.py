"""The edit that makes a fixed size of inputs free."""

from __future__ import annotations

from dataclasses import dataclass

from onnx import GraphProto, ModelProto, NodeProto, helper

from graphfix.edits.addressing import matching
from graphfix.edits.free_sizes import Freed, Freeing
from graphfix.edits.known_tensors import drop_unused
from graphfix.edits.outside import DOMAIN, NUMPY, with_import
from graphfix.edits.sizes import Size
from graphfix.edits.step import Equal, Step, Subject
from graphfix.errors import UsageError
from graphfix.model import Model
from graphfix.pipeline.evaluators import evaluators_for
from graphfix.protos import copied
from graphfix.proving.inputs.maker import required_inputs
from graphfix.registry import shipped_passes

ORIGINAL = "@original"
_TIMES = (1, 2, 5)


@dataclass(frozen=True, slots=True)
class Dynamic:
    """Free a size of inputs that is fixed, and follow it to all constants that it is baked into.

    Attributes:
        shapes: Input -> its sizes: a symbol for the one that becomes free, for all of them the
            same one; the others as they are.
    """

    shapes: tuple[tuple[str, tuple[Size, ...]], ...]

    @property
    def option(self) -> str:
        """The option that asks for it."""
        return "--dynamic"

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
                    f"{name!r} has {len(dims)} dimensions, not {len(sizes)}", where=where
                )
            for axis, (dim, size) in enumerate(zip(dims, sizes, strict=True)):
                if size is None or size in (dim.dim_value, dim.dim_param):
                    continue
                if not isinstance(size, str) or not dim.dim_value:
                    old = dim.dim_value or dim.dim_param or "?"
                    raise UsageError(f"a size of {name!r} is {old}, not {size}", where=where)
                if name in axes:
                    raise UsageError(f"two sizes of {name!r} would become free", where=where)
                axes[name] = axis
                if symbols.setdefault(size, dim.dim_value) != dim.dim_value:
                    raise UsageError(f"{size!r} is of two sizes", where=where)
        if len(symbols) != 1:
            text = "no size would become free" if not symbols else "one symbol at a time"
            raise UsageError(text, where=where, hint="--dynamic x=Nx3x224x224")
        ((symbol, size),) = symbols.items()
        freed = Freeing(subject.proto, subject.base_dir, axes, size, where).freed(symbol)
        drop_unused(freed.proto, subject.proto)
        said = [f"{symbol} is free in {', '.join(axes)}; it was {size}", *freed.said]
        claims = tuple(self._claim(subject, freed, axes, (symbol, size, times)) for times in _TIMES)
        return Step(freed.proto, tuple(said), claims)

    def _claim(
        self, subject: Subject, freed: Freed, axes: dict[str, int], at: tuple[str, int, int]
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
            beside={ORIGINAL: subject.proto},
            stops=f"does not run with {symbol} = {size * times}, and depends on the size in a way "
            "that cannot be freed",
            where=self.option,
        )

    def _items(self, subject: Subject, freed: Freed, axes: dict[str, int], size: int) -> NodeProto:
        inputs = [info.name for info in required_inputs(subject.proto.graph)]
        outputs = [info.name for info in subject.proto.graph.output]
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

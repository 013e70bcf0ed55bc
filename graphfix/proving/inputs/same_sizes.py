"""Whether two graphs compute the same with sizes: then none of these tells the graphs apart.

What is computed from sizes and positions is explicit as an expression, down to inputs and
constants, and so is where it ends: as the sizes that an operator gives what it moves, or among the
outputs. Expressions are compared, names are not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import onnx

from graphfix.ir.protos import subgraphs_of
from graphfix.operators.table import MOVES_FIRST, PLACES, SIZES

# The values of constants with more bytes are not looked at: only one of the same name is the same.
_MOST_BYTES = 1024


def does_the_same_with_sizes(one: onnx.GraphProto, two: onnx.GraphProto) -> bool:
    """Say whether two graphs compute the same with sizes; False where that is not plain.

    Args:
        one: A graph, functions inlined.
        two: Another with inputs, and constants of that name, as the first one has them.
    """
    left = _expressions(one)
    return left is not None and left == _expressions(two)


def _expressions(graph: onnx.GraphProto) -> frozenset[bytes] | None:
    """Return what is computed with sizes; None where subgraphs have a part in it."""
    known = {tensor.name: _constant(tensor) for tensor in graph.initializer}
    made_of_sizes: set[str] = set()
    found: set[bytes] = set()
    for node in graph.node:
        if any(True for _ in subgraphs_of(node)):
            return None
        derived = [place for place, name in enumerate(node.input) if name in made_of_sizes]
        digest = _digest(*_head(node), *(known.get(n, n.encode()) for n in node.input))
        for place, name in enumerate(node.output):
            known[name] = _digest(digest, place)
        sizes = SIZES.get(node.op_type, ()) if node.op_type in MOVES_FIRST else ()
        if derived and set(derived) <= set(sizes):
            # What is moved keeps its values, whatever they are: only the sizes matter.
            given = (
                known.get(node.input[place], b"") for place in sizes if place < len(node.input)
            )
            found.add(_digest(*_head(node), *given))
        elif derived:
            made_of_sizes.update(filter(None, node.output))
            found.add(digest)
        elif not node.domain and node.op_type in PLACES:
            place = PLACES[node.op_type]
            made_of_sizes.update(filter(None, node.output[place : place + 1]))
        elif node.op_type == "Slice":
            found.add(digest)  # sizes meet its bounds without being read
    found |= {known[o.name] for o in graph.output if o.name in made_of_sizes}
    return frozenset(found)


def _head(node: onnx.NodeProto) -> Iterable[str | bytes]:
    yield from (node.op_type, node.domain, node.overload)
    yield from sorted(a.SerializeToString(deterministic=True) for a in node.attribute)


def _constant(tensor: onnx.TensorProto) -> bytes:
    copy = onnx.TensorProto()
    copy.CopyFrom(tensor)
    if tensor.ByteSize() <= _MOST_BYTES:
        copy.ClearField("name")
    return copy.SerializeToString(deterministic=True)


def _digest(*parts: str | bytes | int) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        text = part if isinstance(part, bytes) else str(part).encode()
        digest.update(len(text).to_bytes(8, "little"))
        digest.update(text)
    return digest.digest()

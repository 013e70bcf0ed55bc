"""Inlining local functions, the defaults of their attributes included.

onnx's inliner gives an attribute that a call leaves out no value, whatever `attribute_proto` of the
function says, so that the operator inside takes its own default. onnxruntime takes the function's.
Here the defaults are written at the calls first. A call inside a function may pass on an attribute
that the function was not given, which is then left out as well, so functions are inlined from the
outer to the inner.

The names of sizes in a function are its own, and stand for other sizes at each call: inlined under
one name they would be equal. They are left out; inference finds out what they are at each place.

References: FunctionProto in onnx/onnx.proto ("attribute_proto": attributes with default values);
onnx/inliner/inliner.cc.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from onnx import FunctionProto, ModelProto, NodeProto, TensorShapeProto

from graphfix.ir.protos import all_nodes, copied, nodes_of_model, subgraphs_of

Key = tuple[str, str, str]


def inline(model: ModelProto, but: Collection[tuple[str, str]] = ()) -> ModelProto:
    """Return the model with the calls of local functions replaced by the subgraphs.

    Args:
        model: The model; it is not changed.
        but: Domain and name of functions that continue being called.

    Raises:
        RuntimeError, ValueError, onnx.checker.ValidationError: The inliner of onnx fails.
    """
    from onnx.inliner import inline_local_functions, inline_selected_functions

    named = any(dim.dim_param for function in model.functions for dim in _sizes(function))
    if named:
        model = copied(model)
        for function in model.functions:
            for dim in _sizes(function):
                if dim.dim_param:
                    dim.ClearField("dim_param")
    if not any(function.attribute_proto for function in model.functions):
        if but:
            return inline_selected_functions(model, list(but), exclude=True)
        return inline_local_functions(model)
    result = model if named else copied(model)
    _name_apart(result)
    while any((f.domain, f.name) not in but for f in result.functions):
        _write_defaults(result)
        inner = {_key(node) for function in result.functions for node in all_nodes(function.node)}
        names = [(f.domain, f.name) for f in result.functions if _own_key(f) not in inner]
        outer = [name for name in names if name not in but]
        before = len(result.functions)
        if outer:
            result = inline_selected_functions(result, outer)
        if len(result.functions) == before:  # a function calls itself: the inliner says so
            return inline_local_functions(result)
    return result


def _sizes(function: FunctionProto) -> Iterator[TensorShapeProto.Dimension]:
    """Yield the sizes that a function declares, in the subgraphs of its nodes too."""
    infos = [*function.value_info]
    for node in all_nodes(function.node):
        for body in subgraphs_of(node):
            infos += [*body.input, *body.output, *body.value_info]
    for info in infos:
        if info.type.HasField("tensor_type"):
            yield from info.type.tensor_type.shape.dim


def _key(node: NodeProto) -> Key:
    return (_domain(node.domain), node.op_type, node.overload)


def _own_key(function: FunctionProto) -> Key:
    return (_domain(function.domain), function.name, function.overload)


def _domain(name: str) -> str:
    return "" if name == "ai.onnx" else name


def _name_apart(model: ModelProto) -> None:
    """Give each overload a name of its own: the inliner selects functions by name."""
    taken = {(domain, name) for domain, name, _ in map(_own_key, model.functions)}
    names: dict[Key, str] = {}
    for function in model.functions:
        if not function.overload:
            continue
        key = _own_key(function)
        name = f"{function.name}_{function.overload}"
        while (key[0], name) in taken:
            name += "_"
        taken.add((key[0], name))
        names[key] = function.name = name
        function.overload = ""
    for node in nodes_of_model(model) if names else ():
        name = names.get(_key(node), "")
        if name:
            node.op_type, node.overload = name, ""


def _write_defaults(model: ModelProto) -> None:
    defaults = {_own_key(f): f.attribute_proto for f in model.functions if f.attribute_proto}
    for node in nodes_of_model(model):
        given = {attribute.name for attribute in node.attribute}
        for attribute in defaults.get(_key(node), ()):
            if attribute.name not in given:
                node.attribute.append(attribute)

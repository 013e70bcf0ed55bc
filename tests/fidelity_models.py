"""Small models, each with one thing in it that graph libraries forget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import (
    AttributeProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    helper,
    numpy_helper,
)

Maker = Callable[[], ModelProto]
MAKERS: dict[str, Maker] = {}

HEAD = '<ir_version: 10, opset_import: ["" : 18]>\n'
PLAIN = "g (float[2,3] x) => (float[2,3] y) { h = Abs (x) y = Neg (h) }"
# Field 999, which no message of ONNX has, with the value 1.
UNKNOWN_FIELD = b"\xb8\x3e\x01"


def feature(maker: Maker) -> Maker:
    """List a model among those that have to come out as they went in."""
    MAKERS[maker.__name__.replace("_", "-")] = maker
    return maker


def parse(text: str = PLAIN, head: str = HEAD) -> ModelProto:
    return onnx.parser.parse_model(head + text)


def weight(name: str, *shape: int) -> TensorProto:
    values = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    return numpy_helper.from_array(values, name)


def add_metadata(holder: Any, key: str = "key") -> None:
    holder.metadata_props.add(key=key, value="välue")


@feature
def model_fields() -> ModelProto:
    model = parse()
    model.producer_name, model.producer_version = "maker", "7"
    model.domain, model.model_version, model.doc_string = "my.domain", -3, "a\nmodel"
    add_metadata(model)
    model.opset_import.add(domain="never.used", version=4)
    return model


@feature
def doc_strings_everywhere() -> ModelProto:
    model = parse()
    model.graph.initializer.append(weight("w", 2))
    model.graph.value_info.append(helper.make_tensor_value_info("h", 1, [2, 3]))
    graph = model.graph
    parts: list[Any] = [graph, *graph.node, *graph.input, *graph.output, *graph.value_info]
    for number, part in enumerate([*parts, *graph.initializer]):
        part.doc_string = f"part {number}"
    return model


@feature
def metadata_everywhere() -> ModelProto:
    model = parse()
    model.graph.initializer.append(weight("w", 2))
    model.graph.value_info.append(helper.make_tensor_value_info("h", 1, ["n", None]))
    graph = model.graph
    for part in (graph, *graph.node, *graph.input, *graph.output, *graph.value_info):
        add_metadata(part)
        add_metadata(part, "again")
    add_metadata(graph.initializer[0])
    return model


@feature
def attributes_with_docs_and_odd_values() -> ModelProto:
    model = parse(
        "g (float[2,3] x) => (float[2,3] y) { y = my.Op <nan = 1.0, none = [1]> (x) }",
        '<ir_version: 10, opset_import: ["" : 18, "my" : 1]>\n',
    )
    node = model.graph.node[0]
    node.attribute[0].f = float("nan")
    node.attribute[0].doc_string = "not a number"
    del node.attribute[1].ints[:]
    node.attribute.add(name="bytes", type=AttributeProto.STRING, s=b"\xff\xfe\x00")
    node.attribute.add(name="many", type=AttributeProto.STRINGS, strings=[b"\xff", b"", b"ok"])
    node.attribute.add(name="tensors", type=AttributeProto.TENSORS, tensors=[weight("t", 2)])
    node.attribute.add(name="floats", type=AttributeProto.FLOATS)
    kind = helper.make_tensor_type_proto(TensorProto.FLOAT, ["n"])
    node.attribute.append(helper.make_attribute("kind", kind))
    sparse = helper.make_sparse_tensor(
        weight("values", 1), numpy_helper.from_array(np.array([2], np.int64), "places"), [4]
    )
    node.attribute.append(helper.make_attribute("sparse", sparse))
    return model


@feature
def quantization_annotation() -> ModelProto:
    model = parse()
    note = model.graph.quantization_annotation.add(tensor_name="h")
    note.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="scale")
    model.graph.initializer.append(weight("scale", 1))
    return model


@feature
def sparse_initializer() -> ModelProto:
    model = parse("g (float[4] x) => (float[4] y) { y = Add (x, s) }")
    values = weight("s", 2)
    places = numpy_helper.from_array(np.array([0, 3], np.int64), "s_places")
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, [4]))
    return model


@feature
def optional_sequence_and_map_types() -> ModelProto:
    model = parse()
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, [2])
    sequence = helper.make_sequence_type_proto(tensor)
    for name, kind in (
        ("seq", sequence),
        ("opt", helper.make_optional_type_proto(sequence)),
        ("map", helper.make_map_type_proto(TensorProto.STRING, tensor)),
        ("sparse", helper.make_sparse_tensor_type_proto(TensorProto.FLOAT, [2])),
    ):
        kind.denotation = "SOMETHING"
        model.graph.input.append(helper.make_value_info(name, kind))
    return model


@feature
def functions_with_overloads() -> ModelProto:
    model = parse(
        "g (float[2,3] x) => (float[2,3] y) { h = my.f <k = 2> (x) y = my.f (h) }\n"
        '<domain: "my", opset_import: ["" : 18]> f <k> (a) => (b) '
        "{ b = Softmax <axis: int = @k> (a) }\n"
        '<domain: "my", opset_import: ["" : 17]> f (a) => (b) { c = Abs (a) b = Neg (c) }\n',
        '<ir_version: 10, opset_import: ["" : 18, "my" : 1]>\n',
    )
    for node, function, overload in zip(
        model.graph.node, model.functions, ("one", "two"), strict=True
    ):
        node.overload = function.overload = overload
        function.doc_string = f"overload {overload}"
        add_metadata(function)
        add_metadata(function.node[0])
    model.functions[1].value_info.append(helper.make_tensor_value_info("c", 1, ["n"]))
    return model


@feature
def function_with_default_attribute() -> ModelProto:
    model = parse(
        "g (float[2,3] x) => (float[2,3] y) { y = my.f (x) }\n"
        '<domain: "my", opset_import: ["" : 18]> f <axis: int = 1> (a) => (b) '
        "{ b = Softmax <axis: int = @axis> (a) }\n",
        '<ir_version: 10, opset_import: ["" : 18, "my" : 1]>\n',
    )
    model.functions.append(model.functions[0])
    model.functions[1].name = "never_called"
    return model


@feature
def training_info() -> ModelProto:
    model = parse()
    info = model.training_info.add()
    info.algorithm.CopyFrom(
        parse("t () => (float[1] u) { u = Constant <value_floats = [1.0]> () }").graph
    )
    info.update_binding.add(key="w", value="u")
    model.graph.initializer.append(weight("w", 1))
    return model


@feature
def device_configurations() -> ModelProto:
    model = parse(head='<ir_version: 11, opset_import: ["" : 18]>\n')
    model.configuration.add(name="two", num_devices=2, device=["a", "b"])
    placed = model.graph.node[0].device_configurations.add(configuration_id="two")
    placed.sharding_spec.add(tensor_name="x").device.extend([0, 1])
    return model


@feature
def unknown_fields() -> ModelProto:
    model = parse()
    model.graph.node[0].MergeFromString(UNKNOWN_FIELD)
    model.graph.node[1].attribute.add(name="a", type=AttributeProto.INT).MergeFromString(
        UNKNOWN_FIELD
    )
    model.graph.input[0].MergeFromString(UNKNOWN_FIELD)
    model.graph.initializer.append(weight("w", 1))
    model.graph.initializer[0].MergeFromString(UNKNOWN_FIELD)
    model.graph.MergeFromString(UNKNOWN_FIELD)
    return ModelProto.FromString(model.SerializeToString() + UNKNOWN_FIELD)


@feature
def dimension_denotation() -> ModelProto:
    model = parse()
    for info in (*model.graph.input, *model.graph.output):
        info.type.denotation = "IMAGE"
        for dim, name in zip(info.type.tensor_type.shape.dim, ("DATA_BATCH", ""), strict=True):
            dim.denotation = name
    model.graph.output[0].type.tensor_type.shape.dim[1].Clear()
    return model


@feature
def unknown_rank() -> ModelProto:
    model = parse()
    for info in (*model.graph.input, *model.graph.output):
        info.type.tensor_type.ClearField("shape")
    model.graph.value_info.append(helper.make_tensor_value_info("h", 1, []))
    return model


@feature
def ir_version_3() -> ModelProto:
    model = parse(
        "g (float[2,3] x, float[3] w) => (float[2,3] y) { y = Add (x, w) }",
        '<ir_version: 3, opset_import: ["" : 13]>\n',
    )
    model.graph.initializer.append(weight("w", 3))
    return model


@feature
def overridable_initializers() -> ModelProto:
    model = parse("g (float[3] w, float[2,3] x) => (float[2,3] y) { y = Add (x, w) }")
    model.graph.initializer.extend([weight("w", 3), weight("unused", 2)])
    return model


@feature
def values_in_every_field() -> ModelProto:
    model = parse()
    kinds: dict[TensorProto.DataType, Any] = {
        TensorProto.INT4: [1, -8, 7],
        TensorProto.UINT4: [15, 0, 1],
        TensorProto.BFLOAT16: [1.0, -0.0, float("inf")],
        TensorProto.FLOAT8E4M3FN: [1.0, -0.5, 448.0],
        TensorProto.FLOAT16: [float("nan"), 6e-8, 65504.0],
        TensorProto.COMPLEX64: [1 + 2j, -0j, 3j],
        TensorProto.UINT64: [2**64 - 1, 0, 1],
        TensorProto.BOOL: [True, False, True],
        TensorProto.STRING: ["ä", "", "b"],
    }
    for kind, values in kinds.items():
        name = TensorProto.DataType.Name(kind)
        model.graph.initializer.append(helper.make_tensor(name, kind, [3], values))
    model.graph.initializer.append(helper.make_tensor("empty", TensorProto.FLOAT, [0, 4], []))
    nan = TensorProto(name="payload", data_type=TensorProto.FLOAT, dims=[1])
    nan.raw_data = b"\x01\x00\xa0\x7f"  # a signalling NaN, which arithmetic would quieten
    model.graph.initializer.append(nan)
    return model


@feature
def omitted_inputs_and_outputs() -> ModelProto:
    model = parse(
        "g (float[1,1,4,4] x, float[4] s) => (float[1,1,8,8] y, int64[1,1,3,3] i, float[3] z) {"
        " y = Resize <mode = 'linear'> (x, , s)  , i = MaxPool <kernel_shape = [2, 2]> (x)"
        " z, = TopK (q, k) d, = Dropout (x) }".replace("'", '"').replace("s)  , i", "s) ,i")
    )
    model.graph.node[1].output[:] = ["", "i"]
    model.graph.node[2].output[:] = ["z", ""]
    model.graph.node[3].output[:] = ["d", ""]
    model.graph.initializer.extend(
        [weight("q", 5), numpy_helper.from_array(np.array([3], np.int64), "k")]
    )
    return model


@feature
def odd_outputs() -> ModelProto:
    model = parse("g (float[2,3] x, float[2] unused) => (float[2,3] y) { y = Abs (x) }")
    model.graph.initializer.append(weight("w", 2))
    model.graph.output.extend(
        [
            helper.make_tensor_value_info("x", 1, [2, 3]),
            helper.make_tensor_value_info("w", 1, [2]),
        ]
    )
    for node in model.graph.node:
        node.name = ""
    return model


def branch(name: str, output: str, *nodes: NodeProto) -> GraphProto:
    """Return a body without inputs."""
    return helper.make_graph(
        list(nodes), name, [], [helper.make_tensor_value_info(output, 1, ["n", 3])]
    )


@feature
def initializers_shared_by_nested_branches() -> ModelProto:
    """The main graph, two branches and a branch of a branch use one weight; two have their own."""
    model = parse("g (float[2,3] x, bool c) => (float[2,3] y) { h = Add (x, w) }")
    inner = helper.make_node(
        "If",
        ["c"],
        ["t"],
        then_branch=branch("inner_then", "a", helper.make_node("Mul", ["h", "w"], ["a"])),
        else_branch=branch("inner_else", "a", helper.make_node("Sub", ["own", "w"], ["a"])),
    )
    then = branch("then", "u", inner, helper.make_node("Add", ["t", "w"], ["u"]))
    then.initializer.append(weight("own", 2, 3))
    then.doc_string = "a branch"
    add_metadata(then)
    add_metadata(then.node[0])
    other = branch("else", "u", helper.make_node("Div", ["own", "w"], ["u"]))
    other.initializer.append(weight("own", 2, 3))
    node = helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other, name="outer")
    model.graph.node.append(node)
    model.graph.initializer.append(weight("w", 3))
    return model


@feature
def an_unsorted_file_with_captures() -> ModelProto:
    """The branch uses a value whose producer comes later in the file."""
    model = parse("g (float[2,3] x, bool c) => (float[2,3] y) { k = Neg (h) h = Abs (x) }")
    node = helper.make_node(
        "If",
        ["c"],
        ["y"],
        then_branch=branch("then", "a", helper.make_node("Relu", ["h"], ["a"])),
        else_branch=branch("else", "a", helper.make_node("Exp", ["k"], ["a"])),
    )
    model.graph.node.insert(0, node)
    return model


@feature
def a_loop_with_the_names_of_others() -> ModelProto:
    return parse(
        "g (int64 n, bool c, float[2] x) => (float[2] y, float[k,2] all) {"
        " y, all = Loop (n, c, x) < body = b (int64 i, bool go, float[2] s)"
        " => (bool more, float[2] r, float[2] each)"
        " { more = Identity (go) r = Add (s, x) each = Identity (s) } > }"
    )


@feature
def a_random_operator_and_explicit_defaults() -> ModelProto:
    return parse(
        "g (float[2,3] x) => (float[2,3] y) {"
        " r = RandomNormal <shape = [2, 3], seed = 3.0> ()"
        " t = Transpose <perm = [1, 0]> (r) u = Transpose <perm = [1, 0]> (t)"
        " i = Identity (u) y = Add (x, i) }"
    )


@feature
def constants_of_every_form() -> ModelProto:
    model = parse(
        "g () => (float y, int64[2] i, string[1] s, float[2] t, float[4] p) {"
        " y = Constant <value_float = 1.5> () i = Constant <value_ints = [1, 2]> ()"
        ' s = Constant <value_strings = ["a"]> () t = Constant <value = float[2] {1, 2}> () }'
    )
    sparse = helper.make_sparse_tensor(
        weight("", 1), numpy_helper.from_array(np.array([2], np.int64), ""), [4]
    )
    model.graph.node.append(helper.make_node("Constant", [], ["p"], sparse_value=sparse))
    return model


@feature
def nothing_at_all() -> ModelProto:
    return ModelProto(
        ir_version=9,
        opset_import=[helper.make_opsetid("", 13)],
        graph=GraphProto(name="with no node, input or output"),
    )


def external_data_model(location: str) -> ModelProto:
    """Return a model whose weight of 24 bytes lies at byte 8 of another file."""
    model = parse("g (float[2,3] x) => (float[2,3] y) { y = Add (x, w) }")
    tensor = weight("w", 2, 3)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", "8"), ("length", "24"), ("own", "kept")):
        tensor.external_data.add(key=key, value=value)
    model.graph.initializer.append(tensor)
    return model

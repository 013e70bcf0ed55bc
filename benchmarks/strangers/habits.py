"""The habits of made-up engines, drawn by seed, and the profile of one whose habits are known."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

from graphfix.engines.common_rules import main_type
from graphfix.engines.measured import operator_rows, profile_table
from graphfix.engines.measured_traits import JOINED
from graphfix.ir.schemas import form_of
from graphfix.learning.contrib import MODELS
from graphfix.learning.questions import OLDEST, entries, forms_in

_NAMES = {"INT64": "int64", "INT32": "int32", "BOOL": "bool", "FLOAT16": "float16"}


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# What no network can be written without.
_CORE = _words(
    "Add Mul Sub Div Conv MatMul Reshape Transpose Relu Constant Identity Cast Concat Gather Slice "
    "Shape Unsqueeze"
)
# Values that are not the defaults: what is not written is not a form of its own.
_FORMS = (
    ("Concat", "axis", "-1"), ("Gather", "axis", "1"), ("ReduceMean", "keepdims", "0"),
    ("ReduceSum", "keepdims", "0"), ("ReduceMax", "keepdims", "0"), ("Gemm", "transB", "1"),
    ("Gemm", "transA", "1"), ("Flatten", "axis", "0"), ("Pad", "mode", "reflect"),
    ("Pad", "mode", "edge"), ("ArgMax", "keepdims", "0"), ("Resize", "mode", "linear"),
    ("Resize", "mode", "cubic"), ("Resize", "coordinate_transformation_mode", "align_corners"),
    ("MaxPool", "ceil_mode", "1"), ("AveragePool", "ceil_mode", "1"), ("CumSum", "exclusive", "1"),
    ("TopK", "largest", "0"), ("ScatterND", "reduction", "add"), ("Softmax", "axis", "1"),
    ("DepthToSpace", "mode", "CRD"), ("GridSample", "align_corners", "1"), ("Mod", "fmod", "1"),
    ("Split", "axis", "-1"), ("Trilu", "upper", "0"), ("Gelu", "approximate", "tanh"),
)  # fmt: skip
_TYPED = _words("Add Mul Sub Concat Gather Where Equal Less Greater Slice Expand Squeeze Unsqueeze")
_RANKED = _words("Softmax MatMul Transpose Add Mul ReduceMean Concat LayerNormalization")
_LISTS = (
    ("Conv", "dilations", "even"), ("Conv", "strides", "even"), ("Conv", "pads", "even"),
    ("Conv", "dilations", "uneven"), ("Conv", "strides", "uneven"), ("Conv", "pads", "uneven"),
    ("MaxPool", "pads", "even"), ("MaxPool", "strides", "uneven"), ("AveragePool", "pads", "even"),
    ("ConvTranspose", "pads", "even"), ("MaxPool", "dilations", "even"),
    ("ConvTranspose", "output_padding", "even"), ("ConvTranspose", "dilations", "even"),
    ("Gemm", "alpha", "other"), ("LayerNormalization", "epsilon", "other"),
)  # fmt: skip
_INPUTS = (
    ("Conv", "B", "missing"), ("Gemm", "C", "missing"), ("LayerNormalization", "B", "missing"),
    ("Clip", "max", "missing"), ("Clip", "min", "missing"), ("Slice", "axes", "missing"),
    ("Pad", "constant_value", "given"), ("LSTM", "B", "missing"), ("LSTM", "initial_h", "given"),
    ("GRU", "initial_h", "given"), ("LSTM", "sequence_lens", "given"), ("GRU", "B", "missing"),
    ("Slice", "steps", "given"), ("ConvTranspose", "B", "missing"),
)  # fmt: skip
_PAIRS = (
    ("Resize", ("mode", "linear"), ("coordinate_transformation_mode", "align_corners")),
    ("Resize", ("mode", "nearest"), ("coordinate_transformation_mode", "half_pixel")),
    ("Gemm", ("transA", "1"), ("transB", "1")), ("MaxPool", ("ceil_mode", "1"), ("pads", "even")),
    ("Conv", ("strides", "even"), ("pads", "even")), ("Softmax", ("axis", "1"), ("rank", "3")),
    ("Conv", ("strides", "even"), ("pads", "uneven")), ("Softmax", ("axis", "-1"), ("rank", "4")),
    ("ReduceMean", ("keepdims", "0"), ("rank", "4")), ("Add", ("T", "INT64"), ("rank", "1")),
    ("Mul", ("T", "INT64"), ("rank", "1")), ("Concat", ("axis", "-1"), ("rank", "2")),
    ("ConvTranspose", ("strides", "even"), ("pads", "even")),
    ("Flatten", ("axis", "1"), ("rank", "4")),
)  # fmt: skip
_CONTRIB = tuple(MODELS)
_WRONG = (
    *((op, "", "") for op in ("LeakyRelu", "HardSigmoid", "LayerNormalization", "ReduceL2")),
    *((op, "", "") for op in ("Clip", "Pow", "Softplus", "Sqrt", "Erf", "Neg", "Floor", "Tanh")),
    *((op, "", "") for op in ("Elu", "Gelu", "HardSwish", "InstanceNormalization", "Sigmoid")),
    *(form for form in _FORMS if form[0] not in ("ArgMax", "TopK", "Concat", "Gather")),
)


def habits_of(seed: int) -> dict[str, Any]:
    """Return the habits of the engine of a seed, as its program reads them."""
    rng = random.Random(f"stranger {seed}")
    opset = rng.randint(13, 22)
    operators = [e.op for e in entries() if e.op not in _CORE and _is_in(opset, e.op)]
    wrong = rng.sample([form for form in _WRONG if _is_in(opset, form[0], form[1])], 3)
    refused = sorted(set(rng.sample(operators, 12)) - {op for op, *_ in wrong})
    forms = [form for form in _FORMS if _is_in(opset, form[0], form[1])]
    taken = [form for form in forms if form not in wrong and form[0] not in refused]
    lists = [each for each in _LISTS if each[0] not in refused and _is_in(opset, each[0])]
    inputs = [each for each in _INPUTS if each[0] not in refused and _is_in(opset, each[0])]
    pairs = [each for each in _PAIRS if each[0] not in refused and _is_in(opset, each[0])]
    return {
        "operators": refused,
        "forms": [list(form) for form in rng.sample(taken, 5)],
        "types": [[op, rng.choice(list(_NAMES))] for op in rng.sample(_TYPED, 3)],
        "ranks": [[op, rng.randint(3, 5)] for op in rng.sample(_RANKED, 2)],
        "opset": opset,
        "ir": rng.choice([8, 9, 10]),
        "static": rng.random() < 0.5,
        "wrong": [list(form) for form in wrong],
        "words": [list(each) for each in (*rng.sample(lists, 2), *rng.sample(inputs, 2))],
        "pairs": [[op, *map(list, both)] for op, *both in rng.sample(pairs, 2)],
        "narrow": rng.sample(_CORE, 4),
        "contrib": rng.sample(_CONTRIB, len(_CONTRIB) // 2),
    }


def _is_in(opset: int, op: str, attribute: str = "") -> bool:
    """Say whether the newest models that an engine reads can have a form."""
    form = form_of(op, opset)
    if form is None or form.schema.deprecated:
        return False
    return not attribute or attribute in form.attributes


def profile_of(name: str, habits: dict[str, Any]) -> dict[str, Any]:
    """Return the profile that says of an engine what its habits are, and nothing else."""
    tables: dict[str, dict[str, dict[str, list[str]]]] = {"refused": {}, "wrong": {}}

    def say(table: str, op: str, kind: str = "", value: str = "") -> None:
        for since in forms_in(op, OLDEST, habits["opset"]):
            kinds = tables[table].setdefault(f"{op} {since}", defaultdict(list))
            if kind:
                kinds[kind].append(value)

    for op, value in habits["types"]:
        say("refused", op, main_type(form_of(op, habits["opset"])), _NAMES[value])
    for op, rank in habits["ranks"]:
        say("refused", op, "rank", str(rank))
    for op, attribute, value in habits["forms"]:
        say("refused", op, attribute, value)
    for op, trait, word in habits["words"]:
        say("refused", op, trait, word)
    for op, *both in habits["pairs"]:
        main = str(main_type(form_of(op, habits["opset"])))
        names = [main if name == "T" else str(name) for name, _ in both]
        say(
            "refused",
            op,
            JOINED.join(names),
            JOINED.join(_NAMES.get(str(w), str(w)) for _, w in both),
        )
    for op in habits["narrow"]:
        say("refused", op, main_type(form_of(op, habits["opset"])), "bfloat16")
    for op in habits["operators"]:
        for since in forms_in(op, OLDEST, habits["opset"]):
            tables["refused"][f"{op} {since}"] = {}
    for op, attribute, value in habits["wrong"]:
        say("wrong", op, attribute, value)
    return profile_table(
        name,
        "1.0",
        operator_rows(tables["refused"], tables["wrong"], habits["opset"]),
        habits["opset"],
        title=f"{name} 1.0",
        source="made up",
        opset={"min": OLDEST, "max": habits["opset"], "rejects_above": True},
        functions=True,
        contrib=[op for op in _CONTRIB if op not in habits["contrib"]],
        static_shapes=habits["static"],
        ir_max=habits["ir"],
    )

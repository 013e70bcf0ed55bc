"""What operators do is in one table: constants that list operators elsewhere are known."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import onnx

ROOT = Path(__file__).parents[2]
# Reason -> the constants, each after the name of its file. What an engine does with operators
# stays with the engine, what a pass writes with the pass, and neither is looked at.
ELSEWHERE = {
    "functions that compute operators": (
        "numbers.FUNCTIONS partial.FUNCTIONS work._COUNTS old_forms._MODELS old_forms._LATER"
    ),
    "what onnx propagates, and where it stops": (
        "inference._PROPAGATED shape_inference._READS_A_TYPE shape_inference._FOLLOWED"
    ),
    "steps of opsets whose forms differ in one way": (
        "later_operators._BROUGHT opset_7._BROADCASTING computed_axes._COMPOSED "
        "opset_11._ONE_AXIS widening._ROUNDED widening._WRAPPING"
    ),
    "what an engine is asked about": "constants.MODELS limits._PLAIN",
    "measured in an engine": "inexact.INEXACT_FOR_INTEGERS saturation._OPERATORS",
    "how inputs are drawn, and which are driven": (
        "draws._POSITIVE_INPUTS draws._SIGNED_UNIT_INPUTS roles.ARITHMETIC roles._SMALL "
        "parameters._OWN parameters._ARITHMETIC observed._WEIGHTS known_sizes._FILTERS "
        "telling_sizes._MEETING telling_sizes._PRODUCTS telling_sizes._TABLES "
        "telling_sizes._ENDING"
    ),
    "how an edit follows items through a graph, each form with its own condition": (
        "arithmetic.ARITHMETIC arithmetic._ELEMENTWISE moving.MOVING moving._REDUCTIONS "
        "numbers._ELEMENTWISE numbers._MOVING masked._SUMS thin_weights._CARRIES heads._JOINED "
        "heads._ARITHMETIC"
    ),
    "what engines take for numbers of shapes": (
        "shape_only_values._ARRANGES shape_only_values._COUNTS"
    ),
    "how a broken file is read, a second time and apart": "promoting._ARITHMETIC",
    "what engines fuse with DequantizeLinear": (
        "integer_products._FLOATS integer_products._INTEGERS integer_products._MOVES"
    ),
    "what makes no small part to prove": "evidence._NO_CONTEXT",
    "how a product is added up term by term, and what is computed for a sum alone": (
        "narrow_sums._PRODUCTS target._SUMMED"
    ),
    "kernels that carry NaN as IEEE 754 does": "inside._CARRIES_NAN",
    "what one pass takes, or one family": (
        "evidence.BYTE_MOVES fold_constants.NEVER _activation._PLAIN _activation._NAMED "
        "_following._ALONG _following._REDUCING _following._HANDLERS _floats._NAMED "
        "_floats._KEEPING _signs._LEAKING bools_to_floats._LOGIC "
        "_integers.WRAPPING _integers.KEEPING _integers.ENDS _integers.FORMED "
        "bitwise_to_bits._OPERATORS bool_by_int32._TAKEN loop_unrolling._SEQUENCES "
        "_parameters.EMITTED _qoperators.WRITTEN bytes_cast_early._MOVES random_in_float32._OPS "
        "random_like_to_random._PLAIN _matching._REDUCERS reduce_axes_explicit.OPS "
        "reduction_of_nothing._ZERO through_wider_types._WHOLE through_wider_types._OF_UINT64 "
        "unset_inputs_left_out.OPS vectors_as_rows._OPS "
        "if_to_where._TOTAL if_to_where._WITH_CONSTANTS _activations._PLAIN "
        "_activations._OPERATORS "
        "texts_to_class_numbers._MOVES squeeze_axes_by_reader._RANKS comparison_of_expanded.OPS "
        "attribute_defaults_explicit._LEFT_OUT quantized_constant_to_quantizelinear._OPERATORS "
        "aten_comparison._TABLE aten_reduction._TABLE aten_segment_reduce._OPERATORS "
        "fewer_dimensions._COMBINING fewer_dimensions._EACH fewer_dimensions._REDUCING "
        "pairwise.EMITS_OF_ANY_SIZE constants_of_equal_rank._OPS tanh_between_negations._JOINED "
        "scatternd_of_grid_to_where._BY_ELEMENT _signs._LIMITING _signs._PASSING "
        "powers_of_two_past_weights._SCALED_ALIKE powers_of_two_past_weights._SUMS "
        "_reading.PRODUCTS qoperator_to_qdq._WRITERS "
        "equal_batches_to_one._PAIRS grid_in_pixels_apart._ARITHMETIC integers_to_floats._CHOOSING "
        "nms_slice_to_count._SOURCES operand_constants_apart._OPERATORS"
    ),
}
LEAST = 4
# What begins in the first column below the docstring, unless it closes what began before.
STATEMENT = re.compile(r"^(?=[A-Za-z_@])", re.MULTILINE)
NAMED, WORD = re.compile(r"\w+(?:: [^=\n]+)? ="), re.compile(r"\w+")


def words_of(statement: ast.Assign | ast.AnnAssign) -> set[str]:
    """Return the words of the texts that a constant is made of."""
    parts = ast.walk(statement.value) if statement.value is not None else ()
    texts = (part.value for part in parts if isinstance(part, ast.Constant))
    return {word for text in texts if isinstance(text, str) for word in text.split()}


def declares_a_pass(value: ast.expr | None) -> bool:
    """Say whether a value is a pass of a family: ``FAMILY.replaced(__name__, emits=...)``."""
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr == "replaced"
    )


def assignments(text: str, known: set[str]) -> Iterator[ast.Assign | ast.AnnAssign]:
    """Yield the assignments of a module that may name operators; only these are parsed."""
    for part in STATEMENT.split(text.split('"""', 2)[-1]):
        if NAMED.match(part) and len(known.intersection(WORD.findall(part))) >= LEAST:
            for statement in ast.parse(part).body:
                if isinstance(statement, ast.Assign | ast.AnnAssign):
                    yield statement


def tables() -> Iterator[str]:
    """Yield the constants of modules that name four operators or more."""
    known = {schema.name for schema in onnx.defs.get_all_schemas_with_history()}
    apart = {ROOT / "graphfix" / name for name in ("passes", "operators", "engines")}
    for path in sorted((*ROOT.glob("graphfix/**/*.py"), *ROOT.glob("passes/**/*.py"))):
        if apart & {*path.parents}:
            continue
        for statement in assignments(path.read_text(encoding="utf-8"), known):
            if declares_a_pass(statement.value):
                continue
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            named = isinstance(target, ast.Name) and not target.id.endswith("EMITS")
            if named and len(words_of(statement) & known) >= LEAST:
                yield f"{path.stem}.{ast.unparse(target)}"


def test_no_other_constant_says_what_operators_do() -> None:
    allowed = {name for names in ELSEWHERE.values() for name in names.split()}
    found = {*tables()}
    assert found - allowed == set(), "a property of operators goes to graphfix/operators/table.py"
    assert allowed - found == set(), "these are gone and need no exception any more"

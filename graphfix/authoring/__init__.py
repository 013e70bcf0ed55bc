"""What a pass file imports: views of nodes and values, the builder, and the declarations.

The one import of passes: `from graphfix.authoring import Builder, NodeView, Refuse, rewrite`. What
lies above this package (folding, opset steps, validity) is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from graphfix.attributes import AttributeRef as AttributeRef
from graphfix.authoring.accounting import accounted as accounted
from graphfix.authoring.applying import Draft as Draft
from graphfix.authoring.aten_calls import is_none as is_none
from graphfix.authoring.aten_calls import named_among as named_among
from graphfix.authoring.aten_calls import named_by as named_by
from graphfix.authoring.aten_calls import named_in as named_in
from graphfix.authoring.aten_calls import operator_of as operator_of
from graphfix.authoring.aten_calls import overload_chosen as overload_chosen
from graphfix.authoring.aten_calls import overloads_called as overloads_called
from graphfix.authoring.aten_calls import overloads_of_arrays as overloads_of_arrays
from graphfix.authoring.automatic_pads import automatic_pads as automatic_pads
from graphfix.authoring.automatic_pads import split_pads as split_pads
from graphfix.authoring.bits import combined_bits as combined_bits
from graphfix.authoring.bits import shifted as shifted
from graphfix.authoring.buffer_outputs import buffer_output as buffer_output
from graphfix.authoring.building import Builder as Builder
from graphfix.authoring.computed_axes import among as among
from graphfix.authoring.computed_axes import chosen as chosen
from graphfix.authoring.computed_axes import late_from_front as late_from_front
from graphfix.authoring.computed_axes import (
    reduced_over_computed_axes as reduced_over_computed_axes,
)
from graphfix.authoring.computed_axes import without_axes as without_axes
from graphfix.authoring.copying import Values as Values
from graphfix.authoring.copying import copy_constants as copy_constants
from graphfix.authoring.copying import copy_nodes as copy_nodes
from graphfix.authoring.copying import value_of as value_of
from graphfix.authoring.declared_types import declared_in_symbols as declared_in_symbols
from graphfix.authoring.declared_types import leave_undeclared as leave_undeclared
from graphfix.authoring.declaring import CANONICAL as CANONICAL
from graphfix.authoring.declaring import INTERFACE as INTERFACE
from graphfix.authoring.declaring import NAMED as NAMED
from graphfix.authoring.declaring import PREPARE as PREPARE
from graphfix.authoring.declaring import InferredType as InferredType
from graphfix.authoring.declaring import Known as Known
from graphfix.authoring.declaring import Option as Option
from graphfix.authoring.declaring import graph_pass as graph_pass
from graphfix.authoring.declaring import like_first as like_first
from graphfix.authoring.declaring import rewrite as rewrite
from graphfix.authoring.editing import Editor as Editor
from graphfix.authoring.editing import Recorded as Recorded
from graphfix.authoring.editing import Refused as Refused
from graphfix.authoring.label_numbers import label_input as label_input
from graphfix.authoring.label_numbers import label_output as label_output
from graphfix.authoring.label_numbers import stacked_output as stacked_output
from graphfix.authoring.namesakes import namesakes as namesakes
from graphfix.authoring.namesakes import outer_namesake as outer_namesake
from graphfix.authoring.outer_scopes import reads_of_outer_scopes as reads_of_outer_scopes
from graphfix.authoring.padded_rows import fill_outputs as fill_outputs
from graphfix.authoring.pairwise import MOST_TERMS as MOST_TERMS
from graphfix.authoring.pairwise import combined as combined
from graphfix.authoring.pairwise import in_halves as in_halves
from graphfix.authoring.pairwise import in_quarters as in_quarters
from graphfix.authoring.pairwise import running as running
from graphfix.authoring.patterns.match import Match as Match
from graphfix.authoring.patterns.match import Unmatched as Unmatched
from graphfix.authoring.patterns.pattern import Pattern as Pattern
from graphfix.authoring.patterns.sought import Find as Find
from graphfix.authoring.patterns.sought import Sought as Sought
from graphfix.authoring.refusing import ComputedLate as ComputedLate
from graphfix.authoring.refusing import Refuse as Refuse
from graphfix.authoring.reshaping import reshaped as reshaped
from graphfix.authoring.respelling import axes_of as axes_of
from graphfix.authoring.respelling import is_optional as is_optional
from graphfix.authoring.respelling import listed as listed
from graphfix.authoring.respelling import need_elem_type as need_elem_type
from graphfix.authoring.respelling import need_rank as need_rank
from graphfix.authoring.respelling import need_rank_of as need_rank_of
from graphfix.authoring.respelling import need_type as need_type
from graphfix.authoring.respelling import operands as operands
from graphfix.authoring.respelling import respell as respell
from graphfix.authoring.sampling import Sampling as Sampling
from graphfix.authoring.sampling import grid_sampled as grid_sampled
from graphfix.authoring.sizes import FAR as FAR
from graphfix.authoring.sizes import Size as Size
from graphfix.authoring.sizes import along as along
from graphfix.authoring.sizes import counted as counted
from graphfix.authoring.sizes import from_front as from_front
from graphfix.authoring.sizes import offset as offset
from graphfix.authoring.sizes import rows_of as rows_of
from graphfix.authoring.sizes import size_of as size_of
from graphfix.authoring.sizes import sum_of as sum_of
from graphfix.authoring.sizes import times as times
from graphfix.authoring.stepped import BYTE_MOVES as BYTE_MOVES
from graphfix.authoring.stepped import is_stepped as is_stepped
from graphfix.authoring.stepped import moved_inputs as moved_inputs
from graphfix.authoring.views import Array as Array
from graphfix.authoring.views import NodeView as NodeView
from graphfix.authoring.views import Value as Value
from graphfix.authoring.windows import every_nth as every_nth
from graphfix.errors import EngineFailed as EngineFailed
from graphfix.errors import InvalidModel as InvalidModel
from graphfix.errors import PassBug as PassBug
from graphfix.exporting import export_node as export_node
from graphfix.exporting import make_info as make_info
from graphfix.graph import Constant as Constant
from graphfix.graph import Function as Function
from graphfix.graph import Graph as Graph
from graphfix.graph import Node as Node
from graphfix.graph import Shape as Shape
from graphfix.graph import Tensor as Tensor
from graphfix.graph import Variable as Variable
from graphfix.graph import is_empty as is_empty
from graphfix.graph import shape_of_type as shape_of_type
from graphfix.inference import infer_proto as infer_proto
from graphfix.inference import shapes_contradict as shapes_contradict
from graphfix.inference import type_of as type_of
from graphfix.inlining import inline as inline
from graphfix.model import Model as Model
from graphfix.operators.row import Motion as Motion
from graphfix.operators.table import COMPARISONS as COMPARISONS
from graphfix.operators.table import ELEMENTWISE as ELEMENTWISE
from graphfix.operators.table import GIVES_ELEMENTS as GIVES_ELEMENTS
from graphfix.operators.table import MAY_DRAW as MAY_DRAW
from graphfix.operators.table import MOVES_FIRST as MOVES_FIRST
from graphfix.operators.table import OPERATORS as OPERATORS
from graphfix.operators.table import PLACES as PLACES
from graphfix.operators.table import REDUCTIONS as REDUCTIONS
from graphfix.operators.table import SIZES as SIZES
from graphfix.operators.table import moving as moving
from graphfix.protos import normal_domain as normal_domain
from graphfix.report import APPROXIMATE as APPROXIMATE
from graphfix.report import EXACT as EXACT
from graphfix.report import LOSSY as LOSSY
from graphfix.report import Accuracy as Accuracy
from graphfix.report import NodeRef as NodeRef
from graphfix.schemas import form_of as form_of
from graphfix.schemas import minimal_ir as minimal_ir
from graphfix.schemas import newest_opset as newest_opset
from graphfix.shape_inference import infer_shapes as infer_shapes
from graphfix.sorting import first_misplaced as first_misplaced
from graphfix.sorting import sort_graph as sort_graph
from graphfix.storage.weights import dtype_of as dtype_of
from graphfix.storage.weights import type_name as type_name
from graphfix.written_buffers import GRADIENT_ACCUMULATOR as GRADIENT_ACCUMULATOR

if TYPE_CHECKING:
    from graphfix.folding.computed_constants import run_constants as run_constants
    from graphfix.folding.known_values import Knowledge as Knowledge
    from graphfix.folding.known_values import know as know
    from graphfix.folding.lower_bounds import lower_bound as lower_bound
    from graphfix.folding.lower_bounds import not_negative as not_negative
    from graphfix.folding.numbers import FUNCTIONS as FUNCTIONS
    from graphfix.folding.numbers import is_plain as is_plain
    from graphfix.folding.simplifying import simplified as simplified
    from graphfix.folding.upper_bounds import is_finite as is_finite
    from graphfix.folding.upper_bounds import upper_bound as upper_bound
    from graphfix.folding.whole_ranges import WholeRanges as WholeRanges
    from graphfix.opset.formats import needed_ir as needed_ir
    from graphfix.opset.stepping import StepBlocked as StepBlocked
    from graphfix.opset.stepping import move_to as move_to
    from graphfix.opset.verdicts import Verdict as Verdict
    from graphfix.opset.verdicts import verdict_of as verdict_of
    from graphfix.pytorch.call import SCALAR_TYPES as SCALAR_TYPES
    from graphfix.pytorch.call import Argument as Argument
    from graphfix.pytorch.call import OperatorCall as OperatorCall
    from graphfix.pytorch.call import has_pytorch as has_pytorch
    from graphfix.pytorch.running import run_in_pytorch as run_in_pytorch
    from graphfix.pytorch.translation import translated as translated
    from graphfix.validity.complaint import Complaint as Complaint
    from graphfix.validity.declarations import contradicts as contradicts
    from graphfix.validity.declarations import repeated_declarations as repeated_declarations
    from graphfix.validity.forms import fits as fits
    from graphfix.validity.forms import form_complaints as form_complaints

HOMES = {
    "SCALAR_TYPES": "graphfix.pytorch.call",
    "Argument": "graphfix.pytorch.call",
    "OperatorCall": "graphfix.pytorch.call",
    "has_pytorch": "graphfix.pytorch.call",
    "run_in_pytorch": "graphfix.pytorch.running",
    "translated": "graphfix.pytorch.translation",
    "is_finite": "graphfix.folding.upper_bounds",
    "upper_bound": "graphfix.folding.upper_bounds",
    "WholeRanges": "graphfix.folding.whole_ranges",
    "lower_bound": "graphfix.folding.lower_bounds",
    "not_negative": "graphfix.folding.lower_bounds",
    "Knowledge": "graphfix.folding.known_values",
    "know": "graphfix.folding.known_values",
    "FUNCTIONS": "graphfix.folding.numbers",
    "is_plain": "graphfix.folding.numbers",
    "run_constants": "graphfix.folding.computed_constants",
    "simplified": "graphfix.folding.simplifying",
    "needed_ir": "graphfix.opset.formats",
    "StepBlocked": "graphfix.opset.stepping",
    "move_to": "graphfix.opset.stepping",
    "Verdict": "graphfix.opset.verdicts",
    "verdict_of": "graphfix.opset.verdicts",
    "Complaint": "graphfix.validity.complaint",
    "contradicts": "graphfix.validity.declarations",
    "repeated_declarations": "graphfix.validity.declarations",
    "fits": "graphfix.validity.forms",
    "form_complaints": "graphfix.validity.forms",
}

if not TYPE_CHECKING:  # a type checker would take any name for an offered one

    def __getattr__(name: str) -> object:
        """Import a name of a higher layer on first use."""
        home = HOMES.get(name)
        if home is None:
            raise AttributeError(f"module 'graphfix.authoring' has no attribute {name!r}")
        return getattr(import_module(home), name)

"""The views of nodes and values that passes get; `graphfix.views` has them."""

from graphfix.views import Array as Array
from graphfix.views import NodeView as NodeView
from graphfix.views import Value as Value
from graphfix.views import constant_node_array as constant_node_array

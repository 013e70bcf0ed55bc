"""tract as an engine family."""

from __future__ import annotations

import re
from types import MappingProxyType

from graphfix.engines.engine import Engine

# "Failed analyse for node #8 "name" Range", "Translating node #5 "name" Unimplemented(Loop) To..."
_NAMED = re.compile(r'node #\d+ "(?P<name>[^"]*)"(?: Unimplemented\((?P<op>\w+)\))?')
_EVALUATED = re.compile(r'(?:Evaluating|Eager eval) #\d+ "(?P<name>[^"]*)"')
_BUILT = re.compile(r"Building node (?P<name>\S+) \((?P<op>\w+)\)")


class Tract(Engine):
    """Sonos's tract, by its wheel for Python."""

    family = "tract"
    title = "tract"
    order = 12
    wants_sizes = True
    requirements = MappingProxyType({"tract0.23": ("tract==0.23.9", "numpy")})
    blaming = (_BUILT, _NAMED, _EVALUATED)

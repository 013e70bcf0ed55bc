"""How a pass says no; `graphfix.refusing` has it."""

from graphfix.refusing import ComputedLate as ComputedLate
from graphfix.refusing import Refuse as Refuse

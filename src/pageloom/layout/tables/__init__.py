"""Tables: ruled ones from geometry, the others by a structure model or from the alignment of their text."""

from pageloom.layout.tables.build import FoundTable
from pageloom.layout.tables.find import FoundForm, TableTools, find_forms, find_tables

__all__ = ["FoundForm", "FoundTable", "TableTools", "find_forms", "find_tables"]

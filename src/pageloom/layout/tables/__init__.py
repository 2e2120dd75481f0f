"""Tables: ruled ones from geometry, the others by a structure model or from the alignment of their text."""

from pageloom.layout.tables.build import FoundTable
from pageloom.layout.tables.find import Findings, FoundForm, TableTools, find_forms, find_tables, study

__all__ = ["Findings", "FoundForm", "FoundTable", "TableTools", "find_forms", "find_tables", "study"]

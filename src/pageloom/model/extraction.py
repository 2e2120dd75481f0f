"""A document as fields, each with its evidence; the types that recipes (part 7) and exporters share."""

from pageloom.model.blocks import Kept
from pageloom.model.geometry import Region


class Evidence(Kept):
    """Where a value stands: block, regions and the words as printed."""

    block: str
    regions: tuple[Region, ...]
    quote: str


class FieldValue(Kept):
    """A named value in normal form, or None; never a value without evidence."""

    name: str
    value: str | None = None
    evidence: tuple[Evidence, ...] = ()


class Extraction(Kept):
    """All fields that one recipe found in one document."""

    recipe: str
    fields: tuple[FieldValue, ...] = ()

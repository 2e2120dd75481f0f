"""A block in the making."""

from dataclasses import dataclass, field

from pageloom.layout.pieces import Island, Piece, around
from pageloom.layout.rows import Row


@dataclass(slots=True, eq=False)
class Draft:
    """A block in the making: its rows in reading order, or its island, and what kind it seems to be.

    Attributes:
        parent: the draft it belongs to (a caption's figure).
        column: number of the column it stands in, in reading order; drafts of one column follow each other.
    """

    rows: list[Row] = field(default_factory=list)
    kind: str = "paragraph"
    island: Island | None = None
    level: int = 1
    marker: str = ""
    depth: int = 0
    column: int = 0
    parent: "Draft | None" = None
    notes: tuple[str, ...] = ()

    @property
    def pieces(self) -> list[Piece]:
        """All lines, in reading order."""
        if self.island is not None:
            return [one for piece in self.island.inside for one in piece.single()]
        return [one for row in self.rows for piece in row.pieces for one in piece.single()]

    @property
    def text(self) -> str:
        """Its rows with spaces between them; for judging only."""
        return " ".join(row.text for row in self.rows)

    @property
    def place(self) -> tuple[float, float, float, float]:
        """Rectangle around it, points."""
        if self.island is not None:
            return self.island.x0, self.island.y0, self.island.x1, self.island.y1
        return around(self.rows)

    @property
    def em(self) -> float:
        """Letter height in points: of the row with most text."""
        return max(self.rows, key=lambda row: len(row.text)).em if self.rows else 10.0

    @property
    def bold(self) -> bool:
        """Whether the text layer calls all of it bold."""
        return bool(self.rows) and all(row.bold for row in self.rows)

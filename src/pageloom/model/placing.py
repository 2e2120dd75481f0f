"""Blocks read in one frame (an upright, deskewed, cropped image) put into another (the page as shown)."""

from collections.abc import Iterable
from dataclasses import replace

from pageloom.model.blocks import Block, Cell, Line, Table
from pageloom.model.geometry import Placement, Region

IDENTITY = Placement()


def placed(blocks: Iterable[Block], placement: Placement) -> tuple[Block, ...]:
    """The same blocks with every box mapped by `placement` (regions, lines, words, cells)."""
    if placement == IDENTITY:
        return tuple(blocks)
    return tuple(_placed(block, placement) for block in blocks)


def _placed(block: Block, placement: Placement) -> Block:
    changes: dict[str, object] = {
        "regions": _regions(block.regions, placement),
        "lines": tuple(placed_line(line, placement) for line in block.lines),
    }
    if isinstance(block, Table):
        changes["cells"] = tuple(_cell(cell, placement) for cell in block.cells)
    return block.model_copy(update=changes)


def _cell(cell: Cell, placement: Placement) -> Cell:
    lines = tuple(placed_line(line, placement) for line in cell.lines)
    return cell.model_copy(update={"regions": _regions(cell.regions, placement), "lines": lines})


def _regions(regions: tuple[Region, ...], placement: Placement) -> tuple[Region, ...]:
    return tuple(replace(region, box=placement.box(region.box)) for region in regions)


def placed_line(line: Line, placement: Placement) -> Line:
    """A line and its words, mapped."""
    words = tuple(replace(word, box=placement.box(word.box)) for word in line.words)
    return replace(line, box=placement.box(line.box), words=words)

"""Ids of blocks, lines and cells: from their place in the reading order, so a second run gives the same ones."""

from collections.abc import Iterable
from dataclasses import replace

from pageloom.model.blocks import Block, Cell, Line, Table


def block_id(page: int, order: int) -> str:
    """Id of the block at a place in a page's reading order (from 0)."""
    return f"p{page}-b{order + 1}"


def numbered(page: int, blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Blocks in reading order with their final ids and orders; `parent` links between them are carried over."""
    several = list(blocks)
    ids = {block.id: block_id(page, order) for order, block in enumerate(several) if block.id}
    return tuple(
        _named(block, block_id(page, order), order, ids.get(block.parent or "")) for order, block in enumerate(several)
    )


def _named(block: Block, name: str, order: int, parent: str | None) -> Block:
    changes: dict[str, object] = {
        "id": name,
        "order": order,
        "parent": parent,
        "lines": _lines(name, block.lines),
    }
    if isinstance(block, Table):
        changes["cells"] = tuple(_cell(name, cell) for cell in block.cells)
    return block.model_copy(update=changes)


def _cell(table: str, cell: Cell) -> Cell:
    name = f"{table}-r{cell.row + 1}c{cell.column + 1}"
    return cell.model_copy(update={"id": name, "lines": _lines(name, cell.lines)})


def _lines(owner: str, lines: tuple[Line, ...]) -> tuple[Line, ...]:
    return tuple(replace(line, id=f"{owner}-l{n}") for n, line in enumerate(lines, 1))

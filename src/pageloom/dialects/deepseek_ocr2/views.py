"""How an image is cut into views, and what that costs: equal to vLLM's own processor for every size (property test).

Source: `dynamic_preprocess` of the official repository (`process/image_process.py`), kept in vLLM as strategy "v2".
"""

from typing import NamedTuple

TILE_PX = 768
GLOBAL_PX = 1024
MIN_TILES, MAX_TILES = 2, 6
TOKENS_PER_TILE = 144  # README of DeepSeek-OCR-2: "(0-6)x144 + 256 visual tokens": (768 / 16 / 4) squared
GLOBAL_TOKENS = 256  # (1024 / 16 / 4) squared
SEPARATOR_TOKENS = 1


class Tiling(NamedTuple):
    """Columns and rows of tiles; 1 x 1 means the global view only."""

    columns: int
    rows: int

    @property
    def tiles(self) -> int:
        """Local views beside the global one, 0 to 6."""
        count = self.columns * self.rows
        return count if count > 1 else 0


WAYS = ((1, 2), (2, 1), (3, 1), (1, 3), (4, 1), (1, 4), (2, 2), (1, 5), (5, 1), (6, 1), (2, 3), (1, 6), (3, 2))
"""Every grid of 2 to 6 tiles, in the order in which the official code tries them: ties go by it."""


def tiling(width: int, height: int, tile_px: int = TILE_PX) -> Tiling:
    """The grid for an image of this size in pixels: nearest aspect ratio; of equals the larger if pixels suffice."""
    if width <= tile_px and height <= tile_px:
        return Tiling(1, 1)
    wanted = width / height
    best, nearest = (1, 1), float("inf")
    for columns, rows in WAYS:
        distance = abs(wanted - columns / rows)
        large_enough = width * height > 0.5 * tile_px * tile_px * columns * rows
        if distance < nearest or (distance == nearest and large_enough):
            best, nearest = (columns, rows), distance
    return Tiling(*best)


def visual_tokens(width: int, height: int) -> int:
    """Prompt tokens that an image of this size in pixels costs, 257 to 1121."""
    return TOKENS_PER_TILE * tiling(width, height).tiles + GLOBAL_TOKENS + SEPARATOR_TOKENS

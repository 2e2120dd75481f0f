"""DeepSeek-OCR (the first one): tiles of 640 px, rows of visual tokens that end in a line break each."""

from collections.abc import Mapping
from typing import ClassVar

from pageloom.contracts import Canary, ImageSize, Prompt, Reader
from pageloom.dialects.deepseek_ocr2 import SPECIAL_TOKENS
from pageloom.dialects.deepseek_ocr2.canary import canary
from pageloom.dialects.deepseek_ocr2.decoding import CONTEXT_TOKENS, PROMPT_TOKENS
from pageloom.dialects.deepseek_ocr2.grounding import GroundedReader
from pageloom.dialects.deepseek_ocr2.prompts import prompt_text
from pageloom.dialects.deepseek_ocr2.views import Tiling, tiling
from pageloom.errors import SettingsError
from pageloom.model.reading import Ask, Decoding

TILE_PX = 640  # official config.py, mode "Gundam": base_size 1024, image_size 640, crop_mode True
TILE_SIDE = 10  # 640 / 16 / 4 tokens
GLOBAL_SIDE = 16  # 1024 / 16 / 4 tokens
NGRAM, NGRAM_WINDOW = 30, 90  # official run_dpsk_ocr_image.py and vLLM's recipe for DeepSeek-OCR
CELL_TOKENS = (128821, 128822)
TASKS = frozenset({"markdown", "text", "figure", "locate"})


def visual_tokens(grid: Tiling) -> int:
    """Prompt tokens of an image: every row of tokens ends with one for the line break, the views with a separator."""
    local = grid.rows * TILE_SIDE * (grid.columns * TILE_SIDE + 1) if grid.tiles else 0
    return GLOBAL_SIDE * (GLOBAL_SIDE + 1) + local + 1


class DeepseekOcr:
    """How DeepSeek-OCR is spoken to; it answers in the same marks as its successor."""

    name: ClassVar[str] = "deepseek_ocr"
    model: ClassVar[str] = "deepseek-ai/DeepSeek-OCR"
    special_tokens: ClassVar[Mapping[str, int]] = SPECIAL_TOKENS
    untiled_px: ClassVar[int] = TILE_PX
    context_tokens: ClassVar[int] = CONTEXT_TOKENS

    def canary(self) -> Canary:
        """The known page."""
        return canary()

    def ask(self, ask: Ask, size: ImageSize) -> Prompt:
        """The prompt for a task; free questions were not among what this model was trained on."""
        if ask.task not in TASKS:
            raise SettingsError(
                f"dialect {self.name!r} does not know the task {ask.task!r}: {', '.join(sorted(TASKS))}"
            )
        grid = tiling(size.width, size.height, TILE_PX)
        tokens = visual_tokens(grid)
        decoding = Decoding(
            max_output_tokens=CONTEXT_TOKENS - tokens - PROMPT_TOKENS,
            ngram=NGRAM,
            ngram_window=NGRAM_WINDOW,
            whitelist=CELL_TOKENS,
        )
        return Prompt(prompt_text(ask), tokens, decoding, grid.tiles)

    def reader(self, number: int, ask: Ask, size: ImageSize) -> Reader:  # noqa: ARG002 - boxes are fractions already
        """A fresh reader for one answer about page `number`."""
        return GroundedReader(number, ask)


DIALECT = DeepseekOcr()

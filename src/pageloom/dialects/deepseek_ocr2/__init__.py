"""DeepSeek-OCR-2: grounded Markdown from tiles of 768 px and a global view of 1024 px."""

from collections.abc import Mapping
from typing import ClassVar

from pageloom.contracts import Canary, ImageSize, Prompt, Reader
from pageloom.dialects.deepseek_ocr2.canary import canary
from pageloom.dialects.deepseek_ocr2.decoding import CONTEXT_TOKENS, defaults
from pageloom.dialects.deepseek_ocr2.grounding import GroundedReader
from pageloom.dialects.deepseek_ocr2.prompts import IMAGE, prompt_text
from pageloom.dialects.deepseek_ocr2.views import TILE_PX, tiling, visual_tokens
from pageloom.model.reading import Ask

SPECIAL_TOKENS = {
    "<｜begin▁of▁sentence｜>": 0,
    "<｜end▁of▁sentence｜>": 1,
    IMAGE: 128815,
    "<|ref|>": 128816,
    "<|/ref|>": 128817,
    "<|det|>": 128818,
    "<|/det|>": 128819,
    "<|grounding|>": 128820,
    "<td>": 128821,
    "</td>": 128822,
}
"""128815, 128821 and 128822 stand in the official code; the others are asserted against the tokenizer at start."""


class DeepseekOcr2:
    """How DeepSeek-OCR-2 is spoken to."""

    name: ClassVar[str] = "deepseek_ocr2"
    model: ClassVar[str] = "deepseek-ai/DeepSeek-OCR-2"
    special_tokens: ClassVar[Mapping[str, int]] = SPECIAL_TOKENS
    untiled_px: ClassVar[int] = TILE_PX
    context_tokens: ClassVar[int] = CONTEXT_TOKENS

    def canary(self) -> Canary:
        """The known page."""
        return canary()

    def ask(self, ask: Ask, size: ImageSize) -> Prompt:
        """The prompt for a task. BOS and the image come first; engines send them their own way."""
        tokens = visual_tokens(size.width, size.height)
        return Prompt(
            text=prompt_text(ask),
            visual_tokens=tokens,
            decoding=defaults(tokens),
            tiles=tiling(size.width, size.height).tiles,
        )

    def reader(self, number: int, ask: Ask, size: ImageSize) -> Reader:  # noqa: ARG002 - boxes are fractions already
        """A fresh reader for one answer about page `number`."""
        return GroundedReader(number, ask)


DIALECT = DeepseekOcr2()

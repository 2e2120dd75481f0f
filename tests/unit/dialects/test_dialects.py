"""Prompts, views and numbers of the dialects."""

import pytest

from pageloom import plugins
from pageloom.contracts import ImageSize
from pageloom.dialects.deepseek_ocr2.canary import canary
from pageloom.dialects.deepseek_ocr2.views import visual_tokens
from pageloom.errors import SettingsError
from pageloom.model.reading import Ask

A4 = ImageSize(1191, 1684)


@pytest.mark.parametrize(
    ("width", "height", "tokens"),
    [
        (1191, 1684, 1121),  # A4 at 144 dpi: 2 x 3 tiles, measured on vLLM
        (600, 700, 257),  # small: the global view only, measured on vLLM
        (768, 768, 257),
        (769, 768, 833),  # nearly square: 2 x 2 tiles
        (1684, 1191, 1121),
        (3000, 500, 1121),
        (500, 3000, 1121),
        (1, 1, 257),
    ],
)
def test_visual_tokens(width: int, height: int, tokens: int) -> None:
    assert visual_tokens(width, height) == tokens


@pytest.mark.parametrize("name", ["deepseek_ocr2", "deepseek_ocr"])
def test_prompt_and_answer_share_the_context(name: str) -> None:
    dialect = plugins.load("dialects", name)
    for size in (A4, ImageSize(300, 300)):
        prompt = dialect.ask(Ask(), size)
        assert prompt.visual_tokens + prompt.decoding.max_output_tokens < dialect.context_tokens
        assert prompt.decoding.temperature == 0
        assert prompt.decoding.ngram is not None


def test_prompts_are_the_model_s_own() -> None:
    dialect = plugins.load("dialects", "deepseek_ocr2")
    assert dialect.ask(Ask(), A4).text == "\n<|grounding|>Convert the document to markdown."
    assert dialect.ask(Ask("text"), A4).text == "\nFree OCR."
    assert dialect.ask(Ask("figure"), A4).text == "\nParse the figure."
    assert dialect.ask(Ask("locate", "seal"), A4).text == "\nLocate <|ref|>seal<|/ref|> in the image."
    assert dialect.ask(Ask("custom", "What is the total?"), A4).text == "\nWhat is the total?"


@pytest.mark.parametrize(
    "ask", [Ask("locate"), Ask("custom", " "), Ask("locate", "<|det|>"), Ask("custom", "x" * 3000)]
)
def test_a_question_without_sense_is_refused(ask: Ask) -> None:
    with pytest.raises(SettingsError):
        plugins.load("dialects", "deepseek_ocr2").ask(ask, A4)


def test_a_dialect_refuses_what_its_model_does_not_know() -> None:
    with pytest.raises(SettingsError, match="custom"):
        plugins.load("dialects", "deepseek_ocr").ask(Ask("custom", "Who?"), A4)


def test_the_located_text_is_a_block_with_its_place() -> None:
    reader = plugins.load("dialects", "deepseek_ocr2").reader(1, Ask("locate", "Total"), A4)
    list(reader.feed("<|ref|>Total<|/ref|><|det|>[[10, 20, 30, 40], [50, 60, 70, 80]]<|/det|>"))
    (event,) = reader.close("stop").events
    assert event.block.text == "Total"
    assert len(event.block.regions) == 2


def test_the_known_page_is_inside_its_image_and_always_the_same() -> None:
    first, second = canary(), canary()
    assert (first.image.rgb == second.image.rgb).all()
    assert len(first.blocks) >= 4
    for text, box in first.blocks:
        assert text
        assert 0 < box.x0 < box.x1 < 1
        assert 0 < box.y0 < box.y1 < 1
        x0, y0, x1, y1 = box.in_pixels(first.image.rgb.shape[1], first.image.rgb.shape[0])
        assert first.image.rgb[y0:y1, x0:x1].min() < 60

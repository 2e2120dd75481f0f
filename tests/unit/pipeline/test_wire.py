import io

import numpy as np
import pytest

from pageloom.model.blocks import Cell, Confidence, Line, Paragraph, Table, Word
from pageloom.model.document import EngineName
from pageloom.model.geometry import Box, PageSize, Placement, Region
from pageloom.model.image import (
    DrawnPage,
    EncodedImage,
    PageImage,
    PageInfo,
    PageText,
    Ruling,
    Target,
    TextHealth,
    TextLine,
)
from pageloom.model.reading import Ask, PageRequest, Reading
from pageloom.pipeline import wire
from pageloom.pipeline.child import read_frame, write_frame

SIZE = PageSize(595.0, 842.0)
TEXT = PageText(
    lines=(
        TextLine(
            "Grüße 你好",
            Box(0.1, 0.2, 0.5, 0.25),
            Confidence(0.9, "text-layer"),
            (Word("Grüße", Box(0.1, 0.2, 0.3, 0.25)),),
        ),
    ),
    health=TextHealth(glyphs=7, unmapped=0.25),
    rulings=(Ruling(0.0, 0.5, 1.0, 0.5),),
    images=(Box(0, 0, 1, 1),),
    has_content=True,
)


def through_a_pipe(frame: wire.Frame) -> wire.Frame:
    pipe = io.BytesIO()
    write_frame(pipe, frame)
    pipe.seek(0)
    got = read_frame(pipe)
    assert got is not None
    assert read_frame(pipe) is None
    return got


def test_pixels_reach_the_reader_unchanged() -> None:
    rgb = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3)
    image = PageImage(3, SIZE, rgb, 150.0, Placement(1, 0, 0.1, 0, 1, 0), colour=False)
    drawn = wire.drawn_from(
        through_a_pipe(wire.drawn_frame(DrawnPage(PageInfo(3, SIZE), image, TEXT, measured={"sharpness": 4.0})))
    )
    assert drawn.page.text == TEXT
    assert drawn.page.measured == {"sharpness": 4.0}
    request = PageRequest(3, None, drawn.page.text, ask=Ask("locate", "total"), languages=("zh",), attempt="a/3/1")
    got = wire.request_from(through_a_pipe(wire.request_frame(request, drawn.passing)))
    assert got.image is not None
    assert np.array_equal(got.image.rgb, rgb)
    assert got.image.placement == image.placement
    assert got.image.colour is False
    assert (got.ask, got.languages, got.attempt, got.text) == (request.ask, ("zh",), "a/3/1", TEXT)


def test_a_view_that_is_not_contiguous_is_sent_whole() -> None:
    rgb = np.arange(8 * 6 * 3, dtype=np.uint8).reshape(8, 6, 3)[::-1, ::2]
    drawn = wire.drawn_from(
        through_a_pipe(wire.drawn_frame(DrawnPage(PageInfo(1, SIZE), PageImage(1, SIZE, rgb, 72), None)))
    )
    got = wire.request_from(through_a_pipe(wire.request_frame(PageRequest(1, None, None), drawn.passing)))
    assert got.image is not None
    assert np.array_equal(got.image.rgb, rgb)


def test_an_encoded_page_travels_without_pixels() -> None:
    page = DrawnPage(PageInfo(1, SIZE), None, None, encoded=EncodedImage(b"\xff\xd8jpeg", 1191, 1684))
    drawn = wire.drawn_from(through_a_pipe(wire.drawn_frame(page)))
    assert drawn.page == page
    assert drawn.passing is None


def test_a_reading_keeps_its_blocks_and_crops() -> None:
    region = Region(2, Box(0.1, 0.1, 0.9, 0.2))
    line = Line("p2-b1-l1", "x", 2, region.box, Confidence(0.5, "recogniser"))
    blocks = (
        Paragraph(id="p2-b1", regions=(region,), text="x", lines=(line,)),
        Table(
            id="p2-b2", regions=(region,), rows=1, columns=1, cells=(Cell(id="p2-b2-r1c1", row=0, column=0, text="1"),)
        ),
    )
    reading = Reading(
        blocks, EngineName(name="onnx"), score=0.9, turned=90, skew=-1.5, assets={"p2-b3.jpg": b"\xff\xd8"}
    )
    assert wire.reading_from(through_a_pipe(wire.reading_frame(reading))) == reading


@pytest.mark.parametrize("target", [None, Target(200, 1600, 800)])
def test_a_target_survives(target: Target | None) -> None:
    assert wire.target_from(wire.target_json(target)) == target


def test_a_cut_frame_is_the_end_and_not_a_fault() -> None:
    pipe = io.BytesIO()
    write_frame(pipe, wire.Frame({"do": "open"}))
    assert read_frame(io.BytesIO(pipe.getvalue()[:3])) is None

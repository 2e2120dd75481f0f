"""What becomes of a page on which nothing is seen."""

import asyncio
from pathlib import Path

import pytest

from pageloom.model.document import Page
from pageloom.model.geometry import PageSize
from pageloom.model.image import DrawnPage, PageInfo, PageText, Target
from pageloom.model.job import PageTask
from pageloom.pipeline.askers import unheard
from pageloom.pipeline.page import HowToRead, read_page
from pageloom.pipeline.wire import Drawn
from pageloom.pipeline.workers import WorkerOptions, Workers

SIZE = PageSize(595, 842)


class Blank(Workers):
    """Workers whose every page comes out blank, with a remark."""

    def __init__(self, note: str) -> None:
        super().__init__(WorkerOptions(decoders=1, readers=1))
        self.note = note

    async def draw(self, task: PageTask, target: Target | None, form: str) -> Drawn:
        notes = (self.note,) if self.note else ()
        page = DrawnPage(PageInfo(task.number, SIZE), None, PageText(), notes=notes, readable="blank")
        return Drawn(page, None)


@pytest.mark.parametrize(
    ("note", "state", "code"),
    [
        ("", "ok", "blank"),
        ("render_suspect_blank", "suspect", "render_suspect_blank"),
        ("content_lost", "suspect", "content_lost"),
    ],
)
def test_a_blank_page_is_believed_only_where_nothing_speaks_against_it(note: str, state: str, code: str) -> None:
    async def go() -> Page:
        workers = Blank(note)
        how = HowToRead("onnx", "native", Target())
        result = await read_page(PageTask("j", 3, Path("x"), 3, SIZE), workers, {}, how, unheard)
        assert isinstance(result.page, Page)
        return result.page

    page = asyncio.run(go())
    assert (page.number, page.verdict.state, page.blocks) == (3, state, ())
    assert [reason.code for reason in page.verdict.reasons] == [code]


def test_an_engine_that_is_not_there_fails_the_page_and_not_the_run() -> None:
    async def go() -> object:
        class Readable(Blank):
            async def draw(self, task: PageTask, target: Target | None, form: str) -> Drawn:
                return Drawn(DrawnPage(PageInfo(task.number, SIZE), None, PageText()), None)

        how = HowToRead("onnx", None, Target())
        return (await read_page(PageTask("j", 1, Path("x"), 1, SIZE), Readable(""), {}, how, unheard)).page

    page = asyncio.run(go())
    assert getattr(page, "code", None) == "internal"
    assert "KeyError" in getattr(page, "reason", "")

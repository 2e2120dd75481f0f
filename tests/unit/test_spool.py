from pathlib import Path

import pytest

from pageloom.errors import DamagedDocument
from pageloom.jobs.spool import PageSpool
from pageloom.model.blocks import Figure, Paragraph
from pageloom.model.document import DocumentHead, FailedPage, Page
from pageloom.model.geometry import Box, PageSize, Region

SIZE = PageSize(595, 842)


def page(number: int, text: str = "words") -> Page:
    region = Region(number, Box(0, 0, 1, 1))
    figure = Figure(id=f"p{number}-b2", regions=(region,), asset=f"p{number}-b2.jpg")
    return Page(number=number, size=SIZE, blocks=(Paragraph(id=f"p{number}-b1", regions=(region,), text=text), figure))


def test_pages_come_back_in_order_whatever_order_they_were_finished_in(tmp_path: Path) -> None:
    spool = PageSpool(tmp_path / "run")
    for number in (3, 1, 2):
        spool.put(page(number), {f"p{number}-b2.jpg": b"picture"})
    document = PageSpool(tmp_path / "run").document(DocumentHead(name="x.pdf"))
    assert [p.number for p in document.pages] == [1, 2, 3]
    assert [p.number for p in document.pages] == [1, 2, 3]
    assert document.asset("p2-b2.jpg") == b"picture"
    assert next(iter(document.pages)) == page(1)


def test_failed_pages_are_kept_but_not_done(tmp_path: Path) -> None:
    spool = PageSpool(tmp_path)
    spool.put(page(1), {})
    spool.put(FailedPage(number=2, code="render_timeout", reason="page 2 took too long"), {})
    assert spool.numbers() == (1, 2)
    assert spool.done() == {1}


def test_a_page_read_again_replaces_its_failed_self(tmp_path: Path) -> None:
    spool = PageSpool(tmp_path)
    spool.put(FailedPage(number=1, code="internal", reason="x"), {})
    spool.put(page(1), {})
    assert spool.page(1) == page(1)


def test_an_asset_name_never_leaves_the_folder(tmp_path: Path) -> None:
    spool = PageSpool(tmp_path / "run")
    spool.put(page(1), {"../../evil.jpg": b"x"})
    assert not (tmp_path / "evil.jpg").exists()
    assert spool.asset("../pages/000001.json") is None


def test_a_spoilt_page_is_named(tmp_path: Path) -> None:
    spool = PageSpool(tmp_path)
    spool.put(page(4), {})
    (tmp_path / "pages" / "000004.json").write_text("{}")
    with pytest.raises(DamagedDocument, match="page 4"):
        spool.page(4)

"""Small PDFs made on the spot."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pikepdf
import pytest

FONTS = {
    "/F1": {"/BaseFont": "/Helvetica"},
    "/F2": {"/BaseFont": "/Helvetica-Bold"},
    "/F3": {"/BaseFont": "/Courier"},
    "/F4": {"/BaseFont": "/Times-Italic"},
}


def make_pdf(path: Path, *contents: str, page: dict[str, Any] | None = None, **save: object) -> Path:
    """A PDF with one page for each content stream; `page` are further keys of every page."""
    pdf = pikepdf.new()
    for content in contents:
        made = pdf.add_blank_page(page_size=(400, 300))
        fonts = {
            name: pikepdf.Dictionary(
                Type=pikepdf.Name("/Font"), Subtype=pikepdf.Name("/Type1"), BaseFont=pikepdf.Name(font["/BaseFont"])
            )
            for name, font in FONTS.items()
        }
        made.obj.Resources = pikepdf.Dictionary(Font=pikepdf.Dictionary(fonts))
        made.obj.Contents = pdf.make_stream(content.encode("latin-1"))
        for key, value in (page or {}).items():
            made.obj[key] = value
    pdf.save(path, **save)
    return path


@pytest.fixture
def pdf(tmp_path: Path) -> Callable[..., Path]:
    """Make a PDF in the test's folder."""

    def make(*contents: str, name: str = "made.pdf", **more: object) -> Path:
        return make_pdf(tmp_path / name, *contents, **more)

    return make

"""The document as XML whose tags tell its structure: document, page, one tag a kind, table / row / cell, region."""

from collections.abc import Iterator
from html import escape
from typing import ClassVar

from pageloom.contracts import ExportOptions
from pageloom.exports.grid import Place, grid
from pageloom.exports.json import DECIMALS
from pageloom.exports.writing import OneFile, clean
from pageloom.model.blocks import Block, Confidence, ListItem, Table
from pageloom.model.document import AnyPage, PagedDocument
from pageloom.model.geometry import Region

LEFT_OUT = ("text", "kind")


class XmlExporter(OneFile):
    """Writes XML 1.0; everything is kept, running headers too: they have their own tags."""

    name: ClassVar[str] = "xml"
    media_type: ClassVar[str] = "application/xml"

    def chunks(
        self,
        document: PagedDocument,
        options: ExportOptions,  # noqa: ARG002 - the tags tell what can be left out
    ) -> Iterator[bytes]:
        """Head, an element for every page, foot."""
        head = document.head
        about = _attributes(
            schema_version=head.schema_version,
            name=head.name,
            media_type=head.media_type,
            sha256=head.sha256,
            page_count=head.page_count,
            made_by=head.made_by,
        )
        yield f'<?xml version="1.0" encoding="UTF-8"?>\n<document{about}>\n'.encode()
        for page in document.pages:
            yield "\n".join([*_page(page), ""]).encode()
        yield b"</document>\n"


def _page(page: AnyPage) -> Iterator[str]:
    size = {"width": _number(page.size.width), "height": _number(page.size.height)} if page.size else {}
    yield f"<page{_attributes(number=page.number, verdict=page.verdict.state, **size)}>"
    for reason in page.verdict.reasons:
        yield f"<reason{_attributes(code=reason.code)}>{_text(reason.text)}</reason>"
    for block in page.blocks:
        yield from _block(block)
    yield "</page>"


def _block(block: Block) -> Iterator[str]:
    own: dict[str, object] = {"id": block.id, "order": block.order, "parent": block.parent}
    for name in ("level", "marker", "depth", "rows", "columns", "asset"):
        own[name] = getattr(block, name, None)
    yield f"<{block.kind}{_attributes(**own)}{_sure(block.confidence)}>"
    yield from (_region(region) for region in block.regions)
    if isinstance(block, Table):
        for row in grid(block).rows:
            yield "<row>"
            yield from (_cell(place) for place in row)
            yield "</row>"
    else:
        latex = getattr(block, "latex", None)
        if latex:
            yield f"<latex>{_text(latex)}</latex>"
        yield f"<text>{_text(_with_marker(block))}</text>"
    yield f"</{block.kind}>"


def _with_marker(block: Block) -> str:
    if isinstance(block, Table):
        return ""
    return block.text.removeprefix(block.marker).lstrip() if isinstance(block, ListItem) else block.text


def _cell(place: Place) -> str:
    spans = _attributes(
        row_span=place.row_span if place.row_span > 1 else None,
        column_span=place.column_span if place.column_span > 1 else None,
        header="true" if place.header else None,
    )
    if place.cell is None:
        return f"<cell{spans}/>"
    regions = "".join(_region(region) for region in place.cell.regions)
    about = f"{_attributes(id=place.cell.id)}{spans}{_sure(place.cell.confidence)}"
    return f"<cell{about}>{regions}<text>{_text(place.text)}</text></cell>"


def _region(region: Region) -> str:
    box = region.box
    corners = {"x0": _number(box.x0), "y0": _number(box.y0), "x1": _number(box.x1), "y1": _number(box.y1)}
    return f"<region{_attributes(page=region.page, **corners)}/>"


def _sure(confidence: Confidence) -> str:
    if confidence.value is None:
        return ""
    return _attributes(confidence=_number(confidence.value), basis=confidence.basis)


def _attributes(**named: object) -> str:
    return "".join(f' {name}="{_text(str(value))}"' for name, value in named.items() if value not in (None, ""))


def _text(text: str) -> str:
    return escape(clean(text))


def _number(value: float) -> str:
    return f"{round(value, DECIMALS):g}" if value == int(value) else str(round(value, DECIMALS))


EXPORTER = XmlExporter()

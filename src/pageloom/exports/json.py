"""The document as JSON: the public format, schema 1.0 (`docs/schema/document-1.0.json`)."""

from collections.abc import Iterator
from typing import Any, ClassVar

import orjson
from pydantic import TypeAdapter

from pageloom.contracts import ExportOptions
from pageloom.exports.writing import OneFile
from pageloom.model.document import AnyPage, PagedDocument

# Fractions of a page: 6 decimals are a thousandth of a millimetre on A4.
DECIMALS = 6
# Empty far more often than not, and written for every line and block.
LEFT_OUT_EMPTY = frozenset({"words", "notes"})
PAGE: TypeAdapter[AnyPage] = TypeAdapter(AnyPage)


class JsonExporter(OneFile):
    """Writes head fields and `pages`; a field without a value (null) is not written."""

    name: ClassVar[str] = "json"
    media_type: ClassVar[str] = "application/json"

    def chunks(
        self,
        document: PagedDocument,
        options: ExportOptions,  # noqa: ARG002 - JSON always holds everything
    ) -> Iterator[bytes]:
        """The head, then a line for every page."""
        head = orjson.dumps(_tidy(document.head.model_dump(mode="json", exclude_none=True)))
        yield head[:-1] + b',"pages":['
        for place, page in enumerate(document.pages):
            yield (b",\n" if place else b"\n") + page_json(page)
        yield b"\n]}\n"


def page_json(page: AnyPage) -> bytes:
    """One page as a single line of JSON, floats rounded to 6 decimals."""
    return orjson.dumps(_tidy(PAGE.dump_python(page, mode="json", exclude_none=True)))


def _tidy(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, float):
        return round(value, DECIMALS)
    if isinstance(value, dict):
        return {key: _tidy(inner) for key, inner in value.items() if inner or key not in LEFT_OUT_EMPTY}
    if isinstance(value, list):
        return [_tidy(inner) for inner in value]
    return value


EXPORTER = JsonExporter()

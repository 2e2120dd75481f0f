"""The published schema of the JSON form: made from the models, so that it cannot say something else."""

from typing import Any

from pydantic import Field, create_model

from pageloom.model.document import SCHEMA_VERSION, AnyPage, DocumentHead

SCHEMA_FILE = f"document-{SCHEMA_VERSION}.json"


def schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a document as `exports/json.py` writes it."""
    whole = create_model(
        "Document",
        __base__=DocumentHead,
        __doc__="A document as Pageloom writes it: all fields of its head, and every page, failed ones included.",
        pages=(tuple[AnyPage, ...], Field(description="pages in order; none is ever missing")),
    )
    made = whole.model_json_schema(mode="validation")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}

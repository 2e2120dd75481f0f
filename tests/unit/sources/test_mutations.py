"""Files with flipped and missing bytes: a result, or an error of ours that names no path; never a stranger's."""

import io
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pageloom.contracts import SourceOptions
from pageloom.errors import PageloomError
from pageloom.model.image import Target
from pageloom.sources.detect import open_source

Make = Callable[..., Path]
TRIES = 60
SMALL = Target(dpi=40, longest_px=300, shortest_px=10)


def mutated(content: bytes, seed: int) -> bytes:
    dice = random.Random(seed)
    changed = bytearray(content)
    if dice.random() < 0.3:
        changed = changed[: dice.randrange(1, len(changed))]
    for _ in range(dice.choice([1, 3, 20, 100])):
        changed[dice.randrange(len(changed))] = dice.randrange(256)
    return bytes(changed)


def looked_at(path: Path, options: SourceOptions) -> str:
    """What became of a file: "drawn" or the code of our error."""
    try:
        source = open_source(path, None, options)
        try:
            for page in source.pages[:2]:
                source.draw(page.number, SMALL)
        finally:
            source.close()
    except PageloomError as error:
        assert str(path.parent) not in str(error)
        return error.code
    return "drawn"


@pytest.mark.parametrize("backend", ["pdfium", "pdfplumber"])
def test_mutated_pdfs(pdf: Make, backend: str) -> None:
    plain = "BT /F1 12 Tf 50 200 Td (Some words) Tj 0 -20 Td (and more) Tj ET 1 w 50 100 m 350 100 l S"
    path = pdf(plain, plain, compress_streams=False)
    content, options = path.read_bytes(), SourceOptions.model_validate({"pdf_backend": backend})
    ends = set()
    for seed in range(TRIES):
        path.write_bytes(mutated(content, seed))
        ends.add(looked_at(path, options))
    assert {"drawn", "damaged_document"} <= ends


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "TIFF", "WEBP", "BMP"])
def test_mutated_pictures(tmp_path: Path, kind: str) -> None:
    out = io.BytesIO()
    noise = np.random.default_rng(3).integers(0, 256, (40, 60, 3), np.uint8)
    Image.fromarray(noise).save(out, kind)
    ends = set()
    for seed in range(TRIES):
        (tmp_path / "picture").write_bytes(mutated(out.getvalue(), seed))
        ends.add(looked_at(tmp_path / "picture", SourceOptions()))
    assert len(ends) > 1

"""Small documents made here, and a running App over them."""

import os
from pathlib import Path

import pytest
from fpdf import FPDF


@pytest.fixture
def three_pages(tmp_path: Path) -> Path:
    """A born-digital PDF of three pages, each with its own words."""
    pdf = FPDF()
    pdf.set_font("helvetica", size=14)
    for number in (1, 2, 3):
        pdf.add_page()
        pdf.cell(text=f"This is the page with number {number} of the small report.")
    path = tmp_path / "report.pdf"
    pdf.output(str(path))
    return path


@pytest.fixture(scope="session")
def linux() -> None:
    """Skips where processes cannot be stopped and looked at as Linux does."""
    if not Path("/proc/self").exists() or not hasattr(os, "kill"):
        pytest.skip("needs Linux")

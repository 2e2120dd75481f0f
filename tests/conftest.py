"""Fixtures for all tests."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of the shared test documents; tests that need it are skipped where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the shared test data is not on this machine")
    return SHARED

"""vLLM reads DeepSeek-OCR-2 pages faster: a plug-in that vLLM finds by itself."""

from __future__ import annotations


def register() -> None:
    """Entry point `vllm.general_plugins`; runs in each of vLLM's processes."""

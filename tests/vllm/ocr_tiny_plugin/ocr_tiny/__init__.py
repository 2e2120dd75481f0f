"""vLLM plug-in, for tests only: DeepSeek-OCR-2's vision tower in the sizes of config.json.

vLLM fixes the tower's sizes in its code, so that a page takes minutes on a CPU. With this plug-in
a checkpoint made by `tests/vllm/tiny_checkpoint.py` reads in a second; a real one is untouched.
"""

from __future__ import annotations


def register() -> None:
    """Entry point `vllm.general_plugins`; runs in each of vLLM's processes."""
    from vllm import ModelRegistry

    ModelRegistry.register_model("DeepseekOCR2ForCausalLM", "ocr_tiny.model:TinyDeepseekOCR2")

"""`python -m pageloom_vllm`: how to start `vllm serve` for DeepSeek-OCR-2 on this machine."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

from pageloom_vllm.shape import serve_environment, serve_flags


def gpu_memory_gib() -> float:
    """Memory of the first GPU, by nvidia-smi; 24 where it does not answer."""
    asked = ("nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits")
    try:
        answer = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
        return float(answer.split()[0]) / 1024
    except (OSError, subprocess.CalledProcessError, IndexError, ValueError):
        return 24.0


def main() -> None:
    """Print environment and command, to be read and copied."""
    asked = ("vllm", "serve", "--help=all")
    try:
        help_text = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    except OSError:
        sys.exit("pageloom-vllm: the command 'vllm' is not on the path: install vLLM first")
    words = [f"{name}={value}" for name, value in serve_environment().items()]
    words += ["vllm", "serve", "deepseek-ai/DeepSeek-OCR-2", "--served-model-name", "deepseek-ocr-2"]
    words += serve_flags(os.cpu_count() or 1, gpu_memory_gib(), help_text)
    sys.stdout.write(shlex.join(words) + "\n")


if __name__ == "__main__":
    main()

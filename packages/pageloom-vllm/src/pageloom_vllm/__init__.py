"""vLLM reads DeepSeek-OCR-2 pages faster: a plug-in that vLLM finds by itself.

`PAGELOOM_VLLM=0` in the environment leaves vLLM as it is.
"""

from __future__ import annotations

import logging
import os

ARCHITECTURE = "DeepseekOCR2ForCausalLM"
SWITCH = "PAGELOOM_VLLM"

log = logging.getLogger("vllm.pageloom_vllm")
registered = False  # in this process; a plug-in that builds on ours asks


def register() -> None:
    """Entry point `vllm.general_plugins`; runs in each of vLLM's processes, perhaps more than once.

    Imports neither torch nor the model: a server of another model pays nothing.
    """
    global registered  # noqa: PLW0603 - the answer to "have we been called in this process?"
    if os.environ.get(SWITCH, "1").lower() in {"0", "off", "false", "no"}:  # noqa: TID251 - no settings here
        return
    from vllm import ModelRegistry

    models = getattr(ModelRegistry, "models", {})
    if ARCHITECTURE not in models:
        log.warning("pageloom-vllm is off: this vLLM does not know %s", ARCHITECTURE)
        return
    registered = True
    owner = getattr(models[ARCHITECTURE], "module_name", "vllm.")
    if owner.startswith(("vllm.", "pageloom_vllm.")):
        ModelRegistry.register_model(ARCHITECTURE, "pageloom_vllm.model:FastDeepseekOCR2")
    else:
        log.info("pageloom-vllm leaves %s to the plug-in that took it first (%s)", ARCHITECTURE, owner)

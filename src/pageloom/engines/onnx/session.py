"""ONNX Runtime sessions as small and quiet as a worker of many needs them."""

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from pageloom.errors import EngineDead

Floats = NDArray[np.float32]
Pixels = NDArray[np.uint8]


class Session:
    """One model, ready to run."""

    def __init__(self, path: Path, threads: int = 1) -> None:
        """Load a model.

        Args:
            path: the .onnx file.
            threads: threads one run may use; workers that share a machine take 1.
        """
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # Spinning threads cost 20-35 % more CPU when there are as many workers as cores.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # Every line has its own width: patterns kept by shape would grow with the document.
        options.enable_mem_pattern = False
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        try:
            self._session: Any = onnxruntime.InferenceSession(
                str(path), sess_options=options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime raises its own classes straight from Exception
            raise EngineDead(f"model file {path.name} cannot be loaded: {error}") from error
        self._input = self._session.get_inputs()[0].name

    def run(self, x: Floats) -> list[Floats]:
        """All outputs of the model for one input.

        Raises:
            EngineDead: the runtime failed (memory, mostly).
        """
        try:
            return list(self._session.run(None, {self._input: x}))
        except Exception as error:  # onnxruntime raises its own classes straight from Exception
            raise EngineDead(f"the ONNX runtime failed: {error}") from error

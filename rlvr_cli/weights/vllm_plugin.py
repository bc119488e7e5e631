"""What vLLM loads in each of its processes (entry point ``vllm.general_plugins``): it names our weight engine, no more.

The engine itself is imported only by a worker whose server was started with ``--weight-transfer-config
'{"backend": "rlvr_shm"}'``. Registering twice is harmless: vLLM calls plugins once a process, forks inherit.
"""

from __future__ import annotations

NAME = "rlvr_shm"


def register() -> None:
    """Make the backend ``rlvr_shm`` known to vLLM's factory."""
    from vllm.distributed.weight_transfer.factory import WeightTransferEngineFactory as Factory

    if NAME not in Factory._registry:
        Factory.register_engine(NAME, "rlvr_cli.weights.engine", "SharedMemoryEngine")

"""rlvr: reinforcement learning with verifiable rewards, from one command.

The package stays importable without Hydra, torch or TRL: ``rlvr --help`` answers in a blink and a login node can check
rewards and data. Heavy imports live inside functions, or under :mod:`rlvr_cli.training`.
"""

__version__ = "0.1.0"

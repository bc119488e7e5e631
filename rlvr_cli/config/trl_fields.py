"""Names and defaults that TRL's ``GRPOConfig`` takes, read from its source text: importing it would take ten seconds.

>>> fields = grpo_fields()
>>> fields is None or {"loss_type", "learning_rate", "vespo_k_pos"} <= fields
True
"""

from __future__ import annotations

import ast
import importlib.util
from functools import lru_cache
from pathlib import Path

SOURCES = {"trl": ("trainer/grpo_config.py", "trainer/base_config.py"), "transformers": ("training_args.py",)}


@lru_cache(maxsize=1)
def grpo_fields() -> frozenset[str] | None:
    """Every field name; None where TRL is not installed."""
    names: set[str] = set()
    for package, files in SOURCES.items():
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            return None
        root = Path(next(iter(spec.submodule_search_locations)))
        for file in files:
            if (root / file).is_file():
                names |= annotated_names(root / file)
    return frozenset(names)


def annotated_names(path: Path) -> set[str]:
    """The annotated class attributes of a file: a dataclass's fields."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return {a.target.id for c in classes for a in c.body if isinstance(a, ast.AnnAssign) and isinstance(a.target, ast.Name)}


STAGE_SOURCES = {"sft": "trainer/sft_config.py", "dpo": "trainer/dpo_config.py", "reward_model": "trainer/reward_config.py"}


@lru_cache(maxsize=4)
def stage_fields(kind: str) -> frozenset[str] | None:
    """Every field name of a stage's TRL class; None where TRL is not installed."""
    names: set[str] = set()
    for package, files in (("trl", (STAGE_SOURCES[kind], "trainer/base_config.py")), ("transformers", ("training_args.py",))):
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            return None
        root = Path(next(iter(spec.submodule_search_locations)))
        for file in files:
            names |= annotated_names(root / file) if (root / file).is_file() else set()
    return frozenset(names)

"""The words of a sweep to the words of its jobs: Hydra's own grammar, the cross product in the order of the line.

>>> [job.words for job in expand(["model=tiny", "seed=1,2", "reward=math,format_only"])]  # doctest: +NORMALIZE_WHITESPACE
[['model=tiny', 'seed=1', 'reward=math'], ['model=tiny', 'seed=1', 'reward=format_only'],
 ['model=tiny', 'seed=2', 'reward=math'], ['model=tiny', 'seed=2', 'reward=format_only']]
>>> [job.name for job in expand(["seed=range(1,4)", "optimizer.learning_rate=1e-4"])]
['seed-1', 'seed-2', 'seed-3']
"""

from __future__ import annotations

import hashlib
import itertools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlvr_cli.errors import ConfigError

LONGEST_NAME = 100


@dataclass(frozen=True)
class Words:
    """The words of one job: all of them, and those that the sweep varies."""

    words: list[str]
    varied: list[str]

    @property
    def name(self) -> str:
        """A folder name that says what varies, ``reward-math+seed-1``, and that Hydra and a shell take without quotes."""
        pairs = (word.partition("=") for word in sorted(self.varied))
        return folder_name("+".join(f"{key.split('.')[-1]}-{value}" for key, _, value in pairs) or "job")


def folder_name(text: str) -> str:
    """``text`` with only characters that a run's name may have, short, and still different where the text differs.

    >>> folder_name("seed-1"), folder_name("path-a/b")
    ('seed-1', 'path-a-b-3a05f4')
    """
    clean = re.sub(r"\.{2,}", ".", re.sub(r"[^\w.+@-]+", "-", text)).strip("-.+@")[:LONGEST_NAME]
    return clean if clean and clean == text else f"{clean or 'job'}-{hashlib.sha256(text.encode()).hexdigest()[:6]}"


def parsed(words: list[str]) -> list[Any]:
    """Hydra's parse of each word; a word that cannot be read is one line."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    parser = OverridesParser.create()
    out = []
    for word in words:
        try:
            out.append(parser.parse_override(word))
        except (HydraException, ValueError) as error:
            raise ConfigError(f"{word!r} can not be read: {str(error).splitlines()[0]}", where="command line") from error
    return out


def expand(words: list[str], cwd: Path | None = None) -> list[Words]:
    """Every job of the sweep; a line that varies nothing is one job."""
    axes: list[list[str]] = []
    varies: list[bool] = []
    for word, override in zip(words, parsed(words), strict=True):
        sweeping = override.is_sweep_override()
        axes.append(values_of(override, cwd) if sweeping else [word])
        varies.append(sweeping)
    combinations = itertools.product(*axes)
    return [Words(list(c), [w for w, v in zip(c, varies, strict=True) if v]) for c in combinations]


def values_of(override: Any, cwd: Path | None) -> list[str]:
    """The words that one sweeping word stands for: ``a,b``, ``range(1,4)``, ``choice(a,b)``, or ``glob(*)`` over a group's options."""
    key = override.get_key_element()
    if override.is_interval_sweep():
        raise ConfigError(
            f"{override.input_line} is an interval, which needs an optimising sweeper", where="command line", fix="sweep.trials=20"
        )
    if override.value_type.name == "GLOB_CHOICE_SWEEP":
        from rlvr_cli.config.options import options

        names = override.value().filter(list(options(override.key_or_group, cwd)))
        if not names:
            raise ConfigError(f"{override.input_line} matches no option", where="command line", fix=f"rlvr ls {override.key_or_group}")
        return [f"{key}={name}" for name in names]
    return [f"{key}={value}" for value in override.sweep_string_iterator()]

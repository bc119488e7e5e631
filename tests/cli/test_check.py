"""rlvr check: what train would take, judged without a GPU, a network or a model; each fault with its mark and its way out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rlvr_cli import machine
from rlvr_cli.config import preflight
from rlvr_cli.config.compose import compose
from rlvr_cli.errors import RlvrError


@pytest.fixture(autouse=True)
def no_gpu_no_cache(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without GPUs and with an empty hub cache."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setenv("HF_HUB_CACHE", str(here / "hub"))
    monkeypatch.setenv("HF_HOME", str(here / "hf"))


FEW = ("dataset.count=200", "dataset.eval_count=20")  # generated rows, so that a check takes a moment


def states(text: str) -> dict[str, dict]:
    return {check["name"]: check for check in json.loads(text)["checks"]}


def write_model(folder: Path, *, template: bool = True, weights: bool = True, context: int = 128, vocabulary: int = 50) -> Path:
    """A model's files as far as the checks read them."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": context, "vocab_size": vocabulary, "eos_token_id": 7}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": "{{ messages }}"} if template else {}))
    if weights:
        header = json.dumps({"model.layers.0.self_attn.q_proj.weight": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}}).encode()
        (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(16))
    return folder


def test_the_default_would_run(rlvr: Callable) -> None:
    done = rlvr("check")
    assert done.code == 0
    assert "it would run" in done.out
    assert "+ gold: gold check: 400 of 400 rows tried, 0 without full marks" in done.out
    assert not any(line.startswith("x ") for line in done.out.splitlines())


def test_a_hub_model_offline_would_run(rlvr: Callable) -> None:
    done = rlvr("check", "model=qwen1.5b", "reward=math", "--json")
    assert done.code == 0
    found = states(done.out)
    assert found["model"]["state"] == found["data"]["state"] == "note"
    assert "not in the cache" in found["model"]["text"]


def test_offline_and_strict_is_a_fault(rlvr: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    done = rlvr("check", "model=qwen1.5b", "generation=hf", "--strict", "--json")
    assert done.code == 2
    assert states(done.out)["model"]["state"] == "fail"


def test_gpus_that_are_not_here_are_assumed_and_said(rlvr: Callable) -> None:
    done = rlvr("check", "model=qwen7b", "hardware=8gpu")
    assert done.code == 0
    assert "planned for 8 assumed GPUs" in done.out
    assert rlvr("check", "model=qwen7b", "hardware=8gpu", "--strict").code == 2


def test_a_cached_hub_model_is_found(rlvr: Callable, here: Path) -> None:
    repository = here / "hub" / "models--Qwen--Qwen2.5-1.5B-Instruct"
    write_model(repository / "snapshots" / "abc", context=32768, vocabulary=151936)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("abc")
    found = states(rlvr("check", "model=qwen1.5b", "--json").out)
    assert found["model"]["state"] == found["template"]["state"] == found["context"]["state"] == "ok"


@pytest.mark.parametrize(
    ("made", "words", "check", "says"),
    [
        ({"template": False}, [], "template", "has no chat template"),
        ({"weights": False}, [], "model", "has no weights"),
        ({"context": 32}, [], "context", "do not fit the model's context of 32"),
        ({}, ["model.stop_token_ids=[1,50]"], "stop ids", "50 is not a token of a vocabulary of 50"),
        ({}, ["peft=lora", "model.lora_target_modules=[qkv]"], "lora targets", "has no module 'qkv'"),
        ({}, ["trainer.per_device_train_batch_size=13"], "plan", "not a multiple of G"),
        ({}, ["dataset.limit=3"], "steps", "would end after 0 steps"),
        ({}, ["trainer.max_steps=-1", "trainer.num_train_epochs=0.001"], "steps", "is no step"),
        ({}, ["dataset.answer_column=gold"], "data", "no column 'gold'"),
        ({}, ["tracker=swanlab"], "trackers", "is not installed"),
        ({}, ["reward.terms.correct.fn=rewards.math.corect"], "reward", "has no function"),
    ],
)
def test_faults_are_found_by_the_check_that_owns_them(
    made: dict, words: list[str], check: str, says: str, rlvr: Callable, here: Path
) -> None:
    write_model(here / "m", **made)
    done = rlvr(
        "check",
        "model=hf",
        "model.path=./m",
        "dataset=arithmetic",
        *FEW,
        "trainer=tiny",
        "generation.max_completion_length=32",
        *words,
        "--json",
    )
    found = states(done.out)
    assert done.code == 2
    assert found[check]["state"] == "fail"
    assert says in found[check]["text"]
    assert [name for name, c in found.items() if c["state"] == "fail"] == [check], "nothing else is blamed"


def test_a_fault_in_a_rule_is_listed_with_the_rest(rlvr: Callable) -> None:
    found = states(rlvr("check", *FEW, "trainer.bf16=true", "trainer.fp16=true", "algorithm.loss_type=cispo", "--json").out)
    assert found["one half precision"]["state"] == found["cispo bound"]["state"] == "fail"
    assert found["gold"]["state"] == "ok"


def test_what_auto_hides_is_judged_after_the_plan(rlvr: Callable) -> None:
    done = rlvr("check", *FEW, "model.dtype=bfloat16")
    assert done.code == 2 and "has no fp32 masters" in done.out


def test_wrong_golds_are_listed_and_all_wrong_is_a_fault(rlvr: Callable, here: Path) -> None:
    rows = [{"prompt": f"{i}+1=?", "answer": str(i + 1)} for i in range(40)]
    (here / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    (here / "rewards").mkdir()
    (here / "rewards" / "odd.py").write_text(
        "def odd(completions, answer, **kwargs):\n    return [float(int(a) % 2) for a in answer]\n\n"
        "def none(completions, answer, **kwargs):\n    return [0.0 for a in answer]\n\n"
        "def gold_completion(row):\n    return row['answer']\n"
    )
    words = ["check", "dataset=jsonl", "dataset.train=rows.jsonl", "trainer.per_device_train_batch_size=8", "--json"]
    some = rlvr(*words, "reward.terms.correct.fn=rewards.odd.odd")
    assert some.code == 0
    assert states(some.out)["gold"]["state"] == "note"
    assert "20 without full marks" in states(some.out)["gold"]["text"]
    assert rlvr(*words, "reward.terms.correct.fn=rewards.odd.none").code == 2


def test_a_users_rewards_package_is_named_as_the_error_that_it_is(rlvr: Callable, here: Path) -> None:
    (here / "rewards").mkdir()
    (here / "rewards" / "__init__.py").write_text("")
    done = rlvr("check", *FEW)
    assert done.code == 2 and "rewards/__init__.py" in done.out


def test_dropped_rows_are_counted(rlvr: Callable, here: Path) -> None:
    rows = [{"prompt": f"{i}+1=?", "answer": str(i + 1) if i else ""} for i in range(40)]
    (here / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    words = ["dataset=jsonl", "dataset.train=rows.jsonl", "trainer.per_device_train_batch_size=8", "--json"]
    found = states(rlvr("check", *words).out)
    assert found["data"]["state"] == "note" and "dropped 1 row" in found["data"]["text"]


def test_a_stale_build_lock_is_a_fault(here: Path, monkeypatch: pytest.MonkeyPatch, rlvr: Callable) -> None:
    lock = here / "ext" / "py311_cpu" / "deepspeed_shm_comm" / "lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("")
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(here / "ext"))
    assert machine.stale_locks() == [lock]
    done = rlvr("check", *FEW, "hardware=cpu_2rank")
    assert done.code == 2 and f"Type: rm {lock}" in done.out
    with lock.open():
        assert machine.stale_locks() == [], "a lock that a process holds is not stale"


def test_a_login_node_without_torch_is_noted_not_blamed(monkeypatch: pytest.MonkeyPatch, rlvr: Callable) -> None:
    monkeypatch.setattr(
        preflight, "installed", lambda name: name not in ("torch", "trl", "transformers", "accelerate", "deepspeed", "vllm")
    )
    monkeypatch.setattr(preflight, "builder", lambda dotted: f"{dotted} builds it")
    found = states(rlvr("check", *FEW, "--json").out)
    assert found["packages"]["state"] == "note" and "pip install 'rlvr[cpu]'" in found["packages"]["text"]
    assert rlvr("check", *FEW, "--strict").code == 2


def test_train_stops_at_the_first_fault(here: Path) -> None:
    config = compose(["dataset.limit=3"]).config
    with pytest.raises(RlvrError, match="fewer than the 16 of one step"):
        preflight.require(config)


def test_code_rewards_name_their_confinement(rlvr: Callable) -> None:
    found = states(rlvr("check", "reward=code", "dataset=programs", "dataset.count=20", "dataset.eval_count=2", "--json").out)
    assert "sandbox" in found["sandbox"]["text"]


def test_sql_rewards_name_the_confinement_of_their_engine(rlvr: Callable) -> None:
    found = states(rlvr("check", *FEW, "reward=sql", "--json").out)
    assert found["sandbox"]["text"].startswith("SQL engine sqlite: its own process (")
    assert "rlimits" in found["sandbox"]["text"] and "but it" not in found["sandbox"]["text"]


def test_disk_that_is_too_small_is_said(monkeypatch: pytest.MonkeyPatch, rlvr: Callable) -> None:
    monkeypatch.setattr(preflight, "free_gib", lambda path: 0.5)
    assert states(rlvr("check", *FEW, "--json").out)["disk"]["state"] == "note"
    assert rlvr("check", *FEW, "--strict").code == 2


def test_a_half_downloaded_model_is_not_called_broken(rlvr: Callable, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = here / "hub" / "models--Qwen--Qwen2.5-1.5B-Instruct"
    write_model(repository / "snapshots" / "abc", weights=False, vocabulary=151936, context=32768)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("abc")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    done = rlvr("check", "model=qwen1.5b", "--json")
    assert (done.code, states(done.out)["model"]["state"]) == (0, "note")


def test_a_hub_model_that_can_not_be_had_stops_the_run_before_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    def no_network(*_: object, **__: object) -> str:
        raise OSError("connection refused")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", no_network)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    config = compose(["model=qwen0.5b", "dataset=arithmetic", "generation=hf", "hardware=cpu", *FEW]).config
    with pytest.raises(RlvrError, match="the hub does not answer") as caught:
        preflight.require(config, fetch=True)
    assert caught.value.exit_code == 2
    assert any("the first run downloads it" in note for note in preflight.require(config))


def test_a_hub_models_own_files_are_judged_when_the_run_starts(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    folder = write_model(here / "downloaded", weights=False, template=False, vocabulary=151936, context=32768)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *_, **__: str(folder))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    config = compose(["model=qwen0.5b", "dataset=arithmetic", "generation=hf", "hardware=cpu", *FEW]).config
    with pytest.raises(RlvrError, match="has no chat template"):
        preflight.require(config, fetch=True)


def named(model: str, *, kind: str = "hybrid_reward_model", term: str = "liked", **world: object) -> object:
    """What the check of a reward's own model says of ``model``."""
    config = compose([f"reward={kind}", f"reward.terms.{term}.options.model={model}"]).config
    return preflight.outcome(preflight.reward_models, preflight.World(config, **world))


def test_a_model_that_a_reward_loads_is_looked_for_before_anything_loads(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that is not there, holds no model or one without a scoring head costs a run its first step; a hub id only where offline."""
    for run, architecture in (("judge", "LlamaForSequenceClassification"), ("writer", "LlamaForCausalLM")):
        folder = write_model(here / "outputs" / run / "final")
        (folder / "config.json").write_text(json.dumps({"architectures": [architecture]}))
    (here / "outputs" / "empty").mkdir()
    assert named("outputs/judge/final").state == "ok"
    where = "reward.terms.liked.options.model"
    for model, says, fix in (
        ("outputs/jugde/final", "there is no folder 'outputs/jugde/final'", f"{where}=outputs/judge/final"),
        ("./none", "there is no folder './none'", f"{where}=FOLDER_OR_HUB_ID"),
        ("/none/there", "there is no folder '/none/there'", f"{where}=FOLDER_OR_HUB_ID"),
        ("outputs/empty", "outputs/empty has no config.json", f"{where}=FOLDER_OR_HUB_ID"),
        ("outputs/writer/final", "is a LlamaForCausalLM, which writes text", f"{where}=FOLDER of a stage=reward_model run"),
    ):
        found = named(model)
        assert (found.state, found.where, found.fix) == ("fail", where, fix) and says in found.text
    assert named("./none", kind="image", term="shows").where == "reward.terms.shows.options.model"
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert named("nobody/scores").state == "note"
    strict = named("nobody/scores", strict=True)
    assert strict.state == "fail" and "HF_HUB_OFFLINE is set" in strict.text
    assert named("outputs/later/final", pending=frozenset({"outputs/later"})).state == "ok"
    assert preflight.outcome(preflight.reward_models, preflight.World(compose([]).config)).state == "skip"


@pytest.mark.parametrize("path", ["outputs/nothing", "own/nothing", "a/b/c"])
def test_a_model_path_like_a_hub_id_is_a_folder_where_its_first_part_is_one(path: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (here / "own").mkdir()
    config = compose(["model=hf", f"model.path={path}", "dataset=arithmetic"]).config
    found = preflight.outcome(preflight.model, preflight.World(config))
    assert found.state == "fail" and found.text == f"there is no folder {path!r}"
    config = compose(["model=hf", "model.path=nobody/nothing", "dataset=arithmetic"]).config
    assert preflight.outcome(preflight.model, preflight.World(config)).state == "note"

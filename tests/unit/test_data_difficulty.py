"""Pass rates: each prompt is asked once, a stopped command goes on, and another model or reward has its own cache."""

import json
from contextlib import contextmanager

import pytest

from rlvr_cli.config.schema import EvalConfig
from rlvr_cli.data.difficulty import Cache, cache_file, histogram, pass_rates, row_key
from rlvr_cli.evaluation.generate import Completion


@pytest.fixture
def model(monkeypatch, tmp_path):
    """A model folder, a cache of its own, and a stand-in that answers right on every other draw of an even question."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"weights")
    asked_prompts = []

    @contextmanager
    def asked(config, path, say):
        def ask(draws, sampling, of_each):
            asked_prompts.extend(d.prompt for d in draws)
            texts = [f"<answer>{d.prompt if int(d.prompt) % 2 == 0 and d.sample % 2 == 0 else 'no'}</answer>" for d in draws]
            return [Completion(text=t, tokens=3, truncated=False) for t in texts]

        yield None, ask

    import rlvr_cli.evaluation.evaluate as evaluate
    import rlvr_cli.evaluation.policy as policy

    monkeypatch.setattr(evaluate, "asked", asked)
    monkeypatch.setattr(policy, "need_torch", lambda: None)
    return str(folder), asked_prompts


def config(fn="rewards.math.correct", **keys):
    return EvalConfig.model_validate({"reward": {"terms": {"correct": {"fn": fn}}}, "eval": {"k": 4, "greedy": False, **keys}})


def rows(*numbers):
    return [{"prompt": str(n), "answer": str(n), "row_id": f"r{n}"} for n in numbers]


def test_rates_are_cached_and_only_new_prompts_are_asked(model):
    path, asked_prompts = model
    assert pass_rates(config(), path, rows(1, 2, 3), lambda _: None) == [0.0, 0.5, 0.0]
    assert len(asked_prompts) == 12
    said = []
    assert pass_rates(config(), path, rows(2, 4, 1, 2), said.append) == [0.5, 0.5, 0.0, 0.5]
    assert set(asked_prompts[12:]) == {"4"} and "2 of 3 prompts are in the cache" in said[0]


def test_another_model_reward_or_sampling_has_its_own_cache(model, tmp_path):
    path, _ = model
    one = cache_file(config(), path)
    assert one == cache_file(config(), path)
    assert one != cache_file(config(k=8), path) and one != cache_file(config(temperature=0.5), path)
    assert one != cache_file(config("rewards.format.answer_tag"), path)
    (tmp_path / "model" / "model.safetensors").write_bytes(b"other weights")
    assert one != cache_file(config(), path)


def test_a_half_written_cache_is_used_as_far_as_it_goes(model, tmp_path):
    path, asked_prompts = model
    place = cache_file(config(), path)
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps({"key": row_key(rows(1)[0]), "pass_rate": 0.25}) + '\n{"key": "ab')
    assert Cache(place).rates == {row_key(rows(1)[0]): 0.25}
    assert pass_rates(config(), path, rows(1, 2), lambda _: None) == [0.25, 0.5]
    assert set(asked_prompts) == {"2"}


def test_a_row_is_known_by_what_is_asked_and_judged():
    one = {"prompt": "2", "answer": "2"}
    assert row_key(one) == row_key({**one, "row_id": "x", "pass_rate": 0.5})
    assert row_key(one) != row_key({**one, "answer": "3"}) and row_key(one) != row_key({**one, "prompt": "3"})


def test_the_histogram_counts_every_prompt():
    lines = histogram([0, 0.1, 0.25, 0.3, 0.5, 0.51, 0.76, 0.99, 1, 1])
    assert [int(line.split()[-2] if "#" in line else line.split()[-1]) for line in lines] == [1, 2, 2, 1, 2, 2]


@pytest.mark.real
def test_the_command_on_a_model_that_it_builds(tmp_path, monkeypatch, capsys):
    from rlvr_cli.main import main

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    from rlvr_cli.models.tiny import build

    folder = build(0, steps=2)
    words = [
        "data",
        "difficulty",
        f"checkpoint={folder}",
        "dataset=arithmetic",
        "reward=math",
        "limit=6",
        "k=2",
        "generation.max_completion_length=8",
    ]
    assert main([*words, "out=rated.jsonl"]) == 0
    rated = [json.loads(line) for line in (tmp_path / "rated.jsonl").read_text().splitlines()]
    assert len(rated) == 6 and all(row["pass_draws"] == 2 and 0 <= row["pass_rate"] <= 1 for row in rated)
    assert "n=6 prompts x 2 draws" in capsys.readouterr().out
    assert main(words) == 0 and "6 of 6 prompts are in the cache" in capsys.readouterr().err

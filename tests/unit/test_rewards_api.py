"""Resolve, bind, call, compose: every way a person's reward can be wrong is one line, and every sum is TRL's sum."""

import asyncio
import math
import re
import subprocess
import sys
import time

import numpy as np
import pytest

from rlvr_cli.errors import ConfigError, MissingDependency, RewardError
from rlvr_cli.rewards_api import (
    TermResult,
    as_matrix,
    bind,
    check_gold,
    compose,
    concat,
    consecutive_groups,
    correct_of,
    resolve,
    score_batch,
    score_group,
    score_local,
)
from rlvr_cli.rewards_api.call import NOT_APPLICABLE

USER = """
import asyncio, time
import numpy as np

def right(completions, answer, *, bonus=0.0, **kwargs):
    return [float(c == a) + bonus for c, a in zip(completions, answer)]
def tagged(completions, **kwargs):
    return [float("tag" in c) for c in completions]
def unsure(completions, **kwargs):
    return [None if "?" in c else 1.0 for c in completions]
def raises(completions, **kwargs):
    if any("bad" in c for c in completions):
        raise ValueError("no such\\nthing")
    return [0.0] * len(completions)
def times_out(completions, **kwargs):
    raise TimeoutError("the server of the judge did not answer")
def leaves(completions, **kwargs):
    raise SystemExit(0)
def hangs(completions, **kwargs):
    time.sleep(60)
def short(completions, **kwargs):
    return [1.0]
def nan(completions, **kwargs):
    return [float("nan") if "bad" in c else 1.0 for c in completions]
def infinite(completions, **kwargs):
    return np.array([np.inf if "bad" in c else 1.0 for c in completions])
def text(completions, **kwargs):
    return ["yes" for c in completions]
def none_at_all(completions, **kwargs):
    return None
def numbers(completions, **kwargs):
    return np.ones(len(completions), dtype=np.float32)
async def slow_async(completions, **kwargs):
    await asyncio.sleep(0.3)
    return [1.0] * len(completions)
def slow_too(completions, **kwargs):
    time.sleep(0.3)
    return [True] * len(completions)
def no_completions(prompts, answer):
    return []
def positional(completions, answer, /):
    return []
def ranked(completions, group_id, correct, **kwargs):
    best = {}
    for c, g, r in zip(completions, group_id, correct):
        best[g] = max(best.get(g, 0), len(c))
    return [len(c) / best[g] if r >= 1 else 0.0 for c, g, r in zip(completions, group_id, correct)]
def rest(completions, **kwargs):
    return [float(level) for level in kwargs["level"]]
NOT_A_FUNCTION = 3
class Klass: pass
"""


@pytest.fixture
def user(tmp_path, monkeypatch):
    """A person's folder with ./rewards/mine.py; what it puts on sys.path and in sys.modules is taken away again."""
    (tmp_path / "rewards").mkdir()
    (tmp_path / "rewards" / "mine.py").write_text(USER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith(("rewards.", "rlvr_user_")):
            del sys.modules[name]


def one(fn, **term):
    return bind({"terms": {"t": {"fn": f"rewards.mine.{fn}", **term}}})


def test_a_users_folder_merges_with_the_built_ins(user):
    assert resolve("rewards.mine.right").__name__ == "right"
    assert resolve("rewards.format.boxed").__module__ == "rewards.format"
    assert resolve("rewards/mine.py:right")(["4"], ["4"]) == [1.0]


def test_a_users_file_comes_before_the_built_in_of_the_same_name(user):
    before = sys.modules.get("rewards.control")
    (user / "rewards" / "control.py").write_text("def mine_now(completions, **kwargs): return [0.5] * len(completions)\n")
    try:
        assert resolve("rewards.control.mine_now")(["a"]) == [0.5]
    finally:
        sys.modules.pop("rewards.control", None)
        if before is not None:
            sys.modules["rewards.control"] = before


@pytest.mark.parametrize(
    ("dotted", "says"),
    [
        ("rewards.mine.rihgt", "rewards.mine.right"),
        ("rewards.mnie.right", "rewards.mine"),
        ("rewards.fromat.boxed", "rewards.format"),
        ("rewards.mine.NOT_A_FUNCTION", "is a int"),
        ("rewards.mine.Klass", "is a type"),
        ("right", "not a dotted path"),
        ("rewards.mine right", "not a dotted path"),
        ("rewards/absent.py:f", "no file"),
    ],
)
def test_a_wrong_path_names_the_nearest(user, dotted, says):
    with pytest.raises(RewardError) as error:
        resolve(dotted)
    assert says in str(error.value) and "\n" not in str(error.value)


def test_the_nearest_is_found_in_the_users_folder_too_where_rewards_was_imported_without_it(user, monkeypatch):
    import rewards

    monkeypatch.setattr(rewards, "__path__", [place for place in rewards.__path__ if not place.startswith(str(user))])
    with pytest.raises(RewardError, match=r"Type: rewards\.mine"):
        resolve("rewards.mnie.right")


def test_a_module_that_breaks_on_import_is_named_with_its_line(user):
    (user / "rewards" / "broken.py").write_text("x = 1\nraise KeyError('boom')\n")
    (user / "rewards" / "unparsed.py").write_text("def f(:\n")
    (user / "rewards" / "needs.py").write_text("import a_package_nobody_has\n")
    with pytest.raises(RewardError, match=r"KeyError.*broken\.py:2"):
        resolve("rewards.broken.f")
    with pytest.raises(RewardError, match=r"does not parse.*unparsed\.py:1"):
        resolve("rewards.unparsed.f")
    with pytest.raises(MissingDependency, match="a_package_nobody_has"):
        resolve("rewards.needs.f")


def test_an_init_file_in_rewards_is_named_as_the_error(user):
    (user / "rewards" / "__init__.py").touch()
    with pytest.raises(RewardError, match=r"__init__\.py hides the built-in rewards"):
        resolve("rewards.format.boxed")


@pytest.mark.parametrize(
    ("term", "columns", "says"),
    [
        ({"fn": "right", "options": {"bonsu": 1}}, None, "no option 'bonsu'.*options.bonus=1"),
        ({"fn": "tagged", "options": {"anything": 1}}, None, "no option 'anything'"),
        ({"fn": "right"}, ["prompt", "anwser"], "needs the column 'answer'.*dataset.columns.answer=anwser"),
        ({"fn": "no_completions"}, None, "no parameter 'completions'"),
        ({"fn": "positional"}, None, "positional-only"),
        ({"fn": "tagged", "when": {"knid": "math"}}, ["kind"], "no column 'knid'.*kind"),
        ({"fn": "tagged", "gate": "corect"}, None, "'corect' is not another term"),
        ({"fn": "tagged", "gate": "t"}, None, "'t' is not another term"),
    ],
)
def test_a_broken_term_is_one_line_that_says_where(user, term, columns, says):
    term["fn"] = f"rewards.mine.{term['fn']}"
    with pytest.raises(RewardError, match=says) as error:
        bind({"terms": {"t": term}}, columns)
    assert "reward.terms.t" in str(error.value) and "\n" not in str(error.value)


def test_gates_in_a_circle_are_refused(user):
    fn = "rewards.mine.tagged"
    with pytest.raises(RewardError, match="circle: a -> b -> a"):
        bind({"terms": {"a": {"fn": fn, "gate": "b"}, "b": {"fn": fn, "gate": "a"}}})


def test_no_terms_is_an_error():
    with pytest.raises(RewardError, match="no terms"):
        bind({"terms": {}})


@pytest.mark.parametrize(
    ("fn", "says"),
    [
        ("raises", "'t' raised ValueError: no such thing on completion 1: 'bad one'"),
        ("short", "returned 1 scores for 2 completions"),
        ("nan", "gave nan for completion 1: 'bad one'"),
        ("infinite", "gave inf for completion 1: 'bad one'"),
        ("text", "gave a str"),
        ("none_at_all", "returned a NoneType"),
        ("leaves", "'t' raised SystemExit: 0 on completion 0: 'good'"),
        ("times_out", "'t' raised TimeoutError: the server of the judge did not answer on completion 0: 'good'"),
    ],
)
def test_a_reward_that_breaks_is_named_with_its_sample(user, fn, says):
    with pytest.raises(RewardError, match=says) as error:
        score_batch(one(fn), None, ["good", "bad one"], {})
    assert "\n" not in str(error.value)
    assert " raised " not in says or re.search(r", at \S+\.py:\d+", str(error.value)), "the line of the person's own file"


def test_a_hanging_reward_is_named_at_its_deadline(user):
    terms = bind({"terms": {"t": {"fn": "rewards.mine.hangs"}}, "pool": {"batch_timeout_s": 0.2}})
    start = time.monotonic()
    with pytest.raises(RewardError, match=r"'t' did not answer within 0\.2 s on 1 completions; the first: 'abc'"):
        score_batch(terms, None, ["abc"], {})
    assert time.monotonic() - start < 5


def test_terms_run_side_by_side_and_async_ones_are_awaited(user):
    functions = {"a": "slow_async", "b": "slow_too", "c": "numbers"}
    terms = bind({"terms": {name: {"fn": f"rewards.mine.{fn}"} for name, fn in functions.items()}})
    results = score_batch(terms, None, ["x", "y"], {})
    assert [results[name].scores for name in "abc"] == [[1.0, 1.0]] * 3

    async def inside_a_loop():
        return score_batch(terms, None, ["x"], {})["a"].scores

    assert asyncio.run(inside_a_loop()) == [1.0]


def test_columns_reach_kwargs_but_never_an_option_of_that_name(user):
    [term] = one("rest")
    assert term.call(None, ["a", "b"], {"level": [3, 4]}).scores == [3.0, 4.0]
    [term] = one("right")
    assert term.call(None, ["4"], {"answer": ["4"], "bonus": [5.0]}).scores == [1.0]


def test_routing_passes_only_the_applicable_rows(user):
    terms = bind(
        {"terms": {"a": {"fn": "rewards.mine.right", "when": {"kind": "x"}}, "b": {"fn": "rewards.mine.tagged", "when": "kind=y|z"}}},
        columns=["kind", "answer"],
    )
    columns = {"kind": ["x", "y", "w"], "answer": ["4", None, None]}
    results = score_batch(terms, None, ["4", "tag", "tag"], columns)
    assert results["a"].scores == [1.0, None, None] and results["a"].applicable == [True, False, False]
    assert results["b"].scores == [None, 1.0, None] and results["b"].reasons[0] == NOT_APPLICABLE
    done = compose(results, terms)
    assert done.total == [1.0, 1.0, None]
    assert done.unjudged == {"no term applies to this row": 1}


def test_one_unjudged_term_leaves_the_whole_row_out(user):
    terms = bind({"terms": {"a": {"fn": "rewards.mine.right"}, "b": {"fn": "rewards.mine.unsure", "weight": 0.5}}})
    results = score_batch(terms, None, ["4", "4?"], {"answer": ["4", "4?"]})
    done = compose(results, terms)
    assert done.total == [1.5, None]
    assert done.per_term == {"a": [1.0, 1.0], "b": [1.0, None]}
    assert sum(done.unjudged.values()) == 1 and next(iter(done.unjudged)).startswith("b: ")
    values, mask = as_matrix(results, terms)
    assert np.isnan(values[1]).all() and mask.all()


def test_weights_gates_and_caps(user):
    fn = "rewards.mine."
    terms = bind(
        {
            "terms": {
                "correct": {"fn": fn + "right", "weight": 2.0},
                "tag": {"fn": fn + "tagged", "weight": 0.5, "gate": "correct"},
                "extra": {"fn": fn + "numbers", "weight": 3.0, "cap": 0.25, "gate": "tag"},
            }
        }
    )
    results = score_batch(terms, None, ["a tag", "a", "tag"], {"answer": ["a tag", "a", "b"]})
    assert compose(results, terms).total == [2.75, 2.0, 0.0]


def test_a_gate_that_is_routed_away_routes_its_term_away(user):
    fn = "rewards.mine."
    terms = bind(
        {
            "terms": {
                "correct": {"fn": fn + "right", "when": {"kind": "math"}},
                "tag": {"fn": fn + "tagged", "gate": "correct"},
                "other": {"fn": fn + "numbers", "when": {"kind": "sql"}},
            }
        }
    )
    results = score_batch(terms, None, ["a", "tag"], {"kind": ["math", "sql"], "answer": ["a", None]})
    done = compose(results, terms)
    assert done.total == [1.0, 1.0] and done.applicable["tag"] == [True, False]


def test_the_matrix_sums_as_trl_sums_it(user):
    """TRL: (rewards * weights).nansum(dim=1), rows that are all NaN left out."""
    rng = np.random.default_rng(0)
    n = 40
    results = {}
    for name in "abc":
        applicable = (rng.random(n) < 0.8).tolist()
        scores = [None if not ok or rng.random() < 0.1 else float(rng.choice([0, 0.5, 1])) for ok in applicable]
        results[name] = TermResult(scores, ["r"] * n, [None] * n, applicable)
    fn = "rewards.mine.tagged"
    terms = bind({"terms": {"a": {"fn": fn, "weight": 0.7}, "b": {"fn": fn, "weight": -0.3, "gate": "a"}, "c": {"fn": fn, "cap": 0.6}}})
    total = compose(results, terms).total
    for fill in (0.0, math.nan):
        values, mask = as_matrix(results, terms, not_applicable=fill)
        alive = ~np.isnan(values).all(axis=1)
        for row in range(n):
            if total[row] is None:
                assert not alive[row] or not mask[row].any()
            else:
                assert np.nansum(values[row]) == pytest.approx(total[row])
    values, _ = as_matrix(results, terms)
    assert [not math.isnan(v) for v in values[:, 0]] == [t is not None for t in total]


def test_group_terms_over_two_ranks_equal_one_process(user):
    """Groups cut in two by the rank border; lengths, corrects and an unjudged row cross it."""
    fn = "rewards.mine."
    terms = bind({"terms": {"correct": {"fn": fn + "right"}, "sure": {"fn": fn + "unsure"}, "len": {"fn": fn + "ranked"}}})
    completions = ["aa", "aaaa", "b", "aa?", "cc", "c"]
    columns = {"answer": ["aa", "aaaa", "a", "aa?", "cc", "d"]}
    groups = consecutive_groups(6, 3)
    whole = score_batch(terms, None, completions, columns, group_id=groups)
    parts = [score_local(terms, None, completions[at], {"answer": columns["answer"][at]}) for at in (slice(0, 2), slice(2, 4), slice(4, 6))]
    gathered = score_group(terms, concat(parts), None, completions, columns, group_id=groups)
    assert gathered == whole
    assert whole["len"].scores == [0.5, 1.0, 0.0, 1.0, pytest.approx(2 / 3), 0.0]
    assert compose(whole, terms).total[3] is None
    assert gathered["len"].rows(2, 4).scores == [0.0, 1.0]


def test_a_group_term_leaves_rows_out_whose_correctness_is_unknown(user):
    fn = "rewards.mine."
    terms = bind({"terms": {"correct": {"fn": fn + "unsure"}, "len": {"fn": fn + "ranked"}}})
    result = score_batch(terms, ["p"] * 3, ["a", "aa", "aaaaaaaa?"], {})["len"]
    assert result.scores == [0.5, 1.0, None] and "could not be judged" in result.reasons[2]


def test_which_term_is_correct(user):
    fn = "rewards.mine."
    base = {"tag": {"fn": fn + "tagged"}, "correct": {"fn": fn + "right", "when": "answer"}, "len": {"fn": fn + "ranked"}}
    columns, completions = {"answer": ["a", None]}, ["a", "tag"]

    def pick(**len_keys):
        terms = bind({"terms": {**base, "len": {**base["len"], **len_keys}}})
        return correct_of(terms[2], terms, score_local(terms, None, completions, columns))

    assert pick() == ([1.0, 1.0], [True, True])  # the one called correct, and the tag where that does not apply
    assert pick(gate="tag") == ([0.0, 1.0], [True, True])
    assert pick(correct="correct", gate="tag") == ([1.0, None], [True, False])


def test_golds_are_scored_by_their_own_reward(user):
    (user / "rewards" / "picky.py").write_text(
        "def gold_completion(row): return row['answer']\n"
        "def f(completions, answer, **kwargs): return [float(len(c) > 1) for c in completions]\n"
    )
    terms = bind({"terms": {"t": {"fn": "rewards.picky.f"}}})
    report = check_gold(terms, [{"answer": "42"}, {"answer": "4"}, {"answer": None}])
    assert report.checked == 2 and [bad.row for bad in report.bad] == [1]
    assert [row for row, _ in report.not_checkable] == [2]


def test_a_typo_in_a_term_is_refused_by_the_schema(user):
    with pytest.raises(ConfigError, match=r"reward\.terms\.t\.wieght.*reward\.terms\.t\.weight"):
        bind({"terms": {"t": {"fn": "rewards.mine.tagged", "wieght": 1}}})


def test_the_api_needs_no_torch():
    code = "import sys, rlvr_cli.rewards_api; assert not {'torch', 'trl', 'hydra'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0

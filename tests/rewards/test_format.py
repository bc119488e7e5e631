"""Forms of an answer: each row is a way to look right without being it, or to be right and look odd."""

import pytest

from rewards import control, format
from rlvr_cli.errors import RewardError
from rlvr_cli.rewards_api import bind, check_gold, compose, score_batch

BOX = "\\boxed"


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("<answer>4</answer>", 1.0),
        ("so\n<answer>\n4\n</answer>\n", 1.0),
        ("<think>hm</think><answer>4</answer>", 1.0),
        ("<answer></answer>", 0.0),
        ("<answer> \n.</answer>", 0.0),
        ("<answer>4", 0.0),
        ("4</answer>", 0.0),
        ("</answer>4<answer>", 0.0),
        ("<answer>4</answer><answer>5</answer>", 0.0),
        ("<answer><answer>4</answer></answer>", 0.0),
        ("<think><answer>4</answer>", 0.0),
        ("<think><answer>4</answer></think>4", 0.0),
        ("<ANSWER>4</ANSWER>", 0.0),
        ("", 0.0),
        ("四 <answer>四</answer>", 1.0),
    ],
)
def test_answer_tag(text, score):
    assert format.answer_tag([text]) == [score]
    assert format.answer_tag([[{"role": "assistant", "content": text}]]) == [score]


def test_answer_tag_last_allows_nothing_behind():
    assert format.answer_tag(["<answer>4</answer> or 5", "x <answer>4</answer>\n"], last=True) == [0.0, 1.0]
    assert format.answer_tag(["<final>4</final>"], tag="final") == [1.0]


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("<think>2+2</think><answer>4</answer>", 1.0),
        ("\n<think>\n2+2\n</think>\n\n<answer>4</answer>\n", 1.0),
        ("<think></think><answer>4</answer>", 0.0),
        ("<think>...</think><answer>4</answer>", 0.0),
        ("<think>2+2</think><answer></answer>", 0.0),
        ("<think>2+2</think>so <answer>4</answer>", 0.0),
        ("well <think>2+2</think><answer>4</answer>", 0.0),
        ("<think>2+2</think><answer>4</answer> done", 0.0),
        ("<think>a</think><think>b</think><answer>4</answer>", 0.0),
        ("<answer>4</answer><think>2+2</think>", 0.0),
        ("<think>2+2<answer>4</answer></think>", 0.0),
        ("<answer>4</answer>", 0.0),
    ],
)
def test_think_answer(text, score):
    assert format.think_answer([text]) == [score]


def test_think_answer_after_a_template_that_opens_the_thinking():
    assert format.think_answer(["2+2</think><answer>4</answer>"], opened=True) == [1.0]
    assert format.think_answer(["2+2</think><answer>4</answer>"]) == [0.0]


@pytest.mark.parametrize(
    ("text", "score"),
    [
        (f"{BOX}{{4}}", 1.0),
        (f"{BOX}{{\\frac{{1}}{{2}}}}", 1.0),
        (f"{BOX}{{\\{{1,2\\}}}}", 1.0),
        (f"{BOX}{{}}", 0.0),
        (f"{BOX}{{ }}", 0.0),
        (f"{BOX}{{4", 0.0),
        (f"{BOX}{{4}} {BOX}{{}}", 0.0),
        (f"<think>{BOX}{{4}}</think>", 0.0),
        (f"<think>{BOX}{{4}}", 0.0),
        ("4", 0.0),
    ],
)
def test_boxed(text, score):
    assert format.boxed([text]) == [score]


def test_regex_finds_or_matches_and_a_bad_pattern_is_not_a_wrong_answer():
    assert format.regex(["Answer: 4", "So Answer: 4.", "x"], pattern=r"Answer: (\d+)") == [1.0, 1.0, 0.0]
    assert format.regex(["Answer: 4", "So Answer: 4."], pattern=r"Answer: \d+", full=True) == [1.0, 0.0]
    scores = format.regex(["x"], pattern="(")
    assert scores == [None] and "does not compile" in scores.verdicts[0].reason


def test_a_runaway_pattern_is_stopped():
    scores = format.regex(["a" * 40 + "!", "aaa"], pattern=r"(a+)+$", timeout_s=0.5)
    assert scores[0] is None and scores[1] == 1.0


def test_the_gold_has_every_form():
    gold = format.gold_completion({"answer": "4"})
    for form in (format.answer_tag, format.think_answer, format.boxed):
        assert form([gold]) == [1.0]
    assert format.gold_completion({"answer": None}) is None and format.gold_completion({}) is None


def test_the_form_costs_less_than_being_right():
    """What conf/reward/format.yaml pays: a wrong answer in full dress earns less than a right one in rags."""
    import yaml

    from rlvr_cli.config.options import options

    reward = yaml.safe_load(options("reward")["format"].path.read_text())
    terms = bind(reward)
    completions = ["<answer>5</answer>", "The answer is 4.", "<answer>4</answer>"]
    total = compose(score_batch(terms, None, completions, {"answer": ["4"] * 3}), terms).total
    assert total[0] < total[1] < total[2] and total[0] <= 0.2


def test_controls_know_nothing():
    heads = control.random(["4"] * 4000, seed=1)
    assert 0.46 < sum(heads) / 4000 < 0.54 and set(heads) == {0.0, 1.0}
    assert heads == control.random(["4"] * 4000, seed=1) != control.random(["4"] * 4000, seed=2)
    assert control.format_only(["<answer>wrong</answer>", "right", "\\boxed{x}", "<answer></answer>"]) == [1.0, 0.0, 1.0, 0.0]
    assert control.format_only(["\\boxed{x}"], style="answer_tag") == [0.0]


def test_random_draws_anew_at_every_step_for_the_same_text():
    class State:
        global_step = 0

    draws = []
    for State.global_step in range(200):
        draws += control.random(["4"], trainer_state=State)
    assert 60 < sum(draws) < 140


def test_a_control_arm_has_no_gold():
    report = check_gold(bind({"terms": {"r": {"fn": "rewards.control.random"}}}), [{"answer": "4"}])
    assert report.checked == 0 and len(report.not_checkable) == 1


def test_ungated_steps_are_refused():
    with pytest.raises(RewardError, match=r"needs a gate.*reward\.terms\.s\.gate=correct"):
        bind({"terms": {"correct": {"fn": "rewards.format.boxed"}, "s": {"fn": "rewards.length.step_bonus"}}})

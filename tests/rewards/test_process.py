"""Steps are found by what they say, and false arithmetic costs; what is not surely a false equation does not."""

import json

import pytest

from rewards import language, process
from rlvr_cli.rewards_api import bind, check_gold, compose, score_batch
from rlvr_cli.verifiers.arithmetic_text import Unreadable, equations, evaluate


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("3+5=9", [False]),
        ("3 + 5 = 8.", [True]),
        ("3×5=15, 15÷3=5", [True, True]),
        ("３＋５＝９", [False]),
        (r"\frac{1}{2} + 0.25 = 0.75", [True]),
        (r"3 \times 4 = 13", [False]),
        ("1,200 + 300 = 1,500", [True]),
        ("$5 + $3 = $9", [False]),
        ("20*50% = 10", [True]),
        ("10/3 = 3.33", [True]),
        ("10/3 = 3.34", [False]),
        ("2 + 3 = 5 + 1 = 6", [False, True]),
        ("so 4*5=<<4*5=20>>20 eggs", [True]),
        ("(2+3)*4 = 20", [True]),
        ("-3 + 5 = 2", [True]),
        ("2^10 = 1024", [True]),
        ("It is 2. 3+5=9", [False]),
        # claims nothing that can be checked
        ("x + 3 = 9", []),
        ("2x+3=7", []),
        ("a - 3 + 5 = 9", []),
        ("f(3) = 9", []),
        ("3+5=9x", []),
        ("3+5 ≈ 9", []),
        ("10/3 = 3 remainder 1", []),
        ("5 = 5", []),
        ("1/0 = 5", []),
        ("3+5=", []),
        ("9^9^9 = 3", []),
        ("3 apples + 5 apples = 9 apples", []),
        ("(" * 5000 + "1=1", []),
        ("=" * 5000, []),
        ("1+" * 5000 + "1=2", []),
    ],
)
def test_equations(text, links):
    assert [equation.true for equation in equations(text)] == links


def test_evaluate_refuses_what_is_no_plain_expression():
    for text in ("", "1+", "1 2", "__import__('os')", "2**100000", "(1", "1)", "1e400", "0^-1", "1" * 50):
        with pytest.raises(Unreadable):
            evaluate(text)


STEPS = ["3*5=15", ["15+2=17", "adds up to 17"], "Pythagoras"]


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("3*5=15, 15+2=17, by Pythagoras", 1.0),
        ("15 = 3 × 5; it adds  up to 17 (pythagoras)", 1.0),
        (r"\(3 \cdot 5 = 15\)", 1 / 3),
        ("13*5=150", 0.0),
        ("3*5=15.5", 0.0),
        ("Pythagorasian", 0.0),
        ("", 0.0),
        ("3*5=15 and 3+5=9", pytest.approx(1 / 3 - 0.25)),
        ("3+5=9 3+5=9", 0.0),
    ],
)
def test_share_of_steps(text, score):
    assert process.steps([text], [STEPS])[0] == score


def test_a_step_is_not_found_inside_a_longer_number():
    assert process.steps(["13+5=180"], [["3+5=18"]], check_arithmetic=False) == [0.0]
    assert process.steps(["3+5=18.5"], [["3+5=18"]], check_arithmetic=False) == [0.0]
    assert process.steps(["1,000+1=1,001"], [["1000+1=1001"]]) == [1.0]


def test_steps_as_text_list_or_broken():
    assert process.steps(["3*5=15"], [json.dumps(["3*5=15"])]) == process.steps(["3*5=15"], [["3*5=15"]]) == [1.0]
    assert process.steps(["3*5=15"], ["3*5=15\n1+1=2"]) == [0.5]
    assert process.steps(["x", "x", "x"], [None, [], 7]) == [None, None, None]


def test_the_gold_is_all_steps():
    report = check_gold(bind({"terms": {"s": {"fn": "rewards.process.steps"}}}, alone=True), [{"steps": STEPS}, {"steps": None}])
    assert report.bad == [] and report.checked == 1


def test_steps_pay_only_behind_their_gate():
    terms = bind(
        {"terms": {"correct": {"fn": "rewards.format.boxed"}, "s": {"fn": "rewards.process.steps", "gate": "correct", "weight": 0.5}}}
    )
    completions = ["3*5=15 \\boxed{15}", "3*5=15"]
    total = compose(score_batch(terms, None, completions, {"steps": [["3*5=15"]] * 2}), terms).total
    assert total == [1.5, 0.0]


ZH, EN, FR = (
    "小明有三个苹果，又买了两个，一共有几个？",
    "How many apples does Tom have in the end?",
    "Combien de pommes est-ce que les enfants ont dans le panier ?",
)


@pytest.mark.parametrize(
    ("prompt", "text", "low", "high"),
    [
        (ZH, "三加二等于五，所以一共有五个苹果。", 1.0, 1.0),
        (ZH, "Three plus two is five, so there are five apples.", 0.0, 0.0),
        (ZH, "三加二等于五 therefore the answer", 0.5, 0.9),
        (ZH, "\\boxed{5}", 1.0, 1.0),
        (ZH, "x + y = 5", 1.0, 1.0),
        (ZH, "三つのりんごと二つです", 0.0, 0.0),
        (ZH, "`for apple in apples: print(apple)` 五个", 1.0, 1.0),
        (EN, "There are five apples.", 1.0, 1.0),
        (EN, "Il y a cinq pommes dans le panier, et les enfants sont là.", 0.0, 0.1),
        (EN, "答案是五", 0.0, 0.0),
        (FR, "Il y a cinq pommes dans le panier.", 1.0, 1.0),
        (FR, "There are five apples in the basket and that is it.", 0.0, 0.1),
        ([{"role": "system", "content": EN}, {"role": "user", "content": ZH}], "五个苹果", 1.0, 1.0),
        ("Сколько яблок у Тома?", "Пять яблок.", 1.0, 1.0),
        (EN, "", 0.0, 0.0),
    ],
)
def test_language(prompt, text, low, high):
    assert low <= language.consistent([text], prompts=[prompt])[0] <= high


def test_language_named_and_all_or_nothing():
    assert language.consistent(["五个 apples"], language="zh", threshold=0.9) == [0.0]
    assert language.consistent(["五个苹果"], language="zh", threshold=0.9) == [1.0]
    assert language.consistent(["five"], prompts=["2+2"]) == [None]  # the prompt is in no language

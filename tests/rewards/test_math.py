"""The mathematics reward on tables of notations and of ways to state an answer, on its own golds, and on hostile text."""

import os
import random
from pathlib import Path

import pytest
import yaml

from rewards.math import correct, gold_completion
from rlvr_cli.verifiers.math import equal, extract_answer, judge

HERE = Path(__file__).parent


def table(name):
    for entry in yaml.safe_load((HERE / name).read_text(encoding="utf-8")):
        for expected, key in ((1.0, "right"), (0.0, "wrong")):
            for text in entry.get(key, []):
                yield entry["gold"], text, expected


@pytest.mark.parametrize(("gold", "answer", "expected"), list(table("math_equal.yaml")))
def test_equal_answers_in_many_notations(gold, answer, expected):
    assert judge(f"Therefore \\boxed{{{answer}}}.", {"answer": gold}).score == expected


@pytest.mark.parametrize(
    ("gold", "completion", "expected"),
    [case for name in ("completions", "forms", "endings", "kinds", "fresh") for case in table(f"math_{name}.yaml")],
)
def test_final_answer_in_many_forms(gold, completion, expected):
    assert judge(completion, {"answer": gold}).score == expected


GOLDS = sorted({entry["gold"] for entry in yaml.safe_load((HERE / "math_equal.yaml").read_text(encoding="utf-8"))})


@pytest.mark.parametrize("gold", GOLDS)
def test_a_gold_gets_full_marks_from_itself(gold):
    assert correct([gold_completion({"answer": gold})], answer=[gold]) == [1.0]
    assert correct([gold_completion({"answer": gold})], answer=[gold], strict=True) == [1.0]


def test_different_golds_are_not_each_other():
    same = {(a, b) for a in GOLDS for b in GOLDS if a < b and equal(a, b)}
    assert same <= {
        ("60^\\circ", "\\frac{\\pi}{3}"), ("1, 2", "\\{1,2\\}"), ("5!", "120"), ("(1,2)", "1, 2"), ("(1,2)", "x=1,y=2"),
        ("1, 2", "x=1,y=2"),
        ("\\ln 2", "\\log 2"), ("(1,2)", "\\begin{pmatrix}1\\\\2\\end{pmatrix}"), ("101_2", "5 \\text{ cm}"),
        ("3:45", "3:45 \\text{ p.m.}"),
    }  # fmt: skip


@pytest.mark.parametrize("gold", [None, "", "   ", "?", "...", float("nan"), [], {}])
def test_an_unreadable_gold_is_none(gold):
    verdict = judge("\\boxed{7}", {"answer": gold})
    assert verdict.score is None and "gold unreadable" in verdict.reason
    assert gold_completion({"answer": gold}) is None


@pytest.mark.parametrize(
    ("gold", "plain"),
    [(7, "7"), (7.5, "7.5"), ("#### 7", "7"), ("3 + 4 = 7\n#### 7", "7"), ("So \\boxed{7}.", "7"), ("1+6\nA: 7", "7"), (["7"], "7")],
)
def test_golds_of_other_types_and_worked_solutions(gold, plain):
    assert judge(f"\\boxed{{{plain}}}", {"answer": gold}).score == 1.0
    assert judge("\\boxed{8}", {"answer": gold}).score == 0.0


def test_strict_takes_only_the_asked_form():
    texts = ["<answer>7</answer>", "\\boxed{7}", "#### 7", "The answer is 7.", "7"]
    assert correct(texts, answer=["7"] * 5) == [1.0] * 5
    assert correct(texts, answer=["7"] * 5, strict=True) == [1.0, 1.0, 1.0, 0.0, 0.0]
    assert correct(texts, answer=["7"] * 5, require_tag="answer") == [1.0, 0.0, 0.0, 0.0, 0.0]
    assert correct(texts, answer=["7"] * 5, require_tag="boxed", strict=True) == [0.0, 1.0, 0.0, 0.0, 0.0]
    assert correct(texts, answer=["7"] * 5, require_tag="hash") == [0.0, 0.0, 1.0, 0.0, 0.0]


def test_tolerance_is_for_decimals_only():
    assert correct(["\\boxed{0.33}"] * 2, answer=["1/3"] * 2, tolerance=0.02) == [1.0] * 2
    assert correct(["\\boxed{0.33}", "\\boxed{1/4}"], answer=["1/3"] * 2) == [0.0, 0.0]
    assert correct(["\\boxed{1000001}", "\\boxed{3.0000001}"], answer=["1000000", "3"]) == [0.0, 0.0]


def test_a_copied_prompt_is_no_answer():
    prompt = "There are 24 birds on a wire and 7 fly away at noon. The answer is 17 or not?"
    row = {"answer": "17", "prompt": [{"role": "user", "content": prompt}]}
    assert judge(prompt, row).score == 0.0
    assert judge(prompt + " I think so.", row).score == 0.0
    assert judge(f"{prompt}\n\\boxed{{17}}", row).score == 1.0
    assert correct([prompt], answer=["17"], prompts=[prompt]) == [0.0]


def test_messages_extra_columns_and_reasons():
    messages = [{"role": "user", "content": "\\boxed{9}"}, {"role": "assistant", "content": "So \\boxed{7}"}]
    scores = correct(completions=[messages, "\\boxed{8}"], answer=["7", "7"], prompts=["q", "q"], trainer_state=None, extra=[1, 2])
    assert scores == [1.0, 0.0]
    assert [v.extracted for v in scores.verdicts] == ["7", "8"]
    assert scores.verdicts[1].reason == "gold 7, answer 8"


def test_what_extract_answer_says():
    assert extract_answer("Thus <answer>12 cm</answer>").how == "tag"
    assert extract_answer("So there are 12 left.").how == "number"
    assert extract_answer("<think>12").problem == "the thinking was never closed"
    assert extract_answer("\\boxed{12").problem == "the text ends inside its answer"


@pytest.mark.parametrize(
    "evil",
    [
        "__import__('os').system('touch {path}')",
        "open('{path}','w').write('x')",
        "\\text{{__import__('os').mkdir('{path}')}}",
        'sympify(\'open("{path}","w")\')',
        "lambda: open('{path}', 'w')",
    ],
)
def test_nothing_is_executed(evil, tmp_path):
    path = tmp_path / "pwned"
    code = evil.format(path=path)
    for text in (f"\\boxed{{{code}}}", f"<answer>{code}</answer>", f"The answer is {code}"):
        assert judge(text, {"answer": "0"}).score == 0.0
        assert judge("\\boxed{0}", {"answer": text}).score in (0.0, None)
    assert not os.path.exists(path)


BIG = [
    "9^{9^{9^9}}",
    "10^{10^{10}}!",
    "(10^8)!",
    "\\sum_{k=1}^{10^{12}} k",
    "((2^{99})^{9999})^{9999}",
    "\\binom{10^9}{10^8}",
    "9**9**9**9",
    "1" * 5001,
    "\\sin(10^{10^{9}})",
    "2^{" * 300 + "}" * 300,
]


@pytest.mark.parametrize("big", BIG)
def test_giants_are_judged_and_not_computed(big):
    assert judge(f"\\boxed{{{big}}}", {"answer": "3"}).score == 0.0
    assert judge("\\boxed{3}", {"answer": big}).score == 0.0
    assert judge(f"\\boxed{{{big}}}", {"answer": big}).score == 1.0


@pytest.mark.parametrize(
    "piece",
    [
        "{",
        "(",
        "\\boxed{",
        "\\boxed{1}, ",
        "the answer is ",
        "#### 1\n",
        "<think>",
        "<answer>",
        "1,",
        "\\",
        " ",
        "\n",
        "\\frac{",
        "answer: ",
        "\ud800",
    ],
)
def test_endless_repeats_are_judged(piece):
    for text in (piece * (300_000 // len(piece)), "\\boxed{" + piece * 2000 + "}", "<answer>" + piece * 2000 + "</answer>"):
        assert judge(text, {"answer": "7"}).score == 0.0


def test_a_hundred_megabytes_of_braces_are_judged():
    assert judge("{" * 10**8, {"answer": "7"}).score == 0.0
    assert judge("}" * 10**8 + "\\boxed{7}", {"answer": "7"}).score == 1.0


CALCULUS = [
    ("\\int_0^1 x^2 dx", "1/3", 1.0),
    ("\\sum_{n=1}^{\\infty} \\frac{1}{n^2}", "\\frac{\\pi^2}{6}", 1.0),
    ("\\lim_{x \\to 0} \\frac{\\sin x}{x}", "1", 1.0),
    ("\\int_0^1 x^2 dx", "1/4", 0.0),
]


def test_calculus_goes_to_the_algebra_system():
    scores = correct([f"\\boxed{{{answer}}}" for answer, _, _ in CALCULUS], answer=[gold for _, gold, _ in CALCULUS])
    assert scores == [expected for _, _, expected in CALCULUS]


PIECES = (
    "\\boxed{ } { ( ) [ ] $ $$ \\frac \\sqrt ^ _ 1 23 0.5 , ; : ! % \\% x y + - * / = < \\le \\pm \\cup \\{ \\} \\text{a} <answer> "
    "</answer> <think> </think> #### answer is not or and \\begin{pmatrix} & \\\\ \\end{pmatrix} \\infty \\pi "
    "\\log sin | \\int \\sum_{k=1}^{3} \\overline{3} "
    "答案 是 ½ ² ٣ \x00 \ud800 \n . ? e i 10^9 \\circ A B Yes 7:20 p.m. km \\pmod 3 \\in \\mathbb{R} 2:3 0x1F"
)
PIECES = PIECES.split(" ")


def fuzzed(count, seed):
    rng = random.Random(seed)
    for _ in range(count):
        yield "".join(rng.choice(PIECES) + rng.choice(("", "", " ")) for _ in range(rng.randint(1, 30)))


def judged_without_trouble(count, seed):
    golds = GOLDS + list(fuzzed(40, seed + 1))
    rng = random.Random(seed)
    for text in fuzzed(count, seed):
        for completion in (text, f"\\boxed{{{text}}}"):
            verdict = judge(completion, {"answer": rng.choice(golds)})
            assert verdict.score in (0.0, 1.0) or "gold unreadable" in verdict.reason or "timed out" in verdict.reason, (
                completion,
                verdict,
            )


def test_fuzzed_text_raises_nothing():
    judged_without_trouble(1000, seed=0)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_hundred_thousand_fuzzed_texts_raise_nothing():
    judged_without_trouble(50_000, seed=1)


@pytest.mark.parametrize("answer", ["37+48", "48 + 37", "\\boxed{37+48}", "40+45", "(37+48)", "$37 + 48$"])
@pytest.mark.parametrize("tag", ["<answer>{}</answer>", "\\boxed{{{}}}", "The answer is {}."])
def test_copying_the_question_is_no_answer_to_it(answer, tag):
    """Equal as mathematics, but with the question at hand it was not worked out; 85 is right, and so is the form without a question."""
    prompt = [{"role": "user", "content": "37+48=?"}]
    assert correct([tag.format(answer)], ["85"], prompts=[prompt]) == [0.0]
    assert correct([tag.format("85")], ["85"], prompts=[prompt]) == [1.0]
    assert correct(["\\boxed{3 \\cdot 4}"], ["12"]) == [1.0]

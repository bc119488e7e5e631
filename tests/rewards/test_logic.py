"""Logic: rules instead of one written solution; the reasoning_gym library's golds all right, their perturbations wrong."""

import json
import random
from pathlib import Path

import pytest

from rewards.logic import correct, gold_completion
from rlvr_cli.verifiers.logic import judge
from rlvr_cli.verifiers.logic.gym import harmless
from rlvr_cli.verifiers.logic.numbers import Malformed, evaluate

GYM = Path(__file__).resolve().parents[2] / "../shared/data/reasoning_gym"
COUNTDOWN = {"task": "countdown", "state": {"numbers": [2, 3, 5, 7], "target": 31}}
SUDOKU = {"task": "mini_sudoku", "state": {"puzzle": [[1, 0, 0, 0], [0, 0, 3, 0], [0, 3, 0, 0], [0, 0, 0, 2]]}}
KNIGHTS = {"task": "knights_knaves", "state": {"names": ["Ann", "Bo"], "solution": [True, False]}}


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("5*7 - 3 - 2 + 1", 0.0),
        ("2*(5+7)+3+4", 0.0),
        ("5*(7-2)+3*2", 0.0),
        ("(2+3)*5+7-1", 0.0),
        ("3*7 + 2*5", 1.0),
        ("3 × 7 + 2 · 5", 1.0),
        ("3*7 + 2*5 = 31", 1.0),
        ("3*7 + 2*5 = 30", 0.0),
        ("Then:\n<answer>(3*7) + (2*5)</answer>", 1.0),
        ("\\boxed{3*7+2*5}", 1.0),
        ("<think>3*7 + 2*5</think>", 0.0),
        ("It is certainly not <answer>3*7 + 2*5</answer>.", 0.0),
        ("<answer>3*7 + 2*5</answer>\nWait, that is wrong. I do not know.", 0.0),
        ("3*7 + 2*5\nNo, this is not correct. I can not solve it.", 0.0),
        ("<answer>3*7</answer> That is wrong. <answer>3*7 + 2*5</answer>", 1.0),
        ("<answer>3*7</answer>\n<answer>3*7 + 2*5</answer>", 0.0),
        ("Wait, try:\n3*7 + 2*5", 1.0),
        ("31", 0.0),
        ("3*7 + 2*5 + 0", 0.0),
        ("__import__('os').system('true')", 0.0),
        ("9**9**9", 0.0),
        ("3*7 + 2*5)", 0.0),
        ("3/0+7*2*5", 0.0),
        ("", 0.0),
    ],
)
def test_countdown(text, score):
    assert judge(text, COUNTDOWN).score == score


@pytest.mark.parametrize("text", ["1+", "(1", "1 2", "+", "1//2", "((((" * 20 + "1", "1" * 30, "1+x", "1.5"])
def test_malformed_expressions(text):
    with pytest.raises(Malformed):
        evaluate(text)


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("1 4 2 3\n2 ", 0.0),
        ("1 2 4 3\n4 2 3 1\n2 3 1 4\n3 4 1 2", 0.0),
        ("x", 0.0),
        ("3 2 4 1\n", 0.0),
    ],
)
def test_sudoku_wrong(text, score):
    assert judge(text, SUDOKU).score == score


def test_sudoku_takes_any_solution_and_any_layout():
    row = {"task": "mini_sudoku", "state": {"puzzle": [[0] * 4 for _ in range(4)]}}
    for grid in (
        "1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1",
        "4321\n2143\n3412\n1234",
        "| 1 2 | 3 4 |\n| 3 4 | 1 2 |\n|-----|\n| 2 1 | 4 3 |\n| 4 3 | 2 1 |",
    ):
        assert judge(f"Here:\n{grid}", row).score == 1.0
    assert "row 1" in judge("1 1 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1", row).reason
    kept = {"task": "sudoku", "state": {"puzzle": [[2, 0, 0, 0]] + [[0] * 4 for _ in range(3)]}}
    assert "was 2, is 1" in judge("1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1", kept).reason


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("Ann is a knight, and Bo is a knave.", 1.0),
        ("**Ann**: knight\n**Bo**: knave", 1.0),
        ("Bo is a knave and Ann is not a knave", 1.0),
        ("Ann is a knave, and Bo is a knight.", 0.0),
        ("Ann is a knight.", 0.0),
        ("Ann is a knight or Ann is a knave, Bo is a knave", 0.0),
        ("knight, knave", 0.0),
    ],
)
def test_knights(text, score):
    assert judge(text, KNIGHTS).score == score


def test_queens_and_cryptarithm():
    queens = {"task": "n_queens", "state": {"puzzle": [["_"] * 4 for _ in range(4)]}}
    assert judge("_ Q _ _\n_ _ _ Q\nQ _ _ _\n_ _ Q _", queens).score == 1.0
    assert judge("Q _ _ _\n_ Q _ _\n_ _ Q _\n_ _ _ Q", queens).reason == "two queens attack each other"
    letters = {"task": "cryptarithm", "state": {"letters": ["A", "B"], "words_letters": ["A", "A"], "result_letters": "B"}}
    assert judge("A=3,B=6", letters).score == 1.0 and judge("A=3,B=3", letters).score == 0.0


@pytest.mark.parametrize(
    "row", [{}, {"task": "countdown"}, {"task": "countdown", "state": "not json"}, {"task": "no_such_task", "state": {}}]
)
def test_a_row_without_what_its_task_needs_is_none(row):
    assert judge("1", row).score is None


def test_state_as_text_object_and_after_datasets():
    from datasets import Dataset

    states = [{"numbers": [2, 3, 5], "target": 17}, {"names": ["Ann", "Bo"], "solution": [True, False]}]
    answers, tasks = ["2+3*5", "Ann: knight, Bo: knave"], ["countdown", "knights_knaves"]
    stored = Dataset.from_list([{"state": s} for s in states])["state"]
    for column in (states, [json.dumps(s) for s in states], list(stored)):
        assert correct(answers, tasks, state=column) == [1.0, 1.0]


@pytest.mark.parametrize("text", ["().__class__", "exec('1')", "x" * 50, "9**9999", "__import__('os')", "a.b.c", "lambda: 1"])
def test_what_could_be_a_program_reaches_no_library_scorer(text):
    assert not harmless(text)


def perturbed(answer: str, rng: random.Random) -> str:
    """One digit, or else one letter, changed."""
    places = [i for i, c in enumerate(answer) if c.isdigit()]
    if places:
        i = rng.choice(places)
        return answer[:i] + str((int(answer[i]) + rng.randint(1, 8)) % 10) + answer[i + 1 :]
    i = rng.choice([i for i, c in enumerate(answer) if c.isalpha()])
    return answer[:i] + ("z" if answer[i].lower() != "z" else "q") + answer[i + 1 :]


@pytest.mark.skipif(not GYM.exists(), reason="../shared/data/reasoning_gym is not here")
def test_thirty_tasks_of_the_library():
    """All golds right. A perturbed gold is wrong, save where the perturbed text is itself a solution: 15 of 2,900, argued here.

    graph_color (9) and cryptarithm (2): another valid colouring, another valid mapping. knights_knaves (4): the letter that
    changed is in "and". Propositional logic is left out: a changed conclusion often follows as well.
    """
    pytest.importorskip("reasoning_gym")
    golds, also_right, n, files = [], [], 0, sorted(GYM.glob("*.jsonl"))
    for file in files:
        rng = random.Random(0)
        for line in file.read_text().splitlines():
            n += 1
            item = json.loads(line)
            row = {"task": item["task"], "answer": item["answer"], "state": json.dumps(item["metadata"])}
            gold = gold_completion(row)
            if judge(gold, row).score != 1.0:
                golds.append((item["task"], gold))
            changed = perturbed(gold[len("<answer>") : -len("</answer>")], rng)
            if judge(f"<answer>{changed}</answer>", row).score != 0.0 and item["task"] != "propositional_logic":
                also_right.append(item["task"])
    print(f"{len(files)} tasks, n={n}: {len(golds)} golds refused, {len(also_right)} changed golds accepted: {sorted(set(also_right))}")
    assert golds == []
    assert set(also_right) <= {"graph_color", "cryptarithm", "knights_knaves"} and len(also_right) <= 15


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("\\boxed{25 \\times (3 + 8 - 7)}", 1.0),
        ("$25\\cdot(3+8-7)$", 1.0),
        ("25x(8-7+3)", 1.0),
        ("25(8-7+3)", 1.0),
        ("100 = 25*(3+8-7)", 1.0),
        ("25*(8-7+3) is 100.", 1.0),
        ("**25*(8-7+3)**", 1.0),
        ("The expression is 25*(8-7+3).", 1.0),
        ("25*(8-7+3) = 99", 0.0),
        ("The answer is not 25*(8-7+3)", 0.0),
        ("25**(8-7+3)", 0.0),
        ("100 = 100", 0.0),
    ],
)
def test_expressions_in_other_clothes(text, score):
    assert judge(text, {"task": "countdown", "state": {"numbers": [3, 7, 8, 25], "target": 100}}).score == score


def test_a_fraction_of_fractions():
    assert judge("\\frac{6}{1-\\frac{3}{4}}", {"task": "puzzle24", "state": {"numbers": [1, 3, 4, 6]}}).score == 1.0


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("Zoe and Ivy are knights, and Max is a knave.", 1.0),
        ("Knights: Zoe, Ivy\nKnaves: Max", 1.0),
        ("Suppose Zoe is a knave. Contradiction. So Zoe is a knight, Max is a knave, Ivy is a knight.", 1.0),
        ("Zoe is a knight or a knave, Max is a knave, Ivy is a knight", 0.0),
        ("Zoe, Max and Ivy are all knights.", 0.0),
        ("Knights: Zoe, Max\nKnaves: Ivy", 0.0),
        ("Zoe is a knight, Max is a knave, Ivy is a knight. Zoe is a knave.", 0.0),
        ("Zoe: knight\nIvy: knight\nMax: knave", 1.0),
    ],
)
def test_inhabitants_in_groups_and_suppositions(text, score):
    assert (
        judge(text, {"task": "knights_knaves", "state": {"names": ["Zoe", "Max", "Ivy"], "solution": [True, False, True]}}).score == score
    )


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("[[1, 2, 3, 4], [3, 4, 1, 2], [2, 1, 4, 3], [4, 3, 2, 1]]", 1.0),
        ("1 2 3 4 3 4 1 2 2 1 4 3 4 3 2 1", 1.0),
        ("1234341221434321", 1.0),
        ("1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1\nEach of the 4 rows holds 1 to 4.", 1.0),
        ("[[1, 2, 3, 4], [3, 4, 1, 2], [2, 1, 4, 3]]", 0.0),
        ("[[1, 3, 2, 4], [3, 4, 1, 2], [2, 1, 4, 3], [4, 2, 3, 1]]", 0.0),
    ],
)
def test_grids_as_lists_and_in_one_line(text, score):
    puzzle = [[1, 0, 0, 4], [0, 4, 1, 0], [0, 1, 4, 0], [4, 0, 0, 1]]
    assert judge(text, {"task": "mini_sudoku", "state": {"puzzle": puzzle}}).score == score


def test_a_cryptarithm_as_json():
    state = {"letters": ["A", "B"], "words_letters": ["A", "A"], "result_letters": "B"}
    assert judge('{"A": 2, "B": 4}', {"task": "cryptarithm", "state": state}).score == 1.0

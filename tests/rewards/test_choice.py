"""Multiple choice: forty styles of answering, right and wrong, on public questions; prose that must not look like a choice."""

import json
import re
import time
from pathlib import Path

import pytest
import yaml

from rewards.choice import correct, gold_completion
from rlvr_cli.verifiers.choice import LETTERS, judge, options_of

DATA = Path(__file__).resolve().parents[2] / "../shared/data"
CITIES = ["Lima", "Oslo", "Rome", "Graz"]

# {L}: the letter, {l}: small, {T}: the option's text, {N}: its number from 1, {O}: another letter, {U}: another option's text
# ruff: noqa: E501
RIGHT_FORM = [
    "{L}", "({L})", "{L}.", "{L})", "**{L}**", "{l}", "({l})", "\\boxed{{{L}}}", "$\\boxed{{\\text{{{L}}}}}$", "<answer>{L}</answer>",
    "<answer>({L})</answer>", "<think>maybe {O}</think>{L}", "<think>It is {O}. No.</think>\nThe answer is {L}.", "The answer is {L}.",
    "The answer is ({L}).", "The correct answer is **{L}**.", "Answer: {L}", "Final answer: {L}", "ANSWER: {L}", "Therefore, the answer is option {L}.",
    "The correct option is {L}, because {O} would contradict the premise.", "It cannot be {O}. So the answer is {L}.", "I choose {L}.",
    "I'd go with {L}.", "Let me think.\nWe compare them.\n\n{L}", "答案是{L}", "答案：{L}", "正确答案是（{L}）。", "故选{L}", "因此选{L}。", "选项：{L}",
    "La respuesta correcta es {L}", "Die richtige Antwort ist {L}.", "Option {L}", "{L}) {T}", "{L}. {T}", "The answer is {L}) {T}",
    "The answer is {L}: {T}", "<answer>{T}</answer>", "\\boxed{{{T}}}", "The answer is {N}.)"[:-1].replace("{N}.", "option {L}."), "{L}\n",
]  # fmt: skip
HEDGED = [
    "{L} or {O}", "The answer is {L} or {O}.", "Either {L} or {O}", "The answer is {L} and {O}.", "{L}, {O}", "\\boxed{{{L}, {O}}}", "<answer>{L} {O}</answer>",
    "It might be {L}, or perhaps {O}.", "答案是{L}或{O}", "A, B, C, D", "A\nB\nC\nD", "<answer>A B C D</answer>", "not {L}", "The answer is not {L}.",
    "<think>{L}</think>", "<think>The answer is {L}", "", "I am not sure.", "I do not know.", "The options are interesting.", "<answer></answer>", "\\boxed{{}}",
]  # fmt: skip


def fill(style, letter, other, options):
    index = LETTERS.index(letter)
    words = {"L": letter, "l": letter.lower(), "O": other, "T": options[index], "U": options[LETTERS.index(other)], "N": index + 1}
    return style.format(**words)


def public_rows():
    for line in (DATA / "mmlu_stem/test.jsonl").read_text().splitlines()[:400]:
        row = json.loads(line)
        yield row["answer"], row["choices"]
    for line in (DATA / "aqua/test.jsonl").read_text().splitlines():
        row = json.loads(line)
        yield row["correct"], row["options"]
    for line in (DATA / "sat_math/test.jsonl").read_text().splitlines():
        row = json.loads(line)
        yield row["Answer"], row["options"]


@pytest.mark.skipif(not DATA.exists(), reason="../shared/data is not here")
def test_public_questions_in_forty_styles():
    """Right letters, wrong letters and hedges on 686 questions, each style turned by the row: at least 99% right."""
    wrong, total = [], 0
    for i, (answer, choices) in enumerate(public_rows()):
        options = options_of(choices)
        gold = LETTERS[answer] if isinstance(answer, int) else answer
        other = next(letter for letter in LETTERS[: len(options)][:: -1 if i % 2 else 1] if letter != gold)
        if any("\\" in o or "{" in o for o in options) or len({re.sub(r"\W", "", o.lower()) for o in options}) < len(options):
            continue
        cases = [(fill(RIGHT_FORM[(i + j * 7) % len(RIGHT_FORM)], gold, other, options), 1.0) for j in range(4)]
        cases += [(fill(RIGHT_FORM[(i + j * 5) % len(RIGHT_FORM)], other, gold, options), 0.0) for j in range(3)]
        cases += [(fill(HEDGED[(i + j * 3) % len(HEDGED)], gold, other, options), 0.0) for j in range(2)]
        for text, expect in cases:
            total += 1
            verdict = judge(text, {"answer": answer, "choices": choices})
            if verdict.score != expect:
                wrong.append((text, expect, verdict, options))
    print(f"n={total}: {len(wrong)} wrong")
    assert total > 4000 and len(wrong) / total <= 0.01, (len(wrong), total, wrong[:25])


@pytest.mark.parametrize("style", RIGHT_FORM)
def test_each_style_right_and_wrong(style):
    row = {"answer": "B", "choices": CITIES}
    assert judge(fill(style, "B", "C", CITIES), row).score == 1.0
    assert judge(fill(style, "C", "B", CITIES), row).score == 0.0


@pytest.mark.parametrize("style", HEDGED)
def test_hedges_and_lists_are_wrong(style):
    assert judge(fill(style, "B", "C", CITIES), {"answer": "B", "choices": CITIES}).score == 0.0


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("<answer>not B</answer>", 0.0),
        ("\\boxed{not B}", 0.0),
        ("<answer>B is wrong</answer>", 0.0),
        ("<answer>Oslo</answer> is wrong", 0.0),
        ("It is certainly not <answer>B</answer>, but I can not say what it is.", 0.0),
        ("答案不是B", 0.0),
        ("<answer>not A but B</answer>", 1.0),
        ("<answer>B, not A</answer>", 1.0),
        ("<answer>B rather than A</answer>", 1.0),
        ("<answer>A</answer> is wrong. <answer>B</answer>", 1.0),
        ("<answer>B</answer>\n\nWait, that is wrong. I do not know the answer.", 0.0),
        ("B\n\nWait, that is wrong. I do not know the answer.", 0.0),
        ("Oslo\nNo, this is not correct. I can not solve it.", 0.0),
        ("The answer is B. Wait, that is wrong. I do not know.", 0.0),
        ("\\boxed{B} Hmm, that is incorrect. It is \\boxed{D}.", 0.0),
        ("\\boxed{D} Hmm, that is incorrect. It is \\boxed{B}.", 1.0),
        ("The answer is C. Wait, that is wrong. The answer is B.", 1.0),
        ("答案是B。不对，我不知道。", 0.0),
        # said of another option
        ("The answer is B.\nOption A: this is incorrect because it is small.\nC: that is wrong.", 1.0),
        ("The answer is B. Lima is tempting, but it is incorrect.", 1.0),
        ("The answer is B. Wait, let me check. Yes, B is correct.", 1.0),
        ("<answer>C</answer>\n<answer>B</answer>", 0.0),
        ("<answer>B</answer>\n<answer>B</answer>", 1.0),
    ],
)
def test_denials_and_retractions_are_about_the_chosen_option(text, score):
    assert judge(text, {"answer": "B", "choices": CITIES}).score == score


@pytest.mark.parametrize(
    "text",
    [
        "A dog barks.",
        "I think so.",
        "A capital of a country.",
        "Vitamin A helps.",
        "A is for apple",
        "Plan A failed.",
        "The answer is vitamin A.",
        "The answer is in Appendix A.",
        "Answer: see Section A.",
        "The answer is type A blood.",
        "I. A brief history",
        "A+",
        "Answer: The A cells make it.",
        "A - 3 = 0",
        "Solution: Let A be the set of primes.",
        "Result: A is invertible.",
        "Answer: N/A",
        "答案见附录A",
        "Hence A > 0.",
        "A good answer would be best.",
        "A is the best language for this.",
        "A as in apple",
        "I think of A and its transpose.",
        "Let us go with A and see.",
        "A since 1972",
        "The answer isn't A",
        "No option is right, but A is closest.",
        "The blood type is A.",
        "因此A点在圆上",
        "A: 30%\nB: 70%",
    ],
)
def test_letters_of_prose_are_no_choice(text):
    assert judge(text, {"answer": "A", "choices": CITIES}).score == 0.0


@pytest.mark.parametrize(
    ("answer", "choices", "text", "score"),
    [
        (1, CITIES, "B", 1.0),
        ("Oslo", CITIES, "B", 1.0),
        ("b", CITIES, "The answer is (B)", 1.0),
        ("B", json.dumps(CITIES), "Oslo", 1.0),
        ("B", {"label": ["A", "B"], "text": ["Lima", "Oslo"]}, "Oslo", 1.0),
        ("B", "A) Lima B) Oslo C) Rome", "the answer is Oslo", 1.0),
        ("B", ["A) Lima", "B) Oslo"], "<answer>Oslo</answer>", 1.0),
        ("A, C", CITIES, "A, C", 1.0),
        ("A, C", CITIES, "AC", 1.0),
        ("A, C", CITIES, "A", 0.0),
        ("A, C", CITIES, "A, B, C", 0.0),
        (["A", "C"], CITIES, "答案是A和C", 1.0),
        ("B", CITIES, "The answer is 2.", 1.0),
        ("2", ["1", "2", "3"], "The answer is 2.", 1.0),  # options that are numbers: the text, not the place
        ("E", CITIES, "E", None),
        (None, CITIES, "A", None),
        ("B", CITIES, "E", 0.0),
        ("Ｂ", CITIES, "答案是Ｂ", 1.0),
    ],
)
def test_golds_and_options_in_many_shapes(answer, choices, text, score):
    assert judge(text, {"answer": answer, "choices": choices}).score == score


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("<answer>not B</answer>", 0.0),
        ("It is certainly not <answer>B</answer>, but I can not say what it is.", 0.0),
        ("<answer>B</answer>\n\nWait, that is wrong. I do not know the answer.", 0.0),
        ("\\boxed{B}. No, this is not correct. I can not solve it.", 0.0),
        ("<answer>B</answer>\n\nNo, that was wrong. The right answer is this:\n\n<answer>C</answer>", 0.0),
        ("<answer>C</answer>\n\nNo, that was wrong. The answer is B.", 1.0),
        ("The answer is B. Wait, that is wrong. I do not know.", 0.0),
        ("The answer is C. Wait, that is wrong. The answer is B.", 1.0),
        ("<answer>B</answer> A, C and D are wrong.", 1.0),
        ("<answer>B</answer> Wait, let me check. Yes, it is correct.", 1.0),
    ],
)
def test_denied_and_taken_back(text, score):
    assert judge(text, {"answer": "B", "choices": CITIES}).score == score


@pytest.mark.parametrize("answer", ["A", "C", 0, 3, "Rome", "A, C"])
def test_its_own_gold_gets_full_marks(answer):
    row = {"answer": answer, "choices": CITIES}
    assert correct([gold_completion(row)], [answer], [CITIES]) == [1.0]


@pytest.mark.parametrize(
    "text",
    [
        "A" * 100_000,
        "(" * 50_000,
        "the answer is " * 5_000,
        "\\boxed{" * 5_000,
        "\x00\ud800",
        "A or " * 9_000,
        "B. Wait, that is wrong. " * 2_000,
    ],
)
def test_huge_and_odd_text_is_quick_and_never_raises(text):
    assert judge(text, {"answer": "B", "choices": CITIES}).score == 0.0


SAYS_B = [
    "It's Oslo.", "Therefore, B is correct.", "So we pick B, since the others are not in Norway.", "A is wrong because Lima is in Peru. So B is the answer.",
    "Answer choice B is right.", "After eliminating A, C, and D, we are left with B.", "=> B", "The second option is correct.", "Oslo lies in Norway, so B.",
    "因此,应该选择B选项。", "第二个选项正确", "Respuesta: B", "La respuesta es la letra B", "La risposta corretta è B", "答えはB", "Đáp án: B", "الإجابة الصحيحة هي B",
    '{"answer": "B"}', "B．奥斯陆", "The capital of Norway is Oslo.", "I first thought A is correct. B is the right choice.", "Only B is correct.", "A fails. C fails. B.",
    "Correct: B", "Only B fits the description.", "B, because it is in Norway.", "B - Oslo", "The answer's B.", "B es la respuesta correcta.", "Je choisis la réponse B.",
    "综上，B选项符合题意。", "B，因为在挪威",
]  # fmt: skip
DOES_NOT_SAY_B = [
    "If it were Norway, the answer would be B. But it is Italy, so C.", "A is correct. B is correct.", "Is it true that B is correct?", "If B is correct, then so is C.",
    "Some say B is the answer.", "B is not correct.", "The capital is not Oslo.", "It may be Oslo.", "So B or C.", "Lima and Oslo", "We are left with B and C.", "Suppose B is right.",
    "Why B is correct?", "B不正确", "A dog is correct.", "So a B in maths is fine",
    "The answer is B... no, wait, it's C.", "除了B都对", "Everything but B.", "B: too hot. A: too cold. C: no.",
    "Now for option B", "Oslo is in B.", "He said the answer is B.", "I don't think B is right.", "I doubt that B is right.", "不能选B", "别选B", "有人选B", "为什么选B？",
]  # fmt: skip


@pytest.mark.parametrize("text", SAYS_B)
def test_conclusions_verdicts_and_closing_words(text):
    assert judge(text, {"answer": "B", "choices": CITIES}).score == 1.0
    assert judge(text, {"answer": "C", "choices": CITIES}).score == 0.0


@pytest.mark.parametrize("text", DOES_NOT_SAY_B)
def test_supposed_asked_and_divided_conclusions(text):
    assert judge(text, {"answer": "B", "choices": CITIES}).score == 0.0


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("The correct options are A and C.", 1.0), ("Lima and Rome", 1.0), ("Statements A and C are true.", 1.0), ("A, C, but not B", 1.0), ("A. Lima\nC. Rome", 1.0),
        ("Both A and C", 1.0), ("A is correct. B is wrong. C is correct.", 1.0),
        ("The right ones are A and C.", 1.0),
        ("正确的有A、C", 1.0), ("A is correct.", 0.0), ("Lima and Oslo", 0.0), ("A. Lima\nB. Oslo\nC. Rome", 0.0),
    ],
)  # fmt: skip
def test_several_options_in_prose(text, score):
    assert judge(text, {"answer": "A, C", "choices": CITIES}).score == score


@pytest.mark.parametrize(
    ("answer", "choices", "text", "score"),
    [
        ("C", ["12", "15", "18", "21"], "The total is 18", 1.0),
        ("C", ["12", "15", "18", "21"], "x = 18.0", 1.0),
        ("B", ["3 m/s", "6 m/s"], "The speed is 6 m/s.", 1.0),
        ("B", ["It falls", "It stays the same"], "Stays the same.", 1.0),
        ("D", ["$3", "$5", "$7", "$97"], "<answer>$97</answer>", 1.0),
        ("B", ["it’s hot", "it’s cold"], "\\boxed{It’s cold}", 1.0),
        ("B", ["ions on one side", "no ions on this or that side"], "The answer is B) no ions on this or that side", 1.0),
        ("B", ["never", "It is not wrong"], "B. It is not wrong.", 1.0),
        ("B", ["1/2", "3/4", "0.6"], "The chance is 0.75", 1.0),
        ("B", ["1/2", "3/4", "0.6"], "$P = \\frac{3}{4}$", 1.0),
        ("B", ["f(x) = 3x", "f(x) = x^2"], "$f(x)=x^2$", 1.0),
        ("B) Oslo", CITIES, "B", 1.0),
        ("B) Rome", CITIES, "B", None),
    ],
)
def test_options_of_numbers_prices_and_negations(answer, choices, text, score):
    assert judge(text, {"answer": answer, "choices": choices}).score == score


@pytest.mark.parametrize("text", ["A, " * 6_000, "A and " * 3_000, "\\boxed{not" + " " * 15_000 + "x}"])
def test_lists_and_white_space_take_linear_time(text):
    start = time.process_time()
    judge(text, {"answer": "B", "choices": CITIES})
    assert time.process_time() - start < 5.0


SYMBOLS = ["Ca", "C", "Co", "Cr"]
VITAMINS = ["Vitamin C", "Vitamin D", "Vitamin A"]
WORDS = ["I", "the", "a", "of"]


@pytest.mark.parametrize(
    ("choices", "answer", "text", "score"),
    [
        # a lone capital is the letter, also where another option's text is that letter; so is a gold
        (SYMBOLS, "B", "The answer is C.", 0.0), (SYMBOLS, "C", "The answer is C.", 1.0), (SYMBOLS, "B", "\\boxed{B}", 1.0),
        (SYMBOLS, "B", "<answer>The correct answer is (B) C.</answer>", 1.0), (SYMBOLS, "B", "The correct answer is **C** (option B).", 1.0),
        (WORDS, "A", "Answer: A", 1.0), (WORDS, "C", "Answer: A", 0.0), (["D+", "E", "F"], "E", "E", 1.0),
        (VITAMINS, "A", "Vitamin C is the right one, which is option (A).", 1.0), (VITAMINS, "C", "Vitamin C is the right one.", 0.0),
        # a number, where no option is a number itself
        (CITIES, "B", "Option 2", 1.0), (CITIES, "B", "(2)", 1.0), (CITIES, "B", "2. Oslo", 1.0), (CITIES, "B", "2. Rome", 0.0),
        (CITIES, "B", "Therefore, option (2) is correct.", 1.0), (["1", "2", "3"], "A", "2", 0.0), (["4", "2", "3"], "A", "Option 2", 0.0),
        # it means one of two things
        (CITIES, "B", "If it means one thing, the answer is B; otherwise it is C.", 0.0),
        (CITIES, "B", "The answer is A. Wait, let me re-check that. I mixed them up... so it is B.", 1.0),
        (CITIES, "A", "The answer is A. Wait, let me re-check that. I mixed them up... so it is B.", 0.0),
        (CITIES, "B", "Oslo, not Lima.", 1.0), (CITIES, "B", "奥斯陆。Oslo不是答案", 0.0),
    ],
)  # fmt: skip
def test_letters_that_are_words_and_numbers_that_are_places(choices, answer, text, score):
    assert judge(text, {"answer": answer, "choices": choices}).score == score


MARKED = "A) Lima {0}\nB) Oslo {1}\nC) Rome {0}\nD) Graz {0}"


@pytest.mark.parametrize(
    ("text", "score"),
    [
        (MARKED.format("❌", "✅"), 1.0), (MARKED.format("✅", "❌"), 0.0), (MARKED.format("- Incorrect", "- Correct"), 1.0),
        (MARKED.format("- Correct", "- Incorrect"), 0.0), (MARKED.format("- Incorrect. It is small.", "- This is correct."), 1.0),
        (MARKED.format("：错误", "：正确"), 1.0), ("| Option | Right? |\n|---|---|\n| A | No |\n| B | Yes |\n| C | No |", 1.0),
        ("* Option A (Lima): Incorrect.\n* Option B (Oslo): Correct.", 1.0), (MARKED.format("", ""), 0.0), ("A: Yes\nB: Yes", 0.0),
    ],
)  # fmt: skip
def test_lists_and_tables_that_call_each_option_right_or_wrong(text, score):
    assert judge(text, {"answer": "B", "choices": CITIES}).score == score


@pytest.mark.parametrize(
    "text",
    [
        "This matches option {L}.", "The result corresponds to choice ({L}).", "✅ **{L}) {T}**", "**{T} ({L})**", "It's {L} rather than {O}.", "Answer – {L}",
        "Sure! The correct answer to the question is:\n\n**{L}) {T}**\n\nLet me know if you'd like more!", "{L} is the one that describes this best.",
        "【答案】{L}\n【解析】A项不符合题意。", "正确答案是{L}选项，即{T}。", "{L}、奥", "挪威的首都是{T}。",
        "After consideration, **option {L}** stands out.", "**({L})**\n\n**Why not the others?**\n- A: contradicts the facts.\n- D: irrelevant.",
        "It's definitely {L}!", "<<{L}>>", "{{{L}}}", "By elimination, {L}.", "The answer would therefore be {L}.", "{L} {T}", "Option {L} ({T})", "Yes, {L}.",
        "**Option {L}**\n\nThis option is supported by the text, while option {O} is not.", "The answer is '{L}'.", "Let's go with {L}.", "Guess: {L}",
        "正确答案应为{L}。", "答案 {L}", "【答案】{L}【解析】{O}错误。", "应该是{L}", "是{L}", "{L}。", "{L}!", "{L} (though {O} is close)", "Hmm, {O}? No. {L} it is.",
        "So the answer is {O}... no, actually it's {L}.", "**Solution:** {L}", "Verdict: {L}", "Choose {L}.",
        "It is the city of Norway: {O}? No. The capital is **{T}** ({L}).", "Without a doubt, {L}.", "Definitely {L}.", "I am going with {L} here.",
        "The one we want is {L}.", "The answer seems to be {L}.", "The answer you are looking for is {L}.", "Ans ({L})", '"{L}" is correct.', "{L} | {T}",
        "<final_answer>{L}</final_answer>", "<answer>{L}", "{L}</answer>", "{L}选项", "答案{L}", "答案显然是{L}", "所以是{L}。", "符合题意的是{L}。",
        "That brings us to option {L}.", "So we end up with {L}.", "We get {T}, option {L}.", "I initially thought {O}, but it's {L}.", "我觉得是{L}。",
        "I'd answer {L}.", "I think {L}.", "In summary, {L}.", "TL;DR: {L}", "{T}, which is {L}", "{T} - option {L}", "{L} → {T}", "{T} is correct.",
        "{T} is the answer, since the others do not fit.", "Option {L} makes the most sense.", "{L} seems right.", "{L}, of course.", "{L} since it fits.",
        "{L} as it fits the text.", "{L}; the rest fail.", "I've chosen {L}.", "Going with {L}.", "结论：{L}", "答案是{L}，因为其他选项不符。",
        "The answer is {O}. Actually, {L}.", "The correct answer is that it is {L}.",
        "The options are:\n(A) Lima\n(B) Oslo\n(C) Rome\nFrom these, {T} is the right one, which is option ({L}).",
    ],
)  # fmt: skip
def test_as_language_models_say_it(text):
    assert judge(fill(text, "B", "C", CITIES), {"answer": "B", "choices": CITIES}).score == 1.0
    assert judge(fill(text, "C", "B", CITIES), {"answer": "B", "choices": CITIES}).score == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "The correct answers are:\n\n- A) Lima\n- C) Rome",
        "**Correct answers:**\n**A. Lima**\n**C. Rome**",
        "因此选择A、C选项",
        "【答案】AC",
    ],
)
def test_lists_behind_the_correct_answers_are(text):
    assert judge(text, {"answer": "A, C", "choices": CITIES}).score == 1.0
    assert judge(text, {"answer": "A, B", "choices": CITIES}).score == 0.0
    assert judge(text, {"answer": "A", "choices": CITIES}).score == 0.0


FRESH = yaml.safe_load(Path(__file__).with_name("choice_fresh.yaml").read_text())


@pytest.mark.parametrize("row", FRESH, ids=lambda row: str(row["gold"]))
def test_fresh_rows_choose_the_gold_or_do_not(row):
    for label in ("right", "wrong"):
        texts = row[label]
        paid = correct(texts, [row["gold"]] * len(texts), [row["choices"]] * len(texts))
        assert paid == [float(label == "right")] * len(texts), [
            text for text, score in zip(texts, paid, strict=True) if score == (label == "wrong")
        ]

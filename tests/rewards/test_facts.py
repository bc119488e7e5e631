"""Facts: aliases, quantities, denials, lists; and the human labels of a public set, beside exact match and token F1."""

import json
from pathlib import Path

import pytest
import yaml

from rewards.facts import exact, f1, faithful, gold_completion, key_facts
from rlvr_cli.evaluation.intervals import wilson
from rlvr_cli.verifiers.facts import judge, judge_f1, judge_faithful
from rlvr_cli.verifiers.facts.quantity import quantity, same_quantity
from rlvr_cli.verifiers.facts.text import words

HUMAN = Path(__file__).resolve().parents[2] / "../shared/data/graded_qa_evouna/NQ.sample1000.json"
SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")


@pytest.mark.parametrize(
    ("answer", "gold", "score"),
    [
        ("Paris", "Paris", 1.0),
        ("The capital is Paris.", "Paris", 1.0),
        ("<think>London?</think>paris", "Paris", 1.0),
        ("<think>Paris</think>London", "Paris", 0.0),
        ("<think>Paris", "Paris", 0.0),
        ("<answer>London</answer> although Paris", "Paris", 0.0),
        ("It is not Paris.", "Paris", 0.0),
        ("London, Paris, Rome, Berlin", "Paris", 0.0),
        ("Paris or London", "Paris", 0.0),
        ("I do not know.", "Paris", 0.0),
        ("", "Paris", 0.0),
        ("Zürich", "Zurich", 1.0),
        ("the Beatles!", "Beatles", 1.0),
        ("two", "2", 1.0),
        ("third season", "3rd season", 1.0),
        ("18 May 2018", "May 18, 2018", 1.0),
        ("May 19, 2018", "May 18, 2018", 0.0),
        ("北京", "北京", 1.0),
        ("首都是北京。", "北京", 1.0),
        ("首都是南京。", "北京", 0.0),
        ("Ann Smith", ["Ann B. Smith", "Ann Smith"], 1.0),
        # denied, taken back, several tags, signs that only look like the gold
        ("<answer>not 42</answer>", "42", 0.0),
        ("The answer is not 42.", "42", 0.0),
        ("答案不是42。", "42", 0.0),
        ("42 is wrong", "42", 0.0),
        ("42 km is wrong", "42 km", 0.0),
        ("It is certainly not <answer>42</answer>, but what it is I do not know.", "42", 0.0),
        ("<answer>not Paris</answer>", "Paris", 0.0),
        ("答案不是北京", "北京", 0.0),
        ("Paris, not London", "Paris", 1.0),
        ("Not London, but Paris.", "Paris", 1.0),
        ("<answer>42</answer>\nWait, that is wrong. I do not know.", "42", 0.0),
        ("42. No, that is wrong. I do not know.", "42", 0.0),
        ("Paris. No, that is wrong. It is Rome.", "Paris", 0.0),
        ("Paris. No, that is wrong. It is Rome.", "Rome", 1.0),
        ("<answer>London</answer> That is wrong: <answer>Paris</answer>", "Paris", 1.0),
        ("<answer>42</answer>\n<answer>43</answer>", "42", 0.0),
        ("<answer>43</answer>\n<answer>42</answer>", "42", 0.0),
        ("<answer>42</answer>\n<answer>42</answer>", "42", 1.0),
        ("<answer>4²</answer>", "42", 0.0),
        ("<answer>4₂</answer>", "42", 0.0),
        ("<answer>-42</answer>", "42", 0.0),
        ("<answer>−42</answer>", "42", 0.0),
        ("minus 42", "42", 0.0),
        ("<answer>-42</answer>", "-42", 1.0),
        ("<answer>4/3</answer>", "3/4", 0.0),
        ("¾", "3/4", 1.0),
        ("3 cups for 4 cakes", "3/4", 0.0),
        ("1914–1918", "1914-1918", 1.0),
        ("Covid-19", "COVID-19", 1.0),
        ("9" * 100_000, "42", 0.0),
        ("1e999", "42", 0.0),
        ("<answer>5e400 m</answer>", "42 m", 0.0),
        ("anything", [], None),
        ("anything", None, None),
    ],
)
def test_short_answers(answer, gold, score):
    assert exact([answer], [gold]) == [score]


@pytest.mark.parametrize(
    ("a", "b", "tolerance", "same"),
    [
        ("299,792,458 m/s", "3.0e8 m/s", 1e-3, True),
        ("299,792,458 m/s", "3.0e8 m/s", 1e-4, False),
        ("3 × 10^8 m/s", "300000 km/s", 1e-9, True),
        ("6.02·10²³", "6.02e23", 1e-9, True),
        ("1.5 million", "1,500,000", 1e-9, True),
        ("100 °C", "373.15 K", 1e-9, True),
        ("212 °F", "100 °C", 1e-9, True),
        ("5 km", "5 kg", 0.5, False),
        ("50%", "0.5", 1e-9, True),
        ("2 hours", "120 minutes", 1e-9, True),
        ("-5 m", "5 m", 1e-3, False),
        ("60 miles per hour", "60 mph", 1e-9, True),
    ],
)
def test_quantities(a, b, tolerance, same):
    assert same_quantity(quantity(a), quantity(b), tolerance) is same


def test_numbers_with_units_through_the_reward():
    golds = ["299,792,458 m/s"] * 3
    assert exact(["about 3.0e8 m/s", "300,000 km", "3 m/s"], golds, tolerance=1e-3) == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("answer", "gold", "score"),
    [
        ("a red fox", "fox", 2 / 3),
        ("fox", "the fox", 1.0),
        ("dog", "fox", 0.0),
        ("狐狸", "红狐狸", 0.8),
        ("<answer>4²</answer>", "42", 0.0),
        ("<answer>-42</answer>", "42", 0.0),
        ("<answer>42</answer> Wait, that is wrong.", "42", 0.0),
        ("certainly not <answer>42</answer>", "42", 0.0),
        ("<answer>43</answer>\n<answer>42</answer>", "42", 2 / 3),
    ],
)
def test_f1(answer, gold, score):
    assert f1([answer], [gold])[0] == pytest.approx(score)


def test_key_facts_counts_what_is_said_and_not_denied():
    facts = '["ibuprofen", ["400 mg", "0.4 g"], "with food"]'
    answers = ["Ibuprofen 0.4 g, with food", "No ibuprofen: not ibuprofen but 400 milligram doses", ""]
    scores = key_facts(answers, [facts] * 3)
    assert scores[0] == 1.0 and scores[2] == 0.0 and 0 < scores[1] < 1
    assert key_facts(["x"], [None]) == [None]


def test_what_is_too_long_for_a_number_is_in_no_passage():
    assert faithful(["9" * 100_000, "<answer>" + "9" * 100_000 + "</answer>", "1e999"], [["It was 42."]] * 3) == [0.0, 0.0, 0.0]


def test_a_denial_ends_with_its_sentence():
    assert key_facts(["Never with alcohol. With food."], [["with food"]]) == [1.0]
    assert key_facts(["Never with food."], [["with food"]]) == [0.0]


def test_faithfulness_lists_what_is_unsupported():
    row = {"passages": json.dumps(['Marie Curie was born in Warsaw in 1867. She said "nothing in life is to be feared".'])}
    assert judge_faithful("Marie Curie, born 1867 in Warsaw, said “nothing in life is to be feared”.", row).score == 1.0
    verdict = judge_faithful("Marie Curie, born 1868 in Paris, said “everything is to be feared”.", row)
    assert verdict.score == pytest.approx(0.25) and all(text in verdict.reason for text in ("1868", "Paris", "everything"))
    assert faithful(["It is so."], ["a"]) == [0.0] and faithful(["x"], [None]) == [None]


def test_its_own_gold_gets_full_marks():
    for gold in ("Paris", ["Ann", "Bo"], "299,792,458 m/s", "北京", "May 18, 2018"):
        assert exact([gold_completion({"answer": gold})], [gold]) == [1.0]
    facts = '["never with alcohol", "with food", ["400 mg", "0.4 g"], "not over 3 days", "-40 °C"]'
    for column in (facts, json.loads(facts)):
        assert key_facts([gold_completion({"facts": column, "answer": None})], [column]) == [1.0]
    assert gold_completion({"facts": None}) is None and gold_completion({}) is None


@pytest.mark.parametrize(
    "text", ["a " * 100_000, "1" * 100_000, "1,000," * 20_000, '"' * 50_000, "A " * 50_000, "\x00\ud800", "or " * 30_000]
)
def test_huge_and_odd_text_never_raises(text):
    row = {"answer": "Paris", "facts": ["Paris"], "passages": ["Paris"]}
    assert judge(text, row).score == 0.0 and judge_f1(text, row).score == 0.0
    assert judge_faithful(text, row).score in (0.0, 1.0)


@pytest.mark.skipif(not HUMAN.exists(), reason="../shared/data/graded_qa_evouna is not here")
def test_agreement_with_people_beats_exact_match_and_f1(record_property):
    """Human verdicts on five systems' answers: more agreement than F1 at its best threshold, with fewer false accepts."""
    rows = [
        (item[f"answer_{s}"], item[f"judge_{s}"], item["golden_answer"].split("/"))
        for item in json.loads(HUMAN.read_text())
        if not item["improper"]
        for s in SYSTEMS
        if item[f"answer_{s}"] and item[f"judge_{s}"] is not None
    ]
    human = [label for _, label, _ in rows]
    ours = [judge(answer, {"answer": golds}).score == 1.0 for answer, _, golds in rows]
    equal = [any(words(answer) == words(g) for g in golds) for answer, _, golds in rows]
    overlap = [judge_f1(answer, {"answer": golds}).score for answer, _, golds in rows]

    def told(verdicts):
        return sum(v == h for v, h in zip(verdicts, human, strict=True)), sum(v and not h for v, h in zip(verdicts, human, strict=True))

    best, best_accepts = max(told([f >= t / 50 for f in overlap]) for t in range(1, 51))
    agreed, accepts = told(ours)
    low, high = wilson(agreed, len(rows))
    print(f"n={len(rows)}: agreement {agreed / len(rows):.4f} [{low:.4f}, {high:.4f}], {accepts} false accepts;", end=" ")
    print(f"F1 at its best {best / len(rows):.4f}, {best_accepts}; exact match {told(equal)[0] / len(rows):.4f}, {told(equal)[1]}")
    assert agreed > best and accepts <= best_accepts and agreed > told(equal)[0]


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("Rating: 10/10. [[10]]", 0.0),
        ("Accepted [10].", 0.0),
        ("It has 10 legs.", 1.0),
        ("It has ten legs.", 1.0),
        ("Crabs have 10 legs [10].", 1.0),
        ("10.5 legs", 0.0),
        ("It is 10 km.", 1.0),
    ],
)
def test_a_number_as_a_mark_states_nothing(text, score):
    assert exact([text], ["10"]) == [score]


@pytest.mark.parametrize(
    ("answer", "gold", "paid"),
    [
        ("<answer>3500 m</answer>", "3500 m", 1.0),
        ("3500 metres", "3500 m", 1.0),
        ("3500", "3500 m", 1.0),
        ("3.5 km", "3500 m", 0.0),  # the question, repeated
        ("3.5", "3500 m", 0.0),
        ("3500 km", "3500 m", 0.0),
        ("11", "11000 mL", 0.0),  # a number of the question, whose base unit is the litre
        ("-35 °C", "-31 °F", 0.0),
        ("-31 °F", "-31 °F", 1.0),
        ("5 kJ", "5 MJ", 0.0),  # a unit that the table does not know
        ("5 MJ", "5 MJ", 1.0),
        ("Convert -35 °C to °F. Convert -35 °C to °F.", "-31 °F", 0.0),
        ("7", "7", 1.0),
        ("It is not 3500 m", "3500 m", 0.0),
    ],
)
def test_a_conversion_is_paid_in_its_own_unit(answer, gold, paid):
    assert judge(answer, {"answer": gold}, same_unit=True).score == paid


@pytest.mark.parametrize(
    ("text", "gold", "score"),
    [
        ("Marie Curie (1867-1934), a Polish physicist.", "Marie Curie", 1.0),
        ("Paris, France", "Paris", 1.0),
        ("Paris, London", "Paris", 0.0),
        ("首都是北京，不是上海。", "北京", 1.0),
        ("東京ではありません", "東京", 0.0),
        ("서울이 아닙니다", "서울", 0.0),
        ("Не Москва", "Москва", 0.0),
        ("Столица — Москва.", "Москва", 1.0),
        ("July 20, 1969", "1969", 1.0),
        ("William Wordsworth", "William Shakespeare", 0.0),
        ("Shakespeare", "William Shakespeare", 1.0),
        ("Michael B. Jordan", "Michael Jackson", 0.0),
        ("€5 million", "$5 million", 0.0),
        ("US$5m", "$5 million", 1.0),
        ("£3bn", "£3 billion", 1.0),
        ("$5 each", "$5", 1.0),
        ("8 849 m", "8849 m", 1.0),
        ("8849米", "8849 m", 1.0),
        ("100 degrees Celsius", "100 °C", 1.0),
        ("212F", "100 °C", 1.0),
        ("100F", "100 °C", 0.0),
    ],
)
def test_places_denials_names_and_money(text, gold, score):
    assert judge(text, {"answer": gold}).score == score


@pytest.mark.parametrize("text", ["the U.S.", "U.S.", "It was the U.S.", "The answer is the U.S."])
def test_an_acronym_with_its_stops_is_the_acronym(text):
    assert exact([text], [["United States", "US"]]) == [1.0]
    assert exact(["J. R. R. Tolkien", "J.R.R. Tolkien"], ["J.R.R. Tolkien", "J. R. R. Tolkien"]) == [1.0, 1.0]


FRESH = yaml.safe_load(Path(__file__).with_name("facts_fresh.yaml").read_text())


@pytest.mark.parametrize("row", FRESH, ids=lambda row: str(row["gold"]))
def test_fresh_rows_state_the_gold_or_only_name_it(row):
    for label in ("right", "wrong"):
        texts = row.get(label, [])
        paid = exact(texts, [row["gold"]] * len(texts))
        assert paid == [float(label == "right")] * len(texts), [
            text for text, score in zip(texts, paid, strict=True) if score == (label == "wrong")
        ]


@pytest.mark.parametrize(
    ("text", "gold", "score"),
    [
        ("South Korea", "North Korea", 0.0), ("white blood cells", "red blood cells", 0.0), ("World War I", "World War II", 0.0),
        ("Queen Elizabeth I", "Queen Elizabeth II", 0.0), ("It was World War II.", "World War II", 1.0),
        ("the Harlem", "Harlem River", 1.0),
        ("Narendra Damodardas Modi", "Narendra Modi", 1.0), ("President Ford", "Gerald Ford", 1.0), ("Gerald R. Ford", "Gerald Ford", 1.0),
        ("2", "CO2", 0.0), ("2 mountains", "K2", 0.0), ("11 men", "Apollo 11", 0.0), ("K2", "K2", 1.0), ("44 BC", "44 BC", 1.0),
        ("44", "44 BC", 1.0),
        ("forty-two", "42", 1.0), ("There are twenty-one.", "21", 1.0), ("twenty", "21", 0.0),
    ],
)  # fmt: skip
def test_another_of_the_same_kind_and_numbers_of_names(text, gold, score):
    assert exact([text], [gold]) == [score]

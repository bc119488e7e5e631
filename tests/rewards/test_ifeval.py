"""Instruction following: for each of the 25 instructions answers that follow and answers that break, and the public rows."""

import json
import time
from pathlib import Path

import pytest

from rewards.ifeval import followed, gold_completion
from rlvr_cli.rewards_api.bind import bind
from rlvr_cli.verifiers.ifeval import CHECKS, judge
from rlvr_cli.verifiers.ifeval.languages import detect
from rlvr_cli.verifiers.ifeval.text import sentences

PUBLIC = Path(__file__).resolve().parents[2] / "../shared/data/ifeval/input_data.jsonl"
LONG = "The harbour wakes slowly and the first boats leave before the light. "

# instruction, its parameters, answers that follow, answers that break
TABLE = [
    ("keywords:existence", {"keywords": ["Harbour", "boat"]}, ["Boats in the HARBOUR."], ["A boat.", "The harbor and a boat."]),
    (
        "keywords:frequency",
        {"keyword": "sea", "frequency": 2, "relation": "at least"},
        ["Sea and SEA.", "seaside, sea"],
        ["The sea.", "s e a s e a"],
    ),
    ("keywords:frequency", {"keyword": "sea", "frequency": 2, "relation": "less than"}, ["The sea.", "None."], ["sea sea"]),
    ("keywords:forbidden_words", {"forbidden_words": ["can", "ride"]}, ["The candle; a bride."], ["You CAN.", "Let us ride!"]),
    (
        "keywords:letter_frequency",
        {"letter": "q", "let_frequency": 2, "let_relation": "at least"},
        ["Quick queen.", "qq"],
        ["Quick."],
    ),
    ("keywords:letter_frequency", {"letter": "#", "let_frequency": 2, "let_relation": "less than"}, ["# one"], ["## two"]),
    (
        "language:response_language",
        {"language": "de"},
        ["Das Wetter ist heute schön."],
        ["The weather is fine.", "42", "Le temps est beau."],
    ),
    ("language:response_language", {"language": "mr"}, ["हे एक सुंदर शहर आहे."], ["यह एक सुंदर शहर है।", "यो एक सुन्दर सहर हो।"]),
    ("language:response_language", {"language": "fa"}, ["من کتاب خواندن را دوست دارم."], ["أحب قراءة الكتب في البيت."]),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 3, "relation": "at least"},
        ["It rains. It stops! Why?", "Dr. A. Roe came. He left at 5 p.m. on Sunday. Good."],
        ["It rains. It stops.", "Mr. Roe paid 3.50 to J. Doe, e.g. for tea. Fine.", "Wait... and go on"],
    ),
    ("length_constraints:number_sentences", {"num_sentences": 2, "relation": "less than"}, ["Only one."], ["One. Two."]),
    ("length_constraints:number_words", {"num_words": 4, "relation": "at least"}, ["one two three four"], ["one two three", "1 2 3"]),
    ("length_constraints:number_words", {"num_words": 4, "relation": "less than"}, ["one two three"], ["one two three four"]),
    (
        "length_constraints:number_paragraphs",
        {"num_paragraphs": 2},
        ["One.\n***\nTwo.", "***\nOne.\n***\nTwo.\n***"],
        ["One.\n\nTwo.", "One.\n***\nTwo.\n***\nThree.", "One.\n***\n***\nTwo."],
    ),
    (
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "rain"},
        ["One.\n\nRain, again.", 'One.\n\n"rain" fell.'],
        ["Rain.\n\nOne.", "One.\n\nRainy days.", "Rain", "One.\n\nRain.\n\nThree."],
    ),
    (
        "detectable_content:number_placeholders",
        {"num_placeholders": 2},
        ["[name] of [town]", "[a] [b] [c]"],
        ["[name]", "[name\n] and ]town["],
    ),
    (
        "detectable_content:postscript",
        {"postscript_marker": "P.S."},
        ["Bye.\nP.S. Write soon.", "Bye. p. s. ok"],
        ["Bye. PS write soon.", "Bye."],
    ),
    ("detectable_content:postscript", {"postscript_marker": "P.P.S"}, ["Bye.\nP.P.S. One more.", "p. p. s more"], ["Bye.\nP.S. One."]),
    (
        "detectable_format:number_bullet_lists",
        {"num_bullets": 2},
        ["* one\n* two", "- one\n  - two", "Here:\n* one\n---\n* two"],
        ["* one", "* one\n* two\n* three", "1. one\n2. two", "**one**\n**two**", "---\n***"],
    ),
    (
        "detectable_format:constrained_response",
        {},
        ["My answer is yes.", "Well. My answer is maybe."],
        ["Yes.", "my answer is yes", "My answer is yes. My answer is no."],
    ),
    (
        "detectable_format:number_highlighted_sections",
        {"num_highlights": 2},
        ["*one* and *two*", "**one** and *two*"],
        ["*one*", "** ** and * *", "one*two", "**one**"],
    ),
    (
        "detectable_format:multiple_sections",
        {"section_spliter": "SECTION", "num_sections": 2},
        ["SECTION 1\nOne\nSECTION 2\nTwo", "SECTION1 a SECTION 2 b"],
        ["SECTION 1\nOne", "Section 1 a Section 2 b", "SECTION one, SECTION two"],
    ),
    (
        "detectable_format:json_format",
        {},
        ['{"a": [1, 2]}', '```json\n{"a": 1}\n```', '```\n["a"]\n```'],
        ['Here: {"a": 1}', "{'a': 1}", '{"a": 1', '{"a": NaN}', "[" * 100_000 + "a"],
    ),
    ("detectable_format:title", {}, ["<<A day at sea>>\nIt rained."], ["<A day>", "<< >> It rained.", "<<A\nday>>"]),
    (
        "combination:two_responses",
        {},
        ["One.\n******\nTwo.", "******\nOne.\n******\nTwo."],
        ["One.", "One.\n******\nOne.", "One.\n******\n******\nTwo.", "One ****** two ****** three", "One.\n***\nTwo."],
    ),
    (
        "combination:repeat_prompt",
        {"prompt_to_repeat": "Write a short poem."},
        ["Write a short poem.\n\nRoses.", " write a short poem. Roses"],
        ["Roses. Write a short poem.", "Write a poem."],
    ),
    (
        "startend:end_checker",
        {"end_phrase": "Any more questions?"},
        ["Fine. Any more questions?", '"Fine. any more questions?"\n'],
        ["Any more questions? No.", "Fine."],
    ),
    ("startend:quotation", {}, ['"It rains."', '  "It rains."\n'], ['"It rains.', "It rains.", '"', 'He said "rain"']),
    (
        "change_case:capital_word_frequency",
        {"capital_frequency": 3, "capital_relation": "at least"},
        ["NASA and the EU and I.", "COVID-19 HITS UK"],
        ["NASA and the EU.", "Nasa And The Eu", "1 2 3 4"],
    ),
    ("change_case:capital_word_frequency", {"capital_frequency": 1, "capital_relation": "less than"}, ["no capitals"], ["Is NASA in?"]),
    (
        "change_case:english_capital",
        {},
        ["IT RAINS, 3 TIMES A DAY.", "HELLO"],
        ["IT RAINS Again.", "LA CASA ES DE MI PADRE Y NO ES GRANDE.", "123"],
    ),
    (
        "change_case:english_lowercase",
        {},
        ["it rains, 3 times a day.", "hello"],
        ["it Rains.", "der hund ist nicht auf dem sofa.", "123"],
    ),
    ("punctuation:no_comma", {}, ["It rains and rains."], ["It rains, and rains.", "下雨，又下雨。"]),
]
FOLLOWING = [(name, own, text) for name, own, good, _ in TABLE for text in good]
BREAKING = [(name, own, text) for name, own, _, bad in TABLE for text in bad]


def test_every_instruction_has_both():
    assert {name for name, *_ in FOLLOWING} == {name for name, *_ in BREAKING} == set(CHECKS)


@pytest.mark.parametrize(("name", "own", "text"), FOLLOWING)
def test_following(name, own, text):
    verdict = judge(text, {"instruction_id_list": [name], "kwargs": [own]})
    assert verdict.score == 1.0, verdict.reason
    assert judge(text, {"instruction_id_list": [name], "kwargs": [own]}, loose=True).score == 1.0


@pytest.mark.parametrize(("name", "own", "text"), BREAKING)
def test_breaking(name, own, text):
    verdict = judge(text, {"instruction_id_list": [name], "kwargs": [own]})
    assert (verdict.score == 0.0 and name in verdict.reason) or verdict.reason == "nothing is said"


def test_text_objects_and_a_round_trip_judge_alike():
    from datasets import Dataset

    ids = [[name for name, *_ in TABLE[i : i + 3]] for i in range(0, len(TABLE), 3)]
    own = [[kwargs for _, kwargs, *_ in TABLE[i : i + 3]] for i in range(0, len(TABLE), 3)]
    texts = [TABLE[i][2][0] for i in range(0, len(TABLE), 3)]
    back = Dataset.from_list([{"ids": i, "own": o} for i, o in zip(ids, own, strict=True)])
    plain = followed(texts, ids, own, mode="fraction")
    as_text = followed(texts, [json.dumps(i) for i in ids], [json.dumps(o) for o in own], mode="fraction")
    of_texts = followed(texts, ids, [[json.dumps(k) for k in o] for o in own], mode="fraction")
    trip = followed(texts, back["ids"], back["own"], mode="fraction")
    frame = back.to_pandas()
    assert all(0 < score <= 1 for score in plain)
    assert plain == as_text == of_texts == trip == followed(texts, list(frame["ids"]), list(frame["own"]), mode="fraction")


def test_the_column_named_kwargs_is_read_from_the_batch():
    [term] = bind({"terms": {"followed": {"fn": "rewards.ifeval.followed"}}}, columns=["prompt", "instruction_id_list", "kwargs", "key"])
    assert term.required_columns == ("instruction_id_list", "kwargs")
    columns = {"instruction_id_list": [["startend:end_checker"]] * 2, "kwargs": [[{"end_phrase": "Bye."}]] * 2, "key": [1, 2]}
    result = term.call(["q", "q"], ["So. Bye.", [{"role": "assistant", "content": "So."}]], columns)
    assert result.scores == [1.0, 0.0]


def test_all_or_the_share():
    row = {"instruction_id_list": ["punctuation:no_comma", "detectable_format:title"], "kwargs": [{}, None]}
    assert judge("no title", row).score == 0.0
    assert judge("no title", row, mode="fraction").score == 0.5
    with pytest.raises(ValueError, match="all or fraction"):
        judge("x", row, mode="most")


@pytest.mark.parametrize(
    ("ids", "own"),
    [
        (["length:unknown"], [{}]),
        (["keywords:existence"], [{}]),
        (["keywords:existence"], [{"keywords": []}]),
        (["startend:end_checker"], [{"end_phrase": " "}]),
        (["length_constraints:number_words"], [{"num_words": "many", "relation": "at least"}]),
        (["length_constraints:number_words"], [{"num_words": float("nan"), "relation": "at least"}]),
        (["length_constraints:number_words"], [{"num_words": 3, "relation": "around"}]),
        (["language:response_language"], [{"language": "xx"}]),
        (["punctuation:no_comma"], [{}, {}]),
        ([], []),
        (None, None),
        ("[broken", "{"),
        (["punctuation:no_comma"], ["text"]),
    ],
)
def test_a_row_that_can_not_be_read_is_not_judged(ids, own):
    assert judge("An answer.", {"instruction_id_list": ids, "kwargs": own}).score is None


def test_loose_forgives_a_first_or_last_line_and_asterisks():
    quote = {"instruction_id_list": ["startend:quotation"], "kwargs": [{}]}
    ends = {"instruction_id_list": ["startend:end_checker"], "kwargs": [{"end_phrase": "Bye."}]}
    for text, row in (('Sure:\n"Rain."', quote), ('Sure:\n"Rain."\nDone', quote), ("So. **Bye.**", ends), ("So. Bye.\n(12 words)", ends)):
        assert (judge(text, row).score, judge(text, row, loose=True).score) == (0.0, 1.0), text


def test_only_the_answer_is_judged():
    row = {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
    assert judge("<think>one, two</think>one two<|im_end|>", row).score == 1.0
    assert judge("one, two</think>one two", row).score == 1.0
    assert judge("<think>one two", row).reason == "thinking was never closed"
    assert judge("<think>a</think>one, two", row).score == 0.0
    for text in ("", " \n", "\u200b", "<answer></answer>", "\\boxed{}"):
        assert judge(text, row).reason == "nothing is said"
    assert gold_completion(row) is None


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The quick brown fox jumps over the lazy dog."),
        ("de", "Ich mag Katzen und Hunde."),
        ("fi", "Minä rakastan sinua, ja koira nukkuu."),
        ("it", "Mi piace mangiare la pizza con gli amici."),
        ("pt", "Eu gosto de comer pizza com os meus amigos."),
        ("es", "Me gusta comer pizza con mis amigos."),
        ("fr", "Le chien court dans le parc."),
        ("sw", "Watoto wanacheza mpira katika uwanja wa shule."),
        ("vi", "Con chó chạy trong công viên."),
        ("ru", "Собака бежит по парку."),
        ("bg", "Това е много хубав ден."),
        ("ar", "الكلب يجري في الحديقة."),
        ("ur", "کتا پارک میں دوڑتا ہے۔"),
        ("hi", "मुझे किताबें पढ़ना पसंद है।"),
        ("ne", "मलाई किताब पढ्न मन पर्छ।"),
        ("ko", "나는 책을 좋아해요."),
        ("th", "ฉันชอบอ่านหนังสือ"),
        ("ta", "எனக்கு புத்தகங்கள் பிடிக்கும்."),
        ("te", "నాకు పుస్తకాలు ఇష్టం."),
        ("kn", "ನನಗೆ ಪುಸ್ತಕಗಳು ಇಷ್ಟ."),
        ("gu", "મને પુસ્તકો ગમે છે."),
        ("pa", "ਮੈਨੂੰ ਕਿਤਾਬਾਂ ਪਸੰਦ ਹਨ।"),
        ("bn", "আমি বই পড়তে ভালোবাসি।"),
        ("zh", "我喜欢看书。"),
        ("ja", "私は本を読むのが好きです。"),
    ],
)
def test_languages(language, text):
    assert detect(text) == language


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Hello there! How are you? Fine.", 3),
        ("1. Apples are good.\n2. Pears are bad.", 2),
        ("I live in the U.S. It is big.", 2),
        ("“Go!” he said. Done.", 2),
        ("Really?! Yes!!! OK", 3),
        ("今天下雨。明天呢？", 2),
        ("no stop at all", 1),
        ("...", 0),
    ],
)
def test_sentences(text, count):
    assert len(sentences(text)) == count


HOSTILE = ["[", "<<", "\n", '!"', "*", "p.", "a. ", "sea", "A.A", "<think>", "'", "\u093e", "ä ", "***", " ", '{"a":']


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_takes_linear_time(piece):
    """Every instruction on 200,000 characters; what is quadratic takes minutes here."""
    text = piece * (60_000 // len(piece)) + "x"
    start = time.perf_counter()
    for name, own, *_ in TABLE:
        judge(text, {"instruction_id_list": [name], "kwargs": [own]}, loose=True)
    assert time.perf_counter() - start < 20
    assert judge("x " * 250_000, {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}).score == 0.0


@pytest.mark.skipif(not PUBLIC.exists(), reason="needs the public rows beside the repository")
def test_every_public_row_is_judged():
    rows = [json.loads(line) for line in PUBLIC.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 541
    columns = [row["instruction_id_list"] for row in rows], [row["kwargs"] for row in rows]
    strict, loose = (followed([LONG * 3] * 541, *columns, loose=flag) for flag in (False, True))
    assert None not in strict and None not in loose
    assert all(a <= b for a, b in zip(strict, loose, strict=True))
    assert {name for row in rows for name in row["instruction_id_list"]} == set(CHECKS)
    texts = followed([LONG * 3] * 541, *([json.dumps(value) for value in column] for column in columns))
    assert texts == strict

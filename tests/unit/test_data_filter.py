"""Filters and decontamination: what is dropped, what must stay, and each drop's reason."""

import time

import pytest

from rlvr_cli.data.decontaminate import find_matches
from rlvr_cli.data.filter import DEFAULTS, filter_rows, phrase_pattern, reason_kind
from rlvr_cli.data.near import near_duplicates
from rlvr_cli.data.normal import normal, tokens
from rlvr_cli.data.personal import found, masked
from rlvr_cli.errors import RlvrError


def filtered(rows, **settings):
    kept, dropped = filter_rows(rows, {**DEFAULTS, **settings}, column="prompt")
    return [row["prompt"] for row in kept], [reason for _, reason in dropped]


def prompts(*texts):
    return [{"prompt": text} for text in texts]


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("What is 3+4?", "what  is ３＋４", True),
        ("What is 3 + 4 ?", "What is 3+4", True),
        ("What is 3+4?", "What is 3-4?", False),
        ("(1+2)*3", "1+2*3", False),
        ("Is 3.5 more?", "Is 35 more?", False),
        ("1,234 + 1", "1234+1", False),
        ("小明有3个苹果。", "小明有3个苹果", True),
        ("a<b", "a>b", False),
        ("x^2=4", "x=4", False),
        ("Tom's hat", "toms hat", False),
    ],
)
def test_normal_text(one, two, same):
    assert (normal(one) == normal(two)) == same


def test_duplicates_keep_the_first():
    assert filtered(prompts("1+1=?", "1 + 1 = ?", "1-1=?", "１＋１＝？")) == (
        ["1+1=?", "1-1=?"],
        ["the same prompt as row 1", "the same prompt as row 1"],
    )
    assert filtered(prompts("a", "a"), duplicates=False)[0] == ["a", "a"]


def test_a_row_that_another_rule_dropped_is_no_original():
    rows = [{"prompt": "same", "pass_rate": 1.0}, {"prompt": "same", "pass_rate": 0.5}]
    kept, dropped = filter_rows(rows, {**DEFAULTS, "pass_max": 0.9}, column="prompt")
    assert kept == [rows[1]] and dropped[0][1] == "pass_rate 1 above 0.9"


def test_pass_rate_band():
    rows = [{"prompt": str(i), "pass_rate": rate} for i, rate in enumerate([0.0, 0.1, 0.5, 0.9, 1, None])]
    kept, dropped = filter_rows(rows, {**DEFAULTS, "pass_min": 0.1, "pass_max": 0.9}, column="prompt")
    assert [row["pass_rate"] for row in kept] == [0.1, 0.5, 0.9]
    assert [reason for _, reason in dropped] == ["pass_rate 0 below 0.1", "pass_rate 1 above 0.9", "no pass_rate"]


def test_length_and_language():
    pytest.importorskip("rlvr_cli.verifiers.language")
    texts = ("How many apples does Tom have now?", "小明现在有多少个苹果？", "Wie viele Äpfel hat Tom jetzt noch übrig?", "37+48=?")
    kept, why = filtered(prompts(*texts), language="zh")
    assert texts[1] in kept and texts[0] not in kept and "language en" in why
    assert texts[3] in kept, "a sum is in no language"
    assert filtered(prompts("abc", "abcdefgh"), max_chars=5) == (["abc"], ["longer than 5 characters"])
    assert filtered(prompts("abc", "abcdefgh"), min_chars=5) == (["abcdefgh"], ["shorter than 5 characters"])


def test_unsafe_phrases_match_whole_words_in_any_column(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("# mine\nbad thing\n坏事\n", encoding="utf-8")
    rows = [{"prompt": "a BAD   thing"}, {"prompt": "bad things"}, {"prompt": "x", "solution": "做坏事的人"}, {"prompt": "fine"}]
    kept, dropped = filter_rows(rows, {**DEFAULTS, "unsafe": str(words)}, column="prompt")
    assert [r["prompt"] for r in kept] == ["bad things", "fine"] and "unsafe phrase '坏事'" in dropped[1][1]
    shipped = phrase_pattern(
        __import__("pathlib").Path(__import__("rlvr_cli.data.filter", fromlist=["x"]).__file__).with_name("unsafe_words.txt")
    )
    assert shipped.search("how to make a bomb at home") and not shipped.search("grapes, drapes and a bombastic speech; rapeseed oil")


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("write to ann.b+c@firm.co.uk now", ["e-mail"]),
        ("ann@example.com and bo@sub.example.org", []),
        ("call +44 20 7946 0958", ["phone number"]),
        ("call (212) 555-0187 today", ["phone number"]),
        ("手机：13912345678", ["phone number"]),
        ("12345678901 + 13912345678 = ?", []),
        ("card 4111-1111-1111-1111", ["card number"]),
        ("the number 4111111111111112", []),
        ("0000000000000000", []),
        ("pay to DE89 3704 0044 0532 0130 00", ["IBAN"]),
        ("DE89 3704 0044 0532 0130 01", []),
        ("11010519491231002X", ["identity number"]),
        ("110105194912310021", []),
        ("ssn 078-05-1120", ["social security number"]),
        ("000-12-3456 or 666-12-3456", []),
        ("8.8.8.8 but not 192.168.0.1, 999.1.1.1 or 1.2.3", ["network address"]),
        ("What is 3.14 * 2.71 - 555-1234?", []),
        ("a@b", []),
        ("x" * 50_000 + "@", []),
    ],
)
def test_personal_data(text, kinds):
    started = time.monotonic()
    assert [kind for kind, _ in found(text)] == kinds
    assert (masked(text) == text) == (not kinds)
    assert time.monotonic() - started < 2


def test_masking_reaches_messages_and_leaves_the_rest():
    rows = [{"prompt": [{"role": "user", "content": "I am ann@firm.de"}], "answer": "4", "n": 3}]
    kept, dropped = filter_rows(rows, {**DEFAULTS, "personal": "mask"}, column="prompt")
    assert kept == [{"prompt": [{"role": "user", "content": "I am <e-mail>"}], "answer": "4", "n": 3}] and not dropped


def test_near_duplicates_are_found_and_others_kept():
    base = "Mia has twelve red apples in a basket and gives five of them to her brother Ben before lunch on Monday"
    texts = [
        base,
        base.replace("Monday", "Tuesday"),
        base.replace("apples", "plums").replace("Ben", "Tom").replace("red", "blue"),
        "2+2=?",
        "2+3=?",
    ]
    assert near_duplicates(texts, 0.8) == {1: 0}
    many = [f"question number {i} asks about {i * 7} things and {i * 13} others in town {i % 97}" for i in range(2000)]
    assert not near_duplicates(many, 0.9)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"pass_min": 2}, "pass_min=2"),
        ({"pass_min": 0.1}, "no row has a column 'pass_rate'"),
        ({"max_chars": "long"}, "max_chars='long'"),
        ({"max_tokens": 5}, "needs a tokenizer"),
        ({"personal": "maybe"}, "off, drop or mask"),
        ({"unsafe": "nowhere.txt"}, "cannot be read"),
        ({"near": 7}, "near=7"),
    ],
)
def test_a_wrong_setting_is_one_line(settings, words):
    with pytest.raises(RlvrError) as caught:
        filtered(prompts("a"), **settings)
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_reasons_are_counted_without_figures():
    assert reason_kind("pass_rate 0.03 below 0.1") == reason_kind("pass_rate 0.07 below 0.1")


# ------------------------------------------------------------------------------------------ decontamination

HELD = "A farmer has 17 sheep and all but 9 run away during a thunder storm at night. How many sheep are left?"


def matches(train, held, **keys):
    keys = {"n": 13, "column": "prompt", "against_column": "prompt", **keys}
    return find_matches(prompts(*train), {"test": prompts(*held)}, **keys)


def test_the_same_text_in_other_clothes_and_a_shared_run_are_found():
    train = [
        HELD.upper().replace("?", ""),
        "Consider this. " + HELD + " Explain.",
        "A farmer has 18 sheep and all but 9 run away. How many are left?",
        "2+2",
    ]
    found_, _ = matches(train, [HELD])
    assert [(m.row, m.kind) for m in found_] == [(0, "the same text"), (1, "a run of 13 tokens")]
    assert found_[1].share == 1.0


def test_numbers_tell_questions_apart():
    assert not matches(["37+48=?", "What is 3 + 5?"], ["37+49=?", "What is 3+4?"])[0]
    assert matches(["What is 3 + 4 ?"], ["what is 3+4"])[0]


def test_a_template_that_many_rows_share_is_no_leak():
    template = "Write one SQLite query that answers the question about the shop with its customers and orders. Question {}"
    train = [template.format(i) for i in range(100)]
    found_, runs = matches(train, [template.format("x y z")])
    assert not found_ and runs > 0


def test_chinese_is_matched_by_characters():
    held = "小明有三个苹果又买了四个梨请问他一共有多少个水果"
    assert matches(["题目：" + held + "？"], [held])[0]
    assert tokens("小明3个") == ["小", "明", "3", "个"]


def test_share_asks_for_more_of_the_question():
    train = ["all but 9 run away during a thunder storm at night, and the dog barks"]
    assert matches(train, [HELD], n=8)[0] and not matches(train, [HELD], n=8, share=0.9)[0]

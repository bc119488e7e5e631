"""JSON Schema: the public suite's draft 7, extraction from messy answers, broken tasks, round trips, hostile input."""

import json
from pathlib import Path

import pytest

from rewards.json_schema import gold_completion, valid
from rlvr_cli.verifiers.json_schema import judge
from rlvr_cli.verifiers.json_schema.ecma import matches
from rlvr_cli.verifiers.json_schema.extract import last_value

SUITE = Path(__file__).resolve().parents[2] / "../shared/data/jsonschema_suite"
INT = {"type": "integer"}


def suite_cases(pattern):
    for file in sorted((SUITE / "tests/draft7").glob(pattern)):
        for group in json.loads(file.read_text()):
            for case in group["tests"]:
                yield file.stem, group["description"], case["description"], group["schema"], case["data"], case["valid"]


@pytest.mark.skipif(not SUITE.exists(), reason="../shared/data/jsonschema_suite is not here")
@pytest.mark.parametrize("form", ["text", "object", "round trip"])
def test_public_suite_draft7(form):
    """All of draft 7's required cases, the schema as text, as an object, and after a trip through ``datasets``."""
    cases = list(suite_cases("*.json"))
    schemas = [json.dumps(c[3]) if form != "object" else c[3] for c in cases]
    if form == "round trip":
        from datasets import Dataset

        schemas = Dataset.from_dict({"schema": schemas})["schema"]
    remotes = {"http://localhost:1234/": str(SUITE / "remotes")}
    rows = [{"schema": schema} for schema in schemas]
    wrong = [c[:3] for c, row in zip(cases, rows, strict=True) if judge(json.dumps(c[4]), row, remotes=remotes).score != float(c[5])]
    assert len(cases) > 800 and wrong == []


OUT_OF_REACH = "cross-draft"  # it refers to a document of another draft's remotes, which is not at hand: None, not a verdict


@pytest.mark.skipif(not SUITE.exists(), reason="../shared/data/jsonschema_suite is not here")
def test_public_suite_draft7_optional_and_formats():
    """The optional cases too, with ``format`` as a condition: date and time with leap seconds, mail, hosts, addresses, pointers ..."""
    remotes = {"http://localhost:1234/": str(SUITE / "remotes")}
    cases = [c for pattern in ("optional/*.json", "optional/format/*.json") for c in suite_cases(pattern)]
    judged = [judge(json.dumps(c[4]), {"schema": c[3]}, remotes=remotes, formats=True).score for c in cases]
    wrong = [c[:3] for c, score in zip(cases, judged, strict=True) if score != float(c[5])]
    assert len(cases) > 500 and {name for name, _, _ in wrong} <= {OUT_OF_REACH}
    assert all(score is None for c, score in zip(cases, judged, strict=True) if c[0] == OUT_OF_REACH)


@pytest.mark.parametrize(
    ("completion", "score"),
    [
        ("41", 1.0),
        (" 41 \n", 1.0),
        ("```json\n41\n```", 1.0),
        ("```\n41\n```", 1.0),
        ("~~~JSON\n41\n~~~", 1.0),
        ("```json\n41", 1.0),  # an unclosed last fence
        ("The answer is:\n41", 1.0),
        ("<think>12</think>41", 1.0),
        ("<think>41</think>", 0.0),
        ("<think>41", 0.0),
        ("The answer is 41.", 0.0),  # a number in prose is a word
        ("41.5", 0.0),
        ('"41"', 0.0),
        ("[41]", 0.0),
        ("41 42", 0.0),
        ("NaN", 0.0),
        ("", 0.0),
        ("```python\n41\n```\nno JSON here", 0.0),
    ],
)
def test_scalar_answers(completion, score):
    assert judge(completion, {"schema": INT}).score == score


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1} then {"a": 2}', {"a": 2}),
        ('```json\n{"a": 1}\n```\nor better\n```json\n{"a": 2}\n```', {"a": 2}),
        ('```json\n{"a": 2}\n```\nwhere {"b": 3} is only an aside', {"a": 2}),
        ('{"a": {"b": [1, {"c": 2}]}}', {"a": {"b": [1, {"c": 2}]}}),
        ('the set {x} and {"a": "}"}', {"a": "}"}),
        ('{"a": "１２ “quoted”"}', {"a": "１２ “quoted”"}),  # strings stay byte for byte
        ('{"a": 1, }', None),
        ("{'a': 1}", None),
        ('{"a": NaN}', None),
        ('{"a": 1', None),
    ],
)
def test_last_complete_value(text, value):
    found = last_value(text)
    assert (found and found.value) == value


@pytest.mark.parametrize("schema", [None, "not json", '{"type": 12}', {"$ref": "http://elsewhere.invalid/x.json"}, {"type": "nonsense"}])
def test_a_broken_task_is_none_not_zero(schema):
    assert judge("{}", {"schema": schema}).score is None


def test_objects_after_datasets_get_the_same_verdict():
    from datasets import Dataset

    schemas = [{"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}, {"type": "string", "minLength": 2}]
    stored = Dataset.from_list([{"schema": s} for s in schemas])["schema"]
    answers = ['{"a": 1}', '"ab"', '{"a": "x"}', '"a"']
    assert valid(answers, [*stored, *stored]) == valid(answers, schemas * 2) == [1.0, 1.0, 0.0, 0.0]
    assert valid(["null", "1"], [{"const": None}] * 2) == [1.0, 0.0]  # a const of null is not an absent key


def test_values_by_path_and_partial_credit():
    row = {"schema": {"type": "object", "properties": {"a": INT, "b": INT, "c": INT}, "required": ["a", "b", "c"]}, "values": '{"$.a": 1}'}
    assert judge('{"a": 1, "b": 2, "c": 3}', row).score == 1.0
    assert judge('{"a": 2, "b": 2, "c": 3}', row).reason == "at $.a: not 1"
    assert judge('{"a": true, "b": 2, "c": 3}', {**row, "schema": {}}).score == 0.0  # true is not 1
    partial = judge('{"a": 1, "b": "x", "c": 3}', row, partial=True).score
    assert partial == pytest.approx(2 / 3) and judge("[]", row, partial=True).score == 0.0


def test_formats_are_an_option():
    row = {"schema": {"type": "string", "format": "ipv4"}}
    assert judge('"999.1.1.1"', row).score == 1.0 and judge('"999.1.1.1"', row, formats=True).score == 0.0


def test_catastrophic_pattern_costs_one_row_its_verdict_not_the_batch():
    schema = {"type": "string", "pattern": "^(a|a)*$"}
    scores = valid([json.dumps("a" * 60 + "b"), '"aa"'], [schema] * 2, timeout_s=8.0)
    assert scores[0] in (0.0, None) and scores[1] == 1.0


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 50_000, "{" * 5_000 + "}" * 5_000, "```json\n" * 20_000, "\x00\ud800"])
def test_deep_and_odd_text_never_raises(text):
    assert judge(text, {"schema": INT}).score == 0.0


def test_gold_is_the_answer_column():
    row = {"schema": '{"const": {"a": [1]}}', "answer": {"a": [1]}}
    assert valid([gold_completion(row)], [row["schema"]]) == [1.0]
    assert gold_completion({"schema": "{}"}) is None


def test_ecma_escapes():
    assert matches(r"^\S+$", "a") and not matches(r"^\W$", "é1") and matches(r"^[\d-]+$", "1-2") and not matches(r"^a$", "a\n")


@pytest.mark.parametrize(
    ("number", "step", "score"),
    [
        ("0.3", 0.1, 1.0),
        ("19.99", 0.01, 1.0),
        ("1.1e-7", 1e-8, 1.0),
        ("0.35", 0.1, 0.0),
        ("7", 2, 0.0),
        ("1e400", 0.5, 0.0),
        ("12", 0.5, 1.0),
    ],
)
def test_multiples_are_counted_in_the_decimals_that_were_written(number, step, score):
    assert judge(f'{{"n": {number}}}', {"schema": {"properties": {"n": {"multipleOf": step}}}}).score == score

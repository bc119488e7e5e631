"""The 25 instructions by their public names: the check of each, and the kind of each of its parameters.

>>> CHECKS["keywords:frequency"].check("war and peace", keyword="war", frequency=2, relation="at least")
"'war' 1 times, not at least 2"
>>> len(CHECKS)
25
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from rlvr_cli.verifiers.ifeval import counts, layout, words


class Check(NamedTuple):
    """check: ``(answer, **parameters) -> what is wrong``, "" when followed.

    parameters: name -> count, relation, words, language or text.
    """

    check: Callable[..., str]
    parameters: Mapping[str, str] = MappingProxyType({})


CHECKS: dict[str, Check] = {
    "keywords:existence": Check(words.existence, {"keywords": "words"}),
    "keywords:frequency": Check(words.frequency, {"keyword": "text", "frequency": "count", "relation": "relation"}),
    "keywords:forbidden_words": Check(words.forbidden, {"forbidden_words": "words"}),
    "keywords:letter_frequency": Check(words.letter_frequency, {"letter": "text", "let_frequency": "count", "let_relation": "relation"}),
    "language:response_language": Check(words.response_language, {"language": "language"}),
    "length_constraints:number_sentences": Check(counts.sentence_count, {"num_sentences": "count", "relation": "relation"}),
    "length_constraints:number_words": Check(counts.number_of_words, {"num_words": "count", "relation": "relation"}),
    "length_constraints:number_paragraphs": Check(counts.paragraphs, {"num_paragraphs": "count"}),
    "length_constraints:nth_paragraph_first_word": Check(
        counts.nth_paragraph_first_word, {"num_paragraphs": "count", "nth_paragraph": "count", "first_word": "text"}
    ),
    "detectable_content:number_placeholders": Check(layout.placeholders, {"num_placeholders": "count"}),
    "detectable_content:postscript": Check(layout.postscript, {"postscript_marker": "text"}),
    "detectable_format:number_bullet_lists": Check(layout.bullets, {"num_bullets": "count"}),
    "detectable_format:constrained_response": Check(layout.constrained_response),
    "detectable_format:number_highlighted_sections": Check(layout.highlights, {"num_highlights": "count"}),
    "detectable_format:multiple_sections": Check(layout.sections, {"section_spliter": "text", "num_sections": "count"}),
    "detectable_format:json_format": Check(layout.json_format),
    "detectable_format:title": Check(layout.title),
    "combination:two_responses": Check(layout.two_responses),
    "combination:repeat_prompt": Check(layout.repeat_prompt, {"prompt_to_repeat": "text"}),
    "startend:end_checker": Check(layout.end_phrase, {"end_phrase": "text"}),
    "startend:quotation": Check(layout.quotation),
    "change_case:capital_word_frequency": Check(words.capital_words, {"capital_frequency": "count", "capital_relation": "relation"}),
    "change_case:english_capital": Check(words.english_capital),
    "change_case:english_lowercase": Check(words.english_lowercase),
    "punctuation:no_comma": Check(words.no_comma),
}

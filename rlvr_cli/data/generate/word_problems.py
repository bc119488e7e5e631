"""Word problems in English and Chinese, one to four steps, each with its worked steps.

The story and the sum are made together from the same numbers, so the gold is exact. A whole row:

>>> row = next(generate(count=1, seed=5))
>>> print(row["prompt"])
A box holds 10 cards. Omar has 3 full boxes and 31 loose cards. How many cards is that?
>>> print(row["solution"])
10 * 3 = 30
30 + 31 = 61
>>> row["answer"], row["difficulty"]
('61', 2)
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rlvr_cli.errors import DataError

LANGUAGES = ("en", "zh")
NAMES = {
    "en": ["Mia", "Ben", "Ava", "Noah", "Lena", "Omar", "Ruth", "Ivan", "Zoe", "Liam"],
    "zh": ["小明", "小红", "小刚", "小丽", "小华", "小军", "小芳", "小亮", "小雪", "小强"],
}
THINGS = {  # plural in English; the measure word and the noun in Chinese
    "en": ["apples", "marbles", "stickers", "pencils", "shells", "stamps", "buttons", "cards"],
    "zh": ["个苹果", "颗弹珠", "张贴纸", "支铅笔", "个贝壳", "张邮票", "粒纽扣", "张卡片"],
}


@dataclass
class Story:
    """A problem while it is written: sentences, steps, and the number so far."""

    sentences: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    value: int = 0

    def step(self, a: int, op: str, b: int) -> int:
        """Do one exact step and write it down."""
        result = {"+": a + b, "-": a - b, "*": a * b, "/": a // b}[op]
        self.steps.append(f"{a} {op} {b} = {result}")
        self.value = result
        return result


def generate(
    *,
    count: int,
    seed: int,
    language: str = "both",
    steps_min: int = 1,
    steps_max: int = 4,
    max: int = 50,
    families: Sequence[str] | None = None,
) -> Iterator[dict[str, Any]]:
    """``count`` problems. language: ``en``, ``zh`` or ``both``; steps_min, steps_max: steps of the solution; max: largest drawn number.

    families: the kinds of story, any of chain, boxes, shop, trip, field, compare; null takes all.
    """
    languages = LANGUAGES if language == "both" else (language,)
    if not set(languages) <= set(LANGUAGES):
        raise DataError(f"there are no word problems in {language!r}", where="dataset.language", fix="dataset.language=en (or zh, both)")
    if not 1 <= steps_min <= steps_max or steps_min > 4 or max < 5:
        raise DataError(f"steps {steps_min} to {steps_max}, numbers to {max}: needs 1 <= steps_min <= steps_max, steps_min <= 4, max >= 5",
                        where="dataset.steps_min")  # fmt: skip
    stories = [family for family in FAMILIES if families is None or family.__name__[1:] in families]
    strange = set(families or ()) - {family.__name__[1:] for family in FAMILIES}
    if strange or not stories:
        raise DataError(f"{min(strange, default='nothing')!r} is no kind of story", where="dataset.families",
                        fix="'dataset.families=[chain,compare]'")  # fmt: skip
    rng = random.Random(f"word_problems-{seed}")
    made = 0
    while made < count:
        language = rng.choice(languages)
        story = rng.choice(stories)(rng, language, max, rng.randint(steps_min, steps_max))
        if steps_min <= len(story.steps) <= steps_max:
            made += 1
            yield _row(story, language)


def _row(story: Story, language: str) -> dict[str, Any]:
    return {
        "prompt": (" " if language == "en" else "").join(story.sentences),
        "answer": str(story.value),
        "solution": "\n".join(story.steps),
        "difficulty": len(story.steps),
        "language": language,
        "kind": "math",
    }


def _say(story: Story, language: str, english: str, chinese: str, **values: Any) -> None:
    story.sentences.append((english if language == "en" else chinese).format(**values))


def _who(rng: random.Random, language: str) -> dict[str, str]:
    a, b = rng.sample(NAMES[language], 2)
    return {"a": a, "b": b, "thing": rng.choice(THINGS[language])}


# ---------------------------------------------------------------------------------------------- families


def _chain(rng: random.Random, language: str, top: int, steps: int) -> Story:
    """Someone has things, gains and loses some, and may share the rest."""
    story, who = Story(), _who(rng, language)
    story.value = rng.randint(3, top)
    _say(story, language, "{a} has {n} {thing}.", "{a}有{n}{thing}。", n=story.value, **who)
    share = steps > 1 and rng.random() < 0.4
    while len(story.steps) < steps - share:
        _event(rng, story, language, top, who, room=steps - share - len(story.steps))
    divisors = [d for d in range(2, 10) if story.value % d == 0 and story.value > d]
    if share and divisors:
        d = rng.choice(divisors)
        _say(story, language, "{a} shares all of them equally among {d} friends.", "{a}把它们全部平均分给{d}个朋友。", d=d, **who)
        story.step(story.value, "/", d)
        _say(story, language, "How many {thing} does each friend get?", "每个朋友分到多少{thing}？", **who)
    else:
        _say(story, language, "How many {thing} does {a} have now?", "{a}现在有多少{thing}？", **who)
    return story


def _event(rng: random.Random, story: Story, language: str, top: int, who: dict[str, str], room: int) -> None:
    """One thing that happens; bags cost two steps, the others one."""
    kind = rng.choice(["gain", "lose", "double", "bags"])
    if kind == "lose" and story.value > 3:
        n = rng.randint(1, story.value - 2)
        _say(story, language, "{a} gives {n} of them to {b}.", "{a}送给{b}{n}{measure}。", n=n, measure=who["thing"][:1], **who)
        story.step(story.value, "-", n)
    elif kind == "double" and story.value <= top:
        k = rng.randint(2, 3)
        english = "Then {a} collects until there are {word} as many."
        _say(story, language, english, "后来{a}的数量变成原来的{k}倍。", k=k, word={2: "twice", 3: "three times"}[k], **who)
        story.step(story.value, "*", k)
    elif kind == "bags" and room >= 2:
        bags, n, before = rng.randint(2, 6), rng.randint(2, 12), story.value
        _say(story, language, "{a} buys {bags} bags with {n} {thing} each.", "{a}又买了{bags}袋，每袋{n}{thing}。", bags=bags, n=n, **who)
        story.step(before, "+", story.step(bags, "*", n))
    else:
        n = rng.randint(2, top)
        _say(story, language, "{b} gives {a} {n} more.", "{b}又给了{a}{n}{measure}。", n=n, measure=who["thing"][:1], **who)
        story.step(story.value, "+", n)


def _boxes(rng: random.Random, language: str, top: int, steps: int) -> Story:
    story, who = Story(), _who(rng, language)
    per, boxes, loose = rng.randint(3, 12), rng.randint(2, 12), rng.randint(1, top)
    _say(story, language, "A box holds {n} {thing}.", "一盒有{n}{thing}。", n=per, **who)
    if steps == 1:
        _say(story, language, "How many {thing} do {k} boxes hold?", "{k}盒一共有多少{thing}？", k=boxes, **who)
        story.step(per, "*", boxes)
        return story
    english = "{a} has {k} full boxes and {m} loose {thing}. How many {thing} is that?"
    _say(
        story,
        language,
        english,
        "{a}有{k}整盒，另外还有{m}{measure}散的，一共有多少{thing}？",
        k=boxes,
        m=loose,
        measure=who["thing"][:1],
        **who,
    )
    story.step(story.step(per, "*", boxes), "+", loose)
    return story


def _shop(rng: random.Random, language: str, top: int, steps: int) -> Story:
    """Prices, a total, and the change from a round sum."""
    story, who = Story(), _who(rng, language)
    p, q, m, n = rng.randint(2, 15), rng.randint(2, 15), rng.randint(2, 8), rng.randint(2, 8)
    _say(story, language, "A notebook costs ${p} and a pen costs ${q}.", "一本笔记本{p}元，一支钢笔{q}元。", p=p, q=q)
    if steps < 3:
        _say(story, language, "What do {m} notebooks and one pen cost, in dollars?", "买{m}本笔记本和一支钢笔一共要多少元？", m=m)
        story.step(story.step(p, "*", m), "+", q)
        return story
    total = story.step(story.step(p, "*", m), "+", story.step(q, "*", n))
    if steps == 3:
        _say(story, language, "What do {m} notebooks and {n} pens cost, in dollars?", "买{m}本笔记本和{n}支钢笔一共要多少元？", m=m, n=n)
        return story
    paid = (total // 50 + 1) * 50
    english = "{a} buys {m} notebooks and {n} pens and pays with ${paid}. How many dollars does {a} get back?"
    _say(story, language, english, "{a}买了{m}本笔记本和{n}支钢笔，付了{paid}元，应找回多少元？", m=m, n=n, paid=paid, **who)
    story.step(paid, "-", total)
    return story


def _trip(rng: random.Random, language: str, top: int, steps: int) -> Story:
    story = Story()
    speed, hours, more = rng.randint(4, 12) * 10, rng.randint(2, 6), rng.randint(5, top)
    _say(story, language, "A train goes {v} km an hour for {h} hours.", "一列火车每小时行{v}千米，行了{h}小时。", v=speed, h=hours)
    gone = story.step(speed, "*", hours)
    if steps == 1:
        _say(story, language, "How many km does it go?", "一共行了多少千米？")
    elif rng.random() < 0.5:
        _say(
            story, language, "It is still {m} km from its goal. How many km is the whole way?", "离终点还有{m}千米，全程多少千米？", m=more
        )
        story.step(gone, "+", more)
    else:
        _say(story, language, "The whole way is {t} km. How many km are left?", "全程{t}千米，还剩多少千米？", t=gone + more)
        story.step(gone + more, "-", gone)
    return story


def _field(rng: random.Random, language: str, top: int, steps: int) -> Story:
    story = Story()
    a, b = rng.randint(3, top), rng.randint(2, top)
    _say(story, language, "A field is {a} m long and {b} m wide.", "一块长方形地长{a}米，宽{b}米。", a=a, b=b)
    if steps == 1:
        _say(story, language, "What is its area in square metres?", "它的面积是多少平方米？")
        story.step(a, "*", b)
    else:
        _say(story, language, "How many metres of fence go once around it?", "绕它一圈需要多少米长的篱笆？")
        story.step(story.step(a, "+", b), "*", 2)
    return story


def _compare(rng: random.Random, language: str, top: int, steps: int) -> Story:
    """Two people, one with more or several times as many."""
    story, who = Story(), _who(rng, language)
    n, more, k = rng.randint(3, top), rng.randint(2, top), rng.randint(2, 5)
    _say(story, language, "{a} has {n} {thing}.", "{a}有{n}{thing}。", n=n, **who)
    if steps % 2:
        _say(story, language, "{b} has {m} more than {a}.", "{b}比{a}多{m}{measure}。", m=more, measure=who["thing"][:1], **who)
        other = story.step(n, "+", more)
    else:
        _say(story, language, "{b} has {k} times as many as {a}.", "{b}的数量是{a}的{k}倍。", k=k, **who)
        other = story.step(n, "*", k)
    if steps == 1:
        _say(story, language, "How many {thing} does {b} have?", "{b}有多少{thing}？", **who)
    else:
        _say(story, language, "How many {thing} do they have together?", "两人一共有多少{thing}？", **who)
        story.step(n, "+", other)
    return story


FAMILIES: list[Callable[[random.Random, str, int, int], Story]] = [_chain, _chain, _chain, _boxes, _shop, _trip, _field, _compare]

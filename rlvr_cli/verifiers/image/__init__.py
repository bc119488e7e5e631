"""Images: does a picture show what the prompt asks for, by a CLIP model that the user names.

Half of the pay is for likeness of prompt and picture, half is shared by the row's attribute conditions, each a zero-shot
question. One whole example, with the numbers that a model gave::

    row       {"prompt": "a red car in the snow", "image": "cars/17.png",
               "attributes": [["a red car", "a blue car", "a white car"], ["snow", "sand"]]}
    CLIPScore 2.5 * cos(prompt, picture) = 0.84, at least 0.8      +0.5
    "a red car" has p = 0.97 among the three                       +0.25
    "snow" has p = 0.31 between the two                             0
    verdict   0.75, "likeness 0.84; 1 of 2 attributes; not: snow (p 0.31)"

A cosine of a real CLIP seldom passes 0.35, so likeness is CLIPScore (Hessel et al. 2021, arXiv:2104.08718), 2.5 times the
cosine, held to 0..1; ``similarity="cosine"`` takes the cosine itself. The composition is here, without torch:

>>> verdict_of(0.84, [Condition("a red car", 0.97), Condition("snow", 0.31)], threshold=0.8, attribute_threshold=0.5)
Verdict(score=0.75, reason='likeness 0.84; 1 of 2 attributes; not: snow (p 0.31)', extracted=None)
>>> likeness(0.2, "clipscore"), likeness(-0.1, "clipscore"), likeness(-0.1, "cosine")
(0.5, 0.0, -0.1)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rlvr_cli.errors import RewardError
from rlvr_cli.verifiers.image.pictures import NoPicture, open_picture
from rlvr_cli.verifiers.language import prompt_text
from rlvr_cli.verifiers.verdict import Completion, Verdict, text_of

SIMILARITIES = ("clipscore", "cosine")
HALF = 0.5
COLUMNS = ("image", "images")


class Condition(NamedTuple):
    """One attribute as the model sees it: the wanted label, its probability among the row's labels."""

    wanted: str
    probability: float


def likeness(cosine: float, similarity: str) -> float:
    """A cosine on the scale of ``similarity``."""
    return min(1.0, 2.5 * max(cosine, 0.0)) if similarity == "clipscore" else cosine


def verdict_of(like: float, conditions: Sequence[Condition], *, threshold: float, attribute_threshold: float) -> Verdict:
    """0.5 from ``threshold`` of likeness on, and 0.5 shared equally by the conditions; without conditions 0.5 is the most."""
    met = [c for c in conditions if c.probability > attribute_threshold]
    reason = f"likeness {like:.2f}"
    if conditions:
        reason += f"; {len(met)} of {len(conditions)} attributes"
    missed = [f"{c.wanted} (p {c.probability:.2f})" for c in conditions if c not in met]
    reason += f"; not: {', '.join(missed)}" if missed else ""
    return Verdict(HALF * (like >= threshold) + (HALF * len(met) / len(conditions) if conditions else 0.0), reason)


def attributes_of(column: Any) -> list[list[str]]:
    """A row's conditions, each a list of labels of which the first is wanted. Raises ValueError where it can not be read.

    >>> attributes_of('[["red", "blue"], {"want": "snow", "others": ["sand"]}]')
    [['red', 'blue'], ['snow', 'sand']]
    """
    column = json.loads(column) if isinstance(column, str) and column.strip() else column
    found = []
    for item in column or ():
        labels = [item.get("want"), *(item.get("others") or ())] if isinstance(item, dict) else item
        if isinstance(labels, str) or len(labels) < 2 or not all(isinstance(label, str) and label.strip() for label in labels):
            raise ValueError(f"an attribute is [wanted, other, ...], at least two labels: {item!r:.60}")
        found.append(list(labels))
    return found


def judge(completion: Completion, row: dict[str, Any], **options: Any) -> Verdict:
    """One picture; see ``judge_all``. Row columns: ``prompt``, ``image`` (or ``images``), ``attributes``."""
    return judge_all([completion], [row], **options)[0]


def judge_all(
    completions: Sequence[Completion],
    rows: Sequence[dict[str, Any]],
    *,
    model: str,
    threshold: float = 0.8,
    attribute_threshold: float = 0.5,
    similarity: str = "clipscore",
    generator: Callable[[str], Any] | None = None,
    image_root: str | None = None,
    batch_size: int = 16,
    device: str | None = None,
) -> list[Verdict]:
    """A verdict a row. ``model``: folder or hub name of a CLIP. ``generator``: text of a completion -> picture, else the column's."""
    if similarity not in SIMILARITIES:
        raise RewardError(f"similarity is {similarity!r}", fix=f"options.similarity={SIMILARITIES[0]}")
    verdicts: list[Verdict | None] = [None] * len(rows)
    pictures, asked = {}, {}
    for i, (completion, row) in enumerate(zip(completions, rows, strict=True)):
        try:
            asked[i] = _prompt(row), attributes_of(row.get("attributes"))
            pictures[i] = _picture(completion, row, generator, image_root)
        except NoPicture as error:
            verdicts[i] = Verdict(0.0 if error.of_completion else None, str(error))
        except ValueError as error:  # JSON errors are ValueErrors too
            verdicts[i] = Verdict(None, f"the row can not be read: {error}")
    if pictures:
        limits = {"threshold": threshold, "attribute_threshold": attribute_threshold}
        for i, (like, conditions) in _seen(model, device, batch_size, pictures, asked).items():
            verdicts[i] = verdict_of(likeness(like, similarity), conditions, **limits)
    return [verdict for verdict in verdicts if verdict is not None]


def _seen(model: str, device: str | None, batch_size: int, pictures: dict, asked: dict) -> dict[int, tuple[float, list[Condition]]]:
    """What the model says of each picture: its cosine with the prompt, and the probability of each wanted attribute."""
    from rlvr_cli.verifiers.image.clip_model import load

    clip = load(model, device)
    texts = [text for i in pictures for labels in ([asked[i][0]], *asked[i][1]) for text in labels]
    told = clip.texts(texts, batch_size)
    found = {}
    for i, picture in zip(pictures, clip.images(list(pictures.values()), batch_size), strict=True):
        prompt, attributes = asked[i]
        conditions = [Condition(labels[0], clip.probability(picture, [told[label] for label in labels])) for labels in attributes]
        found[i] = clip.cosine(picture, told[prompt]), conditions
    return found


def gold_completion(row: dict[str, Any]) -> str | None:
    """None: no text is a picture."""
    return None


def _prompt(row: dict[str, Any]) -> str:
    text = prompt_text(row.get("prompt")).strip()
    if not text:
        raise ValueError("it has no prompt to compare with")
    return text


def _picture(completion: Completion, row: dict[str, Any], generator: Callable[[str], Any] | None, root: str | None) -> Any:
    """The row's picture, or the one that ``generator`` draws from the completion."""
    if generator is None:
        value = next((row[name] for name in COLUMNS if row.get(name) is not None), None)
        return open_picture(value, root)
    try:
        drawn = generator(text_of(completion))
    except Exception as error:  # another's code: whatever it raises, this row is not judged
        raise NoPicture(f"the generator raised {type(error).__name__}: {str(error)[:100]}") from error
    if drawn is None:
        raise NoPicture("the generator drew nothing", of_completion=True)
    return open_picture(drawn, root)

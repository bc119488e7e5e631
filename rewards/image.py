"""Reward for pictures: likeness of prompt and picture by CLIP, and attributes by zero-shot classification.

The work is in rlvr_cli/verifiers/image; this is the form that TRL calls. The picture stands in the row (``image`` or
``images``), or a generator draws it from the completion. In YAML::

    terms:
      shows: {fn: rewards.image.clip, weight: 1.0, options: {model: openai/clip-vit-base-patch32, generator: my_images.draw}}

>>> clip([], prompts=[], model="never loaded")
[]
>>> clip(["a car"], prompts=["a red car"], image=["cars/none.png"], model="never loaded").verdicts[0].score is None
True
"""

from rlvr_cli.errors import RewardError
from rlvr_cli.verifiers import Scores, rows_of
from rlvr_cli.verifiers.image import gold_completion, judge_all

__all__ = ["clip", "gold_completion"]


def clip(
    completions,
    image=None,
    images=None,
    attributes=None,
    prompts=None,
    *,
    model: str,
    threshold: float = 0.8,
    attribute_threshold: float = 0.5,
    similarity: str = "clipscore",
    generator: str | None = None,
    image_root: str | None = None,
    batch_size: int = 16,
    device: str | None = None,
    **kwargs,
) -> Scores:
    """0.5 where prompt and picture are alike by ``threshold``, and 0.5 shared by the attributes; None without a picture.

    attributes: a list a row (or JSON text) of conditions ``[wanted, other, ...]``; the wanted one must get a probability
    above ``attribute_threshold``. model: folder or hub name of a CLIP. similarity: clipscore (2.5 times the cosine) or
    cosine. generator: dotted path of ``draw(text) -> picture``; it draws what the completion says. image_root: folder of
    relative file names.

    >>> clip(["x"], prompts=["a car"], image=["https://example.org/car.png"], model="never loaded").verdicts[0].reason
    'a picture is a file, not an address: https://example.org/car.png'
    """
    if not completions:
        return Scores([])
    if generator is None and image is None and images is None:
        raise RewardError("rewards.image.clip needs the column image (or images), or a generator", fix="options.generator=my_images.draw")
    draw = generator
    if isinstance(generator, str):
        from rlvr_cli.rewards_api.resolve import resolve

        draw = resolve(generator, where="options.generator")
    rows = rows_of(len(completions), prompt=prompts, image=image, images=images, attributes=attributes)
    limits = {"threshold": threshold, "attribute_threshold": attribute_threshold, "similarity": similarity}
    return Scores(
        judge_all(completions, rows, model=model, generator=draw, image_root=image_root, batch_size=batch_size, device=device, **limits)
    )


clip.loads_model = "model"  # looked for before a run starts

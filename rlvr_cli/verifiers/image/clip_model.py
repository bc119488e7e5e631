"""A CLIP model in memory: unit vectors of pictures and texts. Loaded once a path; the only file here that needs torch.

Pictures go through transformers' processor on PIL, so torchvision is not needed (and none is imported)::

    clip = load("openai/clip-vit-base-patch32")
    [picture] = clip.images([Image.open("car.png")])               # (D,)
    clip.cosine(picture, clip.texts(["a red car"])["a red car"])   # 0.31
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rlvr_cli.errors import MissingDependency, RewardError


@dataclass(frozen=True)
class Clip:
    """model: a CLIPModel in evaluation mode. tokenizer, processor: its own."""

    model: Any
    tokenizer: Any
    processor: Any

    def images(self, pictures: Sequence[Any], batch_size: int = 16) -> list[Any]:
        """Unit vectors (D,) of PIL images, in order."""
        found = []
        for batch in _batches(pictures, batch_size):
            pixels = self.processor(images=batch, return_tensors="pt")["pixel_values"]  # (B, 3, H, W)
            found += self._unit(self.model.get_image_features, pixel_values=pixels)
        return found

    def texts(self, texts: Sequence[str], batch_size: int = 16) -> dict[str, Any]:
        """Unit vectors (D,) by text; each text is encoded once, cut to what the model reads."""
        found, distinct = {}, list(dict.fromkeys(texts))
        longest = self.model.config.text_config.max_position_embeddings
        for batch in _batches(distinct, batch_size):
            tokens = self.tokenizer(batch, padding=True, truncation=True, max_length=longest, return_tensors="pt")
            inputs = {"input_ids": tokens["input_ids"], "attention_mask": tokens["attention_mask"]}  # (B, T) each
            found |= dict(zip(batch, self._unit(self.model.get_text_features, **inputs), strict=True))
        return found

    def cosine(self, picture: Any, text: Any) -> float:
        """Of two unit vectors."""
        return float(picture @ text)

    def probability(self, picture: Any, labels: Sequence[Any]) -> float:
        """Of the first label among all, at the model's own temperature."""
        import torch

        logits = torch.stack(list(labels)) @ picture * self.model.logit_scale.detach().exp().cpu()  # (labels,)
        return float(logits.softmax(0)[0])

    def _unit(self, encode: Any, **inputs: Any) -> list[Any]:
        import torch

        with torch.inference_mode():
            out = encode(**{name: value.to(self.model.device) for name, value in inputs.items()})
        vectors = getattr(out, "pooler_output", out).float().cpu()  # (B, D); transformers 5 wraps it
        return list(vectors / vectors.norm(dim=-1, keepdim=True).clamp_min(1e-12))


def _batches(items: Sequence[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(items), size):
        yield list(items[start : start + size])


@functools.lru_cache(maxsize=2)
def load(path: str, device: str | None = None) -> Clip:
    """The model of a folder or hub name. Raises RewardError when it is no CLIP model, MissingDependency without torch."""
    try:
        from transformers import AutoTokenizer, CLIPModel
    except ImportError as error:
        raise MissingDependency("judging images needs torch and transformers", fix="pip install 'rlvr[train,vision]'") from error
    from rlvr_cli.verifiers.hybrid import outside_deepspeed

    try:
        with outside_deepspeed():
            model = CLIPModel.from_pretrained(path).eval().to(device or "cpu")
        return Clip(model, AutoTokenizer.from_pretrained(path), _processor().from_pretrained(path))
    except (OSError, ValueError, RuntimeError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise RewardError(f"no CLIP model at {path!r}: {first[:200]}", where="reward.terms.<name>.options.model") from error


def _processor() -> Any:
    """The processor on PIL, under the name that this version of transformers gives it."""
    try:
        from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil as Processor
    except ImportError:
        from transformers import CLIPImageProcessor as Processor
    return Processor

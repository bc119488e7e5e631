"""Images: a CLIP model set by hand to know red from blue, and one with random weights. No published CLIP is loaded here.

What this shows: files, columns, batching, likeness, thresholds and pay are right. What it does not: that any published
model sees well.
"""

import io
import json

import pytest

pytest.importorskip("PIL")
pytest.importorskip("transformers")

from PIL import Image

from rewards.image import clip
from rlvr_cli.errors import RewardError
from rlvr_cli.rewards_api.bind import bind
from rlvr_cli.verifiers.image import attributes_of, likeness

WORDS = ["<pad>", "<bos>", "<eos>", "<unk>", "red", "blue", "green", "a", "picture"]
RED, BLUE, GREEN = (Image.new("RGB", (20, 12), colour) for colour in ((255, 0, 0), (0, 0, 255), (0, 255, 0)))


def small_clip(folder, by_hand):
    """A CLIP of 8 dimensions with its tokenizer and processor, saved in ``folder``."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import CLIPConfig, CLIPModel, PreTrainedTokenizerFast
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    shape = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
    text = {**shape, "vocab_size": len(WORDS), "max_position_embeddings": 12, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    config = CLIPConfig(text_config=text, vision_config={**shape, "image_size": 8, "patch_size": 4}, projection_dim=8)
    torch.manual_seed(0)
    model = CLIPModel(config)
    if by_hand:
        set_by_hand(model)
    model.save_pretrained(folder)
    words = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.TemplateProcessing(single="<bos> $A <eos>", special_tokens=[("<bos>", 1), ("<eos>", 2)])
    special = {"pad_token": "<pad>", "bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>"}
    PreTrainedTokenizerFast(tokenizer_object=words, **special).save_pretrained(folder)
    sizes = {"size": {"shortest_edge": 8}, "crop_size": {"height": 8, "width": 8}}
    CLIPImageProcessorPil(**sizes, image_mean=[0, 0, 0], image_std=[1, 1, 1]).save_pretrained(folder)
    return str(folder)


def set_by_hand(model):
    """Dimensions 0, 1, 2 stand for red, green, blue in pictures and in words; attention takes the plain mean."""
    import torch

    with torch.no_grad():
        for tower in (model.vision_model, model.text_model):
            attention, mlp = tower.encoder.layers[0].self_attn, tower.encoder.layers[0].mlp
            for part in (attention.q_proj, attention.k_proj, attention.v_proj, attention.out_proj, mlp.fc1, mlp.fc2):
                part.weight.zero_()
                part.bias.zero_()
            attention.v_proj.weight.copy_(torch.eye(8))
            attention.out_proj.weight.copy_(torch.eye(8))
            tower.embeddings.position_embedding.weight.zero_()
        model.vision_model.embeddings.class_embedding.zero_()
        patches = model.vision_model.embeddings.patch_embedding.weight  # (8, 3, 4, 4)
        patches.zero_()
        tokens = model.text_model.embeddings.token_embedding.weight
        tokens.zero_()
        for place, word in enumerate(("red", "green", "blue")):
            patches[place, place] = 1 / 16
            tokens[WORDS.index(word), place] = 1.0
        for projection in (model.visual_projection, model.text_projection):
            projection.weight.copy_(torch.diag(torch.tensor([1.0, 1, 1, 0, 0, 0, 0, 0])))
        model.logit_scale.fill_(3.0)


@pytest.fixture(scope="module")
def colours(tmp_path_factory):
    return small_clip(tmp_path_factory.mktemp("colours"), by_hand=True)


@pytest.fixture(scope="module")
def random_clip(tmp_path_factory):
    return small_clip(tmp_path_factory.mktemp("random"), by_hand=False)


def test_likeness_and_attributes_share_the_pay(colours):
    asked = [["red", "blue"], ["red", "green", "blue"]]
    mixed = [["red", "blue"], ["green", "red"]]
    scores = clip(
        ["x"] * 5,
        prompts=["a red picture", "a blue picture", "a red picture", "a red picture", "a blue picture"],
        image=[RED, RED, RED, RED, RED],
        attributes=[None, None, asked, mixed, mixed],
        model=colours,
    )
    assert scores == [0.5, 0.0, 1.0, 0.75, 0.25]
    assert "1 of 2 attributes; not: green (p 0.0" in scores.verdicts[3].reason


def test_messages_and_json_text_are_the_same_row(colours):
    asked = [["blue", "red"]]
    plain = clip(["x"], prompts=["a blue picture"], images=[[BLUE]], attributes=[asked], model=colours)
    chat = clip(
        [[{"role": "assistant", "content": "x"}]],
        prompts=[[{"role": "user", "content": "a blue picture"}]],
        images=[[BLUE]],
        attributes=[json.dumps(asked)],
        model=colours,
    )
    assert plain == chat == [1.0]


def test_the_threshold_is_on_the_named_scale(colours):
    assert likeness(0.32, "clipscore") == pytest.approx(0.8) and likeness(0.32, "cosine") == 0.32
    purple = Image.new("RGB", (8, 8), (255, 0, 160))  # between red and blue: a cosine of its own
    paid = {}
    for similarity in ("clipscore", "cosine"):
        for threshold in (0.05, 0.5, 0.8, 0.999):
            [score] = clip(["x"], prompts=["red"], image=[purple], model=colours, similarity=similarity, threshold=threshold)
            paid[similarity, threshold] = score
    assert paid["clipscore", 0.8] == 0.5 and paid["cosine", 0.05] == 0.5
    assert paid["cosine", 0.999] == 0.0
    with pytest.raises(RewardError, match="similarity"):
        clip(["x"], prompts=["red"], image=[RED], model=colours, similarity="dot")


def test_pictures_of_every_kind(colours, tmp_path):
    buffer = io.BytesIO()
    RED.save(buffer, "PNG")
    (tmp_path / "red.png").write_bytes(buffer.getvalue())
    import numpy as np

    kinds = [
        RED,
        RED.convert("P"),
        "red.png",
        str(tmp_path / "red.png"),
        buffer.getvalue(),
        {"bytes": buffer.getvalue(), "path": None},
        {"bytes": None, "path": "red.png"},
        np.asarray(RED),
        [RED],
    ]
    scores = clip(["x"] * len(kinds), prompts=["red"] * len(kinds), image=kinds, model=colours, image_root=str(tmp_path))
    assert scores == [0.5] * len(kinds)


def test_what_is_no_picture_is_not_judged(colours, tmp_path):
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n broken")
    (tmp_path / "page.eps").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\nshowpage\n")
    bad = [None, "none.png", "broken.png", "page.eps", "https://example.org/a.png", b"", 7, [], Image.new("L", (8000, 8000))]
    n = len(bad)
    scores = clip(["x"] * (n + 1), prompts=["red"] * (n + 1), image=[*bad, RED], model=colours, image_root=str(tmp_path))
    assert scores == [None] * n + [0.5]
    assert all(verdict.reason for verdict in scores.verdicts)
    assert clip(["x"], prompts=[""], image=[RED], model=colours).verdicts[0].score is None
    assert clip(["x"], prompts=["red"], image=[RED], attributes=[["red"]], model=colours).verdicts[0].score is None


def draw(text):
    """The generator of the test: it knows two colours."""
    if "fail" in text:
        raise RuntimeError("no device")
    return {"red": RED, "blue": BLUE}.get(text)


def test_a_generator_draws_what_the_completion_says(colours, tmp_path):
    (tmp_path / "draws_colours.py").write_text(
        "from PIL import Image\n\ndef draw(text):\n"
        "    if text == 'fail':\n        raise RuntimeError('no device')\n"
        "    return Image.new('RGB', (9, 9), text) if text in ('red', 'blue') else None\n"
    )
    where = f"{tmp_path / 'draws_colours.py'}:draw"
    for generator in (where, draw):
        scores = clip(["red", "blue", "a poem", "fail"], prompts=["red"] * 4, model=colours, generator=generator)
        assert scores == [0.5, 0.0, 0.0, None]
        assert [v.reason for v in scores.verdicts[2:]] == ["the generator drew nothing", "the generator raised RuntimeError: no device"]


def test_random_weights_pay_the_same_in_any_batch(random_clip):
    pictures, prompts = (
        [RED, BLUE, GREEN, RED],
        ["red", "a blue picture", "green", "an unknown word and many more than the model can read " * 3],
    )
    attributes = [[["red", "blue"]], None, [["green", "red"], ["a", "picture"]], None]
    given = {"prompts": prompts, "image": pictures, "attributes": attributes, "model": random_clip}
    together = clip(["x"] * 4, **given, batch_size=16)
    assert [v.reason for v in together.verdicts] == [v.reason for v in clip(["x"] * 4, **given, batch_size=1).verdicts]
    assert set(together) <= {0.0, 0.25, 0.5, 0.75, 1.0}


def test_bound_from_yaml_and_faults_are_named(colours):
    terms = bind({"terms": {"shows": {"fn": "rewards.image.clip", "options": {"model": colours}}}}, columns=["prompt", "image"])
    result = terms[0].call(["red", "blue"], ["x", "x"], {"image": [RED, RED]})
    assert result.scores == [0.5, 0.0]
    with pytest.raises(RewardError, match="no CLIP model at"):
        clip(["x"], prompts=["red"], image=[RED], model=colours + "/none")
    with pytest.raises(RewardError, match="needs the column image"):
        clip(["x"], prompts=["red"], model=colours)


@pytest.mark.parametrize("column", [["red"], [["red"]], [{"want": "red"}], [[1, 2]], '["red"]'])
def test_attributes_that_ask_nothing(column):
    with pytest.raises(ValueError, match="an attribute is"):
        attributes_of(column)


def test_the_audit_takes_options_and_says_what_a_column_of_pictures_is(colours, tmp_path):
    """The picture stands in the row, so every completion earns the same: the audit must say so."""
    from rlvr_cli.audit.attacks import run_attacks
    from rlvr_cli.audit.cases import cases_of
    from rlvr_cli.audit.target import Target
    from rlvr_cli.scoring import choose

    RED.save(tmp_path / "red.png")
    name = "rewards.image.clip"
    target = Target.of(name, choose(name, [f"options.model={colours}", f"options.image_root={tmp_path}"]))
    rows = [{"prompt": "a red picture", "image": "red.png", "attributes": json.dumps([["red", "blue"]])}]
    found = {outcome.name: outcome for outcome in run_attacks(target, cases_of(target, rows))}
    assert found["saying nothing"].level == found["prompt injection"].level == "serious"
    assert found["saying nothing"].reason == "likeness 1.00; 1 of 1 attributes"
    assert found["padding"].level == "ok"

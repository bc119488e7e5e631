"""The turns of one completion outside training: generate, call, read, go on, exactly as TRL's trainer does it.

TRL keeps its loop inside ``GRPOTrainer``; held-out accuracy and ``rlvr eval`` need the same turns of any generator. So
the pieces that define a turn are TRL's own functions (template, parsing), and the loop around them is short: a test plays
both on one model and compares token by token. One completion, as the tokens go::

    prompt   <|system|>calculate <|end|><|user|>47*38=?<|end|><|assistant|>
    policy   <call>calculate expression=47*38</call><|end|>
    tool     <|tool|>1786<|end|><|assistant|>                                   (in training: masked from the loss)
    policy   <answer>1786</answer><|end|>

A completion's tokens, those of the tools included, never exceed ``max_completion_length``: an answer of a tool that would
not fit is not given, and the completion ends at its call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rlvr_cli.environments import Bound
from rlvr_cli.errors import ConfigError

# token ids of prompts, what each is a draw of, and the sampling -> token ids of completions, with their stop token
Ask = Callable[[list[list[int]], list[Any], Any], list[list[int]]]


def prepare(tokenizer: Any) -> Any:
    """Teach the tokenizer to read tool calls, as TRL does. Raises ConfigError where its template knows none."""
    from trl.chat_template_utils import add_response_schema, supports_tool_calling

    if not supports_tool_calling(tokenizer):
        what = "the chat template cannot write a conversation with tool calls (user, assistant with tool_calls, tool)"
        raise ConfigError(what, where="environment, model.chat_template", fix="model=tiny_tools, model=qwen3-0.6b, or environment=none")
    if getattr(tokenizer, "response_template", None) is None and getattr(tokenizer, "response_schema", None) is None:
        try:
            add_response_schema(tokenizer)
        except ValueError as error:
            what = "how this chat template writes a tool call is not known, so calls cannot be read (no response_template in the tokenizer)"
            raise ConfigError(what, where="environment, model.chat_template", fix="model=qwen3-0.6b, or environment=none") from error
    return tokenizer


@dataclass
class Played:
    """One completion in the middle of its turns. ``ids``: everything after the prompt; ``wrote``: tokens that the policy wrote."""

    prompt: list[int]
    tools: list[Callable]
    environment: Any = None
    ids: list[int] = field(default_factory=list)
    messages: list[dict[str, Any]] = field(default_factory=list)
    wrote: int = 0
    calls: int = 0
    failed: int = 0
    pending: list[dict[str, Any]] = field(default_factory=list)


class Turns:
    """The turns of a run's environment with one tokenizer. ``context``: longest sequence of the model, in tokens."""

    def __init__(self, bound: Bound, tokenizer: Any, *, context: int | None = None, template_options: dict[str, Any] | None = None):
        from trl.chat_template_utils import get_training_chat_template, is_chat_template_prefix_preserving

        self.bound, self.tokenizer, self.context = bound, prepare(tokenizer), context
        self.template_options = template_options or {}
        kept = is_chat_template_prefix_preserving(tokenizer)
        self.chat_template = None if kept else get_training_chat_template(tokenizer)
        self.suffixes: dict[tuple, list[int]] = {}
        self.probe: list[Callable] | None = None

    def play(self, ask: Ask, draws: Sequence[Any], rows: Sequence[Any], sampling: Any) -> list[Played]:
        """Every completion to its end. ``draws[i]`` (prompt, id, sample number) is answered for ``rows[i]``."""
        played = [self.begin(draw, row) for draw, row in zip(draws, rows, strict=True)]
        active = list(range(len(draws)))
        for turn in range(self.bound.max_turns + 1):
            limit = replace(sampling, max_new_tokens=max((sampling.max_new_tokens - len(played[i].ids) for i in active), default=0))
            if not active or limit.max_new_tokens < 1:
                break
            names = [draws[i] if not turn else replace(draws[i], prompt_id=f"{draws[i].prompt_id}\0turn {turn}") for i in active]
            answers = ask([played[i].prompt + played[i].ids for i in active], names, limit)
            for i, ids in zip(active, answers, strict=True):
                self.read(played[i], ids[: sampling.max_new_tokens - len(played[i].ids)])
            if turn < self.bound.max_turns:
                active = [i for i in active if played[i].pending and self.call(played[i], sampling.max_new_tokens)]
        return played

    def completions(self, ask: Ask, draws: Sequence[Any], rows: Sequence[Any], sampling: Any, stops: Sequence[int]) -> list[Any]:
        """The same as evaluation's ``Completion``: what the verifier reads, tokens that the policy wrote, calls, the environment's end."""
        from rlvr_cli.evaluation.generate import Completion
        from rlvr_cli.verifiers.verdict import text_of

        return [
            Completion(text_of(p.messages), p.wrote, not p.ids or p.ids[-1] not in stops, p.messages, p.calls, p.environment)
            for p in self.play(ask, draws, rows, sampling)
        ]

    def begin(self, draw: Any, row: Any) -> Played:
        """The prompt with the tools in it, and a fresh environment that may have something to say."""
        environment = self.bound.factory() if self.bound.factory else None
        prompt = observed(list(draw.prompt), environment.reset(**row)) if environment is not None else list(draw.prompt)
        tools = self.bound.tools_of(environment)
        return Played(self.prompt_ids(prompt, tools), tools, environment)

    def prompt_ids(self, prompt: list[dict[str, Any]], tools: list[Callable]) -> list[int]:
        """Token ids of a prompt as TRL renders it with tools."""
        given = {"chat_template": self.chat_template, "add_generation_prompt": True, "tokenize": True, "return_dict": False}
        return list(self.tokenizer.apply_chat_template(prompt, tools=tools or None, **given, **self.template_options))

    def prompt_length(self, prompt: list[dict[str, Any]]) -> int:
        """Tokens of a prompt with its tools, without what an environment's ``reset`` may add."""
        if self.probe is None:
            self.probe = self.bound.tools_of(self.bound.factory() if self.bound.factory else None)
        return len(self.prompt_ids(prompt, self.probe))

    def read(self, played: Played, ids: list[int]) -> None:
        """What the policy wrote, as a message."""
        from trl.chat_template_utils import parse_response

        if ids:
            message = parse_response(self.tokenizer, ids, prefix=played.prompt + played.ids, tools=played.tools)
            played.messages.append(message)
            played.pending = list(message.get("tool_calls") or [])
        else:
            played.pending = []
        played.ids += ids
        played.wrote += len(ids)

    def call(self, played: Played, limit: int) -> bool:
        """Answer the pending calls; False, and nothing added, where the answers do not fit."""
        by_name = {tool.__name__: tool for tool in played.tools}
        answers, failed = [], 0
        for call in played.pending:
            name, content, broke = answered(call, by_name)
            answers.append({"role": "tool", "name": name, "content": content})
            failed += broke
        played.calls, played.failed = played.calls + len(answers), played.failed + failed
        suffix = self.suffix_ids(answers)
        length = len(played.ids) + len(suffix)
        if length > limit or (self.context is not None and len(played.prompt) + length >= self.context):
            return False
        played.messages += answers
        played.ids += suffix
        return True

    def suffix_ids(self, answers: list[dict[str, Any]]) -> list[int]:
        """Tokens of the tools' messages and of the next assistant header, after TRL's ``_get_tool_suffix_ids``."""
        key = tuple((a["name"], str(a["content"])) for a in answers)
        if key not in self.suffixes:
            calls = [{"type": "function", "function": {"name": answers[0]["name"], "arguments": {}}}]
            dummy = [{"role": "user", "content": "dummy"}, {"role": "assistant", "content": "", "tool_calls": calls}]
            given = {"chat_template": self.chat_template, "tokenize": True, "return_dict": False, **self.template_options}
            before = self.tokenizer.apply_chat_template(dummy, add_generation_prompt=False, **given)
            whole = self.tokenizer.apply_chat_template(dummy + answers, add_generation_prompt=True, **given)
            ends = [i for i, token in enumerate(before) if token == self.tokenizer.eos_token_id]
            self.suffixes[key] = list(whole[ends[-1] + 1 if ends else len(before) :])
        return self.suffixes[key]


def observed(prompt: list[dict[str, Any]], observation: str | None) -> list[dict[str, Any]]:
    """The prompt with what ``reset`` returned behind its last message, as TRL does."""
    return prompt if observation is None else [*prompt[:-1], {**prompt[-1], "content": prompt[-1]["content"] + observation}]


def answered(call: dict[str, Any], tools: dict[str, Callable]) -> tuple[str, str, bool]:
    """(tool, what it says, whether it failed): an error is an answer too, in TRL's words."""
    if call.get("type") != "function":
        return call.get("name", "unknown"), str({"error": f"Unsupported tool call type: {call.get('type')}"}), True
    name, arguments = call["function"]["name"], call["function"]["arguments"]
    try:
        if name not in tools:
            raise ValueError(f"Tool {name} not found.")
        return name, str(tools[name](**arguments)), False
    except Exception as error:
        return name, str({"error": str(error)}), True

"""``rlvr chat``: talk to a run's model in the terminal, or pipe lines through it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from rlvr_cli.arguments import Arguments

EPILOGUE = """\
examples:
  rlvr chat outputs/RUN                            talk; an empty line ends, /new starts over
  echo '37+48=?' | rlvr chat outputs/RUN           one answer a line, each line a conversation of its own
  rlvr chat outputs/RUN --sample                   sampled at the run's temperature instead of greedy
  rlvr chat Qwen/Qwen2.5-0.5B-Instruct --max-tokens 256"""


def parser() -> Arguments:
    """The command line of ``rlvr chat``."""
    made = Arguments(
        prog="rlvr chat",
        description="Talk to a run's model, with its own template, system prompt and prompt template.",
        epilog=EPILOGUE,
    )
    made.add_argument("run", metavar="RUN", help="a run folder, its name, a checkpoint folder or a hub id")
    made.add_argument("--sample", action="store_true", help="sample at the run's temperature (default: greedy)")
    made.add_argument("--max-tokens", type=int, metavar="N", help="longest answer in tokens (default: the run's)")
    made.add_argument("--seed", type=int, default=0, help="seed of --sample")
    return made


def run(argv: list[str]) -> int:
    """Answer until the input ends; returns the exit code."""
    args = parser().parse_args(argv)
    from rlvr_cli.evaluation.target import find_target

    chat = Chat(find_target(args.run, Path("outputs")), args)
    if not sys.stdin.isatty():
        for line in sys.stdin:
            if line.strip():
                chat.new()
                print(chat.answer(line.strip()), flush=True)
        return 0
    print(f"{chat.said}: an empty line ends, /new starts over")
    while (line := input("> ").strip()) not in ("", "/exit"):
        if line == "/new":
            chat.new()
        else:
            print(chat.answer(line))
    return 0


class Chat:
    """A conversation with one model, answered as its run would be."""

    def __init__(self, target: Any, args: argparse.Namespace):
        from rlvr_cli.config.schema import Config
        from rlvr_cli.evaluation import policy

        policy.need_torch()
        config = Config.model_validate(target.run_config())
        self.model, self.tokenizer = policy.load_policy(target.path, config.model, device=policy.device_of(config.hardware))
        self.said, self.config = target.said, config
        self.sampling = sampling_of(config, args)
        self.messages: list[dict[str, str]] = []
        self.turn = 0
        self.new()

    def new(self) -> None:
        """Forget what was said, keep the system prompt."""
        system = self.config.model.system_prompt
        self.messages = [{"role": "system", "content": system}] if system else []

    def answer(self, line: str) -> str:
        """Add a question, generate, add and return the answer."""
        from rlvr_cli.data.prompts import fill
        from rlvr_cli.evaluation.generate import Draw, generate

        template = self.config.dataset.prompt_template
        asked = fill(template, {"prompt": line}) if template and "{prompt}" in template and len(self.messages) < 2 else line
        self.messages.append({"role": "user", "content": asked})
        self.turn += 1
        prompt: Any = self.messages if self.tokenizer.chat_template else asked
        (completion,) = generate(self.model, self.tokenizer, [Draw("chat", prompt, self.turn)], self.fitting(prompt))
        self.messages.append({"role": "assistant", "content": completion.text})
        return completion.text + (" [cut at the limit]" if completion.truncated else "")

    def fitting(self, prompt: Any) -> Any:
        """The sampling, its limit cut to what the model's context has left."""
        from dataclasses import replace

        from rlvr_cli.evaluation.generate import prompt_ids

        context = getattr(self.model.config, "max_position_embeddings", None)
        if not context:
            return self.sampling
        left = max(1, context - len(prompt_ids(self.tokenizer, prompt)))
        return replace(self.sampling, max_new_tokens=min(self.sampling.max_new_tokens, left))


def sampling_of(config: Any, args: argparse.Namespace) -> Any:
    """The run's own sampling, greedy unless asked otherwise."""
    from rlvr_cli.evaluation.generate import Sampling

    generation = config.generation
    return Sampling(
        max_new_tokens=args.max_tokens or generation.max_completion_length,
        greedy=not args.sample,
        temperature=generation.temperature,
        top_p=generation.top_p,
        top_k=generation.top_k,
        min_p=generation.min_p,
        repetition_penalty=generation.repetition_penalty,
        seed=args.seed,
        stop_ids=tuple(config.model.stop_token_ids),
    )

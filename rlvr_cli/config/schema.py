"""The typed shape of a run: one model a group, a docstring under each field, and that text is the help.

The fields carry TRL's and transformers' own names where they are theirs. A composed configuration is a plain mapping
(``config.yaml`` of a run folder) that :func:`Config.model_validate` accepts; ranks read it so, without Hydra::

    Config.model_validate(yaml.safe_load(open("outputs/RUN/config.yaml")))

Unknown keys are refused here, except under the pass-through mappings (``algorithm.extra``, ``generation.server_args``,
``dataset`` for a generator's own keys).
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Group(BaseModel):
    """Base of all groups: unknown keys are errors, field docstrings become help."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True, protected_namespaces=(), validate_default=True)


class Model(Group):
    """Which policy is trained, and what its family needs."""

    path: str = ""
    """Folder or hub id of the weights. Empty when ``builder`` makes them."""
    revision: str | None = None
    """Hub branch, tag or commit; null takes the default branch."""
    builder: str | None = None
    """Dotted path of a function that builds the model in the user's cache: ``f(seed, **builder_options) -> Path`` of its folder."""
    builder_options: dict[str, Any] = Field(default_factory=dict)
    """Keyword options of ``builder``."""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Type the weights load in. ``auto``: float32 on CPU without DeepSpeed, bfloat16 with fp32 masters under DeepSpeed."""
    attn_implementation: str | None = None
    """``sdpa``, ``eager``, ``flash_attention_2``; null lets transformers choose."""
    chat_template: str | None = None
    """Jinja text or a file that replaces the tokenizer's template; null keeps it."""
    system_prompt: str | None = None
    """System message put before every prompt; null adds none."""
    stop_token_ids: list[int] = Field(default_factory=list)
    """Token ids that end a completion, beside the tokenizer's own end of sequence."""
    lora_target_modules: str | list[str] = "all-linear"
    """Modules that get adapters when ``peft`` is on."""
    trust_remote_code: bool = False
    """Run code from the model's repository. Leave off unless you have read it."""
    parameters: float | None = None
    """Number of parameters, for the memory estimate before anything loads; null reads the config file where there is one."""


class Dataset(Group):
    """Where the prompts and their gold answers come from. A generator's own keys stand beside these."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)

    train: str | None = None
    """File (.jsonl, .csv, .parquet), folder or hub id of the training rows; null when ``generator`` makes them."""
    eval: str | None = None
    """The same for held-out rows; null with a generator draws them apart from the training rows."""
    name: str | None = None
    """Configuration name of a hub set (``main`` for gsm8k)."""
    train_split: str = "train"
    """Split of a hub set that trains."""
    eval_split: str = "test"
    """Split of a hub set that is held out."""
    generator: str | None = None
    """Name of a built-in generator (``rlvr data generate``) or dotted path of one."""
    prompt_column: str = "prompt"
    """Column with the question: text, or chat messages."""
    answer_column: str | None = "answer"
    """Column with the gold answer; handed to rewards as ``answer``."""
    columns: dict[str, str] = Field(default_factory=dict)
    """Renames: reward parameter -> column of the file (``tests: test_list``)."""
    answer_transform: str | None = None
    """Dotted path of a function row -> gold text, for sets whose answer column holds a worked solution."""
    row_transform: str | None = None
    """Dotted path of a function row -> row (or null to drop it aloud), run before any column is looked up."""
    row_options: dict[str, Any] = Field(default_factory=dict)
    """Keyword options of ``row_transform``."""
    prompt_template: str | None = None
    """Python format string over the row's columns, ``{prompt}`` being the question; null takes the question as it is."""
    max_prompt_tokens: int | None = Field(default=None, ge=1)
    """Longest prompt in tokens; longer ones are counted and dropped aloud. null: the model's context minus the completion."""
    limit: int | None = Field(default=None, ge=1)
    """Use the first N training rows after shuffling by ``seed``; null uses all."""
    eval_limit: int | None = Field(default=None, ge=1)
    """Use the first N held-out rows; null uses all."""
    count: int = Field(default=4000, ge=1)
    """Training rows that a generator draws."""
    eval_count: int = Field(default=500, ge=0)
    """Held-out rows that a generator draws; 0 holds out none."""
    eval_share: float = Field(default=0.1, ge=0, lt=1)
    """Share of all prompts that is held out where ``eval`` is null: by a hash of the prompt that no seed changes,
    stratified by a file's ``difficulty``."""
    eval_fresh: bool = False
    """Draw new held-out rows (of the same held-out share) at every evaluation; false judges the same rows each time."""
    on_broken: Literal["stop", "drop"] = "stop"
    """A line that cannot be read: ``stop`` with its number, or ``drop`` it and count it aloud."""
    encoding: str = "utf-8"
    """Text encoding of local files; a byte-order mark is understood."""
    check_gold: bool = True
    """Score every row's own gold before training and list those that do not get full marks."""


class Term(Group):
    """One reward function in the mix."""

    fn: str
    """Dotted path: ``rewards.math.correct``, or your own ``rewards.mine.f``."""
    weight: float = 1.0
    """Factor of this term in the total."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Keyword-only options of the function."""
    gate: str | None = None
    """Name of another term: this one counts only on rows where that one has full marks."""
    cap: float | None = None
    """Largest weighted amount that this term may add; null sets no cap."""
    when: dict[str, Any] | str | None = None
    """Routing: ``{column: value}`` (or a list of values); on other rows the term is not applicable."""
    correct: str | None = None
    """For a group-relative function: the term whose full marks mean "right"; null: ``gate``, else ``correct``, else the first."""


class Pool(Group):
    """The killable workers that judge heavy or hostile completions."""

    workers: int | None = Field(default=None, ge=1)
    """Worker processes a rank; null takes the cores left over."""
    timeout_s: float = Field(default=5.0, gt=0)
    """Deadline of one verdict in seconds, counted from when judging starts."""
    backend: Literal["process", "inline"] = "process"
    """``process`` is killable; ``inline`` judges in the trainer, for pure quick verifiers only."""
    batch_timeout_s: float | None = Field(default=None, gt=0)
    """Deadline of one term over one batch in seconds, whatever the function does; null is 30 s plus ``timeout_s`` a row."""
    cache: bool = True
    """Take verdicts of pooled verifiers that were given before, by content, from a file in the user's cache folder."""
    ahead: bool = True
    """With a vLLM server, let slow verifiers (code, SQL, a judge behind HTTP) judge an answer while others are still being drawn."""
    unsafe: bool = False
    """Run model-written code although no confinement works on this machine. Never on a machine you care for."""


class Reward(Group):
    """What is paid for: a mapping of terms by name."""

    terms: dict[str, Term] = Field(default_factory=dict)
    """The terms by name; drop one with ``~reward.terms.NAME``."""
    pool: Pool = Field(default_factory=Pool)
    unjudged_stop_share: float = Field(default=0.2, ge=0, le=1)
    """Stop the run when more than this share of a step's rows could not be judged."""


class KLControl(Group):
    """Who moves the KL coefficient while the run goes on. It needs a reference model, so memory for a second copy of the weights."""

    kind: Literal["none", "bands", "target"] = "none"
    """``none``: ``algorithm.beta`` stays. ``bands``: it follows the step's mean reward (``algorithm.beta`` is not used).
    ``target``: it starts at ``algorithm.beta`` and is scaled until the KL is at ``kl_target``."""
    reward_target: float = Field(default=0.8, gt=0)
    """Mean reward that cuts the bands: below half of it ``low``, below it ``middle``, from it on ``high``."""
    low: float = Field(default=0.05, ge=0)
    """beta while the mean reward is below half of ``reward_target``; also before the first step."""
    middle: float = Field(default=0.1, ge=0)
    """beta while the mean reward is between half of ``reward_target`` and all of it."""
    high: float = Field(default=0.2, ge=0)
    """beta from ``reward_target`` on."""
    kl_target: float = Field(default=0.02, gt=0)
    """KL to the reference that ``target`` steers to, in nats a token."""
    gain: float = Field(default=0.1, gt=0, le=1)
    """How far one step may move beta: it is multiplied by 1 + gain x error."""
    error_clip: float = Field(default=0.2, gt=0, le=1)
    """Largest relative error of the KL that counts, both ways."""


class DynamicSampling(Group):
    """Groups whose rewards are all equal teach nothing; they are replaced by groups of further prompts (DAPO, arXiv 2503.14476, eq. 11)."""

    max_rounds: int = Field(default=0, ge=0)
    """Further generations a batch at most, each for the groups still missing; 0 is off. What is dead after the last stays, counted."""
    oversample: float = Field(default=1.0, ge=1, le=8)
    """Prompts of a round, as a multiple of the missing groups: more waste, fewer rounds. A round is never larger than the batch."""


class Algorithm(Group):
    """The objective. Names are TRL's ``GRPOConfig``'s where they are TRL's."""

    num_generations: int = Field(default=8, ge=2)
    """G, completions a prompt."""
    num_iterations: int = Field(default=1, ge=1)
    """mu, optimizer passes over one batch of completions."""
    steps_per_generation: int | None = Field(default=None, ge=1)
    """Micro-steps fed by one generation; null is ``gradient_accumulation_steps``."""
    dynamic_sampling: DynamicSampling = Field(default_factory=DynamicSampling)
    beta: float = Field(default=0.0, ge=0)
    """KL coefficient; 0 loads no reference model."""
    kl_control: KLControl = Field(default_factory=KLControl)
    epsilon: float = Field(default=0.2, gt=0)
    """Lower clip range of the ratio."""
    epsilon_high: float | None = Field(default=None, gt=0)
    """Upper clip range; null is ``epsilon`` (clip-higher: 0.28; cispo needs at least 1)."""
    delta: float | None = Field(default=None, gt=0)
    """Two-sided clip bound of the ratio; null is off."""
    loss_type: Literal["grpo", "bnpo", "dr_grpo", "dapo", "luspo", "cispo", "sapo", "vespo"] = "dapo"
    """How token losses are formed and averaged."""
    scale_rewards: Literal["group", "batch", "none"] | bool = "group"
    """Divide advantages by the group's or the batch's deviation, or not."""
    importance_sampling_level: Literal["token", "sequence"] = "token"
    """Ratio a token, or a sequence (GSPO)."""
    multi_objective_aggregation: Literal["sum_then_normalize", "normalize_then_sum"] = "sum_then_normalize"
    """Sum the terms first, or normalise each in its group first (GDPO)."""
    mask_truncated_completions: bool = False
    """Leave completions cut at the limit out of the loss."""
    top_entropy_quantile: float = Field(default=1.0, gt=0, le=1)
    """Train on this share of tokens, the most uncertain first."""
    entropy_coef: float = 0.0
    """Entropy bonus."""
    use_adaptive_entropy: bool = False
    """Let TRL steer ``entropy_coef`` towards ``entropy_target``."""
    entropy_target: float = Field(default=0.2, ge=0)
    """Target entropy in nats a token."""
    entropy_coef_min: float = 0.0
    """Lower bound of the adaptive coefficient."""
    entropy_coef_max: float = 1.0
    """Upper bound of the adaptive coefficient."""
    entropy_coef_delta: float = 0.005
    """Step of the adaptive coefficient."""
    off_policy_mask_threshold: float | None = None
    """Drop sequences with negative advantage that drifted further than this; null is off."""
    use_bias_correction_kl: bool = True
    """Weight the KL estimate by the ratio."""
    sync_ref_model: bool = False
    """Let the reference follow the policy (needs beta > 0)."""
    ref_model_mixup_alpha: float = Field(default=0.6, ge=0, le=1)
    """Share of the policy in each reference update."""
    ref_model_sync_steps: int = Field(default=512, ge=1)
    """Steps between reference updates."""
    disable_dropout: bool = False
    """Turn dropout off in the policy."""
    shuffle_dataset: bool = True
    """Draw prompts in an order fixed by seed and epoch."""
    extra: dict[str, Any] = Field(default_factory=dict)
    """Any other ``GRPOConfig`` field by its own name, passed on as it is."""

    @property
    def loads_reference(self) -> bool:
        """Whether a second copy of the weights is in memory for the KL term."""
        return self.beta > 0 or self.kl_control.kind != "none"


class LengthStages(Group):
    """A completion limit that starts small and grows when the policy asks for more."""

    start: int | None = Field(default=None, ge=1)
    """Limit of the first stage, in tokens; null gives every step the whole ``max_completion_length``."""
    factor: float = Field(default=2.0, gt=1)
    """Each stage is this many times as long as the one before, up to ``max_completion_length``."""
    clipped_share: float = Field(default=0.25, ge=0, lt=1)
    """Grow when more than this share of completions is cut at the limit ..."""
    patience: int = Field(default=5, ge=1)
    """... in this many generations in a row."""


class Generation(Group):
    """Who writes the completions, and how they are sampled."""

    backend: Literal["auto", "hf", "vllm_server", "vllm_colocate"] = "auto"
    """``hf``: the trainer itself; ``vllm_server``: a server this run owns; ``vllm_colocate``: vLLM inside each rank (GPU).
    ``auto`` is settled by the machine and said in the plan, never left in a run's frozen ``config.yaml``."""
    temperature: float = Field(default=1.0, gt=0)
    """Sampling temperature in training."""
    top_p: float = Field(default=1.0, gt=0, le=1)
    """Nucleus; keep 1 with a server, the importance correction is biased otherwise."""
    top_k: int = Field(default=0, ge=0)
    """Keep the k likeliest tokens; 0 keeps all."""
    min_p: float | None = Field(default=None, ge=0, le=1)
    """Keep tokens at least this share as likely as the likeliest; null is off."""
    repetition_penalty: float = Field(default=1.0, gt=0)
    """Above 1 discourages repeats."""
    max_completion_length: int = Field(default=512, ge=1)
    """Longest completion, in tokens; with ``length_stages`` the limit of the last stage, and of every held-out evaluation."""
    length_stages: LengthStages = Field(default_factory=LengthStages)
    importance_sampling_correction: bool = True
    """Correct for the server's log-probs differing from the trainer's."""
    importance_sampling_mode: Literal["token_truncate", "token_mask", "sequence_truncate", "sequence_mask"] = "token_truncate"
    """TRL's ``vllm_importance_sampling_mode``; sequence modes zero long completions."""
    importance_sampling_clip_max: float = Field(default=3.0, gt=0)
    """Largest correction ratio."""
    gpu_memory_utilization: float = Field(default=0.3, gt=0, le=1)
    """Share of a GPU's memory for a colocated vLLM."""
    tensor_parallel_size: int = Field(default=1, ge=1)
    """GPUs a server splits each layer over."""
    max_model_len: int | None = Field(default=None, ge=1)
    """Server context in tokens; null is prompt limit plus completion limit."""
    kv_cache_gib: float = Field(default=1.0, gt=0)
    """Memory for the CPU server's key-value cache, in GiB."""
    startup_timeout_s: float = Field(default=600, gt=0)
    """Deadline for the server to answer, in seconds."""
    request_timeout_s: float = Field(default=300, gt=0)
    """Deadline of one request to the server, in seconds."""
    parity_every: int = Field(default=50, ge=0)
    """Compare trainer and server log-probs at step 0 and every N steps; 0 turns the probe off."""
    parity_bound: float | None = Field(default=None, gt=0)
    """Largest mean absolute log-prob difference, in nats a token; null takes the bound recorded for the dtype."""
    server_args: dict[str, Any] = Field(default_factory=dict)
    """Further vLLM flags, without dashes: ``{enforce_eager: true}``."""
    extra: dict[str, Any] = Field(default_factory=dict)
    """Further sampling arguments (TRL's ``generation_kwargs``)."""


class Optimizer(Group):
    """The optimizer and its schedule; transformers' names."""

    optim: str = "adamw_torch"
    """transformers' optimizer name."""
    learning_rate: float = Field(default=1e-6, gt=0)
    """Peak learning rate."""
    lr_scheduler_type: str = "linear"
    """``linear``, ``cosine``, ``constant_with_warmup`` ..."""
    warmup_steps: int = Field(default=0, ge=0)
    """Steps of linear warm-up."""
    weight_decay: float = Field(default=0.0, ge=0)
    """AdamW's decay."""
    adam_beta1: float = Field(default=0.9, ge=0, lt=1)
    """First moment's decay."""
    adam_beta2: float = Field(default=0.999, ge=0, lt=1)
    """Second moment's decay."""
    max_grad_norm: float = Field(default=1.0, ge=0)
    """Clip the gradient's norm; 0 does not clip."""


class Hardware(Group):
    """Who computes where."""

    device: Literal["auto", "cpu", "cuda"] = "auto"
    """``auto`` takes GPUs when there are any."""
    ranks: int | None = Field(default=None, ge=1)
    """Training processes a node; null is one a trainer GPU, or 1 on CPU."""
    nodes: int = Field(default=1, ge=1)
    """Machines."""
    node_rank: int = Field(default=0, ge=0)
    """This machine's number, 0 being the one that runs the server."""
    master_addr: str | None = None
    """Address of node 0; null is this machine."""
    master_port: int | None = None
    """Port of the rendezvous; null picks a free one (needs one node)."""
    zero_stage: Literal["auto", 0, 1, 2, 3] | None = None
    """DeepSpeed ZeRO stage; null trains without DeepSpeed (one rank only); ``auto`` is settled by the machine and said."""
    offload: Literal["none", "optimizer", "all"] = "none"
    """Move optimizer state, or also parameters, to host memory (GPU)."""
    server_devices: list[int] | None = None
    """GPUs of the generation server; null lets the plan choose."""
    trainer_devices: list[int] | None = None
    """GPUs of the training ranks; null lets the plan choose."""
    threads: int | None = Field(default=None, ge=1)
    """Compute threads a rank on CPU; null lets the plan choose."""


class Peft(Group):
    """Adapters instead of full weights."""

    kind: Literal["none", "lora", "qlora"] = "none"
    """Full fine-tuning, LoRA, or LoRA on a 4-bit base (GPU)."""
    r: int = Field(default=16, ge=1)
    """Rank."""
    lora_alpha: int = Field(default=32, ge=1)
    """Scale."""
    lora_dropout: float = Field(default=0.0, ge=0, lt=1)
    """Dropout on the adapters."""
    use_rslora: bool = False
    """Scale by alpha / sqrt(r)."""


class Trainer(Group):
    """How long, how much at once, when to save and to judge; transformers' names."""

    max_steps: int = Field(default=-1, ge=-1)
    """Optimizer steps; -1 lets ``num_train_epochs`` decide."""
    num_train_epochs: float = Field(default=1.0, gt=0)
    """Passes over the prompts, when ``max_steps`` is -1."""
    per_device_train_batch_size: int = Field(default=8, ge=1)
    """Completions a rank a micro-step."""
    gradient_accumulation_steps: int = Field(default=1, ge=1)
    """Micro-steps an optimizer step."""
    per_device_eval_batch_size: int = Field(default=64, ge=1)
    """Held-out prompts generated at once."""
    save_steps: int = Field(default=100, ge=0)
    """Steps between checkpoints; 0 saves only the end."""
    save_total_limit: int | None = Field(default=3, ge=1)
    """Checkpoints kept; the best one always is."""
    eval_steps: int = Field(default=25, ge=0)
    """Steps between held-out greedy evaluations; 0 judges only before and after."""
    eval_at_start: bool = True
    """Judge the untrained policy first, so that a gain can be told."""
    logging_steps: int = Field(default=1, ge=1)
    """Steps a line of ``metrics.jsonl``."""
    max_generated_tokens: int | None = Field(default=None, ge=1)
    """End after the step that has generated this many completion tokens in all (``tokens/generated``); null leaves it to the steps."""
    bf16: bool | None = None
    """bf16 autocast or DeepSpeed bf16; null: on for GPUs and CPUs that have instructions for it, and models in bfloat16."""
    fp16: bool = False
    """fp16 with a loss scaler, for GPUs without bf16."""
    gradient_checkpointing: bool = False
    """Recompute activations: less memory, about a fifth slower."""
    skip_dead_rows: bool = True
    """Leave completions whose advantage is zero out of forward and backward. Exact (their gradient is zero: no KL, no entropy term),
    and quicker by their share; ``entropy`` and clip ratios are then those of the rows that taught. false: TRL's own pass over all rows."""
    sort_by_length: bool = True
    """Put completions of like length into one micro-batch: less padding. Only where that changes no gradient: all micro-batches of a
    generation in one optimizer step, and no loss that is a mean over a micro-batch's tokens (bnpo)."""
    samples_per_step: int | None = Field(default=None, ge=0)
    """Completions written to ``samples.jsonl`` a step; null writes all."""
    profile: bool = False
    """Print where a step's time goes when the run ends, and write it to ``profile.json``."""
    timeout_s: float = Field(default=1800, gt=0)
    """A step that takes longer than this many seconds is a hang: the run stops with a name."""


class General(Group):
    """Rows of everyday text that a supervised stage mixes in, so that learning the task does not rot the rest."""

    data: str | None = None
    """File of general rows (``prompt`` and ``completion``, or ``messages``); null mixes nothing in."""
    share: float = Field(default=0.0, ge=0, lt=1)
    """Share of all training rows that are general ones; rows are repeated, aloud, where the file has too few."""


class Stage(Group):
    """What kind of training: reinforcement learning, or one of the stages around it. Names are TRL's where they are TRL's."""

    kind: Literal["rl", "sft", "dpo", "reward_model"] = "rl"
    """``rl``: GRPOTrainer; ``sft``: SFTTrainer on answers; ``dpo``: DPOTrainer and ``reward_model``: RewardTrainer on right/wrong pairs."""
    data: str | None = None
    """File of the rows that train: ``prompt`` and ``completion`` (or ``messages``) for sft, ``prompt``, ``chosen`` and ``rejected`` for the
    other two; what ``rlvr sample`` writes. null, sft only: worked answers of the data set's own training rows."""
    worked: str | None = None
    """Dotted path of a function row -> worked answer, for sft without ``data``; null takes ``template`` or the reward's own gold answer."""
    worked_options: dict[str, Any] = Field(default_factory=dict)
    """Keyword options of ``worked``; a function that has ``rng`` gets a seeded one."""
    template: str = "<think>{solution}</think><answer>{answer}</answer>"
    """Worked answer made of a row's columns, where the row has all of them."""
    general: General = Field(default_factory=General)
    limit: int | None = Field(default=None, ge=1)
    """Use the first N rows after shuffling by ``seed``; null uses all. General rows come on top."""
    eval_share: float = Field(default=0.1, ge=0, lt=1)
    """Share of the prompts of ``data`` that is kept out of training, for the held-out loss and the accuracy over pairs."""
    max_length: int | None = Field(default=1024, ge=1)
    """Longest row in tokens; sft cuts longer ones, reward_model drops them; null sets no limit."""
    loss_type: str | None = None
    """sft: ``nll`` or ``dft``; dpo: ``sigmoid``, ``ipo``, ``hinge`` ...; null takes TRL's default."""
    packing: bool = False
    """sft: several rows a sequence (needs flash attention to keep them apart)."""
    completion_only_loss: bool | None = None
    """sft: loss on completions only; null: on for prompt and completion, off for messages."""
    assistant_only_loss: bool = False
    """sft on messages: loss on the assistant's turns only (the template must mark them)."""
    beta: float = Field(default=0.1, ge=0)
    """dpo: how close the policy stays to where it started."""
    precompute_ref_log_probs: bool = False
    """dpo: one pass of the reference before training, then no second model in memory."""
    center_rewards_coefficient: float | None = Field(default=None, ge=0)
    """reward_model: pull the mean reward to zero (0.01 is usual); null is off."""
    keep: Literal["auto", "best", "last"] = "auto"
    """Which model ``final/`` is: the best by held-out accuracy, or the last; ``auto``: best for rl and dpo, last for the others."""
    extra: dict[str, Any] = Field(default_factory=dict)
    """Any other field of TRL's ``SFTConfig``, ``DPOConfig`` or ``RewardConfig`` by its own name."""


class Tracker(Group):
    """Where metrics go beside the run folder."""

    report_to: list[str] = Field(default_factory=list)
    """transformers' names: tensorboard, wandb, mlflow, trackio, swanlab ..."""
    project: str | None = None
    """Project name at the tracker."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Environment variables set for the tracker."""


class EntropyGuard(Group):
    """Sees entropy collapse: the policy is almost sure of every token, and most groups are tied, so nothing teaches any more."""

    action: Literal["off", "warn", "raise_bonus", "stop_at_best"] = "warn"
    """``warn`` says so once. ``raise_bonus`` adds ``algorithm.entropy_coef_delta`` to the entropy bonus, up to ``entropy_coef_max``.
    ``stop_at_best`` judges the held-out rows once more and ends the run; ``final/`` is its peak."""
    floor: float = Field(default=0.05, ge=0)
    """Collapsed when the mean entropy is below this, in nats a token ..."""
    fallen_to: float = Field(default=0.1, gt=0, le=1)
    """... and below this share of what it was in the first ``patience`` steps (a task whose answers are mostly forced starts low and
    is not ill for that; 1 asks for no fall at all) ..."""
    dead_share: float = Field(default=0.6, ge=0, lt=1)
    """... and more than this share of groups is tied ..."""
    patience: int = Field(default=5, ge=1)
    """... in this many steps in a row."""


class Guard(Group):
    """What stops a run or warns, before a night is lost."""

    stop_on_nonfinite: bool = True
    """Stop with a name when a metric is NaN or infinite."""
    dead_group_patience: int = Field(default=20, ge=0)
    """Warn after this many steps with no group that carries signal; 0 is off."""
    clipped_share_warn: float = Field(default=0.9, ge=0, le=1)
    """Warn when more than this share of completions is cut at the limit."""
    entropy: EntropyGuard = Field(default_factory=EntropyGuard)
    early_stop_evals: int = Field(default=0, ge=0)
    """Stop after this many held-out evaluations in a row without a new best; 0 never does. ``final/`` is the best either way."""
    min_free_disk_gib: float = Field(default=1.0, ge=0)
    """Stop before a save that would leave less than this free."""


class Tool(Group):
    """One tool that the policy may call in the middle of an answer."""

    fn: str
    """Dotted path of a function with types and a docstring: the model sees what stands before ``*`` in its parameters."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Its keyword-only parameters, out of the model's reach."""


class Environment(Group):
    """Tools and several turns; without tools and ``fn`` the completion is one turn."""

    tools: dict[str, Tool] = Field(default_factory=dict)
    """The tools by the name that the model calls; drop one with ``~environment.tools.NAME``."""
    fn: str | None = None
    """Dotted path of an environment class: ``reset(**row)``, its public methods are tools, one instance a completion; null is none."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Keyword arguments of the class."""
    max_turns: int = Field(default=4, ge=1)
    """Rounds of tool calls in a completion (TRL's ``max_tool_calling_iterations``); a call after the last round is not answered."""


class Replay(Group):
    """Hard prompts, of which some completion was right, come back before their turn."""

    share: float = Field(default=0.0, ge=0, lt=1)
    """Share of a batch's prompts that replay may fill, rounded down; 0 is off."""
    below: float = Field(default=0.3, gt=0, le=1)
    """A prompt is hard while its measured pass rate is above 0 and below this."""
    gap_steps: int = Field(default=5, ge=1)
    """Steps before a hard prompt may come back."""
    times: int = Field(default=4, ge=1)
    """Replays of one prompt in a row; then it waits for its turn."""


class Curriculum(Group):
    """Which prompts are drawn, and when. A pass is a completion with full marks of the term ``correct`` (or the first one)."""

    kind: Literal["none", "difficulty", "pass_rate"] = "none"
    """``none``: every prompt once an epoch; ``difficulty``: by a column, easy levels first; ``pass_rate``: by what the run measures."""
    column: str = "difficulty"
    """Column with each row's difficulty (``kind=difficulty``): numbers, or names with ``order``."""
    order: list[str] = Field(default_factory=list)
    """The names of a text column from easy to hard; empty for numbers."""
    levels: int | None = Field(default=None, ge=2)
    """Cut a column of numbers into this many levels of about equal size; null makes each number a level."""
    until: float = Field(default=0.6, ge=0, le=1)
    """Share of the run's steps by which the hardest level opens; after it every level is drawn alike."""
    focus: float = Field(default=0.5, gt=0, le=1)
    """Share of a batch from the level that opened last; the rest repeats the easier ones."""
    low: float = Field(default=0.1, ge=0, le=1)
    """Lower end of the band of pass rates that is kept (``kind=pass_rate``); below it a prompt is hopeless for now."""
    high: float = Field(default=0.9, ge=0, le=1)
    """Upper end of the band; above it a prompt is solved for now."""
    rest_steps: int = Field(default=30, ge=1)
    """Steps that a solved or hopeless prompt rests before it is asked again."""
    explore: float = Field(default=0.5, gt=0, le=1)
    """Share of a batch for prompts never asked or rested; the rest is for the band."""
    prior_column: str | None = None
    """Column with pass rates known before the run, as ``rlvr data difficulty`` writes (``pass_rate``); null starts from none."""
    replay: Replay = Field(default_factory=Replay)


class Run(Group):
    """Where the run lives."""

    name: str | None = None
    """Folder name under ``outputs/``; null makes one of model, dataset, reward and time."""
    dir: str = "outputs"
    """Parent folder of runs."""


class Config(Group):
    """A whole run."""

    seed: int = Field(default=0, ge=0)
    """Seeds data order, sampling, initial weights of built models."""
    model: Model = Field(default_factory=Model)
    dataset: Dataset = Field(default_factory=Dataset)
    reward: Reward = Field(default_factory=Reward)
    algorithm: Algorithm = Field(default_factory=Algorithm)
    generation: Generation = Field(default_factory=Generation)
    optimizer: Optimizer = Field(default_factory=Optimizer)
    hardware: Hardware = Field(default_factory=Hardware)
    peft: Peft = Field(default_factory=Peft)
    trainer: Trainer = Field(default_factory=Trainer)
    stage: Stage = Field(default_factory=Stage)
    tracker: Tracker = Field(default_factory=Tracker)
    guard: Guard = Field(default_factory=Guard)
    curriculum: Curriculum = Field(default_factory=Curriculum)
    environment: Environment = Field(default_factory=Environment)
    run: Run = Field(default_factory=Run)


class Eval(Group):
    """How a checkpoint is judged."""

    k: int = Field(default=1, ge=1)
    """Sampled completions a prompt, for pass@k and mean@k; 1 with ``greedy`` on samples none."""
    limit: int | None = Field(default=None, ge=1)
    """Judge on the first N held-out rows; null takes them all."""
    greedy: bool = True
    """Judge one greedy completion a prompt (strict and lenient accuracy)."""
    temperature: float | None = Field(default=None, gt=0)
    """Temperature of the k samples; null takes the run's."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    """Nucleus of the k samples; null takes the run's."""
    max_completion_length: int | None = Field(default=None, ge=1)
    """Longest completion, in tokens; null takes the run's."""
    batch_size: int = Field(default=64, ge=1)
    """Completions generated at once (``backend=hf``)."""
    backend: Literal["auto", "hf", "vllm"] = "auto"
    """Who generates: transformers, or vLLM where it is installed and the model is worth its start."""
    name: str | None = None
    """Folder under ``eval/``; null makes one of the data set and the checkpoint."""
    seed: int = Field(default=0, ge=0)
    """Seeds sampling and the intervals; the same seed gives the same numbers."""


class Sample(Group):
    """Which completions ``rlvr sample`` draws, and which of them it keeps."""

    k: int = Field(default=8, ge=1)
    """Sampled completions a prompt."""
    split: Literal["train", "eval"] = "train"
    """Which side's prompts; training on what was drawn from ``eval`` prompts would make held-out accuracy a lie."""
    limit: int | None = Field(default=None, ge=1)
    """Use the first N prompts; null takes them all."""
    keep: Literal["all", "accepted", "pairs"] = "all"
    """``all`` scored completions; ``accepted`` with full marks, no text twice a prompt (rejection sampling); or right/wrong ``pairs``."""
    pick: Literal["all", "shortest", "random"] = "all"
    """Which accepted completions of a prompt stay, with ``per_prompt``: every one, the shortest, or random ones."""
    per_prompt: int = Field(default=1, ge=1)
    """How many a prompt: accepted completions when ``pick`` chooses, or pairs, in which the side with fewer texts is used again."""
    balance: str | None = None
    """Column (``difficulty``) whose levels keep equally many prompts, as many as the rarest level has; null keeps all."""
    balance_ratio: float = Field(default=1.0, ge=1)
    """With ``balance``: a level keeps at most this many times what the rarest level has; 1 is exact, and as small as the rarest."""
    temperature: float | None = Field(default=None, gt=0)
    """Sampling temperature; null takes the run's."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    """Nucleus; null takes the run's."""
    max_completion_length: int | None = Field(default=None, ge=1)
    """Longest completion, in tokens; null takes the run's."""
    batch_size: int = Field(default=64, ge=1)
    """Completions generated at once (``backend=hf``)."""
    backend: Literal["auto", "hf", "vllm"] = "auto"
    """Who generates: transformers, or vLLM where it is installed and the model is worth its start."""
    seed: int = Field(default=0, ge=0)
    """Seeds the draws and the random picks."""
    out: str | None = None
    """JSONL file to write, ``-`` for stdout; null makes ``<run>/sample/<data set>-<checkpoint>.jsonl``."""
    overwrite: bool = False
    """Write over a file that exists."""


class SampleConfig(Config):
    """Completions of a checkpoint, drawn and scored. Groups not given are those of the run that made the checkpoint."""

    checkpoint: str = ""
    """A run folder, a checkpoint folder or a hub id."""
    sample: Sample = Field(default_factory=Sample)


class EvalConfig(Config):
    """A whole evaluation: what is judged, on what, against what. Groups not given are those of the run that made the checkpoint."""

    checkpoint: str = ""
    """A run folder, a checkpoint folder or a hub id."""
    baseline: str | None = None
    """A second model judged on the same prompts: ``untrained`` (the run's own start), a folder or a hub id; null judges one."""
    eval: Eval = Field(default_factory=Eval)

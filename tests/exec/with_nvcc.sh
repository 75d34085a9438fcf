#!/usr/bin/env bash
# with_nvcc.sh COMMAND...: runs a command with the CUDA toolkit's folder in PATH; skipped where there is none.
set -euo pipefail
PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || { echo "skipped: there is no nvcc"; exit 77; }
exec "$@"

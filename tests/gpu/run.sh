#!/bin/bash
# run.sh BUILD [DEVICE]: what is to be shown on a machine with a GPU, in one call: conformance, the bits of outputs, the bits of training. It
# needs the driver and a build that had nvcc, and no compiler. On a real GPU it writes RESULTS.md beside itself; with DEVICE emu:0 it is a
# rehearsal that writes nothing. Exit 1 if anything differs, 5 if there is no such GPU.
set -u
build=$(cd "$1" && pwd) device=${2:-gpu:0}
here=$(cd "$(dirname "$0")" && pwd) source=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
failed=0 table=()

report() { # NAME RESULT: a line of the table
  table+=("| $1 | $2 |")
  printf '%-40s %s\n' "$1" "$2"
}
weights() { # DEVICE: the hash of the weights after a short training
  "$lstmc" train "$source/samples/char_lm.lnet" --data "text:$source/docs/numerics.md" -b 2 --after 2u --set hidden=24 --set layers=2 \
    -o "$folder/ck" --force -d "$1" 2>"$folder/said" | grep -o 'weights [0-9a-f]*'
}

lstmc=$(find "$build" -maxdepth 3 -name lstmc -type f -perm -u+x | head -1)
if ! "$lstmc" run "$source/tests/gpu/probe.lnet" -i data=1 -d "$device" >"$folder/said" 2>&1; then
  cat "$folder/said"
  exit 5
fi

if [[ $device == gpu* ]]; then
  tests=$build/tests/backends/conformance/lstmc_conformance_test
  if "$tests" --gtest_filter='RealGpu.*' >"$folder/said" 2>&1; then
    report "conformance, all kernels" "equal bits"
  else
    report "conformance, all kernels" "differs"
    grep -A6 Failure "$folder/said" | head -60
    failed=1
  fi
fi

want=$(weights cpu)
for devices in "$device" "cpu:0,$device"; do
  found=$(weights "$devices")
  if [[ -n $want && $found == "$want" ]]; then
    report "training on $devices" "the weights of a cpu"
  else
    report "training on $devices" "other weights: ${found:-none}, want $want"
    cat "$folder/said"
    failed=1
  fi
done

if [[ $device == gpu* ]]; then
  {
    echo "# What a real GPU showed"
    echo
    echo "$(date -u +%F), $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -1)"
    echo
    printf '| what | found |\n| --- | --- |\n'
    printf '%s\n' "${table[@]}"
  } >"$here/RESULTS.md"
fi
exit $failed

#!/usr/bin/env bash
# lost.sh [LSTMC]: a job that loses a rank in the middle ends with the weights of one that does not.
set -euo pipefail
cd "$(dirname "$0")/../.."
lstmc=$(realpath "${1:-build/lstmc}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
train=(train samples/forecast.lnet --data random:1 --after 60u --save-every 10u -t 1)

"$lstmc" "${train[@]}" -q -o "$folder/whole" >/dev/null
"$lstmc" launch -v -n 2 --max-restarts 1 -- "${train[@]}" -o "$folder/lost" >/dev/null 2>"$folder/log" &
job=$!
until ls "$folder"/lost/update-* >"$folder/found" 2>&1; do sleep 0.01; done
kill -9 "$(sed -n 's/.*rank 1 (process \([0-9]*\).*/\1/p' "$folder/log" | head -1)"
wait $job
cd "$folder"
grep -E 'E0801\]|starts again|resumed' log | sed "s#$folder/##"
"$lstmc" diff whole/update-000060 lost/update-000060

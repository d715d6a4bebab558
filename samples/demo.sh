#!/usr/bin/env bash
# All of lstmc in one run: compile, plan, train, evaluate, sample, draw. Writes into demo/ (or the folder given).
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-demo}
lstmc=build/lstmc
rm -rf "$out"
mkdir -p "$out"

echo "== the text: this repository's own sources and documents"
git ls-files -z | grep -zE '\.(md|lnet|h|def|td)$' | LC_ALL=C sort -z | xargs -0 cat | LC_ALL=C tr -cd '\n -~' >"$out/text.txt"
wc -c "$out/text.txt"

echo "== compile, with its memory plan"
vocab=$(LC_ALL=C fold -w1 "$out/text.txt" | LC_ALL=C sort -u | wc -l)
$lstmc compile samples/char_lm.lnet --set vocab="$vocab" -o "$out/char_lm.lstmc"

echo "== train"
$lstmc train samples/char_lm.lnet --data "text:$out/text.txt" --after 300u --valid-every 100u --save-every 300u -o "$out/ck"

echo "== evaluate"
$lstmc eval "$out/ck" --data "text:$out/text.txt"

echo "== sample"
$lstmc sample "$out/ck" --prime "/// " --length 200 --temperature 0.7

echo "== draw"
$lstmc plot samples/char_lm.lnet -o "$out/network.svg" --force

#!/usr/bin/env bash
# tidy.sh BUILD FOLDER [PATH...]: clang-tidy-19 over the sources of FOLDER that BUILD compiles, by
# default all, else those under the paths.
set -euo pipefail
build=$1 folder=$2
shift 2
command -v run-clang-tidy-19 >/dev/null || { echo "skipped: clang-tidy-19 is not installed"; exit 77; }
rooms='(backends|executor|frontend|ir|passes|samples|tests|viz)'
[ $# -gt 0 ] || set -- backends executor frontend ir passes samples tests viz
printf -v paths '%s|' "$@"
run-clang-tidy-19 -quiet -p "$build" -j "${TIDY_JOBS:-$(nproc)}" -header-filter="^$folder/$rooms/" -warnings-as-errors='*' \
  "^$folder/(${paths%|})\b" 2>/dev/null | grep -v '^\[.*clang-tidy-19\|warnings generated\|^$' || exit "${PIPESTATUS[0]}"

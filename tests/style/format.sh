#!/usr/bin/env bash
# format.sh CLANG_FORMAT FOLDER: every C++ file is laid out as .clang-format says.
set -euo pipefail
if [ ! -x "$1" ]; then
  echo "skipped: clang-format-19 is not installed"
  exit 77
fi
cd "$2"
find backends executor frontend ir passes samples tests viz -name '*.cpp' -o -name '*.h' -o -name '*.cu' -o -name '*.c' | xargs "$1" --dry-run -Werror

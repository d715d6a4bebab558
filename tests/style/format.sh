#!/usr/bin/env bash
# format.sh CLANG_FORMAT FOLDER PYTHON: every C++ file has the layout of .clang-format, and Python
# and Markdown keep to 100 columns (columns.py).
set -euo pipefail
"$3" -B "$(dirname "$0")/columns.py" "$2"
if [ ! -x "$1" ]; then
  echo "skipped: clang-format-19 is not installed"
  exit 77
fi
cd "$2"
find backends executor frontend ir passes samples tests viz \
  -name '*.cpp' -o -name '*.h' -o -name '*.hpp' -o -name '*.cu' -o -name '*.c' | xargs "$1" --dry-run -Werror

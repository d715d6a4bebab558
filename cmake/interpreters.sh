#!/usr/bin/env bash
# interpreters.sh [MINOR...]: the interpreters of CPython 3.9 to 3.13, or of these minor versions, that are on the PATH or among pyenv's versions, one a
# line; says on stderr which are not here.
[ $# -gt 0 ] || set -- 9 10 11 12 13
for minor in "$@"; do
  for found in "python3.$minor" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3."$minor".*/bin/python3."$minor"; do
    # A shim of pyenv is on the PATH and fails where its version is not chosen.
    if "$found" -c '' 2>/dev/null; then
      command -v "$found"
      continue 2
    fi
  done
  echo "left out: python3.$minor, which is not here" >&2
done

#!/bin/sh
# compile.sh CCACHE COMPILER ARG...: compiles through ccache so that another checkout finds the same objects. Two things
# would hide them: paths below the build folder after -Xclang, which ccache does not make relative, and the bytes of a
# precompiled header, which hold paths. The first are made relative here; for the second ccache reads HEADER.pch.sum, a sum
# of the arguments and of all files that went into the header. The header itself is not cached: clang writes absolute
# paths into it, and in another checkout would read its parts twice.
set -e
here=$(cd "$(dirname "$0")/.." && pwd)
export CCACHE_BASEDIR="$here" CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1 CCACHE_SLOPPINESS=pch_defines,time_macros
# What lstmc_small_frames() adds changes no object.
export CCACHE_IGNOREOPTIONS='-Wframe-larger-than=* -Werror=frame-larger-than*'
ccache=$1
shift
before='' header='' dependencies=''
for argument; do
  shift
  argument=${argument#"$PWD"/}
  set -- "$@" "$argument"
  case $before in
  -o) header=$argument ;;
  -MF) dependencies=$argument ;;
  esac
  before=$argument
done
case $header in
*.pch | *.gch) "$@" ;;
*) exec "$ccache" "$@" ;;
esac
{
  echo "$*" | sed "s|$here|.|g"
  sed -e '1s/^[^:]*://' -e 's/\\$//' "$dependencies" | tr -s ' ' '\n' | grep . | xargs cat
} | sha256sum >"$header.sum"

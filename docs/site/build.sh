#!/usr/bin/env bash
# build.sh BUILD SOURCE: the site in BUILD/docs-site/html, of the pages in SOURCE/docs and those that BUILD made.
set -euo pipefail
build=$1 source=$2
site=$build/docs-site
rm -rf "$site/pages" "$site/html"
mkdir -p "$site/pages"
cp "$source"/docs/*.md "$build"/docs/*.md "$site/pages"
"$build/frontend/cli/lstmc" help --pages "$site/pages" --force
cp "$source/docs/site/mkdocs.yml" "$site"
"${MKDOCS:-mkdocs}" build --quiet --strict --config-file "$site/mkdocs.yml"
echo "$site/html/index.html"

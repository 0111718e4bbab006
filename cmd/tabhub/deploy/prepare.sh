#!/usr/bin/env bash
# Makes below dist what goreleaser puts into archives and packages, and the program that
# makes the rest. To be run by goreleaser, in the repository's directory.
set -euo pipefail
version=$1
export SOURCE_DATE_EPOCH=$2 TZ=UTC # of manual pages

rm -rf dist/tools dist/man dist/completions dist/extra
mkdir -p dist/tools dist/completions
go build -trimpath -o dist/tools/ ./cmd/tabhub/deploy/pack
go build -trimpath -ldflags "-s -w -X tabhub/cmd/tabhub/internal/build.release=v$version" -o dist/tools/ ./cmd/tabhub
export HOME=/nonexistent
dist/tools/tabhub man dist/man
gzip -9n dist/man/*
for shell in bash zsh fish; do
  dist/tools/tabhub completion "$shell" >"dist/completions/tabhub.$shell"
done
dist/tools/tabhub completion powershell >dist/completions/tabhub.ps1

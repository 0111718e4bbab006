#!/usr/bin/env bash
# Makes a release of the commit that is checked out, without publishing it, and looks at
# each file: it is taken apart or installed, and run where this machine can.
#
#   release.sh snapshot   for all systems, into dist/snapshot
#   release.sh compare    the same twice, in two directories, and compares each byte
#   release.sh quick      compare for linux/amd64 alone
#
# It needs Go, Node.js and git. What Debian's rpm, buildah and qemu-user-static are for
# is left out where they are missing, which it says; with CI=true that is an error.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../.."
mode=${1:-}
case $mode in snapshot | compare | quick) ;; *) sed -n '2,/^set/s/^#\( \|$\)//p' "$0" >&2 && exit 2 ;; esac

export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
goreleaser=v2.15.1
registry=v1.8.8 registry_sum=h1:mnSk49TTqtyv53Mdjjf4OyL3UESocTybylLmSbZ/cic=
tools=$here/tools
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
began=$SECONDS

step() { printf '\n== %s (%d s)\n' "$*" $((SECONDS - began)); }
lacks() {
  echo "$1 is missing, so $2"
  [ "${CI:-}" != true ]
}

# build DIR clones the repository to DIR and makes the release there.
build() {
  git clone -q --no-hardlinks . "$1"
  (
    cd "$1"
    config=cmd/tabhub/deploy/goreleaser.yaml
    if [ "$mode" = quick ]; then
      sed -e 's/goos: \[.*/goos: [linux]/' -e 's/goarch: \[.*/goarch: [amd64]/' "$config" >../quick.yaml
      config=../quick.yaml
    fi
    goreleaser release --config "$config" --snapshot --clean >../goreleaser.log 2>&1 || { cat ../goreleaser.log; exit 1; }
    if [ "$mode" = quick ]; then # the bundle's other programs are not there
      version=$(node -p 'require("./dist/release/metadata.json").version')
      dist/tools/pack extras --version "$version" --repository example/tabhub --system linux dist/release dist/extra
    fi
    mkdir -p dist/files
    # All but goreleaser's own notes, which have times.
    find dist/release dist/extra -maxdepth 1 -type f ! -name artifacts.json ! -name metadata.json ! -name config.yaml -exec cp -p {} dist/files/ \;
  )
}

step "goreleaser $goreleaser"
export PATH="$PWD/dist/bin:$PATH"
GOBIN="$PWD/dist/bin" go install "github.com/goreleaser/goreleaser/v2@$goreleaser"
goreleaser check --quiet "$here/goreleaser.yaml"

step "build"
mkdir "$work/a"
build "$work/a/src"
if [ "$mode" = snapshot ]; then
  rm -rf dist/snapshot
  mkdir -p dist/snapshot
  cp -p "$work"/a/src/dist/files/* dist/snapshot/
else
  step "build again, elsewhere"
  mkdir -p "$work/other/place"
  (
    umask 077
    export TZ=Pacific/Auckland LC_ALL=C
    if [ "$mode" = compare ]; then export GOCACHE="$work/cache"; fi
    build "$work/other/place/tabhub"
  )
  diff -r "$work/a/src/dist/files" "$work/other/place/tabhub/dist/files"
  echo "the same: $(ls "$work/a/src/dist/files" | wc -l) files"
fi
cd "$work/a/src/dist/files"
ls -l
sha256sum --quiet --check checksums.txt

step "bill of materials, bundle, registry, extension"
(cd "$tools" && npm ci --no-audit --no-fund --loglevel=error)
export PATH="$tools/node_modules/.bin:$PATH"
NODE_PATH=$tools/node_modules node "$tools/sbom.mjs" *.cdx.json
mcpb info *.mcpb
mcpb unpack *.mcpb "$work/bundle" >/dev/null
mcpb validate "$work/bundle/manifest.json"
module=$(go mod download -json "github.com/modelcontextprotocol/registry@$registry")
if [ "$(node -p 'JSON.parse(process.argv[1]).Sum' "$module")" != $registry_sum ]; then
  echo "the registry's module is not what it was: $module"
  exit 1
fi
cp -r "$(node -p 'JSON.parse(process.argv[1]).Dir' "$module")" "$work/registry"
chmod -R u+w "$work/registry"
mkdir "$work/registry/cmd/check"
cp "$tools/registry.go.txt" "$work/registry/cmd/check/main.go"
go -C "$work/registry" run ./cmd/check "$PWD/server.json"
node "$tools/lint.mjs" tabhub-extension_*.zip

step "programs"
# run PROGRAM [BEFORE...] runs a program, by the words of BEFORE: it knows its commit, runs a hub,
# calls a tool there and ends it.
commit=$(git rev-parse --short=12 HEAD)
run() {
  local program=$1 home line hub
  shift
  home=$(mktemp -d "$work/home.XXXX")
  local -x HOME=$home TABHUB_DATA_DIR=$home/data
  "$@" "$program" version | grep "$commit"
  coproc HUB { exec "$@" "$program" serve --demo --listen 127.0.0.1:0 2>&1; }
  hub=$HUB_PID
  while read -r line; do
    case $line in *"listening on "*) break ;; esac
  done <&"${HUB[0]}"
  "$@" "$program" status >/dev/null
  "$@" "$program" call website_tool_demo_tabhub__search_products '{"query":"mug"}' | grep -i mug >/dev/null
  "$@" "$program" stop
  wait "$hub"
}
for archive in *_linux_amd64.tar.gz; do
  mkdir "$work/archive"
  tar -xf "$archive" -C "$work/archive" --strip-components=1
  (cd "$work/archive" && ls && ls LICENSE README.md man/tabhub.1.gz completions/tabhub.{bash,zsh,fish,ps1} >/dev/null)
  run "$work/archive/tabhub"
done
node "$tools/bundle.mjs" "$work/bundle" "$work/bundlehome"
if [ "$mode" != quick ]; then
  for archive in *_windows_*.zip *_darwin_*.tar.gz *_linux_arm64.tar.gz; do
    mkdir "$work/$archive.d"
    case $archive in
    *.zip) python3 -m zipfile -e "$archive" "$work/$archive.d" ;;
    *) tar -xf "$archive" -C "$work/$archive.d" ;;
    esac
    go version -m "$work/$archive.d"/*/tabhub* | grep -E 'build	(GOOS|GOARCH)=' | tr -d '\n\t'
    echo " in $archive"
  done
  if command -v qemu-aarch64-static >/dev/null; then
    run "$work/$(ls -d *_linux_arm64.tar.gz).d"/*/tabhub qemu-aarch64-static
  else
    lacks qemu-user-static "the program for linux/arm64 has not run"
  fi
fi

step "packages"
for deb in *_amd64.deb; do
  if ! command -v dpkg >/dev/null; then lacks dpkg "$deb is not installed"; break; fi
  root=$work/debian
  mkdir -p "$root"/var/lib/dpkg/{info,updates}
  touch "$root"/var/lib/dpkg/status
  dpkg --root="$root" --log=/dev/null --install "$deb"
  run "$root/usr/bin/tabhub"
  dpkg --root="$root" --log=/dev/null --purge tabhub
  [ ! -e "$root/usr" ]
done
for rpm in *_amd64.rpm; do
  if ! command -v rpm >/dev/null; then lacks rpm "$rpm is not installed"; break; fi
  root=$work/redhat
  mkdir "$root"
  rpm --root "$root" --initdb
  rpm --root "$root" --install "$rpm"
  rpm --root "$root" --query --list tabhub | grep -v '/man1/'
  run "$root/usr/bin/tabhub"
  rpm --root "$root" --erase tabhub
  [ ! -e "$root/usr/bin/tabhub" ]
done

step "image"
if command -v buildah >/dev/null; then
  "$here/image.sh" "$work/archive/tabhub" "$work/image"
  if [ "$mode" = snapshot ]; then cp "$work/image/tabhub.tar" "$here/../../../dist/snapshot/image_linux_amd64.tar"; fi
else
  lacks buildah "there is no image"
fi

step "done"

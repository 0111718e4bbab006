#!/usr/bin/env bash
# Makes the image of a program that is built, and runs it: image.sh PROGRAM DIR, which then has the
# image as docker load takes it. It needs buildah, root, and no daemon.
set -euo pipefail
program=$(realpath "$1")
out=$(realpath -m "$2")
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"

# The Dockerfile's first stage, as it would have built it.
stage=$out/stage
mkdir -p "$stage"/rootfs/{data,etc/ssl/certs}
cp "$program" "$stage/rootfs/tabhub"
cp /etc/ssl/certs/ca-certificates.crt "$stage/rootfs/etc/ssl/certs/"
chmod -R go=rX "$stage"

buildah() { command buildah --storage-driver vfs --root "$out/storage" --runroot "$out/run" "$@"; }
buildah build --quiet --isolation chroot --format docker --timestamp "${SOURCE_DATE_EPOCH:-0}" \
  --build-context build="$stage" --tag tabhub --file "$here/Dockerfile" "$stage" >/dev/null
buildah push --quiet tabhub "docker-archive:$out/tabhub.tar:tabhub:latest"
buildah inspect --type image tabhub | node -e '
  const { config } = JSON.parse(require("fs").readFileSync(0)).Docker;
  console.log(JSON.stringify(config));
  if (config.User !== "65532:65532" || !config.Healthcheck) process.exit(1);'

# The user, the environment and the volume are the image's, the network is that of this machine.
container=$(buildah from tabhub)
inside() { buildah run --isolation chroot "$container" -- "$@"; }
coproc BOX { inside /tabhub serve --demo --listen 0.0.0.0:0 --set behind-proxy=true --set public-url=https://hub.example 2>&1; }
box=$BOX_PID
while read -r line; do
  echo "$line"
  case $line in *"listening on "*) break ;; esac
done <&"${BOX[0]}"
inside /tabhub status # what the image's health check runs
inside /tabhub stop
wait "$box"
if inside /tabhub status 2>/dev/null; then
  echo "a hub that has ended is taken for healthy"
  exit 1
fi
buildah rm "$container" >/dev/null

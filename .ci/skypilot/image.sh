#!/bin/bash
# image.sh OUT NODE: makes the image of the machines that tests of SkyPilot launch, as an archive. It is Debian with all that SkyPilot would
# install on a machine, because the pods of the tests reach no other network: programs, its runtime with Ray, and the wheels of all packages,
# from which uv installs. NODE is the program of Node.js. Needs root, debootstrap and umoci.
set -euo pipefail
out=$1 node=$2 version=0.14.1 ray=2.9.3
work=$out.$$
trap 'umount --lazy "$work/root/proc" 2> /dev/null || true; rm -rf "$work"' EXIT
mkdir -p "$work"
root=$work/root
packages=openssh-server,rsync,sudo,python3,python3-venv,procps,curl,wget,netcat-openbsd,gcc,libc6-dev,patch,pciutils,fuse3,socat,ca-certificates,iproute2
debootstrap --variant=minbase --include=$packages bookworm "$root" http://deb.debian.org/debian > "$work/debootstrap.log" 2>&1 ||
  { tail -n 5 "$work/debootstrap.log" >&2; exit 1; }

# pip asks the index that this machine uses.
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
for file in /etc/pip.conf "$HOME/.config/pip/pip.conf"; do
  if [ -f "$file" ]; then cat "$file" >> "$root/etc/pip.conf"; fi
done
inside() { HOME=/root chroot "$root" "$@"; }
pip() { inside /root/skypilot-runtime/bin/pip --quiet --disable-pip-version-check "$@" 2> >(grep -v '^WARNING: Location ' >&2 || true); }
inside python3 -m venv --copies /root/skypilot-runtime
pins=("setuptools<70" "click<8.3.0" "pydantic-core==2.41.1" "ray[default]==$ray")
pip install uv "${pins[@]}" "skypilot[kubernetes,remote]==$version"
inside /root/skypilot-runtime/bin/pip freeze 2> /dev/null | grep -v '^skypilot==' > "$root/tmp/packages"
# SkyPilot installs itself from a wheel that its server brings. uv then wants to find the packages that are installed already.
pip wheel --no-deps --wheel-dir /opt/wheels -r /tmp/packages "setuptools<70"
rm -rf "$root/etc/pip.conf" "$root/root/.cache" "$root"/var/cache/apt/archives/*.deb
mkdir -p "$root/root/.local/bin" "$root/root/.sky" "$root/root/.config/uv"
cp "$root/root/skypilot-runtime/bin/uv" "$root/root/.local/bin/uv"
printf '[pip]\nno-index = true\nfind-links = ["/opt/wheels"]\n' > "$root/root/.config/uv/uv.toml"
echo /root/skypilot-runtime/bin/python > "$root/root/.sky/python_path"
cp "$node" "$root/usr/local/bin/node"

image=$work/image:1
umoci init --layout "$work/image"
umoci new --image "$image"
umoci insert --image "$image" "$root" / > /dev/null
path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umoci config --image "$image" --config.cmd bash --config.env "PATH=$path" --config.env HOME=/root
tar -C "$work/image" -cf "$work/image.tar" .
mv "$work/image.tar" "$out"

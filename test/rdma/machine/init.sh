#!/bin/busybox sh
# The first process of the virtual machine: makes the host's files visible, makes RDMA devices, runs /command, reports its
# exit code on the port "control", and ends the machine. /settings says what devices, /modules the order to load them in.
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev

quit() { # the emulator's debug device ends it at once
  printf '\000' | dd of=/dev/port bs=1 seek=244 conv=notrunc 2>/dev/null
  poweroff -f
}
fail() {
  echo "the machine cannot start: $*" >/dev/console
  quit
}

while read -r module; do insmod "/m/$module.ko" || fail "insmod $module"; done </modules
. /settings

tries=0
while [ $tries -lt 200 ]; do # the names of the ports come a moment after the driver
  for port in /sys/class/virtio-ports/*; do
    case $(cat "$port/name" 2>/dev/null) in
      out) out=/dev/${port##*/} ;;
      err) err=/dev/${port##*/} ;;
      control) control=/dev/${port##*/} ;;
    esac
  done
  [ -n "$out" ] && [ -n "$err" ] && [ -n "$control" ] && break
  tries=$((tries + 1))
  sleep 0.05
done
[ -n "$control" ] || fail "no virtio ports"
exec 3>"$control"

# What is written lies above the host's files, in memory, and is lost at the end.
options=trans=virtio,version=9p2000.L,msize=512000
mount -t 9p -o $options,ro,cache=loose host /host || fail "mount the files of the host"
mount -t 9p -o $options,ro,cache=loose parts /parts || fail "mount the packages"
mount -t tmpfs -o mode=755 tmpfs /above
mkdir /above/files /above/work
mount -t overlay -o lowerdir=/parts:/host,upperdir=/above/files,workdir=/above/work,xino=off overlay /root ||
  fail "mount overlay"
mkdir -p /root/proc /root/sys /root/dev /root/run /root/tmp
mount -t proc proc /root/proc
mount -t sysfs sys /root/sys
mount --bind /dev /root/dev
mkdir -p /root/dev/pts /root/dev/shm
mount -t devpts -o mode=620,ptmxmode=666 devpts /root/dev/pts
mount -t tmpfs -o mode=1777 tmpfs /root/dev/shm
mount -t tmpfs -o mode=755 tmpfs /root/run
ln -sfn /proc/self/fd /root/dev/fd
cp /command /root/run/command

hostname machine
ip link set lo up
ulimit -l unlimited
ulimit -n 65536
inside() {
  chroot /root /usr/bin/env -i PATH="$path" HOME=/root LANG=C.UTF-8 "$@"
}
device() { inside rdma link add "$1" type rxe netdev "$2" || fail "make the RDMA device $1"; }
case $rdma in
  wire)
    # Two devices, at the ends of one wire, in one network namespace (rxe works only in the first one). Rules for routes send
    # 10.77.0.1 <-> 10.77.0.2 over the wire, where packets can be lost, and not through lo.
    inside ip link add wire0 mtu 9000 type veth peer name wire1 mtu 9000
    inside ip addr add 10.77.0.1/24 dev wire0
    inside ip addr add 10.77.0.2/24 dev wire1
    for name in all wire0 wire1; do
      echo 1 >/proc/sys/net/ipv4/conf/$name/accept_local
      echo 0 >/proc/sys/net/ipv4/conf/$name/rp_filter
    done
    inside ip link set wire0 up
    inside ip link set wire1 up
    inside ip -batch - <<'RULES' || fail "make the routes of the wire"
rule add pref 100 lookup local
rule add pref 5 from 10.77.0.1 to 10.77.0.1 lookup local
rule add pref 5 from 10.77.0.2 to 10.77.0.2 lookup local
rule add pref 10 iif lo to 10.77.0.2 lookup 101
rule add pref 10 iif lo to 10.77.0.1 lookup 102
rule del pref 0
route add 10.77.0.2 dev wire0 src 10.77.0.1 table 101
route add 10.77.0.1 dev wire1 src 10.77.0.2 table 102
RULES
    device rxe0 wire0
    device rxe1 wire1
    ;;
  cable)
    inside ip addr add "$address/24" dev eth0
    inside ip link set eth0 up
    device rxe0 eth0
    ;;
esac

read -r uptime _ </proc/uptime
echo "started $uptime" >&3
# A session of its own: what it leaves behind dies with the machine.
inside setsid -w /bin/sh /run/command </dev/null >"/root$out" 2>"/root$err" 3>&-
code=$?
echo "exit $code" >&3
quit

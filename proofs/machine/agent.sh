#!/bin/sh
# In the guest: does what the host asks over a port of virtio. Bare Debian has no more than a shell.
exec 3<>/dev/virtio-ports/risala.machine
echo "ready $(cat /proc/sys/kernel/random/boot_id)" >&3
while read -r verb size path <&3; do
  case "$verb" in
  run)
    head -c "$size" <&3 >/run/machine.sh
    code=0
    sh -e /run/machine.sh </dev/null >/run/machine.out 2>&1 || code=$?
    ;;
  put)
    : >/run/machine.out
    code=0
    head -c "$size" <&3 >"$path" || code=$?
    ;;
  get)
    code=0
    cat "$path" >/run/machine.out 2>/dev/null || code=$?
    ;;
  esac
  echo "done $code $(stat -c %s /run/machine.out)" >&3
  cat /run/machine.out >&3
done

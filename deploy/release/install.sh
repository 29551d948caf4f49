#!/bin/sh
# Installs Risala @VERSION@: its package on Debian, Ubuntu and Raspberry Pi OS, its image on Fedora.
#
#   sh install.sh                       install, or upgrade, and ask the first questions on a page
#   sh install.sh --dry-run             check everything, and say what would be done
#   sh install.sh --uninstall           take the program away; data, settings and keys stay
#   sh install.sh --purge               take everything away, after a question
#
# Nothing runs as root before the list of the release's files has the signature of the key below, and
# the file to install has the checksum of that list. At the first doubt it stops, and says why.
# Everything is in functions, and only the last line calls one: half a file does nothing.
set -eu
umask 022

VERSION='@VERSION@' # nothing older is installed
FINGERPRINT='@FINGERPRINT@'
PUBLIC='@PUBLIC@' # where releases are; empty: this one was never published
KEY='@KEY@'
LIST=SHA256SUMS
LIST_MOST=128 # blocks of 512 bytes that a list may have, so that no mirror fills the disk
FILE_MOST=2097152
PORT=8090 # of the page with the first questions
SETTINGS=/etc/risala/risala.toml
KEYRING=/usr/share/keyrings/risala-archive-keyring.gpg
SOURCE=/etc/apt/sources.list.d/risala.sources
QUADLET=/etc/containers/systemd/risala.container
IMAGE=localhost/risala
PODMAN=4.4 # the first that makes units of containers
OWNER=10001 # the user of the image

say() { printf '%s\n' "$*"; }

die() {
  printf 'Stopped: %s\n' "$*" >&2
  [ "${changes:-}" ] || printf 'Nothing was changed.\n' >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

usage() { sed -n '2,8s/^# \{0,1\}//p' "$0" 2>/dev/null || say "sh install.sh [--dry-run | --uninstall | --purge]"; }

# A machine without what is needed is told before anything is fetched.
check_tools() {
  for tool in base64 sha256sum awk sed mktemp; do
    has "$tool" || die "there is no $tool here."
  done
  has gpgv || has sqv || die "there is neither gpgv nor sqv here to check signatures. Install gpgv."
  case $from in
  http*) has curl || has wget || die "there is neither curl nor wget here. Install curl." ;;
  esac
}

# -- as root ---------------------------------------------------------------------------------------

may_be_root() {
  [ "$(id -u)" = 0 ] || has sudo || die "this needs root, and there is no sudo here. Run it as root."
}

# Run a command as root; in a dry run only say it.
as_root() {
  if [ "$dry" ]; then
    say "  would run: $*"
    return
  fi
  changes=yes
  rooted "$@"
}

# The same for what changes nothing.
rooted() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# -- what machine this is --------------------------------------------------------------------------

told() { sed -n "s/^$1=//p" /etc/os-release | tr -d "\"'" | head -n 1; }

read_system() {
  [ -r /etc/os-release ] || die "this system does not say what it is: /etc/os-release is missing."
  id=$(told ID) number=$(told VERSION_ID) kind=package
  case "$id $number" in
  'debian 12') mark=deb12 suite=bookworm ;;
  'debian 13') mark=deb13 suite=trixie ;;
  'ubuntu 24.04') mark=ubuntu24.04 suite=noble ;;
  'ubuntu 26.04') mark=ubuntu26.04 suite=resolute ;;
  fedora\ *) kind=image ;;
  raspbian\ *) die "this Raspberry Pi OS has 32 bits. Risala needs the one with 64 bits." ;;
  *) [ "$wants_image" ] || die "there is no package for $id $number. With podman, --image works." ;;
  esac
  [ ! "$wants_image" ] || kind=image
  if [ "$kind" = package ]; then
    architecture=$(dpkg --print-architecture)
  else
    architecture=$(uname -m | sed 's/^x86_64$/amd64/; s/^aarch64$/arm64/')
  fi
  case $architecture in
  amd64 | arm64) ;;
  *) die "there is nothing for the processor $architecture, only for amd64 and arm64." ;;
  esac
}

# -- what the release has, and whether it is the release's -------------------------------------------

fetch() { # NAME BLOCKS: into the work folder
  say "  fetches $1"
  (
    ulimit -f "$2"
    case $from in
    https://*) get '=https' "$1" ;;
    http://*) get '=http,https' "$1" ;;
    *) cp -- "$from/$1" "$work/$1" ;;
    esac
  ) || die "$1 could not be fetched from $from, or is too large."
  chmod 0644 "$work/$1"
}

get() { # PROTOCOLS NAME
  if has curl; then
    curl --fail --silent --show-error --location --proto "$1" --proto-redir "$1" \
      --max-time 1800 --output "$work/$2" "$from/$2"
  else
    wget --quiet --timeout=60 --output-document="$work/$2" "$from/$2"
  fi
}

# Who signed a file, by the key of this script and no other; fails where nobody did.
signer() {
  if has gpgv; then
    gpgv --keyring "$work/key.gpg" --status-fd 1 "$1.asc" "$1" >"$work/status" 2>"$work/said" &&
      grep -q '^\[GNUPG:\] GOODSIG ' "$work/status" &&
      sed -n 's/^\[GNUPG:\] VALIDSIG .* \([0-9A-F]*\)$/\1/p' "$work/status"
  else
    sqv --keyring "$work/key.gpg" "$1.asc" "$1" 2>"$work/said"
  fi
}

older() { # A B: whether version A is older than B
  awk -v a="$1" -v b="$2" 'BEGIN {
    split(a, x, "."); split(b, y, ".")
    for (i = 1; i <= 3; i++) if (x[i] + 0 != y[i] + 0) exit !(x[i] + 0 < y[i] + 0)
    exit 1
  }'
}

day_of() { sed -n "$1s/^# $2: \([0-9]\{4\}\)-\([0-9]\{2\}\)-\([0-9]\{2\}\)\$/\1\2\3/p" "$work/$LIST"; }

read_list() {
  printf '%s' "$KEY" | base64 -d >"$work/key.gpg" || die "the key in this script is damaged."
  fetch "$LIST" "$LIST_MOST"
  fetch "$LIST.asc" "$LIST_MOST"
  by=$(signer "$work/$LIST") || die "$LIST has no signature of the release's key. $from may be forged."
  [ "$by" = "$FINGERPRINT" ] || die "$LIST is signed by $by, not by the release's key $FINGERPRINT."
  offered=$(sed -n '1s/^# Risala \([0-9][0-9a-z.]*\)$/\1/p' "$work/$LIST")
  made=$(day_of 2 Date) until=$(day_of 3 Valid-Until) today=$(date -u +%Y%m%d)
  if [ ! "$offered" ] || [ ! "$made" ] || [ ! "$until" ]; then
    die "$LIST has no version or no dates."
  fi
  ! older "$offered" "$VERSION" || die "$from offers Risala $offered, older than $VERSION of this script."
  [ "$today" -ge "$made" ] || die "the clock of this machine is before the release of $offered. Set it."
  [ "$today" -le "$until" ] || die "the list of $offered was valid until $until. Get a newer install.sh."
  say "  Risala $offered, signed by $FINGERPRINT"
}

# The one file of the list that a pattern names: fetched, and as the list has it.
verified() { # PATTERN
  file=$(awk -v want="$1" 'length($1) == 64 && NF == 2 && $2 ~ want { print $2 }' "$work/$LIST")
  case $file in
  '') die "Risala $offered has no file for $id $number on $architecture." ;;
  *[!A-Za-z0-9._+~-]*) die "$LIST names more than one file for this system: $file" ;;
  esac
  wanted=$(awk -v name="$file" '$2 == name { print $1 }' "$work/$LIST")
  fetch "$file" "$FILE_MOST"
  found=$(sha256sum "$work/$file" | cut -c 1-64)
  [ "$found" = "$wanted" ] || die "$file is not the release's: its checksum is $found, not $wanted."
}

# -- the package -----------------------------------------------------------------------------------

installed() { # the version of the package that is installed; empty: none
  dpkg-query -W -f '${db:Status-Status} ${Version}' risala 2>/dev/null | sed -n 's/^installed //p'
}

install_package() {
  verified "^risala_[^_]*[+]${mark}_${architecture}[.]deb\$"
  offers=${file#risala_} offers=${offers%_*} now=$(installed)
  if [ "$now" = "$offers" ]; then
    say "Risala $now is installed already."
  else
    [ ! "$now" ] || dpkg --compare-versions "$now" lt "$offers" ||
      die "Risala $now is installed, which is newer than $offers."
    # The user _apt reads the file.
    chmod 0755 "$work"
    as_root apt-get update -q
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y "$work/$file"
  fi
  if [ "$PUBLIC" ]; then
    add_source
  else
    say "Upgrades: run the install.sh of a newer release."
  fi
}

add_source() { # upgrades come with those of the system
  printf 'Types: deb\nURIs: %s/apt\nSuites: %s\nComponents: main\nSigned-By: %s\n' \
    "$PUBLIC" "$suite" "$KEYRING" >"$work/risala.sources"
  if ! cmp -s "$work/risala.sources" "$SOURCE" || ! cmp -s "$work/key.gpg" "$KEYRING"; then
    as_root install -m 0644 "$work/key.gpg" "$KEYRING"
    as_root install -m 0644 "$work/risala.sources" "$SOURCE"
  fi
}

ask_package() {
  if rooted test -e "$SETTINGS"; then
    say "It has settings: $SETTINGS. An upgrade started again what ran."
  elif [ "$answers" ]; then
    # It starts the service where systemd runs the machine.
    as_root risala init --yes --file "$answers" "$SETTINGS"
  elif [ "$quiet" ] || [ ! -d /run/systemd/system ]; then
    say "Next: sudo risala init $SETTINGS"
  else
    say "The first questions are on a page; the service starts when they are answered."
    as_root risala init --web --port "$PORT" "$SETTINGS"
  fi
}

# -- the image -------------------------------------------------------------------------------------

VOLUMES="-v risala-settings:/etc/risala -v risala-data:/var/lib/risala -v risala-backups:/var/backups/risala"

install_image() {
  verified "^risala_[^_]*_${architecture}[.]container[.]tar[.]xz\$"
  now=$(sed -n "s|^Image=$IMAGE:||p" "$QUADLET" 2>/dev/null || true)
  [ ! "$now" ] || ! older "$offered" "$now" || die "Risala $now is installed, which is newer than $offered."
  get_podman
  if [ ! "$dry" ] && has_data && write_unit && cmp -s "$work/risala.container" "$QUADLET"; then
    say "Risala $now is installed already."
    same=yes
  else
    as_root podman load --quiet --input "$work/$file"
  fi
}

# Inside and outside the service has the port of its settings.
write_unit() {
  # shellcheck disable=SC2016 # the dollars are awk's
  port=$(rooted awk '/^\[/ { http = $1 == "[http]" } http && /^port *=/ { print $3; exit }' \
    "$(place_of risala-settings)/${SETTINGS##*/}")
  cat >"$work/risala.container" <<UNIT
[Unit]
Description=Risala, SMS on one machine
[Container]
ContainerName=risala
Image=$IMAGE:$offered
Environment=RISALA_HTTP__PORT=${port:=8080}
PublishPort=127.0.0.1:$port:$port
Volume=risala-settings:/etc/risala
Volume=risala-data:/var/lib/risala
Volume=risala-backups:/var/backups/risala
ReadOnly=true
VolatileTmp=true
DropCapability=ALL
NoNewPrivileges=true
PodmanArgs=--stop-timeout=45
[Service]
Restart=always
TimeoutStopSec=60
[Install]
WantedBy=multi-user.target
UNIT
}

place_of() { rooted podman volume inspect --format '{{.Mountpoint}}' "$1" 2>/dev/null; }

get_podman() {
  if has podman; then
    podman=$(podman --version | sed 's/.* //')
    ! older "$podman" "$PODMAN" || die "podman $podman is here. Units of containers need $PODMAN or newer."
  elif has dnf; then
    as_root dnf install -q -y podman
  else
    as_root apt-get update -q
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y podman
  fi
}

# A command of Risala in a container of its own: options, the image, words.
in_image() {
  # shellcheck disable=SC2086 # VOLUMES is options, a word each
  as_root podman run --rm --network host -e RISALA_HTTP__HOST=127.0.0.1 $VOLUMES "$@"
}

ask_image() {
  [ ! "$same" ] || return 0
  if has_data; then
    say "It has settings, in the volume risala-settings."
  else
    first_questions
  fi
  # The unit comes last: it would start at the next boot what nobody has set up.
  write_unit
  as_root install -D -m 0644 "$work/risala.container" "$QUADLET"
  as_root systemctl daemon-reload
  as_root systemctl restart risala
  say "It runs: sudo podman exec risala risala status"
}

first_questions() {
  # The service's user writes the settings; in the image they are root's.
  in_image --user 0 --entrypoint chown "$IMAGE:$offered" -R "$OWNER:$OWNER" /etc/risala
  if [ "$answers" ]; then
    install -m 0444 "$answers" "$work/answers.toml" # nobody else sees this folder
    in_image -v "$work/answers.toml:/answers.toml:ro,Z" "$IMAGE:$offered" init --yes --file /answers.toml "$SETTINGS"
  elif [ "$quiet" ]; then
    say "It starts with the image's own settings."
  else
    say "The first questions are on a page. When they are answered, press Ctrl-C: the service goes on."
    trap : INT # it ends the page, not this script
    in_image "$IMAGE:$offered" init --web --port "$PORT" "$SETTINGS" || true
    trap 'exit 1' INT
    has_data || die "nobody answered the questions. Run this again."
  fi
}

# -- away with it ----------------------------------------------------------------------------------

# Whether the image is installed, or was: its settings are in a volume of that name.
is_image() {
  [ -e "$QUADLET" ] || { [ ! "$(installed)" ] && has podman && rooted podman volume exists risala-settings; }
}

uninstall() {
  if is_image; then
    if [ -e "$QUADLET" ]; then
      as_root systemctl stop risala
      as_root rm -f "$QUADLET"
      as_root systemctl daemon-reload
    fi
    for image in $(rooted podman images --format '{{.Repository}}:{{.Tag}}' "$IMAGE"); do
      as_root podman image rm --force "$image"
    done
    say "Risala is gone. Its volumes stay: podman volume ls."
  elif [ "$(installed)" ]; then
    as_root env DEBIAN_FRONTEND=noninteractive apt-get remove -q -y risala
    as_root rm -f "$SOURCE" "$KEYRING"
    say "Risala is gone. Settings, data, keys and backups stay: /etc/risala, /var/lib/risala, /var/backups/risala."
  else
    say "Risala is not installed here."
  fi
}

# Whether there is an organization of that name; the installed program knows.
is_organization() {
  if ! is_image; then
    rooted runuser -u risala -- env RISALA_DATA=/var/lib/risala RISALA_CONFIG="$SETTINGS" \
      risala org show -- "$1"
  elif rooted podman container exists risala; then
    rooted podman exec risala risala org show -- "$1"
  else
    # shellcheck disable=SC2086 # VOLUMES is options, a word each
    rooted podman run --rm $VOLUMES "$(sed -n 's/^Image=//p' "$QUADLET")" org show -- "$1"
  fi >/dev/null 2>&1
}

has_data() {
  if [ "${kind:-}" = image ] || is_image; then
    place=$(place_of risala-data) && rooted test -e "$place/risala.db"
  else
    rooted test -e /var/lib/risala/risala.db
  fi
}

confirm() {
  say "This deletes every message, balance, key, setting and backup of Risala on this machine."
  if has_data && { [ -e "$QUADLET" ] || [ "$(installed)" ]; }; then
    printf 'Type the name of an organization on it: '
    read -r typed || typed=
    [ "$typed" ] || die "nothing was typed."
    is_organization "$typed" || die "there is no organization \"$typed\"."
  else
    # No program is here to say which organizations there are.
    printf 'Type the name of this machine (%s): ' "$(uname -n)"
    read -r typed || typed=
    [ "$typed" = "$(uname -n)" ] || die "\"$typed\" is not the name of this machine."
  fi
}

purge() {
  [ "$dry" ] || confirm
  if is_image; then
    uninstall >/dev/null
    as_root podman volume rm --force risala-settings risala-data risala-backups
    say "Nothing of Risala is left. podman stays."
    return
  fi
  as_root env DEBIAN_FRONTEND=noninteractive apt-get purge -q -y risala
  as_root rm -f "$SOURCE" "$KEYRING"
  as_root rm -rf /etc/risala /var/lib/risala /var/backups/risala
  ! id risala >/dev/null 2>&1 || as_root userdel risala ||
    die "a process of the user risala still runs, so that the user stays: ps -u risala. All else is gone."
  say "Nothing of Risala is left. What it needed of the system stays: apt-get autoremove."
}

# -- all of it ---------------------------------------------------------------------------------------

main() {
  dry='' wants_image='' answers='' quiet='' same='' does=install from=$PUBLIC changes=''
  while [ $# -gt 0 ]; do
    case $1 in
    --from) from=${2:?a folder or an address} && shift ;;
    --answers) answers=${2:?a file, as risala init --file takes it} && shift ;;
    --dry-run) dry=yes ;;
    --image) wants_image=yes ;;
    --no-questions) quiet=yes ;;
    --uninstall) does=uninstall ;;
    --purge) does=purge ;;
    -h | --help) usage && return ;;
    *) die "the option $1 is unknown. --help lists them." ;;
    esac
    shift
  done
  PATH=$PATH:/usr/sbin:/sbin
  may_be_root
  if [ "$does" != install ]; then
    "$does"
    return
  fi
  [ "$from" ] || die "where is the release? Name its folder: --from DIST."
  [ ! "$answers" ] || [ -r "$answers" ] || die "the file $answers cannot be read."
  check_tools
  read_system
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
  read_list
  "install_$kind"
  [ ! "$dry" ] || { say "Everything was checked. Nothing was changed." && return; }
  "ask_$kind"
}

main "$@"

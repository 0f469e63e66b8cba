#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Installs, from Debian's packages, everything that the other targets need.
#
# usage: scripts/deps.sh [KVER [GROUP...]]
#   KVER    the kernel source (default 6.12)
#   GROUP   only what these need: kernel, demo, lint, host, deb, guest, bench
#           (default: all)
#
# Works as root, or through sudo. Quick when everything is there already.
# Debian 12's own QEMU (7.2) cannot make some of the topologies, so there
# bookworm-backports is switched on, with the mirror that apt uses already.
#
# exit: 0 all installed; 1 something could not be installed; 2 usage
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

KVER=${1:-6.12}
QEMU_MIN=10
BACKPORTS_LIST=/etc/apt/sources.list.d/sched-ht-backports.sources

# Packages by what needs them.
declare -A GROUPS_OF=(
	[kernel]="make gcc libc6-dev flex bison bc libelf-dev libssl-dev dwarves cpio kmod
		rsync lz4 zstd xz-utils bzip2 patch perl python3 git ca-certificates ccache
		linux-source-$KVER"
	[demo]="libjansson-dev openssl util-linux procps psmisc"
	[lint]="sparse shellcheck"
	# host tests, coverage (gcov is gcc's), fuzzing, instructions per decision
	[host]="clang libclang-rt-dev libjansson-dev valgrind"
	[deb]="debhelper dpkg-dev fakeroot"
	# what runs inside the virtual machine
	[guest]="openssl stress-ng trace-cmd util-linux procps psmisc libcap2-bin
		iproute2 busybox-static libcap-dev"
	# clang-19 for sched_ext's examples; Debian 12 and 13 both have it
	[bench]="postgresql postgresql-contrib linux-perf gnuplot-nox clang-19"
)
ORDER=(kernel demo lint host deb guest bench)

# The packages of groups $@, one word each.
packages_of()
{
	local group

	for group in "$@"; do
		[ -n "${GROUPS_OF[$group]:-}" ] ||
			usage_die "no group $group; there are: ${ORDER[*]}"
		# shellcheck disable=SC2086
		printf '%s\n' ${GROUPS_OF[$group]}
	done | awk '!seen[$0]++'
}

require_kver "$KVER"
[ $# = 0 ] || shift
[ $# -gt 0 ] || set -- "${ORDER[@]}"
LIST=$(packages_of "$@") || exit 2
mapfile -t PACKAGES <<< "$LIST"

apt_get()
{
	local try

	for try in 1 2 3; do
		if $SUDO env DEBIAN_FRONTEND=noninteractive apt-get -y -q \
			-o Dpkg::Use-Pty=0 -o Acquire::Retries=3 \
			-o DPkg::Lock::Timeout=300 "$@"; then
			return 0
		fi
		[ "$try" = 3 ] || { note "apt-get $1 failed, trying again"; sleep $((try * 5)); }
	done
	return 1
}

is_installed()
{
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

missing_packages()
{
	local name

	for name in "${PACKAGES[@]}"; do
		is_installed "$name" || echo "$name"
	done
}

qemu_major()
{
	dpkg-query -W -f '${Version}' qemu-system-x86 2>/dev/null |
		sed -E 's/^[0-9]+://; s/^([0-9]+).*/\1/'
}

qemu_is_new()
{
	is_installed qemu-system-x86 && [ "$(qemu_major)" -ge "$QEMU_MIN" ]
}

# The mirror and the key are those of the main Debian entry in apt's own
# configuration, whichever of its two file formats it is written in.
debian_mirror()
{
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' |
		awk -v r="$1" '$2 == r && $3 == "main" { print $1; exit }'
}

enable_backports()
{
	local release=$1 mirror

	mirror=$(debian_mirror "$release")
	[ -n "$mirror" ] ||
		die "apt has no source for $release/main: cannot tell which mirror to take $release-backports from; add it by hand"
	note "enabling $release-backports (for QEMU $QEMU_MIN) in $BACKPORTS_LIST"
	$SUDO tee "$BACKPORTS_LIST" >/dev/null <<-END
		# Written by sched_ht's make deps, for qemu-system-x86. Delete at will.
		Types: deb
		URIs: $mirror
		Suites: $release-backports
		Components: main
		Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
	END
}

has_backports()
{
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(RELEASE)' 'Created-By: Packages' |
		grep -qx "$1-backports"
}

install_qemu()
{
	local release

	release=$(. /etc/os-release; echo "${VERSION_CODENAME:-}")
	if [ "$release" != bookworm ]; then
		apt_get install --no-install-recommends qemu-system-x86
		return
	fi
	if ! has_backports bookworm; then
		enable_backports bookworm
		apt_get update
	fi
	if ! apt_get install --no-install-recommends -t bookworm-backports qemu-system-x86; then
		note "no QEMU $QEMU_MIN to be had: taking Debian 12's own; some topologies will be skipped"
		apt_get install --no-install-recommends qemu-system-x86
	fi
}

main()
{
	local missing

	command -v apt-get >/dev/null || die "not a Debian system (no apt-get): install by hand: ${PACKAGES[*]} qemu-system-x86 (>= $QEMU_MIN)"
	SUDO=
	missing=$(missing_packages)
	if [ -z "$missing" ] && qemu_is_new; then
		return 0
	fi
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null || die "run as root to install: $(echo "$missing" | tr '\n' ' ')"
		SUDO=sudo
	fi
	apt_get update || note "apt-get update failed; going on with the package lists there are"
	qemu_is_new || install_qemu || die "could not install qemu-system-x86"
	if [ -n "$missing" ]; then
		note "installing: ${missing//$'\n'/ }"
		# shellcheck disable=SC2086
		apt_get install --no-install-recommends $missing ||
			die "apt-get could not install all of: ${missing//$'\n'/ }"
	fi
}

main

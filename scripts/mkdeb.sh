#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds Debian packages of a kernel with SCHED_HT, for a real machine, into
# out/deb/.
#
# usage: scripts/mkdeb.sh [KVER]
#   DEB_CONFIG=FILE|base   configuration to start from: a .config (optionally
#                          .xz), or `base` for the small one that boots only in
#                          QEMU. Default: Debian's, from linux-config-KVER, or
#                          the running kernel's in /boot.
#   DEB_MODULES=local|FILE only modules that are loaded now, or that FILE, the
#                          output of lsmod on another machine, names
#                          (localmodconfig): minutes in place of hours
#   DEB_REVISION=N         default 1
# exit: 0 built; 1 not; 2 usage
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

KVER=${1:-6.12}
REVISION=${DEB_REVISION:-1}

# Debian's package, when installed, holds one configuration per flavour.
debian_config()
{
	local file

	for file in "/usr/src/linux-config-$KVER/config.amd64_none_amd64.xz" \
			"/boot/config-$(uname -r)"; do
		if [ -f "$file" ]; then
			echo "$file"
			return 0
		fi
	done
	die "no configuration found: apt-get install linux-config-$KVER, or name one with DEB_CONFIG="
}

read_config()
{
	case $1 in
	base) merge_fragments "$HT_ROOT"/configs/{base,prod}.config ;;
	*.xz) xz -dc "$1" ;;
	*) cat "$1" ;;
	esac
}

# The list that DEB_MODULES means, in a file; nothing if all modules are wanted.
# An empty one would make a kernel that cannot read its own disk.
module_list()
{
	local list=$TREE.lsmod

	case ${DEB_MODULES:-} in
	'') return 0 ;;
	local)
		[ -s /proc/modules ] ||
			die "DEB_MODULES=local: no module is loaded here. Run this on the machine that the kernel is for, or name a file that holds the output of its lsmod: DEB_MODULES=FILE"
		lsmod > "$list" || die "lsmod failed" ;;
	*)
		grep -qs '^Module  *Size' "$DEB_MODULES" ||
			die "DEB_MODULES=$DEB_MODULES: neither 'local' nor a file with the output of lsmod"
		cp "$DEB_MODULES" "$list" ;;
	esac
	echo "$list"
}

# Debian signs modules with keys that only Debian has.
settle_config()
{
	local source=$1 modules=$2

	read_config "$source" > "$TREE/.config" || die "cannot read $source"
	cat >> "$TREE/.config" <<-'END'
		CONFIG_SCHED_HT_AWARE=y
		CONFIG_SYSTEM_TRUSTED_KEYS=""
		CONFIG_SYSTEM_REVOCATION_KEYS=""
		CONFIG_MODULE_SIG_KEY="certs/signing_key.pem"
		CONFIG_LOCALVERSION="-sched-ht"
		# CONFIG_LOCALVERSION_AUTO is not set
	END
	if [ "$source" = base ]; then
		cp "$TREE/.config" "$TREE/.ht-fragment"
		kernel_make "$TREE" -s KCONFIG_ALLCONFIG="$TREE/.ht-fragment" allnoconfig ||
			return 1
	elif [ -n "$modules" ]; then
		kernel_make "$TREE" -s localmodconfig LSMOD="$modules" < <(yes '') ||
			return 1
	fi
	kernel_make "$TREE" -s olddefconfig || return 1
	grep -qx CONFIG_SCHED_HT_AWARE=y "$TREE/.config" ||
		die "SCHED_HT_AWARE was dropped: the configuration needs SMP and 64BIT"
}

require_kver "$KVER"
require_tools gcc make dpkg-buildpackage dh rsync
[[ $REVISION =~ ^[0-9]+$ ]] || usage_die "DEB_REVISION=$REVISION is not a number"
SOURCE=${DEB_CONFIG:-$(debian_config)}
TREE=$HT_CACHE/deb-$KVER/linux
mkdir -p "$HT_CACHE/deb-$KVER" "$HT_ROOT/out/deb"
take_lock "$TREE.lock"
rm -f "$HT_CACHE/deb-$KVER"/*.deb
MODULES=$(module_list)
prepare_tree "$TREE" "$KVER"
note "configuring from $SOURCE"
LOG=$TREE/.ht-build.log
(settle_config "$SOURCE" "$MODULES") > "$LOG" 2>&1 ||
	{ tail -20 "$LOG" >&2; die "configuring failed; whole log: $LOG"; }
note "building packages; with Debian's whole configuration this takes hours on 2 cores"
LABEL="packages of linux-$KVER"
# Without the package of debugging information, which is larger than all the rest.
export DEB_BUILD_PROFILES=pkg.linux-upstream.nokerneldbg
kernel_make "$TREE" "-j$HT_JOBS" KDEB_PKGVERSION="$(kernel_make "$TREE" -s kernelversion)-$REVISION" \
	bindeb-pkg 2>&1 < /dev/null | tee "$LOG" | show_progress ||
	{ tail -20 "$LOG" >&2; die "bindeb-pkg failed; whole log: $LOG"; }
rm -f "$HT_ROOT"/out/deb/*.deb
cp "$HT_CACHE/deb-$KVER"/*.deb "$HT_ROOT/out/deb/"
note "built in $SECONDS s; install with: dpkg -i out/deb/linux-image-*.deb"
(cd "$HT_ROOT" && ls out/deb/*.deb)

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Makes a kernel with SCHED_HT in it: Debian's source, the overlay and the
# hooks for that version, configured from configs/, built in the cache folder.
# Run again, it rebuilds only what a change calls for.
#
# usage: scripts/kernel.sh build|path|configure KVER CONFIG
#   build      build bzImage, show progress
#   path       build it unless it is there; print nothing on stdout but its path
#   configure  overlay, hooks and .config only; prints the tree
#
# A tree is one for each version and configuration, so that building is
# incremental. The image is a copy, named after the content of the source and the
# configuration: another checkout that builds in the same tree changes nothing under
# a guest, and going back to a former state takes no build.
#
# CONFIG names configs/NAME.config (on top of base), several joined by '+';
# the name `vanilla` among them means Debian's source without hooks or overlay.
# HT_CACHE, HT_JOBS: the cache folder, how many compilers at once.
# exit: 0 done; 1 failed; 2 usage
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

usage()
{
	usage_die "usage: kernel.sh build|path|configure KVER CONFIG"
}

# Copies the image to where it stays, and drops all but the newest few.
keep_image()
{
	mkdir -p "$(dirname "$IMAGE")"
	cp "$TREE/arch/x86/boot/bzImage" "$IMAGE.new"
	mv "$IMAGE.new" "$IMAGE"
	find "$IMAGES" -maxdepth 1 -name "linux-$KVER-$CONFIG-????????????" \
		-printf '%T@ %p\n' | sort -rn | tail -n +$((KEEP_IMAGES + 1)) |
		cut -d' ' -f2- | xargs -d '\n' -r rm -rf
}

build()
{
	local log=$TREE/.ht-build.log

	SECONDS=0
	if ! kernel_make "$TREE" "-j$HT_JOBS" bzImage 2>&1 < /dev/null |
			tee "$log" | show_progress; then
		grep -nE 'error:|\*\*\*|undefined reference|FAILED' "$log" | head -20 >&2 || true
		die "the kernel did not build; whole log: $log"
	fi
	keep_image
	note "linux-$KVER $CONFIG: built in $SECONDS s: $IMAGE"
}

[ $# = 3 ] || usage
ACTION=$1 KVER=$2 CONFIG=$3
case $ACTION in
build | path | configure) ;;
*) usage ;;
esac
KEEP_IMAGES=20
LABEL="linux-$KVER $CONFIG"
require_kver "$KVER"
require_tools gcc make flex bison bc
[[ $CONFIG =~ ^[a-z0-9_+-]+$ ]] || die "CONFIG=$CONFIG: a name of configs/, several joined by '+'"
LIST=$(config_fragments "$CONFIG") || exit 1
mapfile -t FRAGMENTS <<< "$LIST"

[[ +$CONFIG+ != *+vanilla+* ]] || export HT_VANILLA=1
TREE=$HT_CACHE/linux-$KVER-$CONFIG
IMAGES=$HT_CACHE/images
mkdir -p "$HT_CACHE"
take_lock "$TREE.lock"
TREE_LOCK=$HT_LOCK_FD
stage_tree "$TREE" "$KVER"
PRISTINE=$(pristine_tree "$KVER")
merge_fragments "${FRAGMENTS[@]}" > "$TREE.stage.config"
KEY=$(content_key "$TREE.stage" "$PRISTINE" "$TREE.stage.config")
IMAGE=$IMAGES/linux-$KVER-$CONFIG-$KEY/bzImage
if [ "$ACTION" = path ] && [ -s "$IMAGE" ]; then
	rm -rf "$TREE.stage" "$TREE.stage.config"
	touch "$(dirname "$IMAGE")"
	echo "$IMAGE"
	exit
fi
sync_tree "$TREE" "$TREE.stage" "$PRISTINE"
rm -rf "$TREE.stage"
mv "$TREE.stage.config" "$TREE/.ht-fragment"
configure_tree "$TREE" "$TREE/.ht-fragment"

case $ACTION in
build) build ;;
path) build; echo "$IMAGE" ;;
configure) echo "$TREE" ;;
esac
exec {TREE_LOCK}>&-

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Churn under the debug kernel (lockdep, KASAN, RCU and list checks, the INV-2
# checker): fork, exec, exit, policy, nice, affinity and hotplug at once, then
# storms of cgroups and masks. No task may be lost, and the console stays clean.
#
# usage: scripts/torture.sh [SECONDS]   (default: $DUR, else 60)
# environment: KVER, CONFIG (debug), TOPO (1x2x2)
# exit: 0 passed; 1 failed; 2 usage
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

seconds=${1:-${DUR:-60}}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || usage_die "usage: torture.sh [SECONDS]"

KVER=${KVER:-6.12}
# The makefile's default is the kernel for everything else.
[ "${CONFIG:-base}" != base ] || CONFIG=debug
TOPO=${TOPO:-1x2x2}
OUT=${OUT:-$HT_ROOT/out/torture}
SRC=$HT_ROOT/tools/testing/selftests/sched_ht
BIN=$HT_ROOT/out/selftest-bin

mkdir -p "$OUT"
take_lock "$OUT/.lock"
make -s -C "$SRC" OUTPUT="$BIN"
kernel=${HT_KERNEL:-$(make -s -C "$HT_ROOT" kernel-path KVER="$KVER" CONFIG="$CONFIG")}
short=$(((seconds + 9) / 10))
status=0
"$HT_ROOT/scripts/vm" --kernel "$kernel" --topo "$TOPO" \
	--timeout $((600 + 5 * seconds)) --mem 3072 \
	--log "$OUT/console.log" --append noautogroup -- \
	/bin/bash "$SRC/run_guest.sh" "$BIN" \
	"churn -t $seconds with_hotplug" "cgroup -t $short storm" \
	"affinity -t $short self_storm foreign_storm" |
	tee "$OUT/out" || status=$?
passed=$(grep -c '^ok ' "$OUT/out" || :)
failed=$(grep -c '^not ok ' "$OUT/out" || :)
if [ "$status" != 0 ]; then
	echo "torture: FAILED (status $status), console in $OUT/console.log"
	[ "$failed" != 0 ] || failed=1
fi
echo "torture: $seconds s of churn and storms"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ] && [ "$passed" != 0 ]

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Broken on purpose: shows that the tests catch what they are there to catch.
# The host part compiles broken policies; the kernel part boots one kernel and
# switches faults on (debugfs, SCHED_HT_DEBUG), one at a time: with the fault
# the named selftest has to fail, without it the same test has to pass.
#
# usage: scripts/mutants.sh [host|kernel]   (default: both)
# environment: KVER, CONFIG (base), TOPO (1x4x2)
# exit: 0 every mutant was caught; 1 one survived; 2 usage
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

KVER=${KVER:-6.12}
CONFIG=${CONFIG:-base}
TOPO=${TOPO:-1x4x2}
OUT=${OUT:-$HT_ROOT/out/mutants}
SRC=$HT_ROOT/tools/testing/selftests/sched_ht
BIN=$HT_ROOT/out/selftest-bin

# fault | the selftest that catches it | what is broken
table()
{
	cat <<-'END'
	skip_claim | unshare -r 40 simultaneous_timer | placements do not claim the core
	idle_never_cleared | placement beside_busy | a CPU stays idle in the words for ever
	ignore_affinity | affinity -t 2 fixed_masks | decisions do not look at the mask
	no_unshare | unshare -r 5 beside_fair | nobody leaves a shared core
	no_sharing | share equal | fair never gets its turn
	no_clock | warm sibling_evicts | what others run on a core is not counted
	END
}

trim()
{
	local text=$1

	text=${text#"${text%%[![:space:]]*}"}
	echo "${text%"${text##*[![:space:]]}"}"
}

survived=0 caught=0

# $1 the guest's output, $2 spec: prints the status that it ended with.
status_of()
{
	awk -v spec="$2" '
		$1 == "##" && $2 == "end" {
			status = $3
			sub(/^## end [0-9]+ [0-9]+ /, "")
			if ($0 == spec) { print status; exit }
		}' "$1"
}

report()
{
	local out=$1 fault test what with without

	while IFS='|' read -r fault test what; do
		fault=$(trim "$fault") test=$(trim "$test") what=$(trim "$what")
		without=$(status_of "$out" "$test")
		with=$(status_of "$out" "fault=$fault $test")
		if [ "$without" = 0 ] && [[ $with == [15] ]]; then
			caught=$((caught + 1))
			echo "caught    $fault ($what) by $test"
		else
			survived=$((survived + 1))
			echo "SURVIVED  $fault ($what): $test ended with ${without:-nothing} without and ${with:-nothing} with the fault"
		fi
	done < <(table)
}

kernel_mutants()
{
	local kernel fault test what specs=()

	mkdir -p "$OUT"
	take_lock "$OUT/.lock"
	make -s -C "$SRC" OUTPUT="$BIN"
	kernel=${HT_KERNEL:-$(make -s -C "$HT_ROOT" kernel-path KVER="$KVER" CONFIG="$CONFIG")}
	while IFS='|' read -r fault test what; do
		specs+=("$(trim "$test")" "fault=$(trim "$fault") $(trim "$test")")
	done < <(table)
	# A broken kernel may well warn: that is not what is judged here.
	"$HT_ROOT/scripts/vm" --quiet --kernel "$kernel" --topo "$TOPO" \
		--no-panic-on-warn --timeout 1500 --log "$OUT/console.log" \
		--append "noautogroup psi=1" -- \
		/bin/bash "$SRC/run_guest.sh" "$BIN" "${specs[@]}" \
		> "$OUT/out" 2> "$OUT/err" || true
	report "$OUT/out"
}

part=${1:-both}
case $part in
host | kernel | both) ;;
*) usage_die "usage: mutants.sh [host|kernel]" ;;
esac
if [ "$part" != kernel ]; then
	make -s -C "$HT_ROOT/tools/testing/ht" mutants
fi
if [ "$part" != host ]; then
	kernel_mutants
	echo "kernel mutants: $caught caught, $survived survived"
	echo "$caught passed, $survived failed, 0 skipped"
fi
[ "$survived" = 0 ]

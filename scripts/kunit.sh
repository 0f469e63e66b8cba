#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boots a kernel with the KUnit suites in it and judges their results.
#
# usage: scripts/kunit.sh [KVER] [CONFIG]       (SMP=sockets,cores,threads)
# exit: 0 all passed; 1 any failed, none ran or the kernel misbehaved; 2 usage
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

KVER=${1:-6.12} CONFIG=${2:-base} SMP=${SMP:-1,2,2}
GLOB='sched_ht*'

# Counts "ok"/"not ok" of test cases (four spaces in), not of suites.
# KTAP of the kernel: suites at the left margin or four in, cases deeper;
# a parameterised case reports its parameters one level deeper still.
judge()
{
	awk '
		{ gsub(/\r/, ""); sub(/^\[ *[0-9.]+\] ?(\[ *[TC][0-9]+\] )?/, "") }
		/^ *# Subtest: / { suites++ }
		/^ *(not )?ok [0-9]+ / && !/^(    )?(not )?ok [0-9]+ sched_ht/ {
			if ($0 ~ /# SKIP/) s++
			else if ($1 == "not") { f++; print "FAILED: " $0 }
			else p++
		}
		/^ *# .*(EXPECTATION|ASSERTION) FAILED/ { print }
		END { printf "%d passed, %d failed, %d skipped\n", p, f, s }' "$1"
}

KERNEL=$("$HT_ROOT/scripts/kernel.sh" path "$KVER" "$CONFIG")
LOG=$(mktemp)
trap 'rm -f "$LOG"' EXIT
RC=0
# The suites ran at boot; their results stay readable in debugfs.
# shellcheck disable=SC2016
"$HT_ROOT/scripts/vm" --kernel "$KERNEL" --smp "$SMP" --timeout 300 \
	--append "kunit.enable=1 kunit.filter_glob=$GLOB" -- \
	sh -c 'mount -t debugfs none /sys/kernel/debug 2>/dev/null
		cat /sys/kernel/debug/kunit/*/results' > "$LOG" || RC=$?
if [ "$RC" != 0 ]; then
	cat "$LOG" >&2
	note "the virtual machine ended with status $RC"
fi
VERDICT=$(judge "$LOG")
[[ $VERDICT != "0 passed, 0 failed"* ]] || { cat "$LOG" >&2; note "no KUnit case ran"; RC=1; }
if [ "$RC" != 0 ] && [[ $VERDICT == *" 0 failed,"* ]]; then
	VERDICT=${VERDICT/ 0 failed/ 1 failed}
fi
echo "$VERDICT"
[[ $VERDICT == *" 0 failed,"* ]]

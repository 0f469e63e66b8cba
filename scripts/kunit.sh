#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boots a kernel with the KUnit suites in it and judges their results.
#
# usage: scripts/kunit.sh [KVER] [CONFIG]       (SMP=sockets,cores,threads; HT_KERNEL=bzImage)
# exit: 0 all passed; 1 any failed, none ran or the kernel misbehaved; 2 usage
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

KVER=${1:-6.12} CONFIG=${2:-base} SMP=${SMP:-1,2,2}
GLOB='sched_ht*'

# Counts test cases. A suite's own line stands at the left margin, its cases
# four columns in, the parameters of a case deeper still; all but suites count.
judge()
{
	awk '
		/^ +(not )?ok [0-9]+ / {
			if ($0 ~ /# SKIP/) s++
			else if ($1 == "not") f++
			else p++
		}
		END { printf "%d passed, %d failed, %d skipped\n", p, f, s }' "$1"
}

KERNEL=${HT_KERNEL:-$("$HT_ROOT/scripts/kernel.sh" path "$KVER" "$CONFIG")}
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
grep -E '^ +not ok |FAILED|EXPECTATION|ASSERTION|# SKIP' "$LOG" || true
[[ $VERDICT != "0 passed, 0 failed"* ]] || { cat "$LOG" >&2; note "no KUnit case ran"; RC=1; }
if [ "$RC" != 0 ] && [[ $VERDICT == *" 0 failed,"* ]]; then
	VERDICT=${VERDICT/ 0 failed/ 1 failed}
fi
echo "$VERDICT"
[[ $VERDICT == *" 0 failed,"* ]]

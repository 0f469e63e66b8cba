#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Compiles kernel/sched/ alone (no kernel is linked) under one configuration
# after another, with W=1 and sparse. A compiler warning in kernel/sched/, or
# one of sparse in a file of ours or in a line that a hook adds, is a failure.
#
# usage: scripts/matrix.sh [KVER] [POINT...]
#   POINTS=N ROTATE=STRING   only N points, chosen by STRING (a commit)
#   scripts/matrix.sh list   the names of the points
# exit: 0 all points clean; 1 not; 2 usage
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

# Name, then what differs from configs/base.config. A preemption model or a
# tick model is a choice: the one left is switched off by name.
point_table()
{
	cat <<-'END'
	base
	off            SCHED_HT_AWARE=n SCHED_HT_DEBUG=n SCHED_HT_KUNIT_TEST=n
	ht-debug-n     SCHED_HT_DEBUG=n
	ht-plain       SCHED_HT_DEBUG=n SCHED_HT_KUNIT_TEST=n KUNIT=n
	smp-n          SMP=n NUMA=n NUMA_BALANCING=n NR_CPUS=1
	smt-n          SCHED_SMT=n SCHED_CORE=n
	core-n         SCHED_CORE=n
	cluster-n      SCHED_CLUSTER=n
	mc-n           SCHED_MC=n SCHED_CLUSTER=n
	ext-n          SCHED_CLASS_EXT=n EXT_GROUP_SCHED=n
	ext-core-n     SCHED_CLASS_EXT=n EXT_GROUP_SCHED=n SCHED_CORE=n
	psi-n          PSI=n
	cgroups-n      CGROUPS=n SCHED_AUTOGROUP=n MEMCG=n
	cgroup-sched-n CGROUP_SCHED=n SCHED_AUTOGROUP=n FAIR_GROUP_SCHED=n CFS_BANDWIDTH=n
	bandwidth-n    CFS_BANDWIDTH=n
	rt-group       RT_GROUP_SCHED=y
	autogroup-n    SCHED_AUTOGROUP=n
	cpusets-n      CPUSETS=n
	uclamp-n       UCLAMP_TASK=n UCLAMP_TASK_GROUP=n
	preempt-none   PREEMPT=n PREEMPT_NONE=y PREEMPT_DYNAMIC=n SCHED_CORE=n
	preempt-volun  PREEMPT=n PREEMPT_VOLUNTARY=y PREEMPT_DYNAMIC=n
	preempt-full   PREEMPT_DYNAMIC=n SCHED_CORE=n
	none-dynamic   PREEMPT=n PREEMPT_NONE=y PREEMPT_DYNAMIC=y
	preempt-rt     PREEMPT=n PREEMPT_RT=y PREEMPT_DYNAMIC=n
	nohz-idle      NO_HZ_FULL=n NO_HZ_IDLE=y
	hz-periodic    NO_HZ_FULL=n HZ_PERIODIC=y NO_HZ=n
	numa-n         NUMA=n NUMA_BALANCING=n
	numabal-n      NUMA_BALANCING=n
	sched-debug-n  SCHED_DEBUG=n
	debugfs-n      DEBUG_FS=n SCHED_DEBUG=n SCHED_HT_DEBUG=n KUNIT_DEBUGFS=n
	schedstats-n   SCHEDSTATS=n
	tracing-n      FTRACE=n
	cpufreq-n      CPU_FREQ=n
	irqtime        IRQ_TIME_ACCOUNTING=y
	proc-n         PROC_FS=n
	sysctl-n       PROC_SYSCTL=n
	lockdep        PROVE_LOCKING=y DEBUG_ATOMIC_SLEEP=y DEBUG_LIST=y DEBUG_PREEMPT=y
	cpus-8192      MAXSMP=y
	cpus-2         NR_CPUS=2
	size           CC_OPTIMIZE_FOR_PERFORMANCE=n CC_OPTIMIZE_FOR_SIZE=y
	END
}

all_points()
{
	point_table | awk '{ print $1 }'
}

# $2 names, evenly spread over the table, the start given by the string $1:
# over a few dozen commits every point has its turn.
rotated_points()
{
	local seed=$1 want=$2 start names

	mapfile -t names < <(all_points)
	start=$((0x$(echo "$seed" | sha256sum | cut -c1-7) % ${#names[@]}))
	for ((i = 0; i < want && i < ${#names[@]}; i++)); do
		echo "${names[(start + i * ${#names[@]} / want) % ${#names[@]}]}"
	done
}

# x86 does not let anyone switch SCHED_SMT off, other machines do: the tree
# that only the matrix uses asks about it.
ask_about_smt()
{
	local kconfig=$TREE/arch/x86/Kconfig

	grep -q 'bool "SMT"' "$kconfig" && return 0
	sed '/^config SCHED_SMT$/,/^$/ s/def_bool y if SMP/bool "SMT" if SMP\n\tdefault y if SMP/' \
		"$kconfig" > "$kconfig.new"
	mv "$kconfig.new" "$kconfig"
}

overrides_of()
{
	point_table | awk -v p="$1" '
		$1 == p { found = 1; for (i = 2; i <= NF; i++) print "CONFIG_" $i }
		END { exit !found }'
}

# Options that come back by themselves in this kernel version are no mistake
# of the table's as long as the ones asked for by name took effect.
configure_point()
{
	local point=$1

	overrides_of "$point" > "$WORK/overrides" ||
		usage_die "matrix has no point $point (scripts/matrix.sh list)"
	merge_fragments "$HT_ROOT/configs/base.config" "$WORK/overrides" > "$WORK/fragment"
	kernel_make "$TREE" -s KCONFIG_ALLCONFIG="$WORK/fragment" allnoconfig &&
		(check_config "$TREE" "$WORK/overrides")
}

# "file:line" of each line that hooks add, for the filter of sparse's output.
added_lines()
{
	local file

	(cd "$TREE" && comm -12 .ht-manifest \
		<(cd "$PRISTINE" && find kernel include -type f | sort)) |
	while IFS= read -r file; do
		{ diff --unchanged-line-format='' --old-line-format='' \
			--new-line-format="$file:%dn"$'\n' \
			"$PRISTINE/$file" "$TREE/$file" || true; }
	done
}

# What the compiler said at point $1 about the scheduler. Vanilla is silent, but
# for a constant that rt.c has no use for without PROC_FS.
compiler_lines()
{
	grep -E '(warning|error): |\*\*\* ' "$WORK/$1.log" |
		grep -vE '^(lib|mm|fs|drivers|arch|tools|scripts)/' |
		grep -v '^kernel/sched/rt\.c:.*max_rt_runtime.* defined but not used' || true
}

# What sparse said about files of ours or lines that hooks add. Of the rest of
# the scheduler it has much to say, in vanilla too.
sparse_lines()
{
	awk -F: '
		NR == FNR { added[$0] = 1; next }
		!/: (warning|error): / { next }
		$1 ~ /(^|\/)(ht|ht_[a-z_]*|topology_ht)\.[ch]$/ || ($1 ":" $2) in added
	' "$WORK/added" "$WORK/sparse.log"
}

compile_point()
{
	local log=$WORK/$1.log

	find "$TREE/kernel/sched" -name '*.o' -delete
	kernel_make "$TREE" "-j$HT_JOBS" W=1 C=1 CHECK="$WORK/sparse" \
		kernel/sched/ > "$log" 2>&1
}

run_point()
{
	local point=$1 start=$SECONDS rc=0

	: > "$WORK/sparse.log"
	{ configure_point "$point" > "$WORK/$point.log" 2>&1 && compile_point "$point"; } || rc=1
	{ compiler_lines "$point"; sparse_lines; } | sort -u > "$WORK/bad"
	[ "$rc" = 0 ] || [ -s "$WORK/bad" ] || tail -5 "$WORK/$point.log" > "$WORK/bad"
	if [ "$rc" = 0 ] && [ ! -s "$WORK/bad" ]; then
		printf '  ok    %-16s %3d s\n' "$point" $((SECONDS - start))
		return 0
	fi
	printf '  FAIL  %-16s %3d s\n' "$point" $((SECONDS - start))
	sed 's/^/        /' "$WORK/bad" | head -30
	return 1
}

if [ "${1:-}" = list ]; then
	point_table
	exit 0
fi
KVER=${1:-6.12}
[ $# = 0 ] || shift
require_kver "$KVER"
require_tools gcc make sparse
if [ $# -gt 0 ]; then
	CHOSEN=("$@")
elif [ -n "${POINTS:-}" ]; then
	[[ $POINTS =~ ^[1-9][0-9]*$ ]] || usage_die "POINTS=$POINTS is not a number"
	mapfile -t CHOSEN < <(rotated_points "${ROTATE:-}" "$POINTS")
else
	mapfile -t CHOSEN < <(all_points)
fi

TREE=$HT_CACHE/linux-$KVER-matrix
mkdir -p "$HT_CACHE"
take_lock "$TREE.lock"
PRISTINE=$(pristine_tree "$KVER")
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
prepare_tree "$TREE" "$KVER"
ask_about_smt
added_lines > "$WORK/added"
# Kept apart from the compiler's messages, which look the same.
printf '#!/bin/sh\nexec sparse "$@" 2>> %s/sparse.log\n' "$WORK" > "$WORK/sparse"
chmod +x "$WORK/sparse"
PASSED=0 FAILED=0
for POINT in "${CHOSEN[@]}"; do
	if run_point "$POINT"; then
		PASSED=$((PASSED + 1))
	else
		FAILED=$((FAILED + 1))
	fi
done
echo "$PASSED passed, $FAILED failed, $(($(all_points | wc -l) - PASSED - FAILED)) skipped"
[ "$FAILED" = 0 ] && [ "$PASSED" -gt 0 ]

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# The guest's half of the demonstration: runs S1 and records who ran where.
#
# Usage: demo-guest.sh OUT HTCTL REPETITIONS SECONDS [POLICY...]
#
# Under each policy (normal, ht) it runs `openssl speed rsa512` with 1, 2, 3 and
# 4 processes at once, and REPETITIONS times with 2; then REPETITIONS times with
# 3, of which the one that has a core to itself is ended. The processes wait at a
# barrier, so that they start together. For each run OUT/POLICY-N-RUN/ (N is
# "leave" for the latter) gets
#	rate.K      what process K printed (openssl's machine-readable form)
#	pids        process ids of the processes, one a line
#	trace.gz    the kernel's record of all switches and timer ticks
# and OUT gets machine.txt and topology.txt. scripts/demo-report reads them.
#
# Exit status: 0 if every run was recorded, 1 otherwise.
set -euo pipefail

out=$1 htctl=$2 repetitions=$3 seconds=$4
shift 4
policies=("$@")
[ ${#policies[@]} -gt 0 ] || policies=(normal ht)

tracing=/sys/kernel/tracing
work=$(mktemp -d)

die()
{
	echo "demo-guest: $*" >&2
	exit 1
}

# Without it time goes in steps of a tick, and the record shows nothing.
require_clock()
{
	grep -q 'hres_active *: 1' /proc/timer_list ||
		die "no high-resolution timers here (clock: $(cat \
			/sys/devices/system/clocksource/clocksource0/current_clocksource))"
}

describe_machine()
{
	{
		echo "kernel=$(uname -r)"
		echo "hz=$(zcat /proc/config.gz | sed -n 's/^CONFIG_HZ=//p')"
		echo "cpus=$(nproc)"
		echo "openssl=$(openssl version | cut -d" " -f1,2)"
		echo "seconds=$seconds"
	} >"$out/machine.txt"
	"$htctl" topology --describe >"$out/topology.txt"
}

prepare_tracing()
{
	[ -e $tracing/trace ] || mount -t tracefs none $tracing
	echo 0 >$tracing/tracing_on
	# one clock for all CPUs: the record is about what happened at once
	echo mono >$tracing/trace_clock
	echo 8192 >$tracing/buffer_size_kb
	for event in sched/sched_switch sched/sched_wakeup sched/sched_wakeup_new \
		     sched/sched_process_exec sched/sched_process_exit \
		     timer/hrtimer_expire_entry; do
		echo 1 >$tracing/events/$event/enable
	done
	# says who is on the way, and why, to whoever reads the recording
	[ ! -e $tracing/events/sched_ht ] || echo 1 >$tracing/events/sched_ht/enable
}

# The process says that it is there, waits for the barrier, and turns into
# openssl, so that its process id is known before it starts.
worker()
{
	local policy=$1 index=$2 dir=$3 length=$4
	local command=(openssl speed -mr -elapsed -seconds "$length" rsa512)

	[ "$policy" = normal ] || command=("$htctl" run -- "${command[@]}")
	: >"$work/ready.$index"
	exec <"$work/barrier" >"$dir/rate.$index" 2>"$dir/log.$index"
	exec "${command[@]}"
}

wait_for_workers()
{
	local count=$1 ready

	for _ in $(seq 300); do
		ready=$(find "$work" -name 'ready.*' | wc -l)
		[ "$ready" -lt "$count" ] || return 0
		sleep 0.1
	done
	die "only $ready of $count processes reached the barrier in 30 s"
}

# start POLICY COUNT DIR SECONDS: the processes, and lifts the barrier; sets the
# array pids
start()
{
	local policy=$1 count=$2 dir=$3 length=$4 index

	mkdir -p "$dir"
	rm -f "$work"/ready.* "$work/barrier"
	mkfifo "$work/barrier"
	pids=()
	for ((index = 1; index <= count; index++)); do
		worker "$policy" "$index" "$dir" "$length" &
		pids+=($!)
	done
	printf '%s\n' "${pids[@]}" >"$dir/pids"
	wait_for_workers "$count"
	sleep 0.3
	echo >$tracing/trace
	echo 1 >$tracing/tracing_on
	exec 9>"$work/barrier"
}

# finish DIR: waits for the processes and keeps the recording; their status
finish()
{
	local dir=$1 pid status=0

	for pid in "${pids[@]}"; do
		wait "$pid" || status=$?
	done
	echo 0 >$tracing/tracing_on
	exec 9>&-
	cat $tracing/trace | gzip -1 >"$dir/trace.gz"
	return $status
}

one_run()
{
	local policy=$1 count=$2 run=$3
	local dir=$out/$policy-$count-$run

	start "$policy" "$count" "$dir" "$seconds"
	finish "$dir" || {
		cat "$dir"/log.* >&2
		die "$policy, $count processes, run $run: openssl failed"
	}
}

# The core that process $1 was last seen on.
core_of()
{
	local cpu siblings

	cpu=$(cut -d' ' -f39 "/proc/$1/stat" 2>/dev/null) || return 0
	siblings=$(<"/sys/devices/system/cpu/cpu$cpu/topology/thread_siblings_list")
	echo "${siblings%%[-,]*}"
}

# The process that has a core to itself; nothing if there is none.
lone_process()
{
	local pid core
	local -A first=() many=()

	for pid in "${pids[@]}"; do
		core=$(core_of "$pid")
		[ -n "$core" ] || die "a process ended before it was told to"
		[ -z "${first[$core]:-}" ] || many[$core]=yes
		first[$core]=$pid
	done
	for core in "${!first[@]}"; do
		[ -n "${many[$core]:-}" ] || echo "${first[$core]}"
	done
}

# Three run, and the one that has a core to itself ends: the other two share a
# core while one idles until somebody moves one of them.
leave_run()
{
	local policy=$1 run=$2
	local dir=$out/$policy-leave-$run lone=''

	# longer than it takes: they are ended
	start "$policy" 3 "$dir" 60
	for _ in $(seq 20); do
		sleep 0.5
		lone=$(lone_process)
		[ -z "$lone" ] || break
	done
	[ -n "$lone" ] || die "$policy: three processes never took two cores in 10 s"
	kill "$lone"
	sleep 0.5
	kill "${pids[@]}" 2>/dev/null || true
	finish "$dir" 2>/dev/null || true
}

rates()
{
	sed -n 's/^+F2:[0-9]*:[0-9]*:\([0-9]*\)\..*/\1/p' "$1"/rate.* | paste -sd' '
}

# Policies take turns, so that the host's load falls on all of them.
all_runs()
{
	local count run runs policy

	for count in 1 2 3 4; do
		runs=1
		[ "$count" -ne 2 ] || runs=$repetitions
		for ((run = 1; run <= runs; run++)); do
			for policy in "${policies[@]}"; do
				one_run "$policy" "$count" "$run"
				printf '  %-6s %d process(es), run %d of %d: %s sign/s\n' \
					"$policy" "$count" "$run" "$runs" \
					"$(rates "$out/$policy-$count-$run")"
			done
		done
	done
}

all_leave_runs()
{
	local run policy

	for ((run = 1; run <= repetitions; run++)); do
		for policy in "${policies[@]}"; do
			leave_run "$policy" "$run"
			printf '  %-6s one of three ends, run %d of %d\n' \
				"$policy" "$run" "$repetitions"
		done
	done
}

trap 'rm -rf "$work"' EXIT
require_clock
describe_machine
prepare_tracing
all_runs
all_leave_runs

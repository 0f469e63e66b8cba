#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Judges a kernel's console log: the only definition of a bad one.
#
# usage: scripts/console-badness.sh [--quiet] [--allow ERE]... FILE
#        scripts/console-badness.sh --self-test
#   --allow ERE  a matching line is not bad (for a test that provokes it)
#   --quiet      print nothing about a bad log
# FILE may be '-'. The bad lines go to stdout with what surrounds them.
# exit: 0 good; 1 bad, or empty; 2 usage or unreadable
set -euo pipefail

BEFORE=2
AFTER=18
MOST_LINES=120

# Matched with case, since boot messages name the same tools in lower case.
BAD=(
	# The kernel's own words for "this must not happen"
	'(^|[^A-Za-z_])(WARNING|BUG|BUGS): '
	'(^|[^A-Za-z_])(WARNING|BUG):$'
	'(^|[^A-Za-z_])Oops([^A-Za-z]|$)'
	'Kernel panic'
	'Call Trace:'
	'------------\[ cut here \]'
	'Unable to handle kernel'
	'general protection fault[:,]'
	'(invalid opcode|divide error|stack segment|double fault|bounds|int3|page fault): [0-9a-f]{4}'
	'stack guard page was hit|stack-protector: Kernel stack|Kernel stack is corrupted'
	'[Kk]ernel BUG at'
	'DEBUG_LOCKS_WARN_ON'

	# Locks
	'possible (circular|recursive) locking|possible irq lock inversion|inconsistent lock state'
	'(irq-safe -> .*irq-unsafe|SOFTIRQ-safe -> SOFTIRQ-unsafe|HARDIRQ-safe -> HARDIRQ-unsafe) lock order'
	'bad unlock balance|held lock freed|lock held (when returning|at task exit)|lock(s)? still held'
	'suspicious RCU usage|Invalid wait context|Nested lock was not taken'
	'trying to register non-static key|turning off the locking correctness validator'
	'bad contention detected|unlock of an unlocked|spinlock (bad magic|wrong|recursion|lockup|already unlocked)'

	# Time passing with nothing done
	'rcu: INFO:|self-detected stall|detected (expedited )?stalls|(rcu|tasks?)[a-z_]* kthread (starved|timer wakeup)'
	'rcu_tasks[a-z_]* detected|RCU Tasks.* stall'
	'blocked (for|in I/O wait for) more than [0-9]+ seconds'
	'soft lockup|hard LOCKUP|[Hh]ard lockup'
	'workqueue lockup'
	'NOHZ tick-stop error|nobody cared'
	'sched_ext: .*(runnable task stall|watchdog)'

	# Checkers
	'(KASAN|KCSAN|KMSAN|UBSAN|KFENCE|ODEBUG|kmemcheck): '
	'kmemleak: [1-9][0-9]* new suspected'
	'refcount_t: |(list_add|list_del|list_del_entry) ?(corruption|double add)|list_(add|del) corruption'
	'Bad (page (state|map|cache)|rss-counter)|Redzone|Poison (overwritten|check error)|Object already free'
	'slab error|double free|Padding overwritten'

	# The scheduler's neighbours
	'psi: (inconsistent|task underflow)'
	'scheduling while atomic|sleeping function called from invalid context'
	'Voluntary context switch within RCU'
	'CPU ?[0-9]+ (is stuck|failed to report alive|is not responding)'
	'sched_ht: .*(violation|BUG|corrupt)'

	# Not a kernel fault, but nothing that ran can be trusted
	'invoked oom-killer|Out of memory: |oom-kill:'
	'unregister_netdevice: waiting'
	'lapic is not functional|APIC timer disabled|Marking TSC unstable'
	'(^|\] *)not ok [0-9]|(EXPECTATION|ASSERTION) FAILED at'
)

usage()
{
	sed -n 's/^# \{0,1\}//; 5,11p' "$0" >&2
	exit 2
}

pattern()
{
	local IFS='|'

	echo "${BAD[*]}"
}

# Numbers of the bad lines in $1, those allowed left out.
bad_lines()
{
	comm -23 <(line_numbers "$1" -e "$(pattern)") \
		<([ "${#ALLOW[@]}" = 0 ] || line_numbers "$1" "${ALLOW[@]}") | sort -n
}

# Numbers, in comm's order, of the lines of $1 that match.
line_numbers()
{
	local file=$1

	shift
	{ grep -anE "$@" "$file" || true; } | cut -d: -f1 | sort
}

# Prints lines $2... of file $1 marked '>', each with what surrounds it.
show()
{
	local file=$1

	shift
	awk -v before=$BEFORE -v after=$AFTER -v numbers="$*" '
		BEGIN {
			n = split(numbers, bad, " ")
			for (i = 1; i <= n; i++) {
				isbad[bad[i]] = 1
				for (j = bad[i] - before; j <= bad[i] + after; j++)
					wanted[j] = 1
			}
		}
		wanted[NR] {
			if (last && NR > last + 1)
				print "  ..."
			printf "%s %5d %s\n", isbad[NR] ? ">" : " ", NR, $0
			last = NR
		}' "$file" | tr -d '\000\r' | head -n $MOST_LINES
}

judge()
{
	local file=$1 lines

	if [ ! -s "$file" ]; then
		[ -n "$QUIET" ] || echo "console log is empty: the kernel printed nothing"
		return 1
	fi
	mapfile -t lines < <(bad_lines "$file")
	[ "${#lines[@]}" -gt 0 ] || return 0
	if [ -z "$QUIET" ]; then
		echo "console log is bad: ${#lines[@]} line(s) marked '>'"
		show "$file" "${lines[@]}"
	fi
	return 1
}

# One line a time must be judged as its first word says.
self_test()
{
	local want line got passed=0 failed=0 tmp

	tmp=$(mktemp)
	trap 'rm -f "$tmp"' RETURN
	while read -r want line; do
		case $want in good|bad) ;; *) continue ;; esac
		printf '[    1.234567] %s\n' "$line" > "$tmp"
		got=good
		QUIET=1 judge "$tmp" || got=bad
		if [ "$got" = "$want" ]; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
			echo "judged $got, is $want: $line"
		fi
	done < <(self_test_table)
	self_test_files "$tmp"
	echo "console-badness: $passed passed, $failed failed, 0 skipped"
	[ "$failed" = 0 ]
}

expect()
{
	local what=$1 want=$2 got=0

	shift 2
	"$0" "$@" >/dev/null 2>&1 || got=$?
	if [ "$got" = "$want" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "$what: exit $got, not $want"
	fi
}

# What is about whole files and options.
self_test_files()
{
	local tmp=$1

	: > "$tmp"
	expect 'empty log' 1 "$tmp"
	expect 'no such file' 2 "$tmp.missing"
	expect 'no file' 2
	expect 'unknown option' 2 --frobnicate "$tmp"
	expect 'bad expression' 2 --allow '(' "$tmp"
	printf 'ok\0\n\377\376 text\r\nlast line without end' > "$tmp"
	expect 'binary rubbish' 0 "$tmp"
	printf 'ok\0\n\377\376 text\nBUG: without end' > "$tmp"
	expect 'bad last line without end' 1 "$tmp"
	printf 'a\nWARNING: CPU: 1 PID: 2 at x.c:3\nb\n' > "$tmp"
	expect 'one bad line' 1 "$tmp"
	expect 'the bad line allowed' 0 --allow 'at x\.c:3' "$tmp"
	expect 'another line allowed' 1 --allow 'at y\.c:3' "$tmp"
	expect 'a line number is not matched' 1 --allow '^2' "$tmp"
}

self_test_table()
{
	cat <<-'END'
	bad WARNING: CPU: 1 PID: 42 at kernel/sched/core.c:123 foo+0x1/0x2
	bad WARNING: possible circular locking dependency detected
	bad WARNING: possible recursive locking detected
	bad WARNING: suspicious RCU usage
	bad WARNING: inconsistent lock state
	bad WARNING: bad unlock balance detected!
	bad WARNING: lock held when returning to user space!
	bad WARNING: HARDIRQ-safe -> HARDIRQ-unsafe lock order detected
	bad [ BUG: Invalid wait context ]
	bad BUG: scheduling while atomic: swapper/1/0/0x00000002
	bad BUG: sleeping function called from invalid context at mm/slab.h:1
	bad BUG: kernel NULL pointer dereference, address: 0000000000000008
	bad BUG: unable to handle page fault for address: ffffffffdeadbeef
	bad BUG: KASAN: slab-use-after-free in ht_queue+0x1/0x2
	bad BUG: KCSAN: data-race in ht_pick / ht_put
	bad BUG: KFENCE: use-after-free read in ht_put+0x1/0x2
	bad BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 31s!
	bad BUG: MAX_LOCKDEP_CHAINS too low!
	bad BUG: spinlock bad magic on CPU#1, swapper/1/0
	bad BUG: using smp_processor_id() in preemptible [00000000] code: cat/1
	bad watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [x:1]
	bad watchdog: Watchdog detected hard LOCKUP on cpu 3
	bad kernel BUG at kernel/sched/ht_queue.c:77!
	bad ------------[ cut here ]------------
	bad Oops: 0000 [#1] PREEMPT SMP NOPTI
	bad Oops: invalid opcode: 0000 [#1] PREEMPT SMP
	bad Oops: general protection fault, probably for non-canonical address 0xdead
	bad general protection fault: 0000 [#1] SMP
	bad divide error: 0000 [#1] PREEMPT SMP
	bad Kernel panic - not syncing: kernel: panic_on_warn set ...
	bad Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000009
	bad Call Trace:
	bad UBSAN: array-index-out-of-bounds in kernel/sched/ht_idle.c:12:3
	bad rcu: INFO: rcu_preempt self-detected stall on CPU
	bad rcu: INFO: rcu_preempt detected stalls on CPUs/tasks: { 1-... } 5 jiffies
	bad rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 1-... }
	bad rcu: rcu_preempt kthread starved for 26000 jiffies! g1 f0x0
	bad rcu: rcu_preempt kthread timer wakeup didn't happen for 26000 jiffies!
	bad INFO: rcu_tasks detected stalls on tasks:
	bad INFO: task kworker/0:1:9 blocked for more than 122 seconds.
	bad INFO: task cat:9 blocked in I/O wait for more than 122 seconds.
	bad INFO: trying to register non-static key.
	bad workqueue lockup
	bad psi: inconsistent task state! task=1:x cpu=0 psi_flags=4 clear=1 set=0
	bad psi: task underflow! cpu=1 t=0 tasks=[0 0 0] clear=1 set=0
	bad refcount_t: underflow; use-after-free.
	bad list_add corruption. prev->next should be next (0), but was 1.
	bad list_del corruption, 0->next is LIST_POISON1 (dead)
	bad DEBUG_LOCKS_WARN_ON(depth <= 0)
	bad ODEBUG: free active (active state 0) object: 0 object type: timer_list
	bad kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
	bad Clockevents: could not switch to one-shot mode: lapic is not functional.
	bad tsc: Marking TSC unstable due to could not calculate TSC khz
	bad unregister_netdevice: waiting for lo to become free. Usage count = 2
	bad NOHZ tick-stop error: local softirq work is pending, handler #200!!!
	bad irq 11: nobody cared (try booting with the "irqpoll" option)
	bad sched_ext: BPF scheduler "simple" disabled (runnable task stall)
	bad Voluntary context switch within RCU read-side critical section!
	bad Bad page state in process cat  pfn:12345
	bad Out of memory: Killed process 77 (stress-ng) total-vm:1kB
	bad stress-ng invoked oom-killer: gfp_mask=0x1, order=0
	bad smpboot: CPU 3 is stuck
	bad CPU3 failed to report alive state
	bad # ht_policy: EXPECTATION FAILED at x.c:1
	bad # ht_policy: ASSERTION FAILED at x.c:1
	bad     not ok 3 idle_core_nearest
	bad traps: PANIC: double fault: 0000 [#1]
	good Linux version 6.12.0 (gcc) #1 SMP PREEMPT_DYNAMIC
	good Command line: console=ttyS0 panic=-1 oops=panic panic_on_warn=1 rcupdate.rcu_cpu_stall_timeout=300
	good ** This means that this is a DEBUG kernel and it is     **
	good DEBUG: nothing
	good Warning: unable to open an initial console.
	good kasan: KernelAddressSanitizer initialized
	good kcsan: enabled early
	good kcsan: strict mode configured
	good kfence: initialized - using 2097152 bytes for 255 objects
	good kmemleak: Kernel memory leak detector initialized (mem pool available: 1)
	good rcu: Preemptible hierarchical RCU implementation.
	good rcu: RCU restricting CPUs from NR_CPUS=512 to nr_cpu_ids=4.
	good rcu: RCU calculated value of scheduler-enlistment delay is 25 jiffies.
	good rcu_tasks: Setting shift to 2 and lim to 1 rcu_task_cb_adjust=1
	good Running RCU self tests
	good Lock dependency validator: Copyright (c) 2006 Red Hat, Inc., Ingo Molnar
	good ... MAX_LOCKDEP_SUBCLASSES:  8
	good Spectre V2 : Vulnerable
	good APIC calibration not consistent with PM-Timer: 158ms instead of 100ms
	good BIOS bug: multiple APIC/MADT found, using 2
	good workqueue: ht_work hogged CPU for >10000us 4 times, consider switching to WQ_UNBOUND
	good perf: interrupt took too long (2505 > 2500), lowering kernel.perf_event_max_sample_rate
	good hrtimer: interrupt took 1234567 ns
	good sched: RT throttling activated
	good sched: DL replenish lagged too much
	good traps: a.out[77] general protection fault ip:401136 sp:7ffc error:0 in a.out[401000+1000]
	good traps: a.out[77] trap invalid opcode ip:401136 sp:7ffc error:0 in a.out[401000+1000]
	good a.out[77]: segfault at 0 ip 0000000000401136 sp 00007ffc error 6 in a.out
	good sched_ext: BPF scheduler "simple" enabled
	good sched_ext: BPF scheduler "simple" disabled (unregistered from user space)
	good sched_ht: 2 cores, 4 threads, 1 LLC
	good ok 1 ht_policy
	good # ht_policy: pass:12 fail:0 skip:0 total:12
	good ok 4 not_a_core # SKIP no SMT
	good smpboot: CPU 3 is now offline
	good psi: enabled
	good debugfs: oops
	good Debug: BUGS is only a word
	END
}

QUIET=
ALLOW=()
while [ $# -gt 0 ]; do
	case $1 in
	--quiet) QUIET=1 ;;
	--allow)
		[ $# -ge 2 ] || usage
		# 1 is "no match"; more is an expression that grep refuses.
		grep -qE -e "$2" /dev/null 2>/dev/null || [ $? = 1 ] || {
			echo "console-badness.sh: --allow '$2' is not a regular expression" >&2
			exit 2
		}
		ALLOW+=(-e "$2")
		shift ;;
	--self-test) self_test; exit ;;
	-) break ;;
	-*) usage ;;
	*) break ;;
	esac
	shift
done
[ $# = 1 ] || usage
FILE=$1
if [ "$FILE" = - ]; then
	FILE=$(mktemp)
	trap 'rm -f "$FILE"' EXIT
	cat > "$FILE"
fi
if [ ! -f "$FILE" ] || [ ! -r "$FILE" ]; then
	echo "console-badness.sh: cannot read $FILE" >&2
	exit 2
fi
judge "$FILE"

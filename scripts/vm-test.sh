#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Tests scripts/vm itself: exit statuses, streams, time limits, verdicts on the
# console log, and that guests see the topologies asked for.
#
# usage: scripts/vm-test.sh [--all] [--host] [--kernel BZIMAGE] [--topo NAME]...
#   --all     every named topology (default: three of them)
#   --host    only what needs no guest
#   --topo    only boot this topology
# exit: 0 all passed; 1 something failed; 2 usage
set -euo pipefail

SCRIPTS=$(cd "$(dirname "$0")" && pwd)
VM=$SCRIPTS/vm
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
PASSED=0 FAILED=0 SKIPPED=0

pass() { PASSED=$((PASSED + 1)); echo "ok   $1"; }
fail() { FAILED=$((FAILED + 1)); echo "FAIL $1: $2"; sed 's/^/     | /' "$WORK/err" | tail -n 40; }
skip() { SKIPPED=$((SKIPPED + 1)); echo "skip $1: $2"; }

# Runs scripts/vm with the arguments given; sets RC, leaves $WORK/{out,err}.
vm()
{
	RC=0
	"$VM" "${VM_ARGS[@]}" "$@" > "$WORK/out" 2> "$WORK/err" || RC=$?
	# A guest is expected to fail in some tests: its kept log is not needed.
	sed -n 's/^vm: console log: //p' "$WORK/err" | while IFS= read -r log; do
		case $log in */sched-ht-console.*) rm -f "$log" ;; esac
	done
}

# check NAME STATUS [OUTPUT]: what the last vm returned and wrote.
check()
{
	local name=$1 want=$2

	if [ "$RC" != "$want" ]; then
		fail "$name" "exit $RC, not $want"
	elif [ $# -gt 2 ] && [ "$(cat "$WORK/out")" != "$3" ]; then
		fail "$name" "output '$(cat "$WORK/out")', not '$3'"
	else
		pass "$name"
	fi
}

# Like check, for a text that stderr must contain.
check_err()
{
	local name=$1 want=$2 text=$3

	if [ "$RC" != "$want" ]; then
		fail "$name" "exit $RC, not $want"
	elif ! grep -qF -- "$text" "$WORK/err"; then
		fail "$name" "stderr lacks '$text'"
	else
		pass "$name"
	fi
}

# What can be told without booting anything

host_tests()
{
	local bad

	: > "$WORK/err"
	if "$SCRIPTS/console-badness.sh" --self-test > "$WORK/out" 2>&1; then
		pass "console-badness judges its table rightly"
	else
		cp "$WORK/out" "$WORK/err"
		fail "console-badness judges its table rightly" "see above"
	fi
	# No test here may get as far as making a kernel.
	VM_ARGS=(--kernel "$VM")
	vm; check "no command is a usage error" 2
	vm --frobnicate -- true; check "unknown option" 2
	vm --topo '' -- true; check "--topo ''" 2
	vm --topo nowhere -- true; check_err "unknown topology" 2 "--list-topos"
	for bad in 0,2,2 1,2 1,2,2,2 a,b,c 1,-2,2 9999,99,9 ''; do
		vm --smp "$bad" -- true; check "--smp '$bad'" 2
	done
	vm --smp 1,2,2 --topo 1x2x2 -- true; check "--smp and --topo" 2
	vm --timeout 0 -- true; check "--timeout 0" 2
	vm --mem 1 -- true; check "--mem 1" 2
	vm --rw "$WORK/missing" -- true; check "--rw of what is not there" 2
	vm --rw / -- true; check "--rw of the whole root" 2
	vm --allow-console '(' -- true; check "--allow-console with a bad expression" 2
	vm --kernel "$WORK/missing" -- true; check_err "kernel that is not there" 125 "no kernel"
	vm --qemu "$WORK/missing" -- true
	check_err "QEMU that is not there" 125 "make deps"
	vm --dry-run --smp 2,4,2
	if grep -q 'sockets=2,dies=1,cores=4,threads=2' "$WORK/out"; then
		check "--dry-run shows the command line" 0
	else
		fail "--dry-run shows the command line" "no -smp in it"
	fi
	old_qemu_tests
	topology_file_tests
	topology_model_tests
}

# A QEMU that says it is 7.2 must lead to skips, counted by the caller.
old_qemu_tests()
{
	printf '#!/bin/sh\necho "QEMU emulator version 7.2.0"\n' > "$WORK/qemu"
	chmod +x "$WORK/qemu"
	vm --qemu "$WORK/qemu" --topo four-llc -- true
	check_err "topology that this QEMU cannot make" 77 "needs QEMU 10.0"
	vm --qemu "$WORK/qemu" --dry-run --topo two-llc
	check "topology that QEMU 7.2 can make" 0
}

topology_file_tests()
{
	local name text n=0

	while IFS='|' read -r name text; do
		n=$((n + 1))
		printf '%b\n' "$text" > "$WORK/t$n.vm"
		vm --dry-run --topo "$WORK/t$n.vm"
		check "topology file with $name" "${name%% *}"
	done <<-'END'
	0 a shape only|shape = cores=2
	0 everything|# x\nabout = y # z\nshape = cores=2 threads=2\norder = 0 2 1 3\nllc = core
	2 no shape|about = x
	2 an unknown key|shape = cores=2\ncolour = red
	2 a line without '='|shape = cores=2\nfoo
	2 a key twice|shape = cores=2\nshape = cores=3
	2 a shape of rubbish|shape = cores=two
	2 a shape of zero|shape = cores=0
	2 too many CPUs|shape = sockets=64 cores=64 threads=8
	2 an order beyond the shape|shape = cores=2\norder = 0 2
	2 an order with a slot twice|shape = cores=2\norder = 0 1 1
	2 an order that starts elsewhere|shape = cores=2\norder = 1 0
	2 an order of rubbish|shape = cores=2\norder = 0 x
	2 present of zero|shape = cores=2\npresent = 0
	2 present beyond the shape|shape = cores=2\npresent = 3
	2 order and present|shape = cores=2\norder = 0 1\npresent = 2
	2 an unknown cache level|shape = cores=2\nllc = moon
	2 too few nodes|shape = cores=2\nnodes = 0
	2 a bad version|shape = cores=2\nmin-qemu = ten
	END
}

# The model's own arithmetic, against numbers worked out by hand.
topology_model_tests()
{
	local test

	: > "$WORK/err"
	while IFS= read -r test; do
		if PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -c "
import sys
sys.path.insert(0, '$SCRIPTS')
import vm_topology as t
x = t.find
assert $test" 2> "$WORK/err"; then
			pass "model: $test"
		else
			fail "model: $test" "is not so"
		fi
	done <<-'END'
	t.cpulist([5, 0, 1, 2]) == '0-2,5' and t.cpulist([]) == ''
	t.parse_list('0-6:2 9', '') == [0, 2, 4, 6, 9]
	x('1x2x2').expected([0, 1, 2, 3])[2]['siblings'] == '2-3'
	x('1x2x2').expected([0, 2])[2]['siblings'] == '2'
	x('smt3').apic_id(3) == 4 and x('smt3').apic_id(5) == 6
	x('dual-xeon').expected(range(24))[1]['siblings'] == '1,13'
	x('dual-xeon').expected(range(24))[0]['package'] == ','.join(map(str, range(0, 24, 2)))
	x('two-llc').expected(range(8))[5]['llc'] == '4-7'
	x('two-llc').expected(range(8))[5]['package'] == '0-7'
	x('no-l3').expected(range(8))[5]['llc'] == 'none'
	x('possible-64').possible() == 64 and x('one-thread-core').possible() is None
	x('hybrid').expected(range(8))[4]['siblings'] == '4'
	x('numa-in-package').expected(range(8))[5]['node'] == '1'
	sum(x('numbered-02-13').madt()) % 256 == 0
	not x('1x2x2').renumbered and x('numbered-02-13').renumbered
	all(len(k.slots) == len(k.expected(range(len(k.slots)))) for k in t.known())
	END
}

# What needs a guest

status_tests()
{
	local code

	for code in 0 42 77 125; do
		vm --result "$WORK/result" -- sh -c "exit $code"; check "exit status $code" "$code"
		grep -q '"class": "exit"' "$WORK/result" ||
			fail "exit status $code" "result says $(cat "$WORK/result")"
	done
	# shellcheck disable=SC2016 # the guest's shell expands it
	vm -- sh -c 'kill -9 $$'; check "killed by signal 9" 137
	# shellcheck disable=SC2016
	vm -- sh -c 'kill -TERM $$'; check "killed by signal 15" 143
	vm -- /no/such/program; check_err "no such program" 127 "cannot run"
	vm -- /etc; check_err "a program that is none" 126 "cannot run"
}

stream_tests()
{
	local want

	# shellcheck disable=SC2016 # nothing shall expand
	vm -- printf '<%s>' 'a b' '"c"' "d'e" '' '$x' $'new\nline' '*' 'ü'
	# shellcheck disable=SC2016
	want=$(printf '<%s>' 'a b' '"c"' "d'e" '' '$x' $'new\nline' '*' 'ü')
	check "arguments arrive as they are" 0 "$want"
	vm -- sh -c 'echo out; echo err >&2'; check "stdout" 0 "out"
	check_err "stderr" 0 "err"
	vm -- head -c 3000000 /dev/zero
	if [ "$(stat -c %s "$WORK/out")" = 3000000 ]; then
		check "much output" 0
	else
		fail "much output" "$(stat -c %s "$WORK/out") bytes of 3000000"
	fi
	vm -- sh -c 'echo x >/dev/stdout; sleep 1000 & echo y'
	check "a child left behind does not hold it up" 0 $'x\ny'
	RC=0
	echo hello | "$VM" "${VM_ARGS[@]}" --stdin -- cat > "$WORK/out" 2> "$WORK/err" || RC=$?
	check "--stdin" 0 hello
	vm -- cat; check "no input by default" 0 ''
	streaming_test
	closed_output_test
}

# The first line must be here while the command still runs.
streaming_test()
{
	local name="output comes as it is written" pid tries=0

	"$VM" "${VM_ARGS[@]}" -- sh -c 'echo first; sleep 1000' > "$WORK/out" 2> "$WORK/err" &
	pid=$!
	until grep -q first "$WORK/out"; do
		tries=$((tries + 1))
		if [ "$tries" -gt 600 ] || ! kill -0 "$pid" 2>/dev/null; then
			kill "$pid" 2>/dev/null || true
			fail "$name" "nothing came"
			return
		fi
		sleep 0.2
	done
	pass "$name"
	orphan_test "$pid"
}

# Not so of what is dead but not yet reaped.
alive()
{
	[ -d "/proc/$1" ] && ! grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null
}

# The runner is killed in the hardest way: QEMU must go with it.
orphan_test()
{
	local pid=$1 qemu tries=0 name="no QEMU outlives its runner"

	qemu=$(pgrep -P "$pid" | head -1)
	kill -9 "$pid"
	wait "$pid" 2>/dev/null || true
	while alive "$qemu" && [ "$tries" -lt 50 ]; do
		tries=$((tries + 1))
		sleep 0.2
	done
	if [ -z "$qemu" ] || alive "$qemu"; then
		fail "$name" "process '$qemu'"
	else
		pass "$name"
	fi
	# It could not remove its directory either.
	find /tmp -maxdepth 1 -name 'sched-ht-vm.*' -mmin -10 -exec sh -c '
		for d; do fuser -s "$d"/* 2>/dev/null || rm -rf "$d"; done' _ {} + || true
}

closed_output_test()
{
	local rc=0

	{ timeout 200 "$VM" "${VM_ARGS[@]}" -- yes 2> "$WORK/err"; echo $? > "$WORK/rc"; } |
		head -n 1 > "$WORK/out" || true
	rc=$(cat "$WORK/rc")
	if [ "$rc" = 141 ]; then
		pass "a reader that goes away ends it"
	else
		fail "a reader that goes away ends it" "exit $rc, not 141"
	fi
}

limit_tests()
{
	vm --timeout 3 --result "$WORK/result" -- sleep 1000
	check_err "time limit" 124 "longer than 3 seconds"
	grep -q '"class": "timeout"' "$WORK/result" || fail "time limit" "wrong class in the result"
	vm --boot-timeout 0.5 -- true
	check_err "boot limit" 125 "no boot within"
}

console_tests()
{
	vm -- sh -c 'echo "WARNING: CPU: 0 PID: 1 at made/up.c:1" > /dev/kmsg; exit 0'
	check_err "a warning on the console fails a good command" 125 "made/up.c:1"
	vm --allow-console 'made/up\.c' -- \
		sh -c 'echo "WARNING: CPU: 0 PID: 1 at made/up.c:1" > /dev/kmsg; exit 3'
	check "an allowed warning does not" 3
	vm -- sh -c 'echo c > /proc/sysrq-trigger'
	check_err "a crash under the command" 125 "Kernel panic"
	vm --append 'rdinit=/nothing root=/dev/nothing' -- true
	check_err "a kernel that finds no init" 125 "Kernel panic"
	vm --log "$WORK/console" -- sh -c 'echo "hello from the test" > /dev/kmsg'
	if grep -q 'hello from the test' "$WORK/console"; then
		check "--log" 0
	else
		fail "--log" "the console's text is not in it"
	fi
}

# QEMU's own assertions: tried again once, and not what ends in another way.
abort_tests()
{
	local wrapper=$WORK/qemu qemu=${HT_QEMU:-qemu-system-x86_64}

	cat > "$wrapper" <<-END
		#!/bin/bash
		case "\$*" in *-version*) exec $qemu "\$@" ;; esac
		read -r aborts < "$WORK/aborts"
		[ "\$aborts" -gt 0 ] || exec $qemu "\$@"
		echo \$((aborts - 1)) > "$WORK/aborts"
		echo "an assertion" >&2
		ulimit -c 0
		kill -ABRT \$\$
	END
	chmod +x "$wrapper"
	echo 1 > "$WORK/aborts"
	vm --qemu "$wrapper" -- echo hello
	check "QEMU aborts once: a second try" 0 hello
	grep -q 'once more' "$WORK/err" || fail "QEMU aborts once" "it is not said"
	echo 2 > "$WORK/aborts"
	vm --qemu "$wrapper" -- true
	check_err "QEMU aborts twice" 125 "QEMU failed (status -6)"
}

# A host that does not run QEMU for seconds is told of.
host_wait_tests()
{
	local wrapper=$WORK/qemu qemu=${HT_QEMU:-qemu-system-x86_64}

	vm --result "$WORK/result" -- sleep 2
	check "a host that runs QEMU" 0
	! grep -q 'host did not run' "$WORK/err" ||
		fail "a host that runs QEMU" "$(cat "$WORK/err")"
	cat > "$wrapper" <<-END
		#!/bin/bash
		case "\$*" in *-version*) exec $qemu "\$@" ;; esac
		(sleep 2; kill -STOP \$\$; sleep 9; kill -CONT \$\$) &
		exec $qemu "\$@"
	END
	chmod +x "$wrapper"
	vm --qemu "$wrapper" -- sleep 4
	check_err "QEMU stopped for seconds" 0 "the host did not run thread"
}

# The host's files are there, and stay as they are.
file_tests()
{
	local probe=$WORK/probe

	echo host > "$probe"
	vm -- sh -c "cat '$probe' && echo guest > '$probe' && cat '$probe' && rm '$probe'"
	check "the guest sees and may change files" 0 $'host\nguest'
	if [ "$(cat "$probe")" = host ]; then
		pass "the host's files are untouched"
	else
		fail "the host's files are untouched" "$probe was changed"
	fi
	mkdir "$WORK/rw,odd name"
	vm --rw "$WORK/rw,odd name" -- sh -c "echo result > '$WORK/rw,odd name/file'"
	if [ "$(cat "$WORK/rw,odd name/file" 2>/dev/null)" = result ]; then
		check "--rw" 0
	else
		fail "--rw" "the file did not reach the host"
	fi
	pushd "$WORK" > /dev/null
	vm -- pwd
	popd > /dev/null
	check "same working directory" 0 "$WORK"
}

environment_tests()
{
	export HT_TEST_A='a b' HT_TEST_B=no
	# shellcheck disable=SC2016
	vm --env HT_TEST_A --env 'HT_TEST_C=x=y' -- \
		sh -c 'echo "$HT_TEST_A|$HT_TEST_B|$HT_TEST_C|$PATH|$HOME|$HT_VM_TOPO"'
	check "environment" 0 "a b||x=y|$PATH|$HOME|${VM_TOPO:-1x2x2}"
	# shellcheck disable=SC2016
	vm -- sh -c 'for fs in proc sysfs devtmpfs devpts tmpfs debugfs tracefs bpf cgroup2; do
			grep -q " $fs " /proc/mounts || echo "no $fs"; done
		grep -q cpu /sys/fs/cgroup/cgroup.subtree_control || echo "no cpu controller"
		[ "$(cat /proc/self/cgroup)" = 0::/ ] || echo "not in the root group"
		cat /sys/class/net/lo/flags; ls /dev/fd >/dev/null && echo > /dev/null && ls -d /dev/shm'
	check "mounts, root cgroup, loopback" 0 $'0x9\n/dev/shm'
	vm --cgroup v1 -- sh -c 'mkdir /sys/fs/cgroup/cpu/a && ls /sys/fs/cgroup/cpu/a/cpu.shares'
	check "--cgroup v1" 0 /sys/fs/cgroup/cpu/a/cpu.shares
	vm --append 'foo.bar=1 isolcpus=1' -- cat /sys/devices/system/cpu/isolated
	check "--append" 0 1
}

assertion_tests()
{
	vm --cpu qemu64 --smp 1,2,2 -- true
	check_err "a CPU model without siblings is found out" 125 "does not see topology"
	vm --append nosmt -- cat /sys/devices/system/cpu/online
	check "nosmt: one thread of each core" 0 '0,2'
	vm --append maxcpus=2 -- true
	check "maxcpus=2" 0
}

topology_test()
{
	vm --topo "$1" --timeout 120 -- nproc
	case $RC in
	77) skip "topology $1" "$(sed -n 's/^vm: SKIP //p' "$WORK/err")" ;;
	*) check "topology $1 boots and is seen ($(sed -n 's/.*boot \([0-9.]* s\).*/\1/p' "$WORK/err"))" 0 ;;
	esac
}

summary()
{
	echo "$PASSED passed, $FAILED failed, $SKIPPED skipped"
	[ "$FAILED" = 0 ]
}

main()
{
	local all='' host='' kernel=() topos=() t

	while [ $# -gt 0 ]; do
		case $1 in
		--all) all=1 ;;
		--host) host=1 ;;
		--kernel) [ $# -ge 2 ] || exit 2; kernel=(--kernel "$2"); shift ;;
		--topo) [ $# -ge 2 ] || exit 2; topos+=("$2"); shift ;;
		*) sed -n 's/^# \{0,1\}//; 7,11p' "$0" >&2; exit 2 ;;
		esac
		shift
	done

	if [ "${#topos[@]}" = 0 ]; then
		host_tests
		[ -z "$host" ] || { summary; exit; }
	fi
	VM_ARGS=("${kernel[@]}")
	if [ "${#topos[@]}" = 0 ]; then
		status_tests
		stream_tests
		limit_tests
		console_tests
		abort_tests
		host_wait_tests
		file_tests
		environment_tests
		assertion_tests
		topos=(smt3 two-llc numbered-02-13)
		[ -z "$all" ] || mapfile -t topos < <("$VM" --list-topos | awk '{ print $1 }')
	fi
	for t in "${topos[@]}"; do
		topology_test "$t"
	done
	summary
}

main "$@"

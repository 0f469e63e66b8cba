#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Tests of htctl and of the demonstration's report that run on any kernel.
#
# Usage: run.sh HTCTL
#
# What needs SCHED_HT is tried only if the kernel has it. Ends with a line
# "N passed, N failed, N skipped"; exit status 1 if any failed.
set -euo pipefail

htctl=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
top=$(realpath "$here/../../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

passed=0 failed=0 skipped=0

# The nice value that `nice -n $1` gives from here: it adds to our own.
niced()
{
	nice -n "$1" nice
}

ok()
{
	passed=$((passed + 1))
}

fail()
{
	failed=$((failed + 1))
	echo "FAIL $*"
}

skip()
{
	skipped=$((skipped + 1))
	echo "skip $*"
}

# expect STATUS NAME COMMAND...: keeps the outputs in $work/out and $work/err
expect()
{
	local want=$1 name=$2 status=0

	shift 2
	"$@" >out 2>err </dev/null || status=$?
	if [ "$status" = "$want" ]; then
		ok
	else
		fail "$name: exit status $status, not $want"
		sed 's/^/  | /' out err
	fi
}

# says FILE NAME PATTERN: the last command's output has a matching line
says()
{
	if grep -qE -- "$3" "$1"; then
		ok
	else
		fail "$2: nothing in $1 matches '$3'"
		sed 's/^/  | /' "$1"
	fi
}

# appears FILE NAME PATTERN: within half a minute FILE has a matching line
appears()
{
	local tries

	for ((tries = 0; tries < 300; tries++)); do
		if grep -qE -- "$3" "$1"; then
			break
		fi
		sleep 0.1
	done
	says "$@"
}

# json NAME ASSERTIONS: python statements about "it", the last command's output
json()
{
	cp out json.txt
	expect 0 "$1: JSON" python3 -c "
import json
it = json.load(open('json.txt'))
$2"
}

same()
{
	if diff -u "$2" "$3" >diff.txt; then
		ok
	else
		fail "$1: not as expected"
		sed 's/^/  | /' diff.txt
	fi
}

# Starts a task that sleeps, and has the nice value that is asked for; $! is its id.
sleeper()
{
	: >started
	nice -n "$1" sh -c 'echo it sleeps >started; exec sleep 60' &
	appears started "a task to try it on" sleeps
}

test_usage()
{
	local verb

	expect 1 "no verb" "$htctl"
	says err "no verb" '^Usage: htctl VERB'
	expect 1 "unknown verb" "$htctl" fly
	says err "unknown verb" "unknown verb 'fly'"
	expect 0 "--help" "$htctl" --help
	expect 0 "--version" "$htctl" --version
	says out "--version" '^htctl [0-9]+\.[0-9]+'
	for verb in run set get topology stats; do
		expect 0 "$verb --help" "$htctl" "$verb" --help
		says out "$verb --help" "^Usage: htctl $verb"
		expect 1 "$verb: unknown option" "$htctl" "$verb" --fly 1
		says err "$verb: unknown option" '^[^ ]*htctl: unrecognized option'
		says err "$verb: unknown option" "Try 'htctl $verb --help'"
		grep -q "^  $verb " <("$htctl" --help) || fail "$verb missing in --help"
	done
	expect 1 "run without command" "$htctl" run -n 1
	expect 1 "set without pid" "$htctl" set -a
	expect 1 "get without pid" "$htctl" get
	expect 1 "topology with argument" "$htctl" topology x
	expect 1 "stats with argument" "$htctl" stats x
	expect 1 "set --off with nice" "$htctl" set --off -n 1 $$
	says err "set --off with nice" '--off takes neither'
	expect 1 "--from and --sysroot" "$htctl" topology --from - --sysroot /
}

# Output that does not arrive is no success.
test_full_disk()
{
	local words

	for words in --help --version "run --help" "get $$" "get --json $$" topology \
			"topology --json" "topology --describe"; do
		# shellcheck disable=SC2016,SC2086
		expect 1 "$words on a full disk" sh -c 'exec "$@" >/dev/full' - "$htctl" $words
		says err "$words on a full disk" '^htctl: cannot write the output: No space'
	done
}

test_numbers()
{
	local word

	for word in 20 -21 x '' 1x ' 1' 99999999999999999999; do
		expect 1 "run -n '$word'" "$htctl" run -n "$word" true
		says err "run -n '$word'" 'nice value .* is not a number from -20 to 19'
	done
	for word in -1 x '' 1x 1m ms 99999999999999999999 18446744073709551615s; do
		expect 1 "run -T '$word'" "$htctl" run -T "$word" true
		says err "run -T '$word'" 'slice .* is not a number'
	done
	for word in 0 -1 x '' 1x 4294967296 2147483648; do
		expect 1 "get '$word'" "$htctl" get -- "$word"
		says err "get '$word'" 'is not a process id'
	done
	for word in 0 -1 x '' nan inf 86401; do
		expect 1 "stats -i '$word'" "$htctl" stats -i "$word"
		says err "stats -i '$word'" 'interval .* is not a number of seconds'
	done
}

test_get()
{
	expect 0 "get own" "$htctl" get $$
	says out "get own" "^$$ \\([^)]+\\): SCHED_[A-Z]+, (nice|priority) -?[0-9]+"
	expect 0 "get -a" "$htctl" get -a $$
	expect 1 "get: no such process" "$htctl" get 4194399
	says err "get: no such process" '^htctl: pid 4194399: no such process$'
	expect 1 "get -a: no such process" "$htctl" get -a 4194399
	expect 1 "get: one of two" "$htctl" get 4194399 $$
	says out "get: one of two" "^$$ "
	expect 0 "get --json" "$htctl" get --json $$ 1
	json "get --json" "
assert [t['pid'] for t in it] == [$$, 1], it
assert it[0]['policy'].startswith('SCHED_'), it
assert isinstance(it[0]['nice'], int), it"
	sleeper 7
	expect 0 "get nice 7" "$htctl" get $!
	says out "get nice 7" "nice $(niced 7)\$"
	kill $!
}

# On a kernel without the policy each verb that needs it says so.
test_no_sched_ht()
{
	local message='^htctl: this kernel has no SCHED_HT'

	if ! grep -q "$message" <("$htctl" run -- true 2>&1); then
		skip "messages of a kernel without SCHED_HT: this one has it"
		return
	fi
	expect 1 "run" "$htctl" run -- touch ran
	says err "run" "$message"
	[ ! -e ran ] || fail "run executed the command all the same"
	expect 1 "set" "$htctl" set $$
	says err "set" "$message"
	expect 1 "set --off" "$htctl" set --off $$
	says err "set --off" "$message"
	expect 1 "stats" "$htctl" stats
	says err "stats" "$message"
}

# On a kernel with the policy, as root.
test_sched_ht()
{
	if [ "$(id -u)" != 0 ] || ! "$htctl" run -- true 2>/dev/null; then
		skip "run, set and get of SCHED_HT tasks: no such kernel, or not root"
		return
	fi
	expect 7 "run: status of the command" "$htctl" run -- sh -c 'exit 7'
	expect 127 "run: no such command" "$htctl" run -- ./no-such-command
	says err "run: no such command" 'cannot execute ./no-such-command: No such file'
	expect 126 "run: not executable" "$htctl" run -- /etc/passwd
	# shellcheck disable=SC2016
	expect 0 "run -n -T" "$htctl" run -n 5 -T 10ms -- sh -c "$htctl get \$\$"
	says out "run -n -T" 'SCHED_HT, nice 5, slice 10 ms'
	expect 0 "run -v" "$htctl" run -v -- true
	says err "run -v" "SCHED_HT, nice $(nice),"
	expect 0 "run -R" "$htctl" run -R -- sh -c "$htctl get \$\$; sh -c '$htctl get \$\$'; :"
	says out "run -R" 'SCHED_HT.*reset on fork'
	says out "run -R: the child" 'SCHED_NORMAL'
	expect 1 "set: no such process" "$htctl" set 4194399
	says err "set: no such process" 'cannot make it SCHED_HT: no such process'

	sleeper 3
	expect 0 "set" "$htctl" set -v $!
	says out "set" "SCHED_HT, nice $(niced 3),"
	expect 0 "set -T" "$htctl" set -T 200us $!
	expect 0 "set -n keeps the slice" "$htctl" set -v -n 4 $!
	says out "set -n keeps the slice" 'SCHED_HT, nice 4, slice 200 us'
	expect 1 "set: one of two" "$htctl" set 4194399 $!
	expect 0 "set -a --off" "$htctl" set -a --off -v $!
	says out "set -a --off" 'SCHED_NORMAL, nice 4'
	chrt -f -p 1 $!
	expect 0 "set --off leaves others alone" "$htctl" set --off -v $!
	says out "set --off leaves others alone" 'SCHED_FIFO'
	expect 0 "set keeps the nice value of a real-time task" "$htctl" set -v $!
	says out "set keeps the nice value of a real-time task" 'SCHED_HT, nice 4'
	kill $!

	if [ -w /proc/sys/kernel/sched_ht_enabled ]; then
		echo 0 >/proc/sys/kernel/sched_ht_enabled
		expect 1 "run while switched off" "$htctl" run -- true
		says err "run while switched off" 'sched_ht_enabled=0'
		echo 1 >/proc/sys/kernel/sched_ht_enabled
	fi
	expect 0 "stats" "$htctl" stats
	says out "stats" '^select\.[a-z_]+ +[0-9]+$'
}

# in_group GROUP COMMAND...
in_group()
{
	local group=$1

	shift
	(echo $BASHPID >"$group/cgroup.procs" && exec "$@")
}

unprivileged()
{
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$@"
}

# A refusal names its reason.
test_refused()
{
	local root=/sys/fs/cgroup group htctl=$htctl
	local autogroup=/proc/sys/kernel/sched_autogroup_enabled was=0

	if [ "$(id -u)" != 0 ] || ! "$htctl" run -- true 2>/dev/null ||
	   [ ! -e $root/cgroup.subtree_control ] || ! command -v setpriv >/dev/null; then
		skip "why SCHED_HT is refused: no such kernel, not root, or no cgroup v2"
		return
	fi
	# The checkout may be where only root can look, in /root for instance.
	chmod 755 "$work"
	cp "$htctl" "$work/htctl"
	htctl=$work/htctl
	if [ -e $autogroup ]; then
		was=$(cat $autogroup)
		echo 0 >$autogroup
	fi
	expect 0 "unprivileged in the root group" unprivileged "$htctl" run -- true
	expect 1 "another user's task" unprivileged "$htctl" set 1
	says err "another user's task" 'belongs to user 0'
	expect 1 "nice below the limit" unprivileged "$htctl" run -n -5 -- true
	says err "nice below the limit" 'RLIMIT_NICE'

	echo +cpu >$root/cgroup.subtree_control
	group=$root/htctl-test
	mkdir $group
	expect 0 "root in a group" in_group $group "$htctl" run -- true
	expect 1 "unprivileged in a group" in_group $group \
		setpriv --reuid 65534 --regid 65534 --clear-groups "$htctl" run -- true
	says err "unprivileged in a group" 'cgroup /htctl-test: outside the root group'
	echo "50000 100000" >$group/cpu.max
	expect 1 "root under a limit" in_group $group "$htctl" run -- true
	says err "root under a limit" '/htctl-test limits CPU time \(cpu.max = 50000 100000\)'
	rmdir $group

	if [ -e $autogroup ]; then
		echo 1 >$autogroup
		expect 1 "unprivileged in an autogroup" unprivileged setsid -w "$htctl" run -- true
		says err "unprivileged in an autogroup" 'may be in an autogroup'
		expect 0 "root in an autogroup" setsid -w "$htctl" run -- true
		echo "$was" >$autogroup
	fi
}

test_topology()
{
	local file name

	expect 0 "topology" "$htctl" topology
	says out "topology" 'cpu|CPU|THREAD|CORE'
	expect 0 "topology --json" "$htctl" topology --json
	json "topology --json" "assert it['tree']['children'], it"
	expect 0 "topology --describe" "$htctl" topology --describe
	cp out described
	says out "topology --describe" '^cpu=0 .*siblings=0'
	"$htctl" topology >tree
	expect 0 "its own description" "$htctl" topology --from described
	same "a description shows the same machine" tree out
	expect 1 "no such file" "$htctl" topology --from no-such-file
	says err "no such file" 'no-such-file: No such file'
	for file in "$here"/*.topo; do
		name=$(basename "$file" .topo)
		expect 0 "$name" "$htctl" topology --from "$file"
		same "$name: tree" "$here/$name.tree" out
		expect 0 "$name: --describe" "$htctl" topology --from "$file" --describe
		cp out described
		expect 0 "$name: described again" "$htctl" topology --from described
		same "$name: described again" "$here/$name.tree" out
	done
}

test_bad_topology()
{
	local -A wrong=(
		['cpu=0']='line 1'
		['cpu=0 siblings=0\ncpu=0 siblings=0']='line 2'
		['cpu=0 siblings=0,1\ncpu=1 siblings=1']='line [12]'
		['# a\ncpu=0 siblings=0 flavour=3']='line 2'
		['cpu=x siblings=0']='line 1'
	)
	local text

	for text in "${!wrong[@]}"; do
		printf '%b\n' "$text" >bad
		expect 1 "bad description '$text'" "$htctl" topology --from bad
		says err "bad description '$text'" "${wrong[$text]}"
	done
	expect 1 "empty description" "$htctl" topology --from /dev/null
	says err "empty description" '^htctl: topology: .'
}

test_stats()
{
	local dir=root/sys/kernel/debug/sched_ht

	mkdir -p $dir
	printf 'select.prev_core 12\nselect.idle_core 3\nclaim.taken 15\n' >$dir/stats
	printf 'refs 2\nactive 1\n' >$dir/tasks
	expect 0 "stats" "$htctl" stats --sysroot root
	says out "stats" '^select\.prev_core +12$'
	says out "stats" '^tasks\.refs +2$'
	printf 'violations 0\nworst_ticks 2\n' >$dir/inv2
	expect 0 "stats --json" "$htctl" stats --json --sysroot root
	json "stats --json" "
assert it['select'] == {'prev_core': 12, 'idle_core': 3}, it
assert it['inv2']['worst_ticks'] == 2, it
assert it['tasks']['active'] == 1, it"
	sed 's/prev_core 12/prev_core 20/' $dir/stats >changed
	"$htctl" stats -i 0.1 --sysroot root >out 2>err &
	appears out "stats -i: a first report" '^--$'
	mv changed $dir/stats
	appears out "stats -i: a change" '^select\.prev_core +\+8$'
	kill $!
	if grep -q idle_core out; then
		fail "stats -i shows what has not changed"
	fi
}

# complete WORD...: what bash would offer for the last word
complete_words()
{
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	_htctl
	printf '%s\n' "${COMPREPLY[@]}" | sort
}

test_completion()
{
	local verb

	# shellcheck source=/dev/null
	. "$here/../completion/htctl"
	for verb in run set get topology stats; do
		"$htctl" "$verb" --help | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' |
			grep -oE -- '--[a-z-]+' | sort >options
		complete_words htctl "$verb" -- >completed
		same "completion of $verb: the options of its help" options completed
	done
	"$htctl" --help | sed -n 's/^  \([a-z]*\) .*/\1/p' | sort >verbs
	complete_words htctl '' | grep -v -- -- >completed
	same "completion of verbs" verbs completed
	complete_words htctl run -n 1 -- tru >completed
	says completed "completion of a command" '^true$'
	complete_words htctl set "${$:0:2}" >completed
	says completed "completion of a process" "^$$\$"
}

# The report must see sharing where there is some and none where there is none.
test_report()
{
	expect 0 "report: kept" "$top/scripts/demo-report" --check "$here/report/kept"
	says out "report: kept" '^SCHED_HT +2 +1 +1000 1001 +yes +3\.00 ms +1 '
	says out "report: one leaves" '^SCHED_HT +ms: +4\.00$'
	says out "report: one leaves" '^ +ticks: +1$'
	expect 1 "report: broken" "$top/scripts/demo-report" --check "$here/report/broken"
	says out "report: broken" '^SCHED_HT +2 +1 +1000 1001 +yes +15\.00 ms +3 +19\.0 ms'
	says err "report: broken" 'shared a core for 3 ticks'
	expect 1 "report: nothing there" "$top/scripts/demo-report" .
}

test_examples()
{
	expect 0 "examples" env HTCTL_DIR="$(dirname "$htctl")" \
		"$top/scripts/doc-examples.sh"
	says out "examples" '^[1-9][0-9]* passed, 0 failed'
}

test_usage
test_full_disk
test_numbers
test_get
test_no_sched_ht
test_sched_ht
test_refused
test_topology
test_bad_topology
test_stats
test_completion
test_report
test_examples
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]

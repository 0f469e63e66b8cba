#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# INV-9 on a running kernel: records what it decides under some load, decides
# the same again in user space, and compares. Ends as selftests do: 0 all the
# same, 1 not, 4 skipped.
#
# usage: replay_guest.sh HTCTL HT_REPLAY [SAVE_DIR]
#   SAVE_DIR   gets a copy of the recording: topo and trace
set -uo pipefail

htctl=$1
replay=$2
save=${3:-}
tracing=/sys/kernel/tracing
event=$tracing/events/sched_ht/sched_ht_decision/enable
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "TAP version 13"
echo "1..1"
[ -e "$tracing/trace" ] || mount -t tracefs tracefs "$tracing" 2>/dev/null
if [ ! -e "$event" ]; then
	echo "ok 1 replay # SKIP no tracepoint sched_ht_decision"
	exit 4
fi

# Short tasks that fork, exec and pass data on; long ones beside them.
load()
{
	local i

	for i in 1 2; do
		# shellcheck disable=SC2016
		"$htctl" run -- sh -c \
			'i=0; while [ $i -lt 60 ]; do echo $i | cat; i=$((i + 1)); done' \
			>/dev/null &
	done
	for i in 1 2 3; do
		"$htctl" run -n $((i * 6)) -- timeout 2 sh -c 'while :; do :; done' &
	done
	wait
}

echo 4096 >"$tracing/buffer_size_kb"
echo >"$tracing/trace"
# Who recorded before may have switched it off.
echo 1 >"$tracing/tracing_on"
echo 1 >"$event"
load
echo 0 >"$event"
cp "$tracing/trace" "$work/trace"
"$htctl" topology --describe >"$work/topo"
if [ -n "$save" ]; then
	cp "$work/topo" "$work/trace" "$save"
fi
if "$replay" "$work/topo" "$work/trace" >"$work/out" 2>&1; then
	sed 's/^/# /' "$work/out"
	echo "ok 1 replay"
	exit 0
fi
head -n 20 "$work/out" | sed 's/^/# /'
tail -n 1 "$work/out" | sed 's/^/# /'
echo "not ok 1 replay"
exit 1

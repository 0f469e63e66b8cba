#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds scx_simple, the smallest sched_ext scheduler, from the kernel source's
# tools/sched_ext against the types of a built kernel, in the cache folder.
# Prints its path. The selftest scx loads it. PROGRAM: another one of those.
#
# usage: scripts/scx-simple.sh KVER CONFIG [PROGRAM]
# environment: HT_CACHE; CLANG (clang-19 if there, else clang)
# exit: 0 built; 1 not possible, reason on stderr; 2 usage
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

[ $# = 2 ] || [ $# = 3 ] || usage_die "usage: scx-simple.sh KVER CONFIG [PROGRAM]"
kver=$1 config=$2 program=${3:-scx_simple}
require_kver "$kver"
# The verifier refuses what clang 14, Debian 12's own, makes of scx_flatcg.
CLANG=${CLANG:-$(command -v clang-19 || echo clang)}
require_tools make gcc "$CLANG"

# Any state of that kernel will do, see below.
vmlinux=$HT_CACHE/linux-$kver-$config/vmlinux
[ -f "$vmlinux" ] || "$HT_ROOT/scripts/kernel.sh" build "$kver" "$config" >&2
[ -f "$vmlinux" ] || die "no $vmlinux"
source=$(pristine_tree "$kver")/tools/sched_ext
[ -d "$source" ] || die "linux-source-$kver has no tools/sched_ext"

# What one compiler left is not for another to go on with.
out=$HT_CACHE/scx-$kver-$(basename "$CLANG")
mkdir -p "$out"
take_lock "$out.lock"
if [ ! -x "$out/build/bin/$program" ] ||
	[ "$source" -nt "$out/build/bin/$program" ]; then
	note "building $program (about a minute, once)"
	# The kernel has no kprobes, thus not this helper of BPF; all it does
	# here is to copy the text of the reason why the scheduler ended.
	# Its types are those of any kernel of that version with sched_ext.
	if ! make -C "$source" O="$out" \
		CLANG="$CLANG -D'bpf_probe_read_kernel_str(d,s,p)=0'" VMLINUX_BTF="$vmlinux" \
		"$program" > "$out/log" 2>&1; then
		tail -n 5 "$out/log" >&2
		die "$program does not build with $("$CLANG" --version | head -n 1), see $out/log"
	fi
fi
drop_lock
echo "$out/build/bin/$program"

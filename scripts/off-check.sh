#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Off is off (INV-6): compiles kernel/sched/ of the hooked source with the
# option off, and of pristine source, and compares the objects byte by byte.
# Line numbers, the one difference allowed, are all made 1, debug information,
# which repeats them, is left out, and so are the numbers that the preprocessor
# counts up for unique names. Each function is a section of its own, since the
# compiler is free to order them.
#
# usage: scripts/off-check.sh [KVER]
# exit: 0 all the same; 1 not; 2 usage
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

KVER=${1:-6.12}
PASSED=0 FAILED=0

# Outside kernel/sched/, a few that include the touched headers.
OBJECTS=(kernel/fork.o kernel/exit.o init/init_task.o kernel/cgroup/cpuset.o
	arch/x86/kernel/setup.o)
LINKER_SCRIPT=arch/x86/kernel/vmlinux.lds

write_fragment()
{
	printf 'CONFIG_DEBUG_INFO_NONE=y\nCONFIG_DEBUG_INFO_DWARF5=n\n' > "$WORK/nodebug"
	printf 'CONFIG_DEBUG_INFO_BTF=n\nCONFIG_SCHED_CLASS_EXT=n\nCONFIG_EXT_GROUP_SCHED=n\n' \
		>> "$WORK/nodebug"
	merge_fragments "$HT_ROOT"/configs/{base,off}.config "$WORK/nodebug" > "$WORK/fragment"
}

# Compiles in tree $1.
compile()
{
	# The preprocessor says that __LINE__ is redefined: so it should be.
	kernel_make "$1" -s "-j$HT_JOBS" \
		KCFLAGS='-Wno-builtin-macro-redefined -D__LINE__=1 -ffunction-sections -fdata-sections' \
		kernel/sched/ "${OBJECTS[@]}" 2>&1 |
		{ grep -v '"__LINE__" redefined' || true; }
	rm -f "$1/$LINKER_SCRIPT"
	kernel_make "$1" -s "$LINKER_SCRIPT" 2>&1 | grep -v 'recipe for target' || true
}

compare()
{
	local object

	while IFS= read -r object; do
		if same_object "$object"; then
			PASSED=$((PASSED + 1))
		else
			FAILED=$((FAILED + 1))
			echo "FAIL $object differs from vanilla's:"
			show_difference "$object" | head -20
		fi
	done < <(cd "$VANILLA" && { find kernel/sched -name '*.o' ! -name 'built-in*' | sort
		printf '%s\n' "${OBJECTS[@]}" "$LINKER_SCRIPT"; })
}

# All sections and relocations of an object, one line for each section, sorted,
# without numbers in unique names.
contents()
{
	objdump -sr "$1" | sed -E '
		/file format/d; /^$/d
		s/(__UNIQUE_ID_[A-Za-z_]*)[0-9]+/\1/g
		s/(SCK__[a-z_]*)[0-9]+/\1/g' |
	awk '/^(Contents of section|RELOCATION RECORDS)/ { if (n++) print ""; printf "%s", $0; next }
		{ printf "|%s", $0 } END { print "" }' | sort
}

disassemble()
{
	case $1 in
	*.o) objdump -dr --no-show-raw-insn "$1" | grep -v 'file format' ;;
	# The class has its place in the linker's list even when it is empty.
	*) sed 's/\*(__ht_sched_class) //; /^#/d; /^$/d' "$1" ;;
	esac
}

same_object()
{
	local file=$1

	cmp -s "$VANILLA/$file" "$OFF/$file" && return 0
	case $file in
	*.o) cmp -s <(contents "$VANILLA/$file") <(contents "$OFF/$file") ;;
	*) cmp -s <(disassemble "$VANILLA/$file") <(disassemble "$OFF/$file") ;;
	esac
}

show_difference()
{
	diff <(disassemble "$VANILLA/$1") <(disassemble "$OFF/$1") || true
}

require_kver "$KVER"
require_tools gcc make objdump
VANILLA=$HT_CACHE/linux-$KVER-off-vanilla
OFF=$HT_CACHE/linux-$KVER-off-hooked
mkdir -p "$HT_CACHE"
take_lock "$HT_CACHE/linux-$KVER-off.lock"
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
write_fragment
(HT_VANILLA=1 prepare_tree "$VANILLA" "$KVER")
(prepare_tree "$OFF" "$KVER")
for tree in "$VANILLA" "$OFF"; do
	configure_tree "$tree" "$WORK/fragment"
	note "compiling $(basename "$tree")"
	compile "$tree" >&2
done
compare
echo "$PASSED passed, $FAILED failed, 0 skipped"
[ "$FAILED" = 0 ] && [ "$PASSED" -gt 0 ]

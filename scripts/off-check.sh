#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Off is off (INV-6): compiles kernel/sched/ of the hooked source with the
# option off, and of pristine source, and compares the objects, section by
# section. Line numbers, the one difference allowed, are all made 1, debug
# information, which repeats them, is left out, and so are the numbers that the
# preprocessor counts up for unique names.
#
# The compiler breaks ties, of where a function goes or which of two equal
# instructions it takes, by counts of what it has seen, empty inlines included.
# So an object that differs is compiled again, in both trees, with other
# flags that fix its order: code that does the same is the same under one of
# the two; code that does more is so under neither.
#
# usage: scripts/off-check.sh [KVER]
# exit: 0 all the same; 1 not; 2 usage
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

KVER=${1:-6.12}

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

# The flags of each try, added to the kernel's.
TRIES=(
	"-ffunction-sections -fdata-sections"
	"-fno-toplevel-reorder"
)

# Compiles objects $3... in tree $1 with flags $2. The preprocessor says that
# __LINE__ is redefined: so it should be.
compile()
{
	local tree=$1 flags=$2

	shift 2
	kernel_make "$tree" -s "-j$HT_JOBS" \
		KCFLAGS="-Wno-builtin-macro-redefined -D__LINE__=1 $flags" "$@" 2>&1 |
		{ grep -v '"__LINE__" redefined' || true; }
}

compile_linker_script()
{
	rm -f "$1/$LINKER_SCRIPT"
	kernel_make "$1" -s "$LINKER_SCRIPT" 2>&1 | { grep -v 'recipe for target' || true; }
}

# Prints those of the objects given that differ.
differing()
{
	local object

	for object in "$@"; do
		same_object "$object" || echo "$object"
	done
}

compiled_objects()
{
	(cd "$VANILLA" && find kernel/sched -name '*.o' ! -name 'built-in*' | sort)
	printf '%s\n' "${OBJECTS[@]}"
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
	compile "$tree" "${TRIES[0]}" kernel/sched/ "${OBJECTS[@]}" >&2
	compile_linker_script "$tree" >&2
done
mapfile -t ALL < <(compiled_objects)
ALL+=("$LINKER_SCRIPT")
mapfile -t LEFT < <(differing "${ALL[@]}")
for flags in "${TRIES[@]:1}"; do
	[ "${#LEFT[@]}" -gt 0 ] || break
	note "compiling ${LEFT[*]} with $flags"
	for tree in "$VANILLA" "$OFF"; do
		compile "$tree" "$flags" "${LEFT[@]}" >&2
	done
	mapfile -t LEFT < <(differing "${LEFT[@]}")
done
for object in "${LEFT[@]}"; do
	echo "FAIL $object differs from vanilla's:"
	show_difference "$object" | head -40
done
echo "$((${#ALL[@]} - ${#LEFT[@]})) passed, ${#LEFT[@]} failed, 0 skipped"
[ "${#LEFT[@]}" = 0 ]

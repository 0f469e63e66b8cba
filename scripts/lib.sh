# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What the scripts share: messages, where things are, how a kernel tree comes
# to be. Sourced, never run.

HT_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Everything big or slow to make lives here, never in the checkout. Absolute, since
# make works in other folders.
HT_CACHE=$(realpath -ms "${HT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sched-ht}")
HT_JOBS=${HT_JOBS:-$(nproc)}

# Where the repository lies over a kernel tree, path by path.
HT_OVERLAY=(
	include
	kernel
	Documentation/scheduler
	Documentation/admin-guide
	tools/testing/selftests/sched_ht
)

# What another project's make in the environment would change about ours.
unset MAKEFLAGS MFLAGS MAKELEVEL KBUILD_OUTPUT KCONFIG_CONFIG ARCH CROSS_COMPILE
unset KVER_GIVEN CDPATH
export LC_ALL=C

note()
{
	echo "$(basename "$0"): $*" >&2
}

die()
{
	echo "$(basename "$0"): error: $*" >&2
	exit 1
}

usage_die()
{
	echo "$(basename "$0"): $*" >&2
	exit 2
}

# Kernel makefiles split paths at spaces and colons, and so do ours.
[[ $HT_ROOT != *[[:space:]:]* ]] || die "the path '$HT_ROOT' has a space or colon in it: make cannot work there"
[[ $HT_CACHE != *[[:space:]:]* ]] || die "HT_CACHE='$HT_CACHE' has a space or colon in it: make cannot work there"

# The kernel versions there are hooks for, on one line.
known_kvers()
{
	local dir

	for dir in "$HT_ROOT"/patches/*/; do
		[ -d "$dir" ] && basename "$dir"
	done | sort -V | tr '\n' ' '
}

# The hook patches for version $1, in order, one path per line.
hook_patches()
{
	find "$HT_ROOT/patches/$1" -maxdepth 1 -name '[0-9]*.patch' | sort
}

require_kver()
{
	[[ $1 =~ ^[0-9]+\.[0-9]+$ ]] ||
		die "KVER=$1: a version looks like 6.12"
	[ -d "$HT_ROOT/patches/$1" ] ||
		die "no hooks for kernel $1 (patches/$1/ does not exist); known versions: $(known_kvers)- pick one with KVER=, or port the hooks as patches/README.md says"
}

require_tools()
{
	local tool

	for tool in "$@"; do
		command -v "$tool" >/dev/null ||
			die "$tool is not installed: run 'make deps' first"
	done
}

# Runs the rest of the script with an exclusive lock on $1; says who waits.
take_lock()
{
	local what=${1%.lock}

	exec {HT_LOCK_FD}>"$1"
	flock -n "$HT_LOCK_FD" && return 0
	note "waiting for another run that uses ${what%/}"
	flock "$HT_LOCK_FD"
}

drop_lock()
{
	exec {HT_LOCK_FD}>&-
}

# HT_SOURCES: where it is, if not where Debian's package puts it.
source_tarball()
{
	echo "${HT_SOURCES:-/usr/src}/linux-source-$1.tar.xz"
}

# Prints the folder with the pristine source of version $1, unpacking it first
# if the Debian package has changed. Trees are hard links to it: nothing may
# write to its files in place.
pristine_tree()
{
	local kver=$1 tar dir stamp

	tar=$(source_tarball "$kver")
	[ -f "$tar" ] ||
		die "$tar is missing: 'make deps KVER=$kver' installs the package linux-source-$kver"
	dir=$HT_CACHE/linux-$kver-pristine
	stamp=$(stat -L -c '%s %Y' "$tar")
	mkdir -p "$HT_CACHE"
	take_lock "$dir.lock"
	if [ "$(cat "$dir.stamp" 2>/dev/null)" != "$stamp" ]; then
		require_tools tar xz
		note "unpacking $(basename "$tar") (about 20 s)"
		rm -rf "$dir" "$dir.new" "$dir.stamp"
		mkdir "$dir.new"
		tar -C "$dir.new" --strip-components=1 -xJf "$tar" ||
			die "could not unpack $tar"
		mv "$dir.new" "$dir"
		echo "$stamp" > "$dir.stamp"
	fi
	drop_lock
	echo "$dir"
}

# The overlay's files, relative to the repository, as git would ship them
# (tracked or not yet added, but not ignored), one per line.
overlay_files()
{
	local dir found=()

	for dir in "${HT_OVERLAY[@]}"; do
		[ -d "$HT_ROOT/$dir" ] && found+=("$dir")
	done
	if git -C "$HT_ROOT" rev-parse --git-dir >/dev/null 2>&1; then
		git -C "$HT_ROOT" ls-files -co --exclude-standard -- "${found[@]}" |
			sort -u | while IFS= read -r f; do
				if [ -f "$HT_ROOT/$f" ]; then echo "$f"; fi
			done
	else
		(cd "$HT_ROOT" && find "${found[@]}" -type f ! -name '*.o' | sort)
	fi
}

# "added removed path" for each file that patch $1 touches.
patch_numstat()
{
	(cd / && git apply --numstat "$1")
}

# Applies patch $2 to the tree $1 with no fuzz, or dies saying which and why.
apply_hook()
{
	local tree=$1 patch=$2 out

	out=$(patch -d "$tree" -p1 -F0 -N -s --no-backup-if-mismatch < "$patch" 2>&1) &&
		[ -z "$out" ] && return 0
	echo "$out" >&2
	die "hook $(basename "$patch") does not apply to the kernel source (file(s) above). Refresh it: apply it by hand in a copy of $3, resolve the hunk, and regenerate it with git format-patch (patches/README.md)"
}

# Fills $1 with the files of version $2 that differ from pristine: the hooked
# ones, patched, and the overlay's. $3 is the pristine tree.
stage_changes()
{
	local stage=$1 kver=$2 pristine=$3 patch file

	while IFS= read -r patch; do
		while read -r _ _ file; do
			if [ ! -f "$pristine/$file" ] || [ -e "$stage/$file" ]; then
				continue
			fi
			mkdir -p "$stage/$(dirname "$file")"
			cp "$pristine/$file" "$stage/$file"
		done < <(patch_numstat "$patch")
		apply_hook "$stage" "$patch" "$pristine"
	done < <(hook_patches "$kver")
	[ "${HT_HOOKS_ONLY:-0}" = 1 ] && return 0
	while IFS= read -r file; do
		[ ! -e "$pristine/$file" ] ||
			die "$file exists in linux-$kver: the overlay may only add files (change it by a hook in patches/$kver)"
		[ ! -e "$stage/$file" ] ||
			die "$file is both in the overlay and made by a patch of patches/$kver"
		mkdir -p "$stage/$(dirname "$file")"
		cp "$HT_ROOT/$file" "$stage/$file"
	done < <(overlay_files)
}

# A new tree: hard links to pristine ($2), whose release it notes.
create_tree()
{
	local tree=$1 pristine=$2

	if [ -d "$tree" ] && cmp -s "$pristine.stamp" "$tree/.ht-base"; then
		return 0
	fi
	rm -rf "$tree" "$tree.new"
	mkdir -p "$(dirname "$tree")"
	cp -al "$pristine" "$tree.new"
	cp "$pristine.stamp" "$tree.new/.ht-base"
	mv "$tree.new" "$tree"
}

# Makes tree $1 pristine ($3) plus what is staged in $2, touching only files
# whose content changes, so that make rebuilds only what depends on them.
sync_tree()
{
	local tree=$1 stage=$2 pristine=$3 file list=$1/.ht-manifest

	create_tree "$tree" "$pristine"
	touch "$list"
	(cd "$stage" && find . -type f -printf '%P\n' | sort) > "$list.new"
	comm -23 "$list" "$list.new" | while IFS= read -r file; do
		rm -f "$tree/$file"
		[ ! -f "$pristine/$file" ] || cp "$pristine/$file" "$tree/$file"
	done
	# Until all is copied the list names old and new, should this be cut short.
	sort -u "$list" "$list.new" > "$list.both"
	mv "$list.both" "$list"
	rsync -rc --no-times --chmod=D755,F644 "$stage/" "$tree/" ||
		die "could not write to $tree"
	mv "$list.new" "$list"
}

# Fills $1.stage with what tree $1 of version $2 has beyond pristine source. Needs
# the tree's lock. sync_tree() comes next, or removing the stage.
stage_tree()
{
	local tree=$1 kver=$2 pristine

	require_tools patch rsync git
	pristine=$(pristine_tree "$kver")
	rm -rf "$tree.stage"
	mkdir -p "$tree.stage"
	[ "${HT_VANILLA:-0}" = 1 ] || stage_changes "$tree.stage" "$kver" "$pristine"
}

# What a kernel built from stage $1, pristine source $2 and fragment $3 depends on,
# in one word.
content_key()
{
	{
		(cd "$1" && find . -type f -print0 | sort -z | xargs -0r sha256sum)
		cat "$2.stamp" "$3"
		gcc -dumpfullversion
	} | sha256sum | cut -c1-12
}

# Brings tree $1 of version $2 up to date with the checkout. Needs its lock.
prepare_tree()
{
	local pristine

	stage_tree "$1" "$2"
	pristine=$(pristine_tree "$2")
	sync_tree "$1" "$1.stage" "$pristine"
	rm -rf "$1.stage"
}

# The compiler settings of every kernel build, so that ccache's answers hold
# for any tree and any day.
kernel_make_env()
{
	export KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970'
	export KBUILD_BUILD_USER=sched_ht KBUILD_BUILD_HOST=localhost
	export KBUILD_BUILD_VERSION=1
	export CCACHE_DIR=$HT_CACHE/ccache CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-6G}
	export CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=$1
	# A miss costs no second run of the preprocessor that way.
	export CCACHE_DEPEND=1 CCACHE_SLOPPINESS=time_macros,include_file_mtime,include_file_ctime
	KERNEL_MAKE=(make --no-print-directory)
	if command -v ccache >/dev/null; then
		KERNEL_MAKE+=("CC=ccache gcc" "HOSTCC=ccache gcc")
	fi
}

# The fragments named by $1 ("base", "debug", "base+x"), base always first.
config_fragments()
{
	local name

	echo "$HT_ROOT/configs/base.config"
	for name in ${1//+/ }; do
		case $name in base | vanilla) continue ;; esac
		[ -f "$HT_ROOT/configs/$name.config" ] ||
			die "no configs/$name.config; there are: $(cd "$HT_ROOT/configs" && echo *.config | sed 's/\.config//g')"
		echo "$HT_ROOT/configs/$name.config"
	done
}

# Merges fragments: one line per option, the last mention wins.
merge_fragments()
{
	cat "$@" | grep -E '^CONFIG_[A-Za-z0-9_]+=' | tac |
		awk -F= '!seen[$1]++' | tac
}

has_ht_kconfig()
{
	grep -qs 'Kconfig\.ht' "$1"/init/Kconfig "$1"/kernel/Kconfig.* "$1"/Kconfig
}

# Dies if .config in $1 lacks something that the fragment $2 asks for.
check_config()
{
	local tree=$1 fragment=$2 option want got bad=''

	while IFS='=' read -r option want; do
		got=$(sed -n "s/^$option=//p" "$tree/.config")
		[ "${got:-n}" != "$want" ] || continue
		if [[ $option == CONFIG_SCHED_HT_* ]] && ! has_ht_kconfig "$tree"; then
			continue
		fi
		bad+="  $option=$want was asked for, .config has ${got:-n}"$'\n'
	done < "$fragment"
	[ -z "$bad" ] && return 0
	echo -n "$bad" >&2
	die "the kernel's Kconfig dropped options of configs/: something they depend on is off"
}

# Configures tree $1 from the merged fragment $2 if anything changed.
configure_tree()
{
	local tree=$1 fragment=$2 key

	key=$( (cat "$fragment" "$tree"/init/Kconfig "$tree"/kernel/Kconfig.*
		cat "$tree/kernel/sched/Kconfig.ht" 2>/dev/null || true
		gcc -dumpfullversion) | sha256sum)
	if [ ! -f "$tree/.config" ] || [ "$(cat "$tree/.ht-config" 2>/dev/null)" != "$key" ]; then
		rm -f "$tree/.ht-config"
		kernel_make "$tree" -s KCONFIG_ALLCONFIG="$fragment" allnoconfig >&2 ||
			die "configuring failed"
		check_config "$tree" "$fragment"
		echo "$key" > "$tree/.ht-config"
	fi
}

# make in tree $1.
kernel_make()
{
	local tree=$1

	shift
	kernel_make_env "$tree"
	"${KERNEL_MAKE[@]}" -C "$tree" "$@"
}

# Copies make's progress lines into a counter that $LABEL names; anything else goes through.
show_progress()
{
	local line count=0 last=0 rc

	while :; do
		if IFS= read -r -t 5 line; then
			if [[ $line =~ ^\ \ [A-Z][A-Z0-9_\ ]+\ [^\ ] ]]; then
				count=$((count + 1))
			elif [ -n "$line" ]; then
				echo "$line" >&2
			fi
		else
			rc=$?
			[ "$rc" -gt 128 ] || break
		fi
		progress_line "$count" "$line"
	done
	[ ! -t 2 ] || printf '\r\033[K' >&2
}

progress_line()
{
	local now=$SECONDS

	if [ -t 2 ]; then
		[ "$now" = "$last" ] && return 0
		printf '\r\033[K  %s: %d steps, %d s  %.50s' "$LABEL" "$1" "$now" "${2# *}" >&2
		last=$now
	elif [ $((now - last)) -ge 20 ]; then
		echo "  $LABEL: $1 steps, $now s" >&2
		last=$now
	fi
}

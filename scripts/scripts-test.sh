#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Tests of the scripts that make kernel trees, on a made-up kernel of four files
# in a made-up repository: trees, bad input, refused hooks, full disks, two runs
# at once, interrupted ones. Needs no compiler and takes seconds.
#
# usage: scripts/scripts-test.sh
# The last line is "N passed, N failed, N skipped".
# exit: 0 nothing failed; 1 something did
set -euo pipefail

SCRIPTS=$(cd "$(dirname "$0")" && pwd)
WORK=$(mktemp -d)
trap 'umount "$WORK/small" 2> /dev/null || true; rm -rf "$WORK"' EXIT
PASSED=0 FAILED=0 SKIPPED=0

pass() { PASSED=$((PASSED + 1)); }
skip() { SKIPPED=$((SKIPPED + 1)); echo "skip $1: $2"; }

fail()
{
	FAILED=$((FAILED + 1))
	echo "FAIL $1: $2"
	sed 's/^/     | /' "$WORK/out" | tail -n 20
}

# expect NAME STATUS [TEXT]: how the last run() ended, and what it said.
expect()
{
	if [ "$RC" != "$2" ]; then
		fail "$1" "exit $RC, not $2"
	elif [ -n "${3:-}" ] && ! grep -qF -- "$3" "$WORK/out"; then
		fail "$1" "says nothing of '$3'"
	else
		pass
	fi
}

# check NAME COMMAND...: the command succeeds.
check()
{
	local name=$1

	shift
	if "$@" >> "$WORK/out" 2>&1; then pass; else fail "$name" "$*"; fi
}

run()
{
	RC=0
	"$@" > "$WORK/out" 2>&1 < /dev/null || RC=$?
}

# $1 is the function of lib.sh to call, as a script of the made-up repository.
lib()
{
	run bash -euo pipefail -c '. scripts/lib.sh; "$@"' lib-test "$@"
}

prepare()
{
	lib prepare_tree "$TREE" 9.9
}

make_source()
{
	local src=$WORK/linux-source-9.9

	mkdir -p "$src"/{init,kernel/sched}
	printf 'config A\n\tbool\n' > "$src/init/Kconfig"
	seq 1 40 | sed 's/^/core /' > "$src/kernel/sched/core.c"
	seq 1 40 | sed 's/^/fair /' > "$src/kernel/sched/fair.c"
	mkdir -p "$HT_SOURCES"
	tar -C "$WORK" -cJf "$HT_SOURCES/linux-source-9.9.tar.xz" linux-source-9.9
}

# hook NUMBER FILE LINE: a patch that adds a line behind LINE of FILE.
hook()
{
	local file=$WORK/linux-source-9.9/$2 patch

	patch=$REPO/patches/9.9/000$1-hook.patch
	{
		printf 'From 0000 Mon Sep 17 00:00:00 2001\nFrom: a <a@b>\nSubject: hook %s\n\n---\n' "$1"
		sed "$3a hooked $1" "$file" | diff -u --label "a/$2" --label "b/$2" "$file" - || true
	} > "$patch"
}

make_repo()
{
	mkdir -p "$REPO"/{patches/9.9,configs,kernel/sched}
	cp -r "$SCRIPTS" "$REPO/scripts"
	printf 'CONFIG_A=y\n' > "$REPO/configs/base.config"
	echo ours > "$REPO/kernel/sched/ht.c"
	hook 1 kernel/sched/core.c 10
	hook 2 kernel/sched/fair.c 20
	git -C "$REPO" init -q
}

bad_input_tests()
{
	run scripts/kernel.sh build
	expect "no version" 2 usage
	run scripts/kernel.sh fly 9.9 base
	expect "unknown action" 2 usage
	run scripts/kernel.sh build 9.8 base
	expect "unknown version" 1 "known versions: 9.9"
	run scripts/kernel.sh build ../9 base
	expect "version of rubbish" 1 "looks like 6.12"
	for config in nope base+nope ../base '' 'a b'; do
		run scripts/kernel.sh configure 9.9 "$config"
		expect "configuration '$config'" 1 error:
		check "configuration '$config' leaves no tree" \
			test -z "$(find "$HT_CACHE" -name '*9.9*' -not -name '*.lock' 2>/dev/null)"
	done
	lib pristine_tree 9.8
	expect "no source package" 1 "make deps KVER=9.8"
	run env HT_CACHE="$WORK/a b" scripts/kernel.sh configure 9.9 base
	expect "a cache with a space in its path" 1 "space or colon"
	cp -r "$REPO" "$WORK/a b"
	run "$WORK/a b/scripts/kernel.sh" configure 9.9 base
	expect "a checkout with a space in its path" 1 "space or colon"
	# shellcheck disable=SC2016
	run env HT_CACHE=relative bash -c '. scripts/lib.sh; echo "$HT_CACHE"'
	expect "a relative cache" 0 "$REPO/relative"
	run scripts/test.sh nothing
	expect "unknown layer" 2 "there are:"
}

# Every file of a folder with its content and time.
state_of()
{
	(cd "$1" && find . -type f -not -name '.ht-*' -printf '%P %T@\n' -exec md5sum {} + | sort)
}

tree_tests()
{
	local before

	prepare
	expect "a first tree" 0 unpacking
	check "hooks are in" grep -qx 'hooked 2' "$TREE/kernel/sched/fair.c"
	check "the overlay is in" cmp "$REPO/kernel/sched/ht.c" "$TREE/kernel/sched/ht.c"
	before=$(state_of "$TREE")
	prepare
	check "a second time nothing is touched" test "$before" = "$(state_of "$TREE")"
	echo more >> "$REPO/kernel/sched/ht.c"
	prepare
	check "one change touches one file" test 2 = \
		"$(diff <(echo "$before") <(state_of "$TREE") | grep -c '^>')"
	rm "$REPO/kernel/sched/ht.c"
	mv "$REPO/patches/9.9/0002-hook.patch" "$WORK"
	prepare
	check "what goes from the overlay goes" test ! -e "$TREE/kernel/sched/ht.c"
	check "without its hook a file is pristine" \
		cmp "$WORK/linux-source-9.9/kernel/sched/fair.c" "$TREE/kernel/sched/fair.c"
	echo ours > "$REPO/kernel/sched/ht.c"
	mv "$WORK/0002-hook.patch" "$REPO/patches/9.9"
	check "pristine source stays so" diff -r "$WORK/linux-source-9.9" "$HT_CACHE/linux-9.9-pristine"
}

refusal_tests()
{
	cp "$REPO/patches/9.9/0002-hook.patch" "$WORK/kept"
	sed -i 's/^ fair 20/ fair twenty/' "$REPO/patches/9.9/0002-hook.patch"
	prepare
	expect "a refused hunk names the hook" 1 0002-hook.patch
	expect "a refused hunk names the file" 1 kernel/sched/fair.c
	cp "$WORK/kept" "$REPO/patches/9.9/0002-hook.patch"
	sed -i 's/^ fair 18/ fair eighteen/' "$REPO/patches/9.9/0002-hook.patch"
	prepare
	expect "fuzz is refused" 1 "does not apply"
	cp "$WORK/kept" "$REPO/patches/9.9/0002-hook.patch"
	echo mine > "$REPO/kernel/sched/core.c"
	prepare
	expect "an overlay over a file of the kernel's" 1 "may only add files"
	rm "$REPO/kernel/sched/core.c"
	prepare
	expect "after the refusals" 0
}

# What was begun and cut short is right after the next run.
interrupted_tests()
{
	mkdir "$WORK/bin"
	printf '#!/bin/sh\nexit 20\n' > "$WORK/bin/rsync"
	chmod +x "$WORK/bin/rsync"
	echo changed > "$REPO/kernel/sched/ht_new.c"
	PATH=$WORK/bin:$PATH prepare
	expect "cut short while copying" 1 "could not write to"
	rm "$REPO/kernel/sched/ht_new.c"
	# shellcheck disable=SC2016
	printf '#!/bin/sh\nkill -9 $PPID\n' > "$WORK/bin/rsync"
	PATH=$WORK/bin:$PATH prepare 2> /dev/null
	expect "killed while copying" 137
	prepare
	expect "the run after" 0
	check "nothing is left of the one before" test ! -e "$TREE/kernel/sched/ht_new.c"
	rm -rf "$HT_CACHE/linux-9.9-pristine.stamp" "$HT_CACHE/linux-9.9-pristine/init"
	prepare
	expect "source that was half unpacked" 0 unpacking
	check "it is whole again" test -f "$HT_CACHE/linux-9.9-pristine/init/Kconfig"
}

two_runs_tests()
{
	local i pids=() bad=0

	rm -rf "$HT_CACHE"
	for i in 1 2 3; do
		bash -euo pipefail -c '. scripts/lib.sh; mkdir -p "$HT_CACHE"
			take_lock "$1.lock"; prepare_tree "$1" 9.9; test -f "$1/kernel/sched/ht.c"' \
			lib-test "$TREE" >> "$WORK/out" 2>&1 &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || bad=1
	done
	check "three runs at once" test $bad = 0
}

key_tests()
{
	local a b c

	key() { bash -c '. scripts/lib.sh; content_key "$@"' lib-test "$WORK/stage" "$WORK/p" "$WORK/c"; }
	mkdir -p "$WORK/stage/x"
	echo 1 | tee "$WORK/stage/x/f" "$WORK/p.stamp" > "$WORK/c"
	a=$(key)
	echo 2 > "$WORK/stage/x/f"
	b=$(key)
	echo 1 > "$WORK/stage/x/f"
	c=$(key)
	check "a key is a word" test ${#a} = 12
	check "other content, other key" test "$a" != "$b"
	check "same content, same key" test "$a" = "$c"
	mv "$WORK/stage/x/f" "$WORK/stage/x/g"
	check "a name counts too" test "$a" != "$(key)"
}

full_disk_tests()
{
	local name="a full disk"

	mkdir "$WORK/small"
	if ! mount -t tmpfs -o size=48k none "$WORK/small" 2> /dev/null; then
		skip "$name" "cannot mount a small file system here"
		return
	fi
	HT_CACHE=$WORK/small lib prepare_tree "$WORK/small/linux-9.9-base" 9.9
	expect "$name" 1 "No space left"
	mount -o remount,size=8m "$WORK/small"
	HT_CACHE=$WORK/small lib prepare_tree "$WORK/small/linux-9.9-base" 9.9
	expect "$name, then room" 0
	check "$name, then room: the tree" grep -qx 'hooked 1' \
		"$WORK/small/linux-9.9-base/kernel/sched/core.c"
}

# make deb, with a make that only says what it was asked for.
deb_tests()
{
	local lsmod=$WORK/lsmod

	rm -f "$WORK"/bin/*
	cat > "$WORK/bin/make" <<-'END'
		#!/bin/sh
		echo "made $*"
		case "$*" in
		*localmodconfig*) read -r line && grep -q 'ext4' "${*#*LSMOD=}" ;;
		*bindeb-pkg*) echo "$DEB_BUILD_PROFILES" > "$HT_CACHE/deb-9.9/linux-image_9.9_amd64.deb" ;;
		*kernelversion*) echo 9.9.1 ;;
		esac
	END
	printf '#!/bin/sh\n' | tee "$WORK"/bin/{gcc,dh} > "$WORK/bin/dpkg-buildpackage"
	chmod +x "$WORK"/bin/*
	printf 'Module                  Size  Used by\next4  1 1\n' > "$lsmod"
	export DEB_CONFIG=$REPO/configs/base.config
	PATH=$WORK/bin:$PATH run scripts/mkdeb.sh 9.9
	expect "packages" 0 out/deb/linux-image_9.9_amd64.deb
	check "no package of debugging information" \
		grep -q nokerneldbg out/deb/linux-image_9.9_amd64.deb
	DEB_MODULES=$lsmod PATH=$WORK/bin:$PATH run scripts/mkdeb.sh 9.9
	expect "packages with the modules that a file names" 0 out/deb/linux-image_9.9_amd64.deb
	echo nothing > "$lsmod"
	DEB_MODULES=$lsmod PATH=$WORK/bin:$PATH run scripts/mkdeb.sh 9.9
	expect "a file that is no list of modules" 1 "output of lsmod"
	check "packages made before stay" test -s out/deb/linux-image_9.9_amd64.deb
	DEB_REVISION=a run scripts/mkdeb.sh 9.9
	expect "a revision that is no number" 2 "not a number"
	unset DEB_CONFIG
}

# Waits until file $1 has a line with $2, for half a minute at most.
await()
{
	local tries

	for ((tries = 0; tries < 300; tries++)); do
		! grep -qsF -- "$2" "$1" || return 0
		sleep 0.1
	done
	return 1
}

# guest STATUS LINE...: what the next guest says, and ends with
guest()
{
	local n

	n=$(find "$WORK/guests" -name '*.out' | wc -l)
	echo "$1" > "$WORK/guests/$n.status"
	shift
	printf '%s\n' "$@" > "$WORK/guests/$n.out"
}

selftest()
{
	run env HT_KERNEL=none HT_VM="$WORK/guest" TOPO=1x8x1 scripts/selftest.sh
	rm -rf "$WORK/guests"
	mkdir "$WORK/guests"
}

# What guests say and end with, to selftest.sh, and what it makes of it.
selftest_tests()
{
	local dir begin='## begin capacity' ok='ok 1 case' bad='not ok 1 case # what'

	for dir in tools/testing/selftests/sched_ht tools/testing/ht tools/ht; do
		mkdir -p "$dir"
		printf 'all build/ht-replay:\n' > "$dir/Makefile"
	done
	mkdir "$WORK/guests"
	cat > "$WORK/guest" <<-END
		#!/bin/bash
		cd "$WORK/guests" || exit 99
		n=\$(find . -name '*.run' | wc -l)
		echo > "\$n.run"
		echo "console log is bad" | head -n "\$(cat bad 2>/dev/null || echo 0)" >&2
		cat "\$n.out"
		exit "\$(cat "\$n.status")"
	END
	chmod +x "$WORK/guest"
	guest 0 "$begin" "$ok" '## end 0 1 capacity'
	selftest
	expect "a guest that passes" 0 "1 passed, 0 failed"
	guest 1 "$begin" "$bad" '## end 1 1 capacity'
	guest 0 "$begin" "$ok" '## end 0 1 capacity'
	selftest
	expect "passes at the second try" 0 "1 passed, 0 failed"
	check "and it is said" grep -q 'Run twice' "$WORK/out"
	guest 1 "$begin" "$bad" '## end 1 1 capacity'
	guest 1 "$begin" "$bad" '## end 1 1 capacity'
	selftest
	expect "fails twice" 1 "0 passed, 1 failed"
	guest 124 "$begin"
	guest 0 "$begin" "$ok" '## end 0 1 capacity'
	selftest
	expect "hangs once" 0 "1 passed, 0 failed"
	guest 5 "$begin" "$bad" 'Bail out! case hangs' '## end 5 1 capacity'
	guest 124 "$begin"
	selftest
	expect "hangs twice" 1 "0 passed, 2 failed"
	guest 124 "$begin" "$ok" '## end 0 1 capacity'
	selftest
	expect "hangs when all is done" 1 "1 passed, 1 failed"
	guest 124 "$begin"
	guest 0 "$begin" "$ok" '## end 0 1 capacity'
	echo 1 > "$WORK/guests/bad"
	selftest
	expect "hangs with a bad console log" 1 "1 passed, 1 failed"
	guest 125 "$begin" "$ok" '## end 0 1 capacity'
	selftest
	expect "a bad console log" 1 "1 passed, 1 failed"
}

# Ends the test runner in the middle: what it had started must go too.
runner_tests()
{
	local first second rc=0 name="an interrupted run of the layers"

	sed -i 's|make -s check$|echo begun; sleep 1000.125 # &|' scripts/test.sh
	scripts/test.sh check > "$WORK/first" 2>&1 &
	first=$!
	check "a run begins" await "$WORK/first" begun
	scripts/test.sh check > "$WORK/second" 2>&1 &
	second=$!
	check "a second run waits" await "$WORK/second" "waiting for another run"
	kill -TERM "$second" "$first"
	wait "$first" || rc=$?
	wait "$second" || true
	check "$name ends with 130" test "$rc" = 130
	check "$name leaves nothing behind" test -z "$(pgrep -f '^sleep 1000.125')"
}

export HT_SOURCES=$WORK/sources HT_CACHE=$WORK/cache
unset HT_VANILLA HT_HOOKS_ONLY KVER CONFIG
REPO=$WORK/repo
TREE=$HT_CACHE/linux-9.9-base
RC=0
: > "$WORK/out"
make_source
make_repo
cd "$REPO"
bad_input_tests
tree_tests
refusal_tests
interrupted_tests
two_runs_tests
key_tests
full_disk_tests
deb_tests
selftest_tests
runner_tests
echo "$PASSED passed, $FAILED failed, $SKIPPED skipped"
[ "$FAILED" = 0 ] && [ "$PASSED" -gt 0 ]

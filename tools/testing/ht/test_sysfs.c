// SPDX-License-Identifier: GPL-2.0
/*
 * The sysfs reader, on trees made for the purpose: files are written below a
 * temporary directory, as far as a machine has them.
 */
#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libht.h"
#include "test.h"

static char root[64];

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void new_root(void)
{
	strcpy(root, "/tmp/ht-sysfs-XXXXXX");
	if (!mkdtemp(root))
		abort();
}

static void drop_root(void)
{
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_parents(char *path)
{
	char *slash;

	for (slash = strchr(path + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0755) && errno != EEXIST)
			abort();
		*slash = '/';
	}
}

/* Writes a file below sys/devices/system. */
__attribute__((format(printf, 2, 3)))
static void put(const char *text, const char *fmt, ...)
{
	char name[128], path[256];
	va_list ap;
	FILE *out;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	snprintf(path, sizeof(path), "%s/sys/devices/system/%s", root, name);
	make_parents(path);
	out = fopen(path, "w");
	if (!out)
		abort();
	fprintf(out, "%s\n", text);
	fclose(out);
}

static void put_cache(int cpu, int index, const char *level, const char *type,
		      const char *shared)
{
	put(level, "cpu/cpu%d/cache/index%d/level", cpu, index);
	put(type, "cpu/cpu%d/cache/index%d/type", cpu, index);
	put(shared, "cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index);
}

static void put_topology(int cpu, const char *package, const char *core_id,
			 const char *siblings)
{
	put(package, "cpu/cpu%d/topology/physical_package_id", cpu);
	put(core_id, "cpu/cpu%d/topology/core_id", cpu);
	put(siblings, "cpu/cpu%d/topology/core_cpus_list", cpu);
}

static void expect(const char *want)
{
	struct ht_error err = { 0 };
	struct ht_machine *m = ht_machine_from_sysfs(root, &err);

	test_description(m, &err, want);
}

/* @want: the end of the message, since the root is anywhere. */
static void expect_error(const char *want)
{
	struct ht_error err = { 0 };
	struct ht_machine *m = ht_machine_from_sysfs(root, &err);
	size_t len = strlen(err.text);

	CHECK(!m, "accepted");
	CHECK(len >= strlen(want) &&
	      strcmp(err.text + len - strlen(want), want) == 0,
	      "got \"%s\", expected \"...%s\"", err.text, want);
	ht_machine_free(m);
}

static void test_two_nodes(void)
{
	static const char * const siblings[] = { "0,2", "1,3" };
	int cpu;

	test_begin("two packages, siblings apart, caches, nodes 0 and 2");
	new_root();
	put("0-4", "cpu/present");
	put("0-3", "cpu/online");
	put("3", "cpu/isolated");
	for (cpu = 0; cpu < 4; cpu++) {
		put_topology(cpu, cpu % 2 ? "1" : "0", "8",
			     siblings[cpu % 2]);
		put_cache(cpu, 0, "1", "Data", siblings[cpu % 2]);
		put_cache(cpu, 1, "1", "Instruction", siblings[cpu % 2]);
		put_cache(cpu, 2, "2", "Unified", siblings[cpu % 2]);
		put_cache(cpu, 3, "3", "Unified", siblings[cpu % 2]);
		put(cpu % 2 ? "512" : "1024", "cpu/cpu%d/cpu_capacity", cpu);
	}
	put("0,2", "node/online");
	put("0,2,4", "node/node0/cpulist");
	put("1,3", "node/node2/cpulist");
	put("10 21", "node/node0/distance");
	put("21 10", "node/node2/distance");
	expect("cpu=0 package=0 node=0 llc=0 l2=0 core_id=8 siblings=0,2 capacity=1024 online=1\n"
	       "cpu=1 package=1 node=2 llc=1 l2=1 core_id=8 siblings=1,3 capacity=512 online=1\n"
	       "cpu=2 package=0 node=0 llc=0 l2=0 core_id=8 siblings=0,2 capacity=1024 online=1\n"
	       "cpu=3 package=1 node=2 llc=1 l2=1 core_id=8 siblings=1,3 capacity=512 online=1 domain=none\n"
	       "cpu=4 package=0 node=0 siblings=4 capacity=1024 online=0\n"
	       "node=0 distance=10,255,21\n"
	       "node=1 distance=255,255,255\n"
	       "node=2 distance=21,255,10\n");
	drop_root();
}

static void test_bare(void)
{
	test_begin("nothing but CPUs: no caches, nodes or online file");
	new_root();
	put("0-1", "cpu/present");
	put_topology(0, "-1", "0", "0-1");
	put("0-1", "cpu/cpu1/topology/thread_siblings_list");
	expect("cpu=0 package=0 node=0 core_id=0 siblings=0,1 capacity=1024 online=1\n"
	       "cpu=1 package=0 node=0 siblings=0,1 capacity=1024 online=1\n");
	drop_root();
}

static void test_level_four(void)
{
	test_begin("the highest level is the last one; an L2 alone is no LLC");
	new_root();
	put("0-1", "cpu/present");
	put("0-1", "cpu/online");
	put_topology(0, "0", "0", "0");
	put_topology(1, "0", "1", "1");
	put_cache(0, 0, "4", "Unified", "0-1");
	put_cache(0, 1, "3", "Unified", "0");
	put_cache(1, 0, "2", "Unified", "0-1");
	expect("cpu=0 package=0 node=0 llc=0 core_id=0 siblings=0 capacity=1024 online=1\n"
	       "cpu=1 package=0 node=0 l2=0 core_id=1 siblings=1 capacity=1024 online=1\n");
	drop_root();
}

static void test_errors(void)
{
	test_begin("no sysfs");
	new_root();
	expect_error("/sys/devices/system/cpu/present: No such file or directory");
	test_begin("a list that is none");
	put("0-x", "cpu/present");
	expect_error("cpu/present: '0-x': not a number");
	test_begin("no CPU present");
	put("", "cpu/present");
	expect_error("cpu/present: no CPU");
	test_begin("an online list that is none");
	put("0", "cpu/present");
	put("9-1", "cpu/online");
	expect_error("cpu/online: '9-1': range ends before it begins");
	test_begin("an isolated list that is none");
	put("0", "cpu/online");
	put("?", "cpu/isolated");
	expect_error("cpu/isolated: '?': not a number");
	test_begin("a node list that is none");
	put("", "cpu/isolated");
	put("0", "node/online");
	put("all", "node/node0/cpulist");
	expect_error("node cpulist: 'all': not a number");
	test_begin("a node too high");
	put("1024", "node/online");
	expect_error("node/online: node 1024 is too high");
	drop_root();
}

static void test_live(void)
{
	struct ht_error err = { 0 };
	struct ht_snapshot *snap;
	struct ht_machine *m;

	test_begin("this machine");
	if (access("/sys/devices/system/cpu/present", R_OK)) {
		test_skip("no sysfs here");
		return;
	}
	m = ht_machine_from_sysfs(NULL, &err);
	if (!CHECK(m, "%s", err.text))
		return;
	snap = ht_snapshot_new(m, &err);
	if (CHECK(snap, "%s", err.text))
		CHECK_STR(ht_check_name(ht_check_topo(&snap->topo)), "ok");
	ht_snapshot_free(snap);
	ht_machine_free(m);
}

void test_sysfs(void)
{
	test_two_nodes();
	test_bare();
	test_level_four();
	test_errors();
	test_live();
}

// SPDX-License-Identifier: GPL-2.0
/*
 * SCHED_HT: snapshots from masks.
 *
 * First fake ones, each with one irregularity; then the masks of the machine
 * that the test runs on, whatever it is.
 */
#include <kunit/test.h>
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/topology.h>

#include "ht_policy_cases.h"

static int ht_topology_init(struct kunit *test)
{
	struct ht_bench *b = kvzalloc(sizeof(*b), GFP_KERNEL);

	test->priv = b;
	return b ? 0 : -ENOMEM;
}

static void ht_topology_exit(struct kunit *test)
{
	kvfree(test->priv);
}

/* Lays b->desc[0..nr) out. Returns an enum ht_layout_error. */
static int lay_out(struct ht_bench *b, u32 nr)
{
	struct ht_layout_size size;
	int err = ht_layout_size(b->desc, nr, &size);

	if (err)
		return err;
	if (ht_layout_bytes(&size) > sizeof(b->mem))
		return HT_LAYOUT_MISMATCH;
	ht_layout_attach(&b->topo, &size, b->mem);
	return ht_layout_fill(&b->topo, b->desc, nr, NULL, 0);
}

#define FAKE_CPUS	8

/* Bitmaps and not cpumasks: those end at the CPUs that this machine has. */
struct fake_masks {
	unsigned long online;
	unsigned long smt[FAKE_CPUS];
	unsigned long llc[FAKE_CPUS];
};

static u32 lowest_cpu(unsigned long mask)
{
	return find_first_bit(&mask, FAKE_CPUS);
}

/* Descriptors as the topology file makes them of the kernel's masks. */
static u32 from_masks(struct ht_cpu_desc *desc, const struct fake_masks *m)
{
	u32 nr = 0, cpu;

	for_each_set_bit(cpu, &m->online, FAKE_CPUS) {
		desc[nr++] = (struct ht_cpu_desc){
			.cpu = cpu,
			.llc = lowest_cpu(m->llc[cpu]),
			.cluster = HT_NONE,
			.core = lowest_cpu(m->smt[cpu]),
		};
	}
	return nr;
}

/* Eight CPUs, siblings four apart, LLCs of the even and of the odd CPUs. */
static struct fake_masks fake_machine(void)
{
	struct fake_masks m = { .online = 0xff };
	u32 cpu;

	for (cpu = 0; cpu < FAKE_CPUS; cpu++) {
		m.smt[cpu] = 0x11ul << cpu % 4;
		m.llc[cpu] = 0x55ul << cpu % 2;
	}
	return m;
}

static void lay_out_masks(struct kunit *test, const struct fake_masks *m)
{
	struct ht_bench *b = test->priv;

	KUNIT_ASSERT_EQ(test, lay_out(b, from_masks(b->desc, m)), 0);
	KUNIT_EXPECT_STREQ(test, ht_check_name(ht_check_topo(&b->topo)), "ok");
}

static void fake_split_numbering(struct kunit *test)
{
	struct fake_masks m = fake_machine();
	struct ht_bench *b = test->priv;

	lay_out_masks(test, &m);
	KUNIT_EXPECT_EQ(test, b->topo.nr_llcs, 2);
	KUNIT_EXPECT_EQ(test, b->topo.llc[0].nr_cores, 2);
	/* LLC 0: cores (0,4) and (2,6), side by side. */
	KUNIT_EXPECT_EQ(test, b->topo.slot_cpu[0], 0);
	KUNIT_EXPECT_EQ(test, b->topo.slot_cpu[1], 4);
	KUNIT_EXPECT_EQ(test, b->topo.slot_cpu[2], 2);
	KUNIT_EXPECT_EQ(test, b->topo.slot_cpu[3], 6);
	KUNIT_EXPECT_EQ(test, b->topo.slot_cpu[64], 1);
	KUNIT_EXPECT_EQ(test, b->topo.present[0], 0xfull);
}

/* CPU 0 is gone: a core is still keyed by the lowest CPU that is left. */
static void fake_cpu0_offline(struct kunit *test)
{
	struct fake_masks m = fake_machine();
	struct ht_bench *b = test->priv;

	m.online = 0xfe;
	m.smt[4] = 0x10;
	lay_out_masks(test, &m);
	KUNIT_EXPECT_EQ(test, b->topo.cpu_slot[0], HT_NONE);
	KUNIT_EXPECT_NE(test, b->topo.cpu_slot[4], HT_NONE);
	KUNIT_EXPECT_EQ(test, b->topo.llc[0].nr_cores, 2);
}

/* The LLC mask of one thread lacks its sibling: two parts, neither whole. */
static void fake_core_across_llcs(struct kunit *test)
{
	struct fake_masks m = fake_machine();
	struct ht_bench *b = test->priv;

	m.llc[4] = 0x10;
	lay_out_masks(test, &m);
	KUNIT_EXPECT_EQ(test, b->topo.nr_llcs, 3);
	KUNIT_EXPECT_EQ(test, b->topo.partial[0], 1ull);
}

static void machines(struct kunit *test)
{
	struct ht_bench *b = test->priv;
	int i;

	for (i = 0; i < HT_NR_MACHINES; i++) {
		const char *name = ht_machines[i].name;

		KUNIT_EXPECT_EQ_MSG(test, ht_bench_machine(b, i), 0, "%s",
				    name);
		KUNIT_EXPECT_STREQ_MSG(test,
				       ht_check_name(ht_check_topo(&b->topo)),
				       "ok", "%s", name);
	}
}

static void refusals(struct kunit *test)
{
	struct ht_bench *b = test->priv;
	u32 i;

	KUNIT_EXPECT_EQ(test, lay_out(b, 0), HT_LAYOUT_EMPTY);

	b->desc[0] = (struct ht_cpu_desc){ .cpu = HT_MAX_CPUS };
	KUNIT_EXPECT_EQ(test, lay_out(b, 1), HT_LAYOUT_BAD_CPU);

	for (i = 0; i < 2; i++)
		b->desc[i] = (struct ht_cpu_desc){ .cpu = 3, .core = 3 };
	KUNIT_EXPECT_EQ(test, lay_out(b, 2), HT_LAYOUT_DUPLICATE);

	for (i = 0; i <= HT_MAX_SMT; i++)
		b->desc[i] = (struct ht_cpu_desc){ .cpu = i };
	KUNIT_EXPECT_EQ(test, lay_out(b, HT_MAX_SMT + 1), HT_LAYOUT_WIDE_CORE);
}

/* The kernel's own masks, as many CPUs as the bench holds. */
static void live_masks(struct kunit *test)
{
	struct ht_bench *b = test->priv;
	u32 cpu, nr = 0;

	for_each_online_cpu(cpu) {
		if (nr == HT_CASE_CPUS)
			break;
		b->desc[nr++] = (struct ht_cpu_desc){
			.cpu = cpu,
			.node = cpu_to_node(cpu),
			.llc = cpu_to_node(cpu),
			.cluster = HT_NONE,
			.core = cpumask_first(topology_sibling_cpumask(cpu)),
		};
	}
	KUNIT_ASSERT_EQ(test, lay_out(b, nr), 0);
	KUNIT_EXPECT_STREQ(test, ht_check_name(ht_check_topo(&b->topo)), "ok");
	for_each_online_cpu(cpu)
		if (cpu < b->topo.nr_cpus && nr < HT_CASE_CPUS)
			KUNIT_EXPECT_NE(test, b->topo.cpu_slot[cpu], HT_NONE);
}

static struct kunit_case ht_topology_tests[] = {
	KUNIT_CASE(fake_split_numbering),
	KUNIT_CASE(fake_cpu0_offline),
	KUNIT_CASE(fake_core_across_llcs),
	KUNIT_CASE(machines),
	KUNIT_CASE(refusals),
	KUNIT_CASE(live_masks),
	{}
};

static struct kunit_suite ht_topology_suite = {
	.name = "sched_ht_topology",
	.init = ht_topology_init,
	.exit = ht_topology_exit,
	.test_cases = ht_topology_tests,
};

kunit_test_suite(ht_topology_suite);

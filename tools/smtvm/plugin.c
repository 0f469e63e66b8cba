// SPDX-License-Identifier: GPL-2.0
/*
 * smtvm as QEMU sees it: a plugin with options, which counts in translated code.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "qemu_abi.h"
#include "smtvm.h"
#include "smtvm_mark.h"

#define KERNEL_SPACE	(1ULL << 63)

/*
 * What an instruction costs beyond one, where it is far more: published
 * latencies of Skylake are 140 cycles for PAUSE and 25 for RDTSC, at two or
 * three instructions per cycle; these are weights from a tenth to a half of
 * that, since loops around them are counted too.
 */
#define PAUSE_EXTRA	40
#define RDTSC_EXTRA	20

__attribute__((visibility("default"))) int qemu_plugin_version = QEMU_PLUGIN_API_VERSION;
__attribute__((visibility("default")))
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);

struct smtvm_guest smtvm_guest = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct qemu_plugin_scoreboard *score;

void smtvm_die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("smtvm: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	_exit(EXIT_FAILURE);
}

static qemu_plugin_u64 entry(size_t offset)
{
	return (qemu_plugin_u64){ .score = score, .offset = offset };
}

static void add_per_block(struct qemu_plugin_tb *tb, size_t offset, uint64_t n)
{
	qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64,
							  entry(offset), n);
}

static void add_extra(struct qemu_plugin_insn *insn, uint64_t n)
{
	qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn,
							    QEMU_PLUGIN_INLINE_ADD_U64,
							    entry(offsetof(struct smtvm_count,
									   extra)), n);
}

/* The guest's text at @vaddr, as far as it is mapped. */
static void read_label(uint64_t vaddr, char *label)
{
	size_t i;

	for (i = 0; i < SMTVM_MARK_MAX; i++) {
		if (cpu_memory_rw_debug(current_cpu, vaddr + i, &label[i], 1, false))
			break;
		if (!label[i])
			break;
	}
	label[i] = '\0';
}

static void marked(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *data)
{
	char label[SMTVM_MARK_MAX + 1];

	(void)info;
	(void)data;
	read_label(vaddr, label);
	smtvm_counters_write("mark", label, (int)cpu);
}

static void accessed(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *data)
{
	struct qemu_plugin_hwaddr *hw;

	(void)data;
	if (!smtvm_sampled(vaddr))
		return;
	hw = qemu_plugin_get_hwaddr(info, vaddr);
	if (!hw || qemu_plugin_hwaddr_is_io(hw))
		return;
	smtvm_guest.count[cpu]->extra +=
		smtvm_caches_access(smtvm_guest.caches, (int)cpu,
				    qemu_plugin_hwaddr_phys_addr(hw),
				    qemu_plugin_mem_is_store(info));
}

static bool starts_with(const uint8_t *insn, size_t len, const void *bytes, size_t n)
{
	return len >= n && !memcmp(insn, bytes, n);
}

static void translate_insn(struct qemu_plugin_insn *insn)
{
	static const uint8_t mark[] = SMTVM_MARK_BYTES;
	static const uint8_t pause[] = { 0xf3, 0x90 }, rdtsc[] = { 0x0f, 0x31 };
	static const uint8_t rdtscp[] = { 0x0f, 0x01, 0xf9 };
	uint8_t bytes[16];
	size_t len = qemu_plugin_insn_data(insn, bytes, sizeof(bytes));

	if (starts_with(bytes, len, mark, sizeof(mark)))
		qemu_plugin_register_vcpu_mem_cb(insn, marked, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_R, NULL);
	else if (starts_with(bytes, len, pause, sizeof(pause)))
		add_extra(insn, PAUSE_EXTRA);
	else if (starts_with(bytes, len, rdtsc, sizeof(rdtsc)) ||
		 starts_with(bytes, len, rdtscp, sizeof(rdtscp)))
		add_extra(insn, RDTSC_EXTRA);
	if (smtvm_guest.caches)
		qemu_plugin_register_vcpu_mem_cb(insn, accessed, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, NULL);
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	bool kernel = qemu_plugin_tb_vaddr(tb) & KERNEL_SPACE;

	(void)id;
	add_per_block(tb, kernel ? offsetof(struct smtvm_count, kernel_insns) :
				   offsetof(struct smtvm_count, user_insns), n);
	for (size_t i = 0; i < n; i++)
		translate_insn(qemu_plugin_tb_get_insn(tb, i));
}

static void add_cpu(qemu_plugin_id_t id, unsigned int cpu)
{
	(void)id;
	if (!use_icount)
		smtvm_die("QEMU must be run with -icount shift=0,sleep=off");
	if (cpu >= SMTVM_MAX_CPUS)
		smtvm_die("more than %d vCPUs", SMTVM_MAX_CPUS);
	pthread_mutex_lock(&smtvm_guest.lock);
	if ((int)cpu >= smtvm_guest.model.nr_cpus)
		smtvm_machine_read((int)cpu + 1);
	/*
	 * Where vCPUs take turns in one thread, QEMU 10.0 translates blocks as if
	 * there was one vCPU, and its plugin code takes the number of the one that
	 * translates for a constant (and overwrites it).
	 */
	tcg_cpu_init_cflags(smtvm_guest.cpus[cpu], true);
	/* A scoreboard may move when it grows. */
	for (int i = 0; i < smtvm_guest.model.nr_cpus; i++)
		smtvm_guest.count[i] = qemu_plugin_scoreboard_find(score, (unsigned int)i);
	pthread_mutex_unlock(&smtvm_guest.lock);
}

static void at_exit(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	smtvm_counters_write("exit", "", -1);
}

static double number(const char *name, const char *value)
{
	char *end;
	double d;

	errno = 0;
	d = strtod(value, &end);
	if (errno || end == value || *end)
		smtvm_die("%s=%s: not a number", name, value);
	return d;
}

/* Speeds that were not given are no more than the ones given for fewer threads. */
static void set_speed(struct smtvm_params *p, int threads, double speed)
{
	p->speed[threads] = speed;
	for (int k = threads + 1; k <= SMTVM_MAX_THREADS; k++) {
		if (p->speed[k] > speed)
			p->speed[k] = speed;
	}
}

static bool set_time(struct smtvm_params *p, const char *name, const char *value)
{
	if (!strcmp(name, "ips"))
		p->ips = number(name, value);
	else if (!strcmp(name, "quantum_ns"))
		p->quantum_ns = number(name, value);
	else if (name[0] == 'f' && name[1] >= '2' && name[1] <= '0' + SMTVM_MAX_THREADS &&
		 !name[2])
		set_speed(p, name[1] - '0', number(name, value));
	else
		return false;
	return true;
}

static bool set_cache(struct smtvm_cache_params *p, bool *wanted, const char *name,
		      const char *value)
{
	if (!strcmp(name, "cache")) {
		if (strcmp(value, "on") && strcmp(value, "off"))
			smtvm_die("cache=%s: on or off", value);
		*wanted = !strcmp(value, "on");
		return true;
	}
	return smtvm_cache_param(p, name, number(name, value));
}

/* Which vCPUs share an L3: those with equal socket and die, module, or core. */
static int llc_levels(const char *value)
{
	static const char *const level[] = { "die", "module", "core" };

	for (int i = 0; i < 3; i++) {
		if (!strcmp(value, level[i]))
			return i + 2;
	}
	smtvm_die("llc=%s: die, module or core", value);
}

static void set_options(int argc, char **argv)
{
	struct smtvm_params time;
	struct smtvm_cache_params cache;
	bool caches = false;
	const char *wrong;

	smtvm_guest.llc_levels = llc_levels("die");
	smtvm_params_default(&time);
	smtvm_cache_params_default(&cache);
	for (int i = 0; i < argc; i++) {
		char *value = strchr(argv[i], '=');

		if (!value)
			smtvm_die("%s: not NAME=VALUE", argv[i]);
		*value++ = '\0';
		if (!strcmp(argv[i], "out"))
			smtvm_guest.out = strdup(value);
		else if (!strcmp(argv[i], "llc"))
			smtvm_guest.llc_levels = llc_levels(value);
		else if (!set_time(&time, argv[i], value) &&
			 !set_cache(&cache, &caches, argv[i], value))
			smtvm_die("%s: unknown option", argv[i]);
	}
	wrong = smtvm_params_check(&time);
	if (!wrong && caches)
		wrong = smtvm_cache_params_check(&cache);
	if (wrong)
		smtvm_die("%s", wrong);
	smtvm_model_init(&smtvm_guest.model, &time, 0);
	if (caches)
		smtvm_guest.caches = smtvm_caches_new(&cache);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	if (!info->system_emulation || strcmp(info->target_name, "x86_64"))
		smtvm_die("only qemu-system-x86_64 is supported");
	set_options(argc, argv);
	score = qemu_plugin_scoreboard_new(sizeof(struct smtvm_count));
	smtvm_clock_replace();
	qemu_plugin_register_vcpu_init_cb(id, add_cpu);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_atexit_cb(id, at_exit, NULL);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Decides again what a kernel decided (INV-9).
 *
 * usage: ht-replay TOPOLOGY TRACE
 *
 * TOPOLOGY is a description as `htctl topology --describe` writes it, TRACE the
 * text of a trace with sched_ht:sched_ht_decision events; other lines are
 * passed over. Each event holds all that its decision was made from. Prints the
 * decisions that come out different, then the counts.
 *
 * Exit status: 0 all the same, 1 some differ or there was none, 2 bad input.
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ht_price.h"
#include "libht.h"

#define EVENT		"sched_ht_decision: "
#define MAX_WORDS	256
/* As enum ht_call in the kernel numbers them. */
enum { CALL_SELECT, CALL_FREE_CORE, CALL_MOVE_PAYS };

/**
 * struct record - one event
 * @line:     of the trace
 * @text:     behind the event's name
 * @req:      request
 * @allowed:  its affinity
 * @word:     state
 * @call:     which function decided
 * @slot:     its argument
 * @said:     what the kernel decided
 */
struct record {
	unsigned int line;
	const char *text;
	struct ht_request req;
	ht_u64 allowed[MAX_WORDS];
	struct ht_word word[MAX_WORDS];
	ht_u32 call;
	ht_u32 slot;
	struct ht_verdict said;
};

static unsigned int nr_same, nr_different;

/* What follows "NAME=" in the event's text. */
static const char *value_of(const struct record *r, const char *name)
{
	size_t len = strlen(name);
	const char *at = r->text;

	while ((at = strstr(at, name))) {
		if ((at == r->text || at[-1] == ' ') && at[len] == '=')
			return at + len + 1;
		at += len;
	}
	errx(2, "line %u: no %s", r->line, name);
}

/* A number as the kernel prints it: -1 for the largest one. */
static ht_u64 number(const struct record *r, const char *name)
{
	const char *text = value_of(r, name);
	char *end;
	ht_u64 value;

	errno = 0;
	value = *text == '-' ? (ht_u64)strtoll(text, &end, 10) :
			       strtoull(text, &end, 10);
	if (errno || end == text || (*end != ' ' && *end != '\n' && *end))
		errx(2, "line %u: %s is not a number", r->line, name);
	return value;
}

/* {0x1,0x2}; returns how many. */
static ht_u32 numbers(const struct record *r, const char *name, ht_u64 *out,
		      ht_u32 most)
{
	const char *text = value_of(r, name);
	ht_u32 nr = 0;
	char *end;

	if (*text != '{')
		errx(2, "line %u: %s is not a list", r->line, name);
	while (*text != '}' && text[1] != '}') {
		if (nr == most)
			errx(2, "line %u: %s is too long", r->line, name);
		out[nr++] = strtoull(text + 1, &end, 16);
		if (end == text + 1 || (*end != ',' && *end != '}'))
			errx(2, "line %u: %s is not a list", r->line, name);
		text = end;
	}
	return nr;
}

/* The number that a name stands for; @name_of knows @nr of them. */
static ht_u32 index_of(const struct record *r, const char *field, ht_u32 nr,
		       const char *(*name_of)(ht_u32))
{
	const char *text = value_of(r, field);
	ht_u32 i;

	for (i = 0; i < nr; i++) {
		size_t len = strlen(name_of(i));

		if (strncmp(text, name_of(i), len) == 0 && text[len] == ' ')
			return i;
	}
	errx(2, "line %u: %s is none that is known", r->line, field);
}

static const char *kind_name(ht_u32 kind)
{
	return ht_kind_name(kind);
}

static const char *why_name(ht_u32 why)
{
	return ht_why_name(why);
}

static void read_u32s(const struct record *r, const char *name, ht_u32 *out,
		      ht_u32 nr)
{
	ht_u64 value[16];
	ht_u32 i;

	if (numbers(r, name, value, 16) != nr)
		errx(2, "line %u: %s has not %u numbers", r->line, name, nr);
	for (i = 0; i < nr; i++)
		out[i] = value[i];
}

static void read_waits(struct record *r)
{
	ht_u64 value[2 * HT_MAX_WAITS];
	ht_u32 i, nr = numbers(r, "waits", value, 2 * HT_MAX_WAITS);

	r->req.nr_waits = nr / 2;
	for (i = 0; i < nr / 2; i++)
		r->req.waits[i] = (struct ht_wait){
			.cpu = (ht_u32)value[2 * i],
			.sched_idle = value[2 * i] >> 32,
			.wait_ns = value[2 * i + 1],
		};
}

static void read_words(struct record *r, const struct ht_topo *topo)
{
	static ht_u64 value[3 * MAX_WORDS];
	ht_u32 i, nr = numbers(r, "words", value, 3 * MAX_WORDS);

	if (nr != 3 * topo->nr_words)
		errx(2, "line %u: %u words, the topology has %u", r->line,
		     nr / 3, topo->nr_words);
	for (i = 0; i < topo->nr_words; i++)
		r->word[i] = (struct ht_word){ .idle = value[3 * i],
					       .claimed = value[3 * i + 1],
					       .light = value[3 * i + 2] };
}

static void read_request(struct record *r)
{
	struct ht_request *req = &r->req;

	req->kind = index_of(r, "kind", HT_NR_KINDS, kind_name);
	req->prev_cpu = number(r, "prev_cpu");
	req->origin_cpu = number(r, "origin_cpu");
	req->smt = number(r, "smt");
	req->prev_is_self = number(r, "prev_is_self");
	req->allowed_all = number(r, "allowed_all");
	req->nr_allowed = number(r, "nr_allowed");
	req->allowed = r->allowed;
	numbers(r, "allowed", r->allowed, MAX_WORDS);
	read_waits(r);
	req->priced = number(r, "priced");
	req->run_ns = number(r, "run_ns");
	read_u32s(r, "resid", req->resid_ns, HT_LEVELS);
	read_u32s(r, "prices", (ht_u32 *)&req->prices,
		  sizeof(req->prices) / sizeof(ht_u32));
	req->waker_cpu = number(r, "waker_cpu");
	req->pair = number(r, "pair");
}

static void read_verdict(struct record *r)
{
	r->call = number(r, "call");
	r->slot = number(r, "slot");
	r->said.cpu = number(r, "cpu");
	r->said.why = index_of(r, "why", HT_NR_WHYS, why_name);
	r->said.price.share_ns = number(r, "share_ns");
	r->said.price.move_ns = number(r, "move_ns");
	r->said.price.apart_ns = number(r, "apart_ns");
	r->said.price.wait_ns = number(r, "wait_ns");
	r->said.core_ns = number(r, "core_ns");
}

static void decide(const struct record *r, const struct ht_topo *topo,
		   struct ht_verdict *v)
{
	static ht_u32 claim_tick[MAX_WORDS * HT_WORD_BITS];
	struct ht_state st = { .word = r->word, .claim_tick = claim_tick };

	switch (r->call) {
	case CALL_SELECT:
		ht_policy_select(topo, &st, &r->req, v);
		break;
	case CALL_FREE_CORE:
		ht_policy_free_core(topo, &st, &r->req, v);
		break;
	case CALL_MOVE_PAYS:
		if (r->slot >= topo->nr_words * HT_WORD_BITS)
			errx(2, "line %u: no slot %u", r->line, r->slot);
		ht_policy_move_pays(topo, &st, &r->req, r->slot, v);
		break;
	default:
		errx(2, "line %u: call %u is none that is known", r->line,
		     r->call);
	}
}

static bool same(const struct ht_verdict *a, const struct ht_verdict *b)
{
	return a->cpu == b->cpu && a->why == b->why &&
	       a->core_ns == b->core_ns &&
	       a->price.share_ns == b->price.share_ns &&
	       a->price.move_ns == b->price.move_ns &&
	       a->price.apart_ns == b->price.apart_ns &&
	       a->price.wait_ns == b->price.wait_ns;
}

static void replay(unsigned int line, const char *text,
		   const struct ht_topo *topo)
{
	static struct record r;
	struct ht_verdict v;

	memset(&r, 0, sizeof(r));
	r.line = line;
	r.text = text;
	read_request(&r);
	read_words(&r, topo);
	read_verdict(&r);
	decide(&r, topo, &v);
	if (same(&v, &r.said)) {
		nr_same++;
		return;
	}
	nr_different++;
	printf("line %u: CPU %d (%s, %llu ns), the kernel said %d (%s, %llu ns)\n",
	       line, (int)v.cpu, ht_why_name(v.why), ht_price_sum(&v.price),
	       (int)r.said.cpu, ht_why_name(r.said.why),
	       ht_price_sum(&r.said.price));
}

static void replay_file(FILE *trace, const struct ht_topo *topo)
{
	unsigned int line = 0;
	char *text = NULL;
	size_t size = 0;

	while (getline(&text, &size, trace) > 0) {
		const char *event = strstr(text, EVENT);

		line++;
		if (event && text[0] != '#')
			replay(line, event + strlen(EVENT), topo);
	}
	free(text);
}

int main(int argc, char **argv)
{
	struct ht_error error = { 0 };
	struct ht_snapshot *snap;
	struct ht_machine *m;
	FILE *trace;

	if (argc != 3)
		errx(2, "usage: ht-replay TOPOLOGY TRACE");
	m = ht_machine_from_file(argv[1], &error);
	snap = m ? ht_snapshot_new(m, &error) : NULL;
	if (!snap)
		errx(2, "%s: %s", argv[1], error.text);
	if (snap->topo.nr_words > MAX_WORDS)
		errx(2, "%s: too large a machine", argv[1]);
	trace = fopen(argv[2], "r");
	if (!trace)
		err(2, "%s", argv[2]);
	replay_file(trace, &snap->topo);
	fclose(trace);
	ht_snapshot_free(snap);
	ht_machine_free(m);
	printf("%u decisions the same, %u different\n", nr_same, nr_different);
	return nr_different || !nr_same;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reactors/tests/ - a small core for tests of the contract: a worker's loop with
 * its slots, and the peers at the other end of its connections, all driven by
 * the test's thread.
 *
 * Both directions of a connection carry the same endless pattern, so that every
 * byte can be checked by its offset alone. Upcalls may come on threads of the
 * reactor, where cmocka can't end a test: they note the first fault, and
 * bed_step fails the test with it.
 */
#ifndef REACTORS_TESTS_FIXTURE_H
#define REACTORS_TESTS_FIXTURE_H

#include <stdarg.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include <cmocka.h>

#include "reactors/reactor.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define MIB (1024u * 1024u)

enum {
	BED_SLOTS = 8192,
	BED_PATTERN = 8 * 1024 * 1024, /* the most that one direction carries */
	BED_STUCK = 7 * 1024 * 1024,   /* more than a sender and a deaf peer hold */
	END_NONE = 1,                  /* else 0: proper end, or negative errno */
};

/* What the test knows of a slot; zeroed when the slot is taken. */
struct bed_conn {
	size_t received;         /* bytes, all of them verified */
	size_t queued;           /* bytes given to send */
	int end;                 /* n of the last `received`, END_NONE before it */
	unsigned sents;          /* `sent` upcalls */
	int sent_error;          /* of the last of them */
	bool sending;            /* `sent` is due */
	bool closing;            /* close was called */
	unsigned parked_upcalls; /* `received` that found it parked */
};

/* The other end of a connection, or a socket that has none. */
struct bed_peer {
	int fd;
	size_t to_send; /* how far the test wants it to have sent */
	size_t sent;
	size_t received; /* bytes, all of them verified */
	int end;         /* END_NONE while open */
	bool deaf;       /* does not read */
};

struct bed {
	struct reactor_loop loop;
	struct bed_conn conns[BED_SLOTS];
	struct bed_peer peers[BED_SLOTS];
	unsigned peer_count;
	unsigned accepted, closed; /* how many so far */
	unsigned upcalls;
	int accept_error; /* of the last `accepted` that had one */
	unsigned accept_errors;
	unsigned accept_limit; /* the gate closes at so many; 0: never */
	uint32_t last_slot;    /* of the last connection that was attached */
	int listen_fd;
	int held_fd; /* with hold_accepted: accepted but not attached */
	bool hold_accepted;
	bool in_run, in_upcall;
	uint64_t last_step_ns, longest_pause_ns; /* between steps: the loop at rest */
	bool deep;                               /* parked connections lose their sockets, soon */
	const char *unwritten;                   /* the op that answered -ENOSYS */
	char fault[160];
	/* The test's own part in the upcalls; NULL: none. */
	void (*on_received)(struct bed *bed, uint32_t slot, ssize_t n);
	void (*on_sent)(struct bed *bed, uint32_t slot);
};

struct bed_case {
	const char *name;
	void (*run)(struct bed *bed);
};

/* Runs every case on every reactor as cmocka tests "reactor: case", and on those that have
 * level deep "reactor at deep: case". */
int bed_run_cases(const char *group, const struct bed_case *cases, size_t count);
/* The latter alone. */
int bed_run_deep_cases(const char *group, const struct bed_case *cases, size_t count);

/* Between fixture.c and fixture_run.c. */
extern const struct reactor_upcalls *const bed_upcalls;
void bed_fill_pattern(void);

/* In upcalls or out of them: notes `fault` unless `held`. */
void bed_check(struct bed *bed, bool held, const char *fault);
/*
 * Passes on what an op answered. -ENOSYS says that it is not written yet (make
 * new-reactor): that fails the test with what to do, here or, from upcalls, after
 * the run; the same engine's later cases that come upon it are skipped.
 */
int bed_answer(struct bed *bed, const char *op, int answer);
/* One look: peers read and write what they can, the loop runs once. */
void bed_step(struct bed *bed);
void bed_steps(struct bed *bed, unsigned count);

/* Steps until `condition` holds; the test fails when that takes too long. */
#define bed_until(bed, condition)                                                                  \
	do {                                                                                       \
		time_t bed_limit = time(NULL) + 60;                                                \
		while (!(condition)) {                                                             \
			if (time(NULL) > bed_limit)                                                \
				fail_msg("never came true: %s", #condition);                       \
			bed_step(bed);                                                             \
		}                                                                                  \
	} while (0)

/* A peer that has connected to the bed's listener, not yet accepted. */
struct bed_peer *bed_connect(struct bed *bed);
/* A connection: a new peer and, as the result, its slot. */
uint32_t bed_pair(struct bed *bed, struct bed_peer **peer);
/* Adopts fd as a peer. */
struct bed_peer *bed_add_peer(struct bed *bed, int fd);
/* Writes what is due and fits, as every step does. */
void bed_peer_write(struct bed_peer *peer);
/* Ends the peer with RST. */
void bed_reset(struct bed_peer *peer);
/* Takes a free slot for fd and attaches it: the slot, or a negative errno. */
int64_t bed_attach(struct bed *bed, int fd);
/* The next `len` bytes of the pattern: what the reactor's send answers. */
int bed_send(struct bed *bed, uint32_t slot, size_t len);
/* What recv_gate answers. */
static inline int bed_gate(struct bed *bed, uint32_t slot, bool open)
{
	return bed_answer(bed, "recv_gate", bed->loop.ops->recv_gate(&bed->loop, slot, open));
}

/* From anywhere; unparks first where needed. */
void bed_close_conn(struct bed *bed, uint32_t slot);
/* What park answers; after 0 the connection has no object. */
int bed_park(struct bed *bed, uint32_t slot);
void bed_unpark(struct bed *bed, uint32_t slot);
/* A listener on an ephemeral port of 127.0.0.1, and its port. */
int bed_listener(uint16_t *port, int backlog);
uint16_t bed_port(int listen_fd);
/* A non-blocking socket on its way to 127.0.0.1:port. */
int bed_start_connect(uint16_t port);
uint64_t bed_now_ns(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reactors/ - how events and bytes arrive. This header is the whole contract
 * between the core (harness/core) and an engine: one engine is one file here.
 *
 * The contract is completion-shaped with borrowed input, so that readiness
 * engines (epoll, libev, poll) and completion engines (io_uring) both serve it
 * without a penalty:
 *
 *  - Receive: the reactor owns the bytes; the core borrows them until the
 *    `received` upcall returns. No engine keeps a buffer per idle connection:
 *    that is what is being measured.
 *  - Send: the caller owns the buffer until the send is done. Short writes are
 *    the reactor's job. One send outstanding a connection.
 *  - Close is a request: `closed` comes when the kernel holds nothing of the
 *    connection any more, and only then is its slot reused.
 *  - Events carry a tag (op + generation + slot index), never a pointer: a
 *    stale event is recognised, and a parked connection needs no object.
 *
 * Units: sizes in bytes, times in nanoseconds of CLOCK_MONOTONIC.
 * Errors: negative errno; -ENOSYS is that of an op not written yet (the skeleton
 * of `make new-reactor`). Threads: every op of a loop is called from the thread
 * that called init, or from inside an upcall of the same loop; only `wake` may
 * be called from any thread that shares its table of open files (unshare(2)
 * CLONE_FILES), and from a signal handler. Upcalls of one loop never run concurrently and are
 * made only while `run` is being executed.
 */
#ifndef REACTORS_REACTOR_H
#define REACTORS_REACTOR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What `send` answers when it does not fail. */
enum reactor_status {
	REACTOR_DONE = 0,    /* every byte is the kernel's: no `sent` follows */
	REACTOR_PENDING = 1, /* the buffer is in use until the `sent` upcall */
};

/* What an engine can do beyond the minimum. */
enum reactor_caps {
	REACTOR_CAP_THREADS = 1 << 0, /* one thread a connection (needs tasks, maps) */
};

/* Operations named in a tag. An engine uses those it needs. */
enum reactor_op {
	REACTOR_OP_CONN = 0, /* readiness of a connection, or its receive */
	REACTOR_OP_SEND,
	REACTOR_OP_ACCEPT,
	REACTOR_OP_WAKE,
	REACTOR_OP_OTHER,
};

/* What a slot's fd is when it is no descriptor. */
enum reactor_fd {
	REACTOR_FD_FREE = -1,
	REACTOR_FD_DEEP = -2, /* in use, parked deep: the connection has no socket */
};

/*
 * One connection as both sides know it: 16 bytes, the only thing that exists
 * for as long as the connection does. The core owns the table; a reactor reads
 * it and writes only inside `active`, and at level deep `fd`.
 */
struct reactor_slot {
	void *active;        /* conn_size zeroed reactor bytes, then the core's
				own; NULL while the connection is parked */
	int fd;              /* or an enum reactor_fd */
	uint16_t generation; /* one more at every reuse of the slot */
	uint16_t deadline;   /* the core's, in its ticks; 0: none */
};

/* Counted by the reactor, read by the core between runs. */
struct reactor_counters {
	uint64_t syscalls;     /* system calls made by the engine itself */
	uint64_t stale_events; /* tags whose generation had passed */
	uint64_t accept_errors;
	/* Level deep. */
	uint64_t deep_parked, deep_parked_ns; /* sockets dissolved, and the time it took */
	uint64_t deep_woken, deep_woken_ns;   /* sockets made again */
	uint64_t deep_kept;    /* tries to dissolve a socket that was not in a state for it */
	uint64_t deep_dropped; /* packets held for a parked connection that there was no room
				  or no file for: their senders repeat them */
	uint32_t deep_now;     /* connections without a socket */
};

/* Level deep: whose packets are to be held while their connection has no socket. */
struct reactor_deep {
	struct sockaddr_in service; /* where the server listens; any address: INADDR_ANY */
	bool client;                /* this is the side that connects to it */
	uint32_t loops;             /* of this process that do so, at most 255; each says it once */
	uint64_t idle_ns;           /* from park until the socket may go */
};

/* One event loop: one worker. Owned by the core, zeroed before init. */
struct reactor_loop {
	const struct reactor_ops *ops;
	const struct reactor_upcalls *up;
	void *core;                 /* the core's own, for its upcalls */
	struct reactor_slot *slots; /* slot_max entries; never moves */
	uint32_t slot_max;          /* the most connections this loop may hold */
	void *engine;               /* loop_size zeroed bytes, the reactor's */
	struct reactor_counters counters;
};

/* From the reactor to the core. */
struct reactor_upcalls {
	/*
	 * A connection was accepted: `fd` belongs to the core, which picks a slot
	 * and calls attach, or closes it. A negative errno (-EMFILE, -ENFILE,
	 * -ENOBUFS, -ENOMEM) says that accepting failed for want of resources: the
	 * reactor has closed its accept gate, and the core opens it again.
	 */
	void (*accepted)(struct reactor_loop *loop, int fd);
	/*
	 * n > 0: bytes[0..n), borrowed until the upcall returns. n == 0: the peer
	 * will send no more. n < 0: the connection is broken (negative errno).
	 * After n <= 0 no further `received` comes (to a connection that is parked
	 * at the time or later, the end may be told again). The core may call any
	 * op on any slot from here; the reactor reads slot->active afresh
	 * afterwards.
	 */
	void (*received)(struct reactor_loop *loop, uint32_t slot, const uint8_t *bytes, ssize_t n);
	/* The pending send ended: 0, or a negative errno. Its buffer is free. */
	void (*sent)(struct reactor_loop *loop, uint32_t slot, int error);
	/* Nothing of the connection is left in the kernel; its fd is closed. The
	 * reactor has no further use for the slot or for its `active` bytes. */
	void (*closed)(struct reactor_loop *loop, uint32_t slot);
};

struct reactor_ops {
	const char *name;         /* as in config, JSON, plots: "epoll" */
	const char *summary;      /* one line for `parkbench list` */
	const char *kernel_floor; /* first kernel that can run it: "2.6" */
	/* Predicted kernel bytes of an idle connection beyond its socket: the sum of
	 * objects that the file's first comment lists. */
	unsigned kernel_conn_bytes;
	unsigned caps;    /* enum reactor_caps */
	size_t loop_size; /* private bytes a loop; the core allocates */
	size_t conn_size; /* private bytes an active connection */

	/* 0, or a negative errno with the reason why this kernel (or its
	 * settings) can not run the engine: becomes a visible SKIP. */
	int (*probe)(char *reason, size_t reason_size);

	/* Prepares loop->engine. Called in the worker's thread. */
	int (*init)(struct reactor_loop *loop);
	/* Ends a loop whose connections are all closed. */
	void (*fini)(struct reactor_loop *loop);

	/* NULL, or what a bound socket needs before listen(2) makes a listener of it. */
	int (*bound)(struct reactor_loop *loop, int fd);
	/* Accepts on `fd`, a listening socket that stays the core's. Another one when
	 * the gate was closed and the core has shut and closed the former: what the
	 * engine then still hears of that one is dropped. */
	int (*listen)(struct reactor_loop *loop, int fd);
	/* false: accept nothing more until opened again (the kernel's backlog
	 * keeps what arrives). Idempotent. */
	int (*accept_gate)(struct reactor_loop *loop, bool open);

	/*
	 * Starts receiving on slots[slot].fd; `active` is set. The reactor chooses
	 * blocking or not. The socket may still be connecting: a send then pends
	 * until it is connected, a failed connect comes as `received` n < 0. On
	 * failure the slot is as before and no upcall comes.
	 */
	int (*attach)(struct reactor_loop *loop, uint32_t slot);
	/*
	 * false: deliver no more input of this connection until opened again
	 * (bytes already taken from the kernel may still come). How the core makes
	 * a peer wait that sends but does not read. Idempotent.
	 */
	int (*recv_gate)(struct reactor_loop *loop, uint32_t slot, bool open);
	/* enum reactor_status, or a negative errno when nothing was sent and
	 * nothing is pending. len > 0; one outstanding a connection (-EBUSY). */
	int (*send)(struct reactor_loop *loop, uint32_t slot, const void *buf, size_t len);
	/*
	 * The connection goes idle without an object: after 0 the core frees
	 * `active` and sets it to NULL; input still comes as `received` with the
	 * slot alone. -EBUSY while anything of it is pending in the reactor (a
	 * send, a closed recv gate, a close). Only unpark may be called for a
	 * parked connection.
	 */
	int (*park)(struct reactor_loop *loop, uint32_t slot);
	/* A parked connection has a new, zeroed `active`. Also from `received`. It
	 * fails only at level deep: there is no socket to be had (-EMFILE, …), and
	 * only close may be called. */
	int (*unpark)(struct reactor_loop *loop, uint32_t slot);
	/*
	 * Asks for the end of the connection and drops a pending send (no `sent`
	 * comes; its buffer stays in use until `closed`). No further upcall but
	 * `closed`, which never comes from inside this call. The peer sees FIN, or
	 * RST where input was left unread.
	 * `active` must be set (unpark first).
	 */
	int (*close)(struct reactor_loop *loop, uint32_t slot);

	/*
	 * Waits until something happened, or `deadline_ns` (0: look once, do not
	 * wait; UINT64_MAX: no deadline), makes the upcalls and returns 0, or a
	 * negative errno when the loop can not go on. Returns early on `wake`.
	 */
	int (*run)(struct reactor_loop *loop, uint64_t deadline_ns);
	/* Makes a `run` in progress, or the next one, return. Any thread with the
	 * loop's descriptors; async-signal-safe. A signal alone may do it too. */
	void (*wake)(struct reactor_loop *loop);

	/*
	 * Level deep: both NULL where the engine can not. deep_probe: as probe, for
	 * the network namespace of the caller. deep: once, after init and listen and
	 * before the first run: a parked connection, once it is idle for long enough,
	 * loses its socket too (slot->fd is REACTOR_FD_DEEP), and has one again when
	 * its peer sends or unpark is called; nothing else of the contract changes. 0,
	 * or a negative errno with the reason.
	 */
	int (*deep_probe)(char *reason, size_t reason_size);
	int (*deep)(struct reactor_loop *loop, const struct reactor_deep *config, char *reason,
		    size_t reason_size);
};

/*
 * Registry (registry.c). An engine registers itself before main:
 *	__attribute__((constructor)) static void register_x(void)
 *	{
 *		reactor_register(&x_ops);
 *	}
 */
#define REACTOR_MAX 32
void reactor_register(const struct reactor_ops *ops);
/* NULL when there is no such engine. */
const struct reactor_ops *reactor_find(const char *name);
/* All engines ordered by name; *count of them. Static storage. */
const struct reactor_ops *const *reactor_all(size_t *count);

/* Tags: op in bits 63..56, generation in 47..32, slot index in 31..0. */
static inline uint64_t reactor_tag(enum reactor_op op, uint16_t generation, uint32_t slot)
{
	return (uint64_t)op << 56 | (uint64_t)generation << 32 | slot;
}

static inline enum reactor_op reactor_tag_op(uint64_t tag)
{
	return (enum reactor_op)(tag >> 56);
}

static inline uint32_t reactor_tag_slot(uint64_t tag)
{
	return (uint32_t)tag;
}

/* The tag of an event that concerns `slot` as it is now. */
static inline uint64_t reactor_slot_tag(const struct reactor_loop *loop, enum reactor_op op,
					uint32_t slot)
{
	return reactor_tag(op, loop->slots[slot].generation, slot);
}

/* False when the slot was freed or reused since the tag was made. */
static inline bool reactor_tag_fresh(const struct reactor_loop *loop, uint64_t tag)
{
	uint32_t slot = reactor_tag_slot(tag);

	return slot < loop->slot_max && loop->slots[slot].fd >= 0 &&
	       loop->slots[slot].generation == (uint16_t)(tag >> 32);
}

#endif

// SPDX-License-Identifier: Apache-2.0
/* harness/core/ - level keys: from an object to a record and back. */
#include "harness/core/keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/common/tally.h"

static size_t array_bytes(const struct worker *worker)
{
	return (size_t)worker->slots.max * sizeof(struct tls_parked);
}

static int lock_records(struct worker *worker, char *reason, size_t reason_size)
{
	int error;

	if (!worker->config.lock_records ||
	    !mlock2(worker->parked, array_bytes(worker), MLOCK_ONFAULT))
		return 0;
	error = errno;
	snprintf(reason, reason_size,
		 "%zu bytes of records a worker can not be locked in memory: %s; allow it with: "
		 "sudo prlimit --pid $$ --memlock=unlimited",
		 array_bytes(worker), strerror(error));
	return -error;
}

/* One object in reserve: closing a connection takes one, also when memory has run out. */
int keys_init(struct worker *worker, char *reason, size_t reason_size)
{
	void *array;
	int rc;

	if (worker->config.tls_config.park < PARK_KEYS)
		return 0;
	array = mmap(NULL, array_bytes(worker), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (array == MAP_FAILED)
		return -ENOMEM;
	madvise(array, array_bytes(worker), MADV_DONTDUMP);
	worker->parked = array;
	rc = lock_records(worker, reason, reason_size);
	if (rc)
		return rc;
	worker->reserve = calloc(1, conn_object_bytes(worker));
	return worker->reserve ? 0 : -ENOMEM;
}

void keys_fini(struct worker *worker)
{
	free(worker->reserve);
	if (worker->parked)
		munmap(worker->parked, array_bytes(worker));
	worker->parked = NULL;
}

/* None of the slots whose records reach into these bytes of the array is in use. */
static bool bytes_free(const struct slots *slots, size_t from, size_t to)
{
	size_t last = (to - 1) / sizeof(struct tls_parked);

	for (size_t slot = from / sizeof(struct tls_parked); slot <= last; slot++)
		if (slot < slots->top && slots->table[slot].fd != REACTOR_FD_FREE)
			return false;
	return true;
}

void keys_give_back(struct worker *worker)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t end = (size_t)worker->slots.top * sizeof(struct tls_parked), free_from = 0;
	int advice = worker->config.lock_records ? MADV_DONTNEED_LOCKED : MADV_DONTNEED;

	if (!worker->parked || !worker->slots.freed)
		return;
	for (size_t at = 0; at < end + page; at += page) {
		if (at < end && bytes_free(&worker->slots, at, at + page))
			continue;
		if (free_from < at)
			madvise((char *)worker->parked + free_from, at - free_from, advice);
		free_from = at + page;
	}
}

bool keys_dissolve(struct worker *worker, struct conn *conn, struct tls_io *io)
{
	const char *cause = NULL;
	int rc;

	if (conn->kept == CONN_KEPT_FOR_GOOD)
		return false;
	rc = worker->config.tls->dissolve(conn->tls, &worker->parked[conn->slot], io, &cause);
	if (!rc) {
		conn->tls = NULL;
		worker->counters.dissolved++;
		worker->trim_due = true;
		return true;
	}
	if (conn->kept == CONN_NOT_KEPT)
		tally_add(&worker->kept, cause ? cause : "unknown", 1);
	conn->kept = rc == -EOPNOTSUPP ? CONN_KEPT_FOR_GOOD : CONN_KEPT;
	return false;
}

void keys_sleep(struct worker *worker, struct conn *conn)
{
	struct reactor_slot *slot = &worker->slots.table[conn->slot];

	if (worker->config.reactor->park(&worker->loop, conn->slot))
		return;
	free(slot->active);
	slot->active = NULL;
	worker->trim_due = true;
}

struct conn *keys_wake(struct worker *worker, uint32_t slot)
{
	struct reactor_slot *s = &worker->slots.table[slot];
	struct conn *conn;
	bool starved;
	int rc;

	if (s->active)
		return conn_at(worker, slot);
	s->active = calloc(1, conn_object_bytes(worker));
	starved = !s->active;
	if (starved) {
		s->active = worker->reserve;
		worker->reserve = NULL;
		if (!s->active)
			abort(); /* no memory for the second time, and no way to say so */
	}
	conn = conn_at(worker, slot);
	conn->slot = slot;
	conn->state = CONN_OPEN;
	conn->wait = WAIT_IDLE;
	rc = worker->config.reactor->unpark(&worker->loop, slot);
	if (!rc && starved)
		rc = -ENOMEM;
	if (rc) {
		conn_close(worker, conn, errno_name(rc));
		return NULL;
	}
	return conn;
}

void keys_forget(struct worker *worker, uint32_t slot)
{
	if (worker->parked)
		worker->config.tls->parked_forget(worker->tls_ctx, &worker->parked[slot]);
}

int keys_decrypt(struct worker *worker, struct conn *conn, struct tls_io *io, uint8_t *plain,
		 size_t size, size_t *len)
{
	const struct tls_ops *tls = worker->config.tls;

	if (conn->tls)
		return tls->decrypt(conn->tls, io, plain, size, len);
	return tls->parked_decrypt(worker->tls_ctx, &worker->parked[conn->slot], io, plain, size,
				   len);
}

int keys_encrypt(struct worker *worker, struct conn *conn, struct tls_io *io, const uint8_t *plain,
		 size_t len, size_t *used)
{
	const struct tls_ops *tls = worker->config.tls;

	if (conn->tls)
		return tls->encrypt(conn->tls, io, plain, len, used);
	return tls->parked_encrypt(worker->tls_ctx, &worker->parked[conn->slot], io, plain, len,
				   used);
}

int keys_close_notify(struct worker *worker, struct conn *conn, struct tls_io *io)
{
	const struct tls_ops *tls = worker->config.tls;

	if (conn->tls)
		return tls->close_notify(conn->tls, io);
	return tls->parked_close_notify(worker->tls_ctx, &worker->parked[conn->slot], io);
}

int keys_update(struct worker *worker, struct conn *conn, struct tls_io *io)
{
	const struct tls_ops *tls = worker->config.tls;

	if (conn->tls)
		return tls->key_update(conn->tls, io);
	return tls->parked_key_update(worker->tls_ctx, &worker->parked[conn->slot], io);
}

bool keys_await_update(const struct worker *worker, const struct conn *conn)
{
	const struct tls_ops *tls = worker->config.tls;

	if (conn->tls)
		return tls->awaits_key_update(conn->tls);
	return tls->parked_awaits_key_update(&worker->parked[conn->slot]);
}

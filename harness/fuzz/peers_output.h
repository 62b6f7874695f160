/* SPDX-License-Identifier: Apache-2.0 */
/* harness/fuzz/ - what the connection under test said, as its peer reads it. */
#ifndef HARNESS_FUZZ_PEERS_OUTPUT_H
#define HARNESS_FUZZ_PEERS_OUTPUT_H

#include "harness/fuzz/peers.h"

/* What reading said: nothing, a KeyUpdate that was due, or, where it answered -EPROTO, an alert. */
void peers_read_answer(struct peers *peers, const uint8_t *out, size_t len, int rc);
/* Records of just this data, KeyUpdates that were due before them. */
void peers_read_data(struct peers *peers, const uint8_t *out, size_t len, const uint8_t *data,
		     size_t data_len);
/* A close_notify and no more. */
void peers_read_bye(struct peers *peers, const uint8_t *out, size_t len);

#endif

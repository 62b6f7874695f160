# SPDX-License-Identifier: Apache-2.0
# plots/ - how long handshakes took, as the client saw it: the part of them that was over after so
# many milliseconds; a panel for each backend and park level, a curve for each reactor and number of
# connections.

figure_title = sprintf('Latency of a handshake, %s connections', connections)
figure_note = 'From connect to the end of the handshake, seen by the client'
what = 'handshakes'
unit = 'milliseconds'
is_told = 0
load cdf

# SPDX-License-Identifier: Apache-2.0
# plots/ - how long parked connections took to wake: the part of the wakes that was over after so many
# microseconds; a panel for each backend, a curve for each park level.

figure_title = sprintf('Latency of a wake by park level, %s connections held', connections)
figure_note = 'From the packet to the whole response, seen by the client, one connection at a time'
what = 'wakes'
unit = 'microseconds'
is_told = 1
load cdf

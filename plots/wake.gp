# SPDX-License-Identifier: Apache-2.0
# plots/ - what waking costs: CPU of the server per request by park level, and against shed.

rows_high = 17
flags = 0
label_chars = 4
load style

set label 1 sprintf('CPU per request by park level, %s connections held', connections)
set label 2 'Every connection is woken in each round; ×: against shed, within each repeat; '.range_note

value = 'us'
note = 'us_text'
note_2 = 'ratio_text'
unit = 'server CPU, microseconds per request'
has_marks = 0
key_px = 320
shown = ''
do for [i = 1 : words(level_panels)] {
	shown = shown.'1 '
}
is_log = 0
low = 0
high = level_us_most * 1.25
set ytics nomirror tic_step(high, 8)
load levels

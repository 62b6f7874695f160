# SPDX-License-Identifier: Apache-2.0
# plots/ - user and kernel memory together by park level, on a logarithmic axis: where level deep is
# among them, the one figure that shows what it saves, since that is the kernel's.

rows_high = 20
flags = 0
label_chars = 7
load style

set label 1 sprintf('User + kernel memory per idle connection by park level, %s connections held', \
	connections)
set label 2 'Server memory above its baseline; dashed: published, user memory alone; '. \
	'solid: kernel memory, no TLS; '.range_note

value = 'total'
note = 'total_text'
note_2 = ''
unit = 'bytes per connection, user + kernel'
has_marks = 1
key_px = 320
shown = ''
do for [i = 1 : words(level_panels)] {
	shown = shown.(int(word(level_plain, i)) ? '0 ' : '1 ')
}
stats $refs using (strcol('figure') eq 'park' ? column('value') : NaN) name 'marks' nooutput
is_log = 1
low = min(level_total_least, 100) / 1.6
high = max(level_total_most, marks_max) * 2
load levels

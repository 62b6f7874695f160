# SPDX-License-Identifier: Apache-2.0
# plots/ - user memory per idle connection by park level, on a logarithmic axis, with what other
# servers take and the kernel's own part of a connection as marks.

rows_high = 20
flags = 0
label_chars = 7
load style

set label 1 sprintf('User memory per idle connection by park level, %s connections held', connections)
set label 2 'Server memory above its baseline, per open connection; dashed: published; '. \
	'solid: kernel memory without TLS; '.range_note

value = 'user'
note = 'user_text'
note_2 = ''
unit = 'bytes per connection, user memory'.user_method
has_marks = 1
key_px = 320
shown = ''
do for [i = 1 : words(level_panels)] {
	shown = shown.(int(word(level_plain, i)) ? '0 ' : '1 ')
}
stats $refs using (strcol('figure') eq 'park' ? column('value') : NaN) name 'marks' nooutput
is_log = 1
low = min(level_user_least, 100) / 1.6
high = max(level_user_most, marks_max) * 2
load levels

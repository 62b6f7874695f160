# SPDX-License-Identifier: Apache-2.0
# plots/ - memory per idle connection, user and kernel stacked, a bar a cell. Both panels are
# linear, as stacked bars on a logarithmic axis would mislead: one shows the whole range, the other
# enlarges its beginning, where the published figures and the floor lie.

# Cells all as cheap as the marked lines need no second panel; the key then stands over the flags.
panels = memory_max > 4.5 * memory_ref_max ? 2 : 1
flags = panels == 1 ? memory_refs + 4 : memory_refs > 4 ? memory_refs : 4
load style

zoom_to = round_up(3 * memory_ref_max)
split_px = panels == 2 ? left_px + 0.57 * (right_px - left_px) : right_px
full_px = split_px - left_px
fit_max = 1
if (memory_max > 0) {
	stats $cells using (reach(column('memory_at'), strcol('memory_label'), full_px)) \
		name 'fit' nooutput
}
full_to = panels == 2 ? fit_max : max(fit_max, round_up(1.6 * memory_ref_max))

set label 1 sprintf('Memory per idle connection, %s connections held', connections)
set label 2 'Server memory above its baseline, per open connection; '.range_note
set format x '%.0s %cB'

set multiplot
set yrange [rows_high - 0.3 : flag_y(flags) - 0.55]
do for [panel = 1 : panels] {
	if (panel == 1) {
		set lmargin at screen x_screen(left_px)
		set rmargin at screen x_screen(split_px)
		set xrange [0 : full_to]
		set xtics 0, tic_step(full_to, full_px / 100), \
			panels == 1 ? full_to : memory_max * 1.05
		set xlabel 'bytes per connection'
	} else {
		set lmargin at screen x_screen(split_px + 24)
		set rmargin at screen x_screen(right_px)
		set xrange [0 : zoom_to]
		set xtics 0, tic_step(zoom_to, 5), zoom_to
		set xlabel sprintf('the first %g kB enlarged', zoom_to / 1000)
		unset label
		unset key
	}
	plot $cells using (0):(column('y')):(0):(column('user')): \
			(top(column('y'))):(bottom(column('y'))) \
			with boxxyerror linecolor rgb user_colour title 'user memory'.user_method, \
		$cells using (0):(column('y')):(column('user')):(column('end')): \
			(top(column('y'))):(bottom(column('y'))) \
			with boxxyerror linecolor rgb kernel_colour title 'kernel memory'.kernel_method, \
		$refs using (panel == panels && strcol('figure') eq 'memory' ? column('value') : NaN): \
			(flag_y(column('rank'))):(0):(flag_length(column('rank'))) \
			with vectors nohead linewidth 3.5 linecolor rgb 'white' notitle, \
		$refs using (panel == panels ? ref('memory', 'published') : NaN): \
			(flag_y(column('rank'))):(0):(flag_length(column('rank'))) \
			with vectors nohead linewidth 2 dashtype 2 linecolor rgb published_colour \
			title 'published, user memory only', \
		for [floor = 1 : memory_floors] \
			$refs using (panel == panels ? ref('memory', 'floor') : NaN): \
			(flag_y(column('rank'))):(0):(flag_length(column('rank'))) \
			with vectors nohead linewidth 2 linecolor rgb floor_colour \
			title 'floor: the cheapest plain cell, user + kernel', \
		$refs using (is_ref('memory', 'published') ? column('value') : 0):(flag_y(column('rank'))): \
			(text(panel == panels && is_ref('memory', 'published'), 'text')) \
			with labels left offset 0.5, 0 textcolor rgb published_colour notitle, \
		$refs using (is_ref('memory', 'floor') ? column('value') : 0):(flag_y(column('rank'))): \
			(text(panel == panels && is_ref('memory', 'floor'), 'text')) \
			with labels left offset 0.5, 0 textcolor rgb floor_colour notitle, \
		$cells using (column('end')):(column('y')):(column('min')):(column('max')) \
			with xerrorbars pointtype 0 linewidth 2 linecolor rgb 'black' notitle, \
		$cells using (0):(column('y')):(text(panel == 1, 'label')) \
			with labels right offset -1, 0 notitle, \
		$cells using (panel == 1 ? column('memory_at') : zoom_to):(column('y')): \
			(panel == 1 ? strcol('memory_label') : column('memory_at') > zoom_to ? '▸' : ''): \
			(text_colour(column('gap'))) \
			with labels left offset 1, 0 boxed textcolor rgb variable notitle
}
unset multiplot

# SPDX-License-Identifier: Apache-2.0
# plots/ - ramp time, from the first connect to the last established, and beside it handshakes per
# second and core of the machine, which compares machines. Plain cells make no handshakes: their
# bars count TCP connections, and those that outgrow the axis end in an arrow.

flags = rate_refs > 3 ? rate_refs : 3
load style

split_px = left_px + 0.53 * (right_px - left_px)
ramp_px = split_px - left_px
fit_max = 1
if (ramp_max > 0) {
	stats $cells using (reach(column('ramp_at'), strcol('ramp_label'), ramp_px)) name 'fit' nooutput
}
rate_to = max(rate_max, max(rate_ref_max * 1.7, 1)) # room for the flags

set label 1 sprintf('Ramp, %s connections', connections)
set label 2 'From the first connect to the last established, server and client on one machine; '. \
	range_note

set multiplot
set yrange [rows_high - 0.3 : flag_y(flags) - 0.55]
do for [panel = 1 : 2] {
	value = panel == 1 ? 'ramp' : 'rate'
	if (panel == 1) {
		set lmargin at screen x_screen(left_px)
		set rmargin at screen x_screen(split_px)
		axis_to = fit_max
		set xtics 0, tic_step(axis_to, ramp_px / 80), max(ramp_max, 0.001) * 1.05
		set xlabel 'seconds'
	} else {
		set lmargin at screen x_screen(split_px + 24)
		set rmargin at screen x_screen(right_px - 90)
		axis_to = rate_to * 1.25
		set xtics 0, tic_step(axis_to, 7), rate_to
		set xlabel cores > 0 ? 'handshakes per second per core' : 'handshakes per second'
		unset label
		unset key
	}
	set xrange [0 : axis_to]
	plot $cells using (0):(column('y')):(0):(column('plain') == 1 ? NaN : column(value)): \
			(top(column('y'))):(bottom(column('y'))) \
			with boxxyerror linecolor rgb tls_colour title 'TLS handshakes', \
		$cells using (0):(column('y')):(0):(column('plain') == 1 ? column(value) : NaN): \
			(top(column('y'))):(bottom(column('y'))) \
			with boxxyerror linecolor rgb plain_colour title 'plain: TCP connections only', \
		$refs using (panel == 2 && is_ref('rate', 'published') ? column('value') : NaN): \
			(flag_y(column('rank'))):(0):(flag_length(column('rank'))) \
			with vectors nohead linewidth 3.5 linecolor rgb 'white' notitle, \
		$refs using (panel == 2 ? ref('rate', 'published') : NaN): \
			(flag_y(column('rank'))):(0):(flag_length(column('rank'))) \
			with vectors nohead linewidth 2 dashtype 2 linecolor rgb published_colour \
			title 'published', \
		$refs using (panel == 2 && is_ref('rate', 'published') ? column('value') : 0): \
			(flag_y(column('rank'))): \
			(text(panel == 2 && is_ref('rate', 'published'), 'text')) \
			with labels left offset 0.5, 0 textcolor rgb published_colour notitle, \
		$cells using (column(value)):(column('y')):(column(value.'_min')):(column(value.'_max')) \
			with xerrorbars pointtype 0 linewidth 2 linecolor rgb 'black' notitle, \
		$cells using (0):(column('y')):(text(panel == 1, 'label')) \
			with labels right offset -1, 0 notitle, \
		$cells using (min(axis_to, column(value.'_at'))):(column('y')): \
			((column(value.'_at') > axis_to ? '▸ ' : '').strcol(value.'_label')): \
			(text_colour(column('gap'))) \
			with labels left offset 1, 0 boxed textcolor rgb variable notitle
}
unset multiplot

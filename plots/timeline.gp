# SPDX-License-Identifier: Apache-2.0
# plots/ - one cell over its time: connections established, handshakes a second, memory of both sides;
# the steps of the cell as spans.

flags = 0
label_chars = 0
panel_high = 270
panel_gap = 44
strip_px = 96
rows_high = (strip_px + 3 * panel_high + 2 * panel_gap + 10) / 37.0
load style

set label 1 timeline_cell.sprintf(': %s connections over time', thousands(most_established))
set label 2 'Server and client on one machine; memory above the baseline of each; seconds since the '. \
	'cell began'

bytes(x) = x >= 1e9 ? sprintf('%g GB', x / 1e9) : x >= 1e6 ? sprintf('%g MB', x / 1e6) : \
	x >= 1e3 ? sprintf('%g kB', x / 1e3) : sprintf('%g', x)

left = 150
key_px = 330
panel_width = right_px - key_px - left
panel_top(row) = head_px + strip_px + (row - 1) * (panel_high + panel_gap)
t_px(t) = left + panel_width * (t - t_from) / (1.0 * t_to - t_from)
step_px(i) = t_px(step_to[i]) - t_px(step_from[i])
step_colour(i) = i % 2 ? '#F3F5F8' : '#DFE6EF'

set border 3 linecolor rgb '#404040'
set grid xtics ytics linetype 1 linewidth 1 linecolor rgb '#D8D8D8'
set lmargin at screen x_screen(left)
set rmargin at screen x_screen(left + panel_width)
set xrange [t_from : t_to]
set xtics nomirror autofreq
set clip one

# Names along the strip where they fit, else upright; those of steps too short for that are left out.
do for [i = 1 : |step_name|] {
	set object i rectangle from step_from[i], graph 0 to step_to[i], graph 1 behind \
		fillcolor rgb step_colour(i) fillstyle solid 1.0 noborder
	middle = (t_px(step_from[i]) + t_px(step_to[i])) / 2
	if (step_px(i) > strlen(step_name[i]) * 11) {
		set label 10 + i step_name[i] at screen x_screen(middle), \
			screen y_screen(head_px + strip_px - 16) center font font('sans-serif', 0.9)
	} else {
		if (step_px(i) > 15) {
			set label 10 + i step_name[i] at screen x_screen(middle), \
				screen y_screen(head_px + strip_px - 8) left rotate by 90 \
				font font('sans-serif', 0.9)
		}
	}
}

set multiplot
do for [panel = 1 : 3] {
	high = max(panel == 1 ? most_established : panel == 2 ? most_rate : most_bytes, 1) * 1.08
	set tmargin at screen y_screen(panel_top(panel))
	set bmargin at screen y_screen(panel_top(panel) + panel_high)
	set yrange [0 : high]
	set ytics nomirror ()
	step = tic_step(high, 8)
	do for [i = 0 : int(high / step)] {
		set ytics add (panel < 3 ? thousands(i * step) : bytes(i * step) i * step)
	}
	set format x panel == 3 ? '%g' : ''
	set xlabel panel == 3 ? 'seconds' : ''
	set key at screen x_screen(left + panel_width + 20), screen y_screen(panel_top(panel) + 4) \
		left top Left reverse samplen 3 spacing key_spacing * 1.1
	if (panel == 1) {
		plot $timeline using (column('t')):(column('established')) with lines linewidth 3 \
			linecolor rgb line_colour(1) title 'connections established'
	}
	if (panel == 2) {
		plot $rates using (column('t')):(column('rate')) with lines linewidth 2 \
			linecolor rgb line_colour(3) title 'handshakes a second'
	}
	if (panel == 3) {
		plot $timeline using (column('t')):(column('user')) with lines linewidth 3 \
			linecolor rgb user_colour title 'server, user', \
			$timeline using (column('t')):(column('kernel')) with lines linewidth 3 \
			linecolor rgb kernel_colour title 'server, kernel', \
			$timeline using (column('t')):(column('client')) with lines linewidth 2 \
			dashtype 2 linecolor rgb '#606060' title 'client, user + kernel'
	}
	unset label
}
unset multiplot

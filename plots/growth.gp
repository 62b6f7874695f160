# SPDX-License-Identifier: Apache-2.0
# plots/ - memory of a connection and the time to ramp against the number of connections. The fixed
# part of a process makes the former fall; the latter runs beside a line of slope 1 from its
# smallest number as long as a connection costs the same however many there are.

flags = 0
label_chars = 0
repeats = growth_repeats
key_lines = lines + (theirs_name eq '' ? 0 : 1)
key_line_px = 31
panel_rows_px = 2 * 400 + 96
rows_high = (panel_rows_px + 60 + key_lines * key_line_px) / 37.0
load style

set label 1 'Growth: memory of a connection, and ramp, against the number of connections'
set label 2 'Server memory above its baseline; '.range_note. \
	'. Dotted in the ramp: slope 1 from the smallest number'

left = 126
gap = 146
panel_width = (right_px - left - gap) / 2
panel_high = 400
panel_top(row) = head_px + 36 + (row - 1) * (panel_high + 96)
least(reach) = word(reach, 1) + 0.0
most(reach) = word(reach, 2) + 0.0
# A range of more than this is shown on a logarithmic axis.
wide = 6.0

array values = ['user', 'kernel', 'total', 'ramp']
array titles = ['user memory'.user_method, 'kernel memory'.kernel_method, 'user + kernel memory', \
	'ramp: from the first connect to the last established']
array reaches = [user_reach, kernel_reach, total_reach, ramp_reach]

set border 3 linecolor rgb '#404040'
set grid xtics ytics linetype 1 linewidth 1 linecolor rgb '#E0E0E0'
set errorbars 0.5
set logscale x
set xrange [least(n_reach) / 1.35 : most(n_reach) * 1.35]
set xtics nomirror ()
times = most(n_reach) / least(n_reach)
do for [exponent = 0 : 7] {
	do for [digit in (times > 50 ? '1' : times > 8 ? '1 3' : '1 2 5')] {
		tic = digit * 10.0 ** exponent
		if (tic <= 1.35 * most(n_reach) && 1.35 * tic >= least(n_reach)) {
			set xtics add (thousands(tic) tic)
		}
	}
}
here(i) = column('line') == i

set multiplot
do for [panel = 1 : 4] {
	row = (panel + 1) / 2
	from = left + (1 - panel % 2) * (panel_width + gap)
	low = least(reaches[panel])
	high = most(reaches[panel])
	value = values[panel]
	set lmargin at screen x_screen(from)
	set rmargin at screen x_screen(from + panel_width)
	set tmargin at screen y_screen(panel_top(row))
	set bmargin at screen y_screen(panel_top(row) + panel_high)
	set title titles[panel] font font(title_font, 1) offset 0, -0.4
	set ylabel panel == 4 ? 'seconds' : 'bytes per connection'
	set xlabel row == 2 ? 'connections' : ''
	if (panel == 4 || high > wide * low) {
		set logscale y
		set yrange [low / 1.5 : high * 1.5]
		set ytics nomirror ()
		do for [exponent = floor(log10(low)) - 1 : ceil(log10(high))] {
			do for [digit in '1 2 5'] {
				tic = digit * 10.0 ** exponent
				if (tic >= low / 1.5 && tic <= high * 1.5) {
					set ytics add (thousands(tic) tic)
				}
			}
		}
	} else {
		unset logscale y
		set yrange [0 : high * 1.15]
		set ytics nomirror ()
		do for [step = 0 : int(1.15 * high / tic_step(high, 6))] {
			set ytics add (thousands(step * tic_step(high, 6)) \
				step * tic_step(high, 6))
		}
	}
	if (panel == 4) {
		set key at screen x_screen(30), \
			screen y_screen(panel_top(2) + panel_high + 78) left top Left reverse \
			samplen 4 spacing key_spacing * 1.1
	} else {
		unset key
	}
	plot for [i = 1 : lines] $growth using (here(i) && panel == 4 ? column('n') : NaN): \
			(column('linear')) with lines linewidth 1 dashtype 3 \
			linecolor rgb line_colour(i) notitle, \
		for [i = 1 : lines] $growth using (here(i) ? column('n') : NaN):(column(value)): \
			(column(value.'_min')):(column(value.'_max')) with yerrorbars linewidth 1.5 \
			linecolor rgb line_colour(i) pointtype 0 notitle, \
		for [i = 1 : lines] $growth using (here(i) ? column('n') : NaN):(column(value)) \
			with linespoints linewidth 2 dashtype line_dash(i) \
			linecolor rgb line_colour(i) pointtype line_point(i) pointsize 1.6 \
			title line_label[i].': user '.line_user[i].';  user + kernel '.line_total[i], \
		$theirs using (panel == 1 ? column('n') : NaN):(column('user')) with linespoints \
			linewidth 2 dashtype 2 linecolor rgb published_colour pointtype 3 \
			pointsize 1.6 title theirs_name eq '' ? '' : \
			theirs_name.', published: user memory only'
	unset label
}
unset multiplot

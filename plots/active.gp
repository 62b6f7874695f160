# SPDX-License-Identifier: Apache-2.0
# plots/ - what a request costs the server when a fraction of the connections is active: CPU, the
# same against epoll, and system calls of the reactor; a column for each backend and park level, a
# line a reactor.

figure_rows = has_ratio ? 'us ratio syscalls' : 'us syscalls'
flags = 0
rows_high = has_ratio ? 36 : 24
label_chars = 6
load style

# Of all, and of those that epoll can be compared with on a linear axis: the others leave it.
least(value) = value eq 'us' ? us_least / 1.25 : value eq 'ratio' ? max(ratio_least - 0.05, 0) : \
	syscalls_least / 1.25
most(value) = value eq 'us' ? us_most * 1.25 : value eq 'ratio' ? min(ratio_most + 0.05, 1.6) : \
	syscalls_most * 1.25
unit(value) = value eq 'us' ? 'CPU microseconds per request' : \
	value eq 'ratio' ? 'CPU against epoll (in each repeat)' : 'system calls per request'

columns = words(panels)
rows = words(figure_rows)
gap_px = 36
key_px = 250
panel_px = (right_px - key_px - left_px - gap_px * (columns - 1)) / columns
panel_left(c) = left_px + (c - 1) * (panel_px + gap_px)
row_gap_px = 54
row_high_px = (height - head_px - 44 - foot_px - row_gap_px * (rows - 1)) / rows
row_top(r) = head_px + 44 + (r - 1) * (row_high_px + row_gap_px)

set label 1 sprintf('Cost of a request by active connections, %s connections held', connections)
set label 2 'The active ones ask again as soon as they are answered, the others stay idle; '. \
	range_note

# Lines stand a little beside each other, or their ranges would cover one another.
lines = words(series)
beside(i) = 1.06 ** (i - (lines + 1) / 2.0)
here(panel, i) = column('panel') == panel && column('series') == i

set border 3 linecolor rgb '#404040'
set logscale x
set xrange [word(fractions, 1) / 1.7 : word(fractions, words(fractions)) * 1.7]
set xtics nomirror ()
# A label of a tic is a format.
do for [i = 1 : words(fractions)] {
	set xtics add (sprintf('%g %%%%', 100 * word(fractions, i)) word(fractions, i) + 0.0)
}
set grid xtics ytics linetype 1 linewidth 1 linecolor rgb '#E0E0E0'
set errorbars 0.5
set clip one

set multiplot
do for [row = 1 : rows] {
	value = word(figure_rows, row)
	low = least(value)
	high = most(value)
	set yrange [low : high]
	set tmargin at screen y_screen(row_top(row))
	set bmargin at screen y_screen(row_top(row) + row_high_px)
	do for [panel = 1 : columns] {
		set lmargin at screen x_screen(panel_left(panel))
		set rmargin at screen x_screen(panel_left(panel) + panel_px)
		if (value eq 'ratio') {
			unset logscale y
			set ytics nomirror autofreq
			set format y panel == 1 ? '%.1f' : ''
			set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead back \
				linewidth 2 linecolor rgb '#909090'
		} else {
			unset arrow
			set logscale y
			set ytics nomirror ()
			do for [exponent = floor(log10(low)) : ceil(log10(high))] {
				do for [digit in '1 2 5'] {
					tic = digit * 10.0 ** exponent
					if (tic >= low && tic <= high) {
						set ytics add (panel == 1 ? sprintf('%g', tic) : '' tic)
					}
				}
			}
		}
		set ylabel panel == 1 ? unit(value) : ''
		set title row == 1 ? word(panels, panel) : '' font font(title_font, 1) offset 0, -0.4
		set xlabel row == rows ? 'active connections' : ''
		if (row == 1 && panel == columns) {
			set key at screen x_screen(right_px - key_px + 24), screen y_screen(row_top(1)) \
				left top Left reverse samplen 4 spacing key_spacing * 1.15
		} else {
			unset key
		}
		plot for [i = 1 : lines] $active using (here(panel, i) ? \
				column('fraction') * beside(i) : NaN):(column(value)): \
				(column(value.'_min')):(column(value.'_max')) with yerrorbars \
				linewidth 1.5 linecolor rgb line_colour(i) pointtype 0 notitle, \
			for [i = 1 : lines] $active using (here(panel, i) ? \
				column('fraction') * beside(i) : NaN):(column(value)) with linespoints \
				linewidth 2 dashtype line_dash(i) linecolor rgb line_colour(i) \
				pointtype line_point(i) pointsize 1.6 \
				title word(series, i).(int(word(drawn, i)) ? '' : ' (none)')
		unset label
	}
}
unset multiplot

# SPDX-License-Identifier: Apache-2.0
# plots/ - the part of something that was over after so long: a panel for each of latency_panels, a
# curve for each of curve_label. Crosses are the percentiles 50 and 99. Loaded by the figures that are
# of this kind, which have set: figure_title, figure_note, what (the thing, of the y axis), unit (of
# the x axis) and is_told (whether the medians are written beside their marks).

flags = 0
label_chars = 6
repeats = latency_repeats

columns = words(latency_panels) > 1 ? 2 : 1
panel_rows = (words(latency_panels) + columns - 1) / columns
panel_high = 380
rows_high = (panel_rows * (panel_high + 100) - 60) / 37.0
load style

set label 1 figure_title
set label 2 figure_note.'; '.(repeats > 1 ? \
	sprintf('median of %d repeats', repeats) : 'one repeat').'. Marks: 50 % and 99 %'

left = 110
gap = 36
key_px = 90 + latency_chars * char_px
panel_width = (right_px - left - key_px - gap * (columns - 1)) / columns
panel_top(row) = head_px + 40 + (row - 1) * (panel_high + 100)

set border 3 linecolor rgb '#404040'
set grid xtics ytics linetype 1 linewidth 1 linecolor rgb '#E0E0E0'
set logscale x
set xrange [latency_least / 1.2 : latency_most * 1.2]
set xtics nomirror ()
do for [exponent = -3 : 9] {
	do for [digit in (latency_most > 1000 * latency_least ? '1' : '1 2 5')] {
		tic = digit * 10.0 ** exponent
		if (tic >= latency_least / 1.2 && tic <= latency_most * 1.2) {
			set xtics add (sprintf('%g', tic) tic)
		}
	}
}
set yrange [0 : 1.02]
set clip one
here(panel, i) = column('panel') == panel && column('curve') == i
is_mark(part) = abs(part - 0.5) < 1e-9 || abs(part - 0.99) < 1e-9
is_told_here(panel, i) = here(panel, i) && abs(column('part') - 0.5) < 1e-9

set multiplot
do for [panel = 1 : words(latency_panels)] {
	row = (panel - 1) / columns + 1
	across = (panel - 1) % columns
	from = left + across * (panel_width + gap)
	set lmargin at screen x_screen(from)
	set rmargin at screen x_screen(from + panel_width)
	set tmargin at screen y_screen(panel_top(row))
	set bmargin at screen y_screen(panel_top(row) + panel_high)
	set title word(latency_panels, panel) font font(title_font, 1) offset 0, -0.4
	set ytics nomirror ()
	do for [part in '0 0.25 0.5 0.75 0.9 0.99'] {
		set ytics add (across == 0 ? sprintf('%g %%%%', 100 * part) : '' part + 0.0)
	}
	set ylabel across == 0 ? what : ''
	set xlabel (panel + columns > words(latency_panels) ? unit : '')
	if (panel == 1) {
		set key at screen x_screen(right_px - key_px + 24), screen y_screen(panel_top(1)) \
			left top Left reverse samplen 4 spacing key_spacing * 1.15
	} else {
		unset key
	}
	plot for [i = 1 : curves] $latency using (here(panel, i) ? column('time') : NaN): \
			(column('part')) with lines linewidth 2.5 dashtype line_dash(i) \
			linecolor rgb line_colour(i) notitle, \
		for [i = 1 : curves] $latency using (here(panel, i) && is_mark(column('part')) ? \
			column('time') : NaN):(column('part')) with points \
			linecolor rgb line_colour(i) pointtype line_point(i) pointsize 1.8 notitle, \
		for [i = 1 : is_told ? curves : 0] $latency using (is_told_here(panel, i) ? \
			column('time') : NaN):(column('part')):(sprintf('%.0f', column('time'))) \
			with labels left offset 1.2, -0.5 textcolor rgb line_colour(i) notitle, \
		for [i = 1 : curves] keyentry with linespoints linewidth 2.5 dashtype line_dash(i) \
			linecolor rgb line_colour(i) pointtype line_point(i) pointsize 1.8 \
			title curve_label[i]
	unset label
}
unset multiplot

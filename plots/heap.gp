# SPDX-License-Identifier: Apache-2.0
# plots/ - what handshakes in flight take, and what they leave behind once all are done: with and
# without a cap in the server, with and without trimming; a panel for each backend.

rows_high = 20
flags = 0
label_chars = 7
load style

set label 1 sprintf('Heap after handshakes in flight, %s connections held', connections)
set label 2 'Server memory above its baseline, per open connection; left: the largest settled reading; cap: '. \
	'handshakes a worker; '.range_note

columns = words(heap_panels)
gap_px = 36
key_px = 340
panel_px = (right_px - key_px - left_px - gap_px * (columns - 1)) / columns
panel_left(c) = left_px + (c - 1) * (panel_px + gap_px)
panel_top = head_px + 44

kind_colour(i) = word('#332288 #CC6677 #117733', int(word(heap_kinds, i)))
kind_point(i) = int(word('7 5 9', int(word(heap_kinds, i)))) - int(word(heap_capped, i))
here(panel, i) = column('panel') == panel && column('curve') == i

low = heap_least / 1.5
high = heap_most * 1.6
set border 3 linecolor rgb '#404040'
set logscale xy
set xrange [word(heap_ticks, 1) / 1.4 : word(heap_ticks, words(heap_ticks)) * 1.4]
set yrange [low : high]
set xtics nomirror ()
# One close below the next would be written into it.
crowded(i) = i < words(heap_ticks) && word(heap_ticks, i + 1) < 2.5 * word(heap_ticks, i)
do for [i = 1 : words(heap_ticks)] {
	set xtics add (crowded(i) ? '' : thousands(int(word(heap_ticks, i))) \
		word(heap_ticks, i) + 0.0)
}
set grid xtics ytics linetype 1 linewidth 1 linecolor rgb '#E0E0E0'
set tmargin at screen y_screen(panel_top)
set bmargin at screen y_screen(height - foot_px)
set errorbars 0.6
set clip one

set multiplot
do for [panel = 1 : columns] {
	set lmargin at screen x_screen(panel_left(panel))
	set rmargin at screen x_screen(panel_left(panel) + panel_px)
	set ytics nomirror ()
	do for [exponent = floor(log10(low)) : ceil(log10(high))] {
		do for [digit in '1 2 5'] {
			tic = digit * 10.0 ** exponent
			if (tic >= low && tic <= high) {
				set ytics add (panel == 1 ? thousands(tic) : '' tic)
			}
		}
	}
	set ylabel panel == 1 ? 'bytes per connection, user memory' : ''
	set title word(heap_panels, panel) font font(title_font, 1) offset 0, -0.4
	set xlabel 'handshakes in flight'
	if (panel == columns) {
		set key at screen x_screen(right_px - key_px + 24), screen y_screen(panel_top) \
			left top Left reverse samplen 4 spacing key_spacing * 1.15
	} else {
		unset key
	}
	plot for [i = 1 : words(heap_curves)] $heap using (here(panel, i) ? column('in_flight') : NaN): \
			(column('bytes')):(column('bytes_min')):(column('bytes_max')) with yerrorbars \
			linewidth 1.5 linecolor rgb kind_colour(i) pointtype 0 notitle, \
		for [i = 1 : words(heap_curves)] $heap using (here(panel, i) ? column('in_flight') : NaN): \
			(column('bytes')) with linespoints linewidth 2 \
			dashtype int(word(heap_capped, i)) ? 2 : 1 linecolor rgb kind_colour(i) \
			pointtype kind_point(i) pointsize 1.7 title word(heap_curves, i)
	unset label
}
unset multiplot

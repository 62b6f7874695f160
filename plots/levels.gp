# SPDX-License-Identifier: Apache-2.0
# plots/ - what park.gp and wake.gp share: the levels side by side, a panel for each backend, a point
# for each reactor and history, and above the points of a level what they come to. The caller has
# loaded the style and set what is drawn: `value`; the axis, `low`, `high`, `unit` and `is_log`;
# `shown`, 1 for each panel that is; `note` and, for a second line below it, `note_2`; `has_marks`;
# and `key_px`, the width that is left beside the panels.

count = 0
do for [i = 1 : words(level_panels)] {
	count = count + int(word(shown, i))
}
gap_px = 30
panel_px = (right_px - key_px - left_px - gap_px * (count - 1)) / count
panel_left(c) = left_px + (c - 1) * (panel_px + gap_px)
panel_top = head_px + 44

# Points of one level stand side by side.
levels_end = words(level_names) + 0.5
series_count = words(level_series)
beside(i) = (i - (series_count + 1) / 2.0) * min(0.16, 0.6 / series_count)
here(panel, i) = column('panel') == panel && column('series') == i
is_mark(kind) = has_marks && is_ref('park', kind)

set border 3 linecolor rgb '#404040'
unset grid
set grid ytics linetype 1 linewidth 1 linecolor rgb '#E0E0E0'
set errorbars 0.6
set tmargin at screen y_screen(panel_top)
set bmargin at screen y_screen(height - foot_px)
set xrange [0.5 : levels_end]
set xtics nomirror scale 0 ()
do for [i = 1 : words(level_names)] {
	set xtics add (word(level_names, i) i)
}
set xlabel 'park level'
set yrange [low : high]
set clip one

set multiplot
drawn = 0
do for [panel = 1 : words(level_panels)] {
	if (int(word(shown, panel))) {
		drawn = drawn + 1
		is_last = drawn == count
		set lmargin at screen x_screen(panel_left(drawn))
		set rmargin at screen x_screen(panel_left(drawn) + panel_px)
		set ylabel drawn == 1 ? unit : ''
		set format y drawn == 1 ? '%g' : ''
		if (is_log) {
			set logscale y
			set ytics nomirror ()
			do for [exponent = floor(log10(low)) : ceil(log10(high))] {
				do for [digit in '1 2 5'] {
					tic = digit * 10.0 ** exponent
					if (tic >= low && tic <= high) {
						set ytics add (drawn == 1 ? thousands(tic) : '' tic)
					}
				}
			}
		}
		set title word(level_panels, panel) font font(title_font, 1) offset 0, -0.4
		if (is_last) {
			set key at screen x_screen(right_px - key_px + 14), screen y_screen(panel_top) \
				left top Left reverse samplen 2 spacing key_spacing * 1.15
		} else {
			unset key
		}
		plot $refs using (0.5):(is_mark('published') ? column('value') : NaN): \
				(levels_end - 0.5):(0) with vectors nohead linewidth 2 dashtype 2 \
				linecolor rgb published_colour notitle, \
			$refs using (0.5):(is_mark('floor') ? column('value') : NaN): \
				(levels_end - 0.5):(0) with vectors nohead linewidth 2 \
				linecolor rgb floor_colour notitle, \
			$refs using (levels_end):(is_mark('published') ? column('value') : low): \
				(text(is_last && is_mark('published'), 'text')) \
				with labels left offset 1, 0.25 textcolor rgb published_colour notitle, \
			$refs using (levels_end):(is_mark('floor') ? column('value') : low): \
				(text(is_last && is_mark('floor'), 'text')) \
				with labels left offset 1, -0.25 textcolor rgb floor_colour notitle, \
			for [i = 1 : series_count] $levels using (here(panel, i) ? \
				column('level') + beside(i) : NaN):(column(value)): \
				(column(value.'_min')):(column(value.'_max')) with yerrorbars \
				linewidth 1.5 linecolor rgb line_colour(i) pointtype 0 notitle, \
			for [i = 1 : series_count] $levels using (here(panel, i) ? \
				column('level') + beside(i) : NaN):(column(value)) with points \
				linewidth 2 linecolor rgb line_colour(i) pointtype line_point(i) \
				pointsize 1.9 title word(level_series, i), \
			$notes using (column('level')):(column(value.'_at')): \
				(text(column('panel') == panel, note)) with labels center \
				offset 0, note_2 eq '' ? 1.2 : 2.1 font font('sans-serif', 0.9) notitle, \
			$notes using (column('level')):(column(value.'_at')): \
				(text(note_2 ne '' && column('panel') == panel, note_2 eq '' ? note : note_2)) \
				with labels center offset 0, 1.0 font font('sans-serif', 0.9) \
				textcolor rgb '#6A6A6A' notitle
		unset label
	}
}
unset multiplot

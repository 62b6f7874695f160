# SPDX-License-Identifier: Apache-2.0
# plots/ - what the figures share: terminal, colours, the page and its rows. The caller has set
# `format` (png or svg), `out` and `flags`, and loaded what cells2dat.jq made; figures whose rows are
# not the cells also set `rows_high` and `label_chars`.

# Okabe and Ito's palette, told apart by colour-blind readers; darker where it colours text.
user_colour = '#0072B2'
kernel_colour = '#E69F00'
tls_colour = '#56B4E9'
plain_colour = '#999999'
predicted_colour = '#B8B8B8'
published_colour = '#B34700'
floor_colour = '#00785A'
colour_of(hex) = int('0x'.hex[2:])
text_colour(gap) = gap == 1 ? 0x6A6A6A : 0x000000

# Lines: Paul Tol's muted colours, each with a point and a dash of its own as well.
line_colours = '#332288 #CC6677 #117733 #999933 #88CCEE #882255 #44AA99 #DDCC77 #AA4499'
line_points = '7 5 9 11 13 6 4 8 12'
line_dashes = '1 2 4 1 2 4 1 2 4'
turn(list, i) = word(list, (i - 1) % words(list) + 1)
line_colour(i) = turn(line_colours, i)
line_point(i) = int(turn(line_points, i))
line_dash(i) = int(turn(line_dashes, i))

max(a, b) = a > b ? a : b
min(a, b) = a < b ? a : b
magnitude(x) = 10.0 ** floor(log10(x))
round_up(x) = magnitude(x) * (x <= magnitude(x) ? 1 : x <= 2 * magnitude(x) ? 2 : \
	x <= 5 * magnitude(x) ? 5 : 10)
tic_step(range, parts) = round_up(1.0 * range / parts)

# 12,345 for tics, which have no format with separators in every locale.
thousands(x) = x < 1000 ? sprintf('%g', x) : x < 1e6 ? sprintf('%d,%03d', int(x) / 1000, \
	int(x) % 1000) : sprintf('%d,%03d,%03d', int(x) / 1000000, int(x) / 1000 % 1000, int(x) % 1000)

# The page is laid out in pixels, so that a row is equally high however many cells there are.
# Marked lines carry their text on flags in the rows above the first cell.
width = 1600.0
row_px = 37
char_px = 12.2
head_px = 108
foot_px = 118
left_px = 40 + label_chars * char_px
right_px = width - 40
height = head_px + foot_px + (rows_high + flags + 0.9) * row_px
x_screen(px) = px / width
y_screen(px) = 1 - px / height
# How far an axis `px` wide must reach for a bar to keep its label inside.
reach(end, text, px) = end / (1 - min(0.7, (strlen(text) + 2) * char_px / px))
flag_y(rank) = -0.35 - rank
flag_length(rank) = rows_high - 0.3 - flag_y(rank)

# Fonts are sized in points in PNG and in pixels in SVG, whose lines also stand further apart and
# which has no bold without markup.
font_size = format eq 'svg' ? 20.5 : 15.4
title_font = format eq 'svg' ? 'sans-serif' : 'sans-serif:Bold'
key_spacing = format eq 'svg' ? 1.0 : 1.25
set xlabel offset 0, format eq 'svg' ? 0.6 : 0
font(style, scale) = sprintf('%s,%.1f', style, font_size * scale)
if (format eq 'svg') {
	set terminal svg size width, height noenhanced font font('sans-serif', 1) background '#ffffff'
} else {
	set terminal pngcairo size width, height noenhanced font font('sans-serif', 1) \
		background '#ffffff'
}
set output out
set encoding utf8
set datafile separator tab
set datafile columnheaders

set tmargin at screen y_screen(head_px)
set bmargin at screen y_screen(height - foot_px)
set border 1 linecolor rgb '#404040'
set grid xtics linetype 1 linewidth 1 linecolor rgb '#E0E0E0'
set tics nomirror scale 0.5
unset ytics
set clip two
set style fill solid 1.0 noborder
set style textbox opaque noborder margins 0.4, 0.2
set key left top Left reverse samplen 2 spacing key_spacing
top(y) = y - 0.38
bottom(y) = y + 0.38

# Columns of $cells and $refs. What a plot does not draw is NaN; a label keeps a place and gets an
# empty text: gnuplot 5.4 crashes on labels of which none has a place.
is_ref(figure, kind) = strcol('figure') eq figure && strcol('kind') eq kind
ref(figure, kind) = is_ref(figure, kind) ? column('value') : NaN
text(shown, name) = shown ? strcol(name) : ''

range_note = repeats > 1 ? sprintf('median and range of %d repeats', repeats) : \
	repeats == 1 ? 'one repeat' : 'no cell passed'
set label 1 at screen x_screen(30), screen y_screen(34) font font(title_font, 1.25)
set label 2 at screen x_screen(30), screen y_screen(78)
set label 3 machine at screen x_screen(30), screen y_screen(height - 20) font font('sans-serif', 0.85) \
	textcolor rgb '#6A6A6A'

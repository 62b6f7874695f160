# SPDX-License-Identifier: Apache-2.0
# plots/ - kernel memory that a reactor adds to the socket of an idle connection, a pair of bars a
# reactor: as measured (results/README.md tells how), and as its objects in the kernel predict it.

flags = 2
rows_high = kernel_high
label_chars = kernel_chars
load style

set label 1 sprintf('Kernel memory per idle connection beyond its socket, %s connections held', \
	connections)
set label 2 'Plain cells, less the median of the poll cells; percent: measured against predicted; '. \
	range_note

# A bar is cut here: kernel_to leaves out what takes many times what all others do.
cut = 1.06 * max(kernel_to, 1)
end(x) = max(0, min(x, cut))
stats $kernel using (reach(end(column('at')), \
	strcol('text').'▸ ', right_px - left_px)) name 'fit' nooutput
upper(y) = y - 0.38
middle(y) = y
lower(y) = y + 0.38

set lmargin at screen x_screen(left_px)
set rmargin at screen x_screen(right_px)
set xrange [0 : max(fit_max, 1)]
set yrange [rows_high - 0.3 : flag_y(flags) - 0.55]
set xtics 0, tic_step(cut, 8), cut
set format x '%g'
set xlabel 'bytes per connection'

plot $kernel using (0):(column('y')):(0):(end(column('measured'))): \
		(upper(column('y'))):(middle(column('y'))) \
		with boxxyerror linecolor rgb kernel_colour \
		title 'measured: the larger of charge'.kernel_method.' and slab objects', \
	$kernel using (0):(column('y')):(0):(end(column('predicted'))): \
		(middle(column('y'))):(lower(column('y'))) \
		with boxxyerror linecolor rgb predicted_colour title 'predicted from the sizes of its objects', \
	$kernel using (column('max') > cut ? NaN : column('max')):(column('y') - 0.19): \
		(column('min')):(column('max')) \
		with xerrorbars pointtype 0 linewidth 2 linecolor rgb 'black' notitle, \
	$kernel using (0):(column('y')):(strcol('label')) with labels right offset -1, 0 notitle, \
	$kernel using (end(column('at'))):(column('y')): \
		((column('at') > cut ? '▸ ' : '').strcol('text')): \
		(text_colour(column('gap'))) \
		with labels left offset 1, 0 boxed textcolor rgb variable notitle

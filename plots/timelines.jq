# SPDX-License-Identifier: Apache-2.0
# plots/ - the cells of a run whose timelines are drawn, as `<order>-<cell>`, one a line: one of each
# name, with the most connections there are and the first repeat that passed; none where that makes
# more than six. $cell, unless empty, is the one name that is wanted.
#
#   jq -L plots -nRr --arg cell NAME -f timelines.jq cells.jsonl

include "common";

[records[] | select(.verdict == "pass") | select($cell == "" or .cell == $cell)]
| (map(.connections) | max) as $most
| map(select(.connections == $most)) | group_by(.cell) | map(min_by(.repeat))
| if length > 6 then empty else .[] | "\(.order)-\(.cell)" end

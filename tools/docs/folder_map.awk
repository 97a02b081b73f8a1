# The folders of src/ and which of them each may include from, as a picture for draw.awk:
#   awk -f folder_map.awk docs/diagrams/folders.txt tools/check_includes.sh
# The table is read off the lines  name | name) echo "folder folder" ;;  of the script, so the map cannot differ from what
# is enforced. A folder stands below all that it uses.

FNR == NR { if (!/^#/ && NF) { name = $1; sub(/^[^ ]+ /, ""); about[name] = $0 } next }
/^ *[a-z_]+( \| [a-z_]+)*\) echo "[a-z_ ]*" ;;$/ {
  names = $0; sub(/\).*/, "", names)
  uses = $0; sub(/^[^"]*"/, "", uses); sub(/".*/, "", uses)
  count = split(names, each, /[ |]+/)
  for (i = 1; i <= count; ++i) if (each[i] != "") { folder[++folders] = each[i]; used[each[i]] = " " uses " " }
}
/^torch_folders="/ { torch = $0; sub(/^[^"]*/, "", torch); gsub(/"/, " ", torch) }

END {
  if (folders == 0) { print "folder_map.awk: found no table of folders" > "/dev/stderr"; exit 1 }
  # Folders in an order in which each comes after all that it uses; among those that may come next, as in the script.
  while (placed < folders) {
    found = 0
    for (i = 1; i <= folders && !found; ++i) {
      name = folder[i]
      if (name in row) continue
      ready = 1
      count = split(used[name], each, " ")
      for (j = 1; j <= count; ++j) if (each[j] != "proto" && !(each[j] in row)) ready = 0
      if (ready) { row[name] = ++placed; order[placed] = name; found = 1 }
    }
    if (!found) { print "folder_map.awk: the folders use each other in a circle, or one that has no line" > "/dev/stderr"; exit 1 }
  }
  step = 22; left = 390; top = 84
  width = 760; height = top + folders * step + 44
  print "title The folders of the source and which of them each may include from."
  print "size " width " " height
  print "line 24 30 start head | Folders of the source"
  print "line 24 50 start note | A dot: the row may include from the column."
  column = (width - 36 - left) / folders
  for (i = 1; i <= folders; ++i) {
    name = order[i]; y = top + i * step - 6
    kind = index(torch, " " name " ") ? "public" : "server"
    if (i % 2) print "band 16 " y - 15 " " width - 32 " " step
    print "dot 26 " y - 4 " " kind
    print "line 38 " y " start head | " name
    print "line 138 " y " start note | " about[name]
    print "tilt " left + (i - 0.5) * column + 4 " " top - 6 " | " name
    for (j = 1; j <= folders; ++j) {
      x = left + (j - 0.5) * column
      if (index(used[name], " " order[j] " ")) print "dot " x " " y - 4 " " (index(torch, " " order[j] " ") ? "public" : "server")
      else if (i == j) print "line " x " " y " middle note | ·"
    }
  }
  y = height - 18
  print "dot 26 " y - 4 " server"
  print "line 38 " y " start note | never sees torch"
  print "dot 166 " y - 4 " public"
  print "line 178 " y " start note | may include torch's headers"
}

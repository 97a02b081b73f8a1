# Draws a picture from a few words per line: awk -f draw.awk NAME.diagram > NAME.svg
#   title WORDS                          what a screen reader says
#   size WIDTH HEIGHT
#   lane X Y WIDTH HEIGHT KIND | WORDS   a tinted area with a heading
#   box X Y WIDTH HEIGHT KIND | HEADING | LINE | ...
#   line X Y ANCHOR KIND | WORDS         text by itself; ANCHOR start, middle or end
#   dot X Y KIND                         a filled circle
#   band X Y WIDTH HEIGHT                a stripe behind a row
#   tilt X Y | WORDS                     the heading of a narrow column
#   arrow X Y X Y [X Y ...] | WORDS | X Y ANCHOR   the words stand where X Y says
# KIND is a class of the style below: device, server, public or plain. Nothing is measured, so the same words make the
# same bytes on every machine; the card behind the picture keeps it readable on any page.

function escape(words) { gsub(/&/, "\\&amp;", words); gsub(/</, "\\&lt;", words); gsub(/>/, "\\&gt;", words); return words }
function trim(words) { gsub(/^ +| +$/, "", words); return words }
function put(x, y, anchor, kind, words) {
  printf "<text x=\"%s\" y=\"%s\" text-anchor=\"%s\" class=\"%s\">%s</text>\n", x, y, anchor, kind, escape(words)
}
function wrong(why) { printf "%s:%d: %s\n", FILENAME, FNR, why > "/dev/stderr"; failed = 1; exit 1 }

/^#/ || /^ *$/ { next }
{ parts = split($0, part, "|"); for (i = 1; i <= parts; ++i) part[i] = trim(part[i]); words = split(part[1], word, " ") }

word[1] == "title" { title = substr(part[1], 7); next }
word[1] == "size" {
  printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %s %s\" width=\"%s\" height=\"%s\" role=\"img\">\n", word[2], word[3], word[2], word[3]
  printf "<title>%s</title>\n", escape(title)
  print "<style>"
  print "text{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1f2328}"
  print ".head{font-weight:600;font-size:14px}.note{fill:#59636e;font-size:12px}.small{font-size:11px}"
  print ".card{fill:#fff;stroke:#d1d9e0}.plain{fill:#f6f8fa;stroke:#818b98}"
  print ".device{fill:#e6f4ea;stroke:#2f7d43}.server{fill:#e7edfb;stroke:#3a57b0}.public{fill:#fdf2d8;stroke:#a8760d}"
  print ".lane{fill-opacity:.45;stroke-dasharray:4 3}.arrow{fill:none;stroke:#59636e;stroke-width:1.6}.tip{fill:#59636e}.dot{stroke:none}.band{fill:#818b98;fill-opacity:.1}"
  print ".dot.plain{fill:#59636e}.dot.device{fill:#2f7d43}.dot.server{fill:#3a57b0}.dot.public{fill:#a8760d}"
  print "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.note{fill:#a3adb8}.card{fill:#161b22;stroke:#3d444d}.plain{fill:#21262d;stroke:#8b949e}"
  print ".device{fill:#143a20;stroke:#56b36c}.server{fill:#17264d;stroke:#7f9df0}.public{fill:#40300a;stroke:#d9a63a}.arrow{stroke:#a3adb8}.tip{fill:#a3adb8}"
  print ".dot.plain{fill:#a3adb8}.dot.device{fill:#56b36c}.dot.server{fill:#7f9df0}.dot.public{fill:#d9a63a}}"
  print "</style>"
  print "<defs><marker id=\"tip\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L10 5L0 10z\" class=\"tip\"/></marker></defs>"
  printf "<rect x=\".5\" y=\".5\" width=\"%s\" height=\"%s\" rx=\"8\" class=\"card\"/>\n", word[2] - 1, word[3] - 1
  next
}
word[1] == "lane" {
  printf "<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"8\" class=\"lane %s\"/>\n", word[2], word[3], word[4], word[5], word[6]
  put(word[2] + word[4] / 2, word[3] + 20, "middle", "head", part[2])
  next
}
word[1] == "box" {
  printf "<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"6\" class=\"%s\"/>\n", word[2], word[3], word[4], word[5], word[6]
  top = word[3] + (word[5] - 18 * (parts - 1)) / 2 + 14
  for (i = 2; i <= parts; ++i) if (part[i] != "") put(word[2] + word[4] / 2, top + 18 * (i - 2), "middle", i == 2 && parts > 2 ? "head" : "body", part[i])
  next
}
word[1] == "line" { put(word[2], word[3], word[4], word[5], part[2]); next }
word[1] == "dot" { printf "<circle cx=\"%s\" cy=\"%s\" r=\"5\" class=\"dot %s\"/>\n", word[2], word[3], word[4]; next }
word[1] == "band" { printf "<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" class=\"band\"/>\n", word[2], word[3], word[4], word[5]; next }
word[1] == "tilt" { printf "<text transform=\"translate(%s %s) rotate(-50)\" class=\"small\">%s</text>\n", word[2], word[3], escape(part[2]); next }
word[1] == "arrow" {
  path = "M" word[2] " " word[3]
  for (i = 4; i < words; i += 2) path = path "L" word[i] " " word[i + 1]
  printf "<path d=\"%s\" class=\"arrow\" marker-end=\"url(#tip)\"/>\n", path
  if (parts == 3) { split(part[3], at, " "); put(at[1], at[2], at[3], "note", part[2]) }
  next
}
{ wrong("there is no '" word[1] "'; known: title, size, lane, box, line, dot, band, tilt, arrow") }
END { if (!failed) print "</svg>" }

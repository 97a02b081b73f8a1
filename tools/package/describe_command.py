#!/usr/bin/env python3
"""What the command says about itself by --help, as a manual page, a bash completion or an annotated settings file.

describe_command.py SOTTO manual | completion | settings COMMAND [name=value ...]

settings: the file that COMMAND reads; the values named are set, all others stand there as comments with their defaults.
"""
import re
import subprocess
import sys


def run(arguments):
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    # A build without libtorch names the commands of the trainer, and cannot say more of them.
    if "this needs sotto-trainer" in done.stderr:
        return f"Usage: sotto {' '.join(arguments[1:-1])}\n"
    if done.returncode != 0:
        sys.exit(f"describe_command: {' '.join(arguments)} failed: {done.stderr.strip()}")
    return done.stdout


class Command:
    """One level of the command: its description, and under 'Options', 'Positionals' and 'Subcommands' (head, help)."""

    def __init__(self, program, path):
        self.path = path
        lines = run([program, *path, "--help"]).splitlines()
        usage = next(i for i, line in enumerate(lines) if line.startswith("Usage:"))
        self.description = [line for line in lines[:usage] if line.strip()]
        self.usage = lines[usage].removeprefix("Usage:").strip()
        self.sections = {}
        entries = None
        for line in lines[usage + 1 :]:
            if re.fullmatch(r"[A-Z][A-Za-z ]*:", line):
                entries = self.sections.setdefault(line[:-1], [])
            elif entries is None or not line.strip():
                continue
            elif re.match(r"  \S", line):
                head, _, help_text = line.strip().partition("  ")
                entries.append([head, help_text.strip()])
            elif entries:
                entries[-1][1] = (entries[-1][1] + "\n" + line.strip()).strip()
        self.children = [Command(program, [*path, head]) for head, _ in self.sections.get("Subcommands", [])]

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()

    def flags(self):
        return [flag for head, _ in self.sections.get("Options", []) for flag in head.split()[0].split(",")]


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = "".join(letter if ord(letter) < 128 else f"\\[u{ord(letter):04X}]" for letter in text)
    return "\\&" + text if text.startswith((".", "'")) else text


def manual(top, version, date):
    out = [f'.TH SOTTO 1 "{date}" "sotto {version}" "User Commands"', ".SH NAME"]
    out += [f"sotto \\- {roff(top.description[0].partition(': ')[2])}", ".SH SYNOPSIS", f".B {roff(top.usage)}"]
    for command in top.walk():
        if command is top:
            out.append(".SH DESCRIPTION")
        else:
            out.append((".SH " if len(command.path) == 1 else ".SS ") + '"' + roff("sotto " + " ".join(command.path)) + '"')
        for line in command.description:
            out += [roff(line.strip()), ".br"]
        if command is not top:
            out += [".PP", f".B {roff(command.usage)}"]
        for name, entries in command.sections.items():
            if name == "Subcommands" and command is not top:
                continue
            for head, text in entries:
                if head != "-h,--help" or command is top:
                    out += [".TP", f".B {roff(head)}", *([roff(line) for line in text.splitlines()] or ["\\&"])]
    out += [".SH EXIT STATUS", "0 when it worked, 1 when the machine let it down, 2 when it was used wrongly."]
    out += [".SH FILES", ".I /etc/sotto", "has the settings of the servers, one annotated file each."]
    return "\n".join(out) + "\n"


def completion(top):
    out = ["# bash completion for sotto", "_sotto() {", "  local path='' word i", "  COMPREPLY=()"]
    out += ["  for ((i = 1; i < COMP_CWORD; ++i)); do", '    word=${COMP_WORDS[i]}', '    case "$path $word" in']
    paths = [" " + " ".join(c.path) for c in top.walk() if c.path]
    out += ["      " + " | ".join(f"'{path}'" for path in paths) + ') path="$path $word" ;;', "    esac", "  done"]
    out += ["  local flags='' commands=''", '  case "$path" in']
    for command in top.walk():
        path = " " + " ".join(command.path) if command.path else ""
        children = " ".join(child.path[-1] for child in command.children)
        out.append(f"    '{path}') flags='{' '.join(command.flags())}' commands='{children}' ;;")
    out += ["  esac", "  local words=$commands", "  [[ ${COMP_WORDS[COMP_CWORD]} == -* ]] && words=$flags"]
    out += ['  mapfile -t COMPREPLY < <(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}")', "}"]
    out += ["complete -o default -F _sotto sotto"]
    return "\n".join(out) + "\n"


def settings(command, chosen):
    """The options whose types are those of a settings table, after the one that names the file."""
    out, known = [], set()
    for head, text in command.sections["Options"]:
        match = re.match(r"--([a-z0-9-]+)(?: (integer|number|text|choice))?\b", head)
        text = " ".join(text.split())
        value = re.search(r" ?\[([^\[\]]*)\]$", text)
        is_flag = match is not None and match.group(2) is None and "(true or false)" in text
        if match is None or (match.group(2) is None and not is_flag):
            continue
        name, kind = match.group(1).replace("-", "_"), match.group(2)
        known.add(name)
        default = value.group(1) if value else ""
        shown = chosen.get(name, default)
        if kind in ("text", "choice"):
            shown = '"' + shown.replace("\\", "\\\\").replace('"', '\\"') + '"'
        out += ["", "# " + (text[: value.start()] if value else text), ("" if name in chosen else "# ") + f"{name} = {shown}"]
    unknown = set(chosen) - known
    if unknown or not known:
        sys.exit(f"describe_command: {' '.join(command.path)} has no settings {', '.join(sorted(unknown))}")
    return "\n".join(out) + "\n"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program, what, *rest = sys.argv[1:]
    if what == "settings":
        chosen = dict(word.split("=", 1) for word in rest[1:])
        sys.stdout.write(settings(Command(program, [rest[0]]), chosen))
        return
    top = Command(program, [])
    if what == "manual":
        version = run([program, "--version"]).split()[-1]
        sys.stdout.write(manual(top, version, rest[0]))
    elif what == "completion":
        sys.stdout.write(completion(top))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()

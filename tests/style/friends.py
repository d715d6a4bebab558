#!/usr/bin/env python3
"""friends.py FOLDER: a room includes headers of its own, of the rooms that its FRIENDS in
CMakeLists.txt name, and of these rooms' friends, and no others.
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
tops = ["executor", "backends", "ir", "passes", "frontend", "viz"]


def uncommented(text):
    return re.sub(r"#[^\n]*", "", text)


folder_of, friends_of, sources_of = {}, {}, {}
for top in tops:
    for lists in (root / top).rglob("CMakeLists.txt"):
        folder = lists.parent.relative_to(root)
        text = uncommented(lists.read_text())
        for name, body in re.findall(r"lstmc_room\((\w+)([^)]*)\)", text):
            words = body.replace("SOURCES", "").split("FRIENDS")
            folder_of[name] = folder
            friends_of[name] = set(words[1].split()) if len(words) > 1 else set()
            sources_of[name] = {word.split("/")[-1] for word in words[0].split()}

# The room of a file: that of the innermost folder. If a folder has several rooms, the one that
# lists the source of that name, else the last, which may use the others.
rooms_in = {}
for name, folder in folder_of.items():
    rooms_in.setdefault(folder, []).append(name)


def room_of(path):
    for folder in path.parents:
        names = rooms_in.get(folder)
        if not names:
            continue
        listed = [n for n in names if path.stem + ".cpp" in sources_of[n]]
        return listed[0] if listed else names[-1]
    return None




def reached(room, seen):
    for friend in friends_of.get(room, ()):
        if friend not in seen:
            seen.add(friend)
            reached(friend, seen)
    return seen


missing = set()
for top in tops:
    for file in (root / top).rglob("*"):
        if file.suffix not in (".cpp", ".h") or not file.is_file():
            continue
        path = file.relative_to(root)
        room = room_of(path)
        if room is None:
            continue
        for include in re.findall(r'^#include "([^"]+)"', file.read_text(), re.M):
            other = room_of(pathlib.Path(include))
            if (other is None or other == room or folder_of[other] == folder_of[room]
                or not include.startswith(tuple(tops))):
                continue
            if other not in reached(room, set()):
                missing.add(f"{path} includes {include}: {other} is no friend of {room}")
print("\n".join(sorted(missing)) if missing
      else f"{len(folder_of)} rooms include their friends alone")
sys.exit(1 if missing else 0)

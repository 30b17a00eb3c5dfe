#!/usr/bin/python3 -SE
"""Arguments as JSON on stdin, the result as JSON on stdout, progress on stderr."""
import heapq
import json
import os
import sys


def measure(root):
    """Bytes of every folder directly below root, of root itself, and the size of every file."""
    device = os.lstat(root).st_dev
    folders, files, unreadable, seen = {}, [], 0, set()
    waiting = [(root, None)]
    while waiting:
        folder, top = waiting.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            unreadable += 1
            continue
        for entry in entries:
            try:
                info = entry.stat(follow_symlinks=False)
            except OSError:
                unreadable += 1
                continue
            if entry.is_dir(follow_symlinks=False):
                # Other disks mounted below are not part of this one.
                if info.st_dev == device:
                    waiting.append((entry.path, top or entry.path))
                continue
            if info.st_nlink > 1:
                if info.st_ino in seen:
                    continue
                seen.add(info.st_ino)
            size = info.st_blocks * 512
            folders[top or root] = folders.get(top or root, 0) + size
            files.append((size, entry.path))
            if len(files) % 100000 == 0:
                print(f"{len(files)} files so far", file=sys.stderr, flush=True)
    return folders, files, unreadable


def main():
    arguments = json.load(sys.stdin)
    path, largest = arguments["path"], arguments.get("largest", 10)
    if not os.path.isdir(path):
        sys.exit(f"{path} is no folder that this skill can see; the operator grants folders in sandbox.skills.disk_usage.read")
    folders, files, unreadable = measure(path)
    disk = os.statvfs(path)
    json.dump(
        {
            "path": path,
            "bytes": sum(folders.values()),
            "files": len(files),
            "unreadable": unreadable,
            "disk": {
                "bytes": disk.f_blocks * disk.f_frsize,
                "free_bytes": disk.f_bavail * disk.f_frsize,
            },
            "largest_folders": [
                {"path": name, "bytes": size}
                for name, size in heapq.nlargest(largest, folders.items(), key=lambda item: item[1])
            ],
            "largest_files": [{"path": name, "bytes": size} for size, name in heapq.nlargest(largest, files)],
        },
        sys.stdout,
    )


main()

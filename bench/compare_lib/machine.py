"""What a figure needs beside it: the machine, the commit, and who else wanted the cores."""

import os
import pathlib
import platform
import subprocess


def _read(path):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _field(text, name):
    """What stands behind the colon of the first line that begins with `name`."""
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if colon and key.strip() == name:
            return value.strip()
    return ""


def available_bytes():
    """Memory that can be had without swapping; 0: the kernel does not say."""
    words = _field(_read("/proc/meminfo"), "MemAvailable").split()
    return int(words[0]) * 1024 if words else 0


def facts():
    """Of the machine, with "unknown" where it does not say."""
    cpu = _read("/proc/cpuinfo")
    huge_pages = _read("/sys/kernel/mm/transparent_hugepage/enabled")
    return {
        "cpu": _field(cpu, "model name") or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "virtual": "hypervisor" in _field(cpu, "flags").split(),
        "governor": _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") or "unknown",
        "huge_pages": huge_pages.partition("[")[2].partition("]")[0] or "unknown",
        "load_before": os.getloadavg()[0],
    }


def commit(root):
    """`git describe` of the tree, "-dirty" behind it where it has changes; "unknown" without git."""
    try:
        run = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12"],
            capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return run.stdout.strip() if run.returncode == 0 else "unknown"


class CoreTimes:
    """Where the time of all cores went since this was made, by /proc/stat."""

    def __init__(self, read=lambda: _read("/proc/stat")):
        self._read = read
        self._begin = self._times()

    def _times(self):
        words = self._read().partition("\n")[0].split()
        # user nice system idle iowait irq softirq steal; what guests had is in user already.
        return [int(word) for word in words[1:9]] if words[:1] == ["cpu"] else []

    def shares(self):
        """Of all time: idle, and stolen by the host for others. Empty: the kernel does not say."""
        now = self._times()
        spent = [after - before for before, after in zip(self._begin, now)]
        total = sum(spent)
        if len(spent) < 8 or total <= 0:
            return {}
        return {"idle_share": (spent[3] + spent[4]) / total, "stolen_share": spent[7] / total}

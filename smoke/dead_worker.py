"""What happens to a thread of a program that knows nothing of it: it is held, or panics, by ptrace(2).
And the part of systemd: starts a program, hears of its life (sd_notify), ends it when it says nothing, starts it anew.

  dead_worker.py panic PID THREAD              as if the code that the thread is in had a fault
  dead_worker.py hold PID THREAD               it does not run any more, until this program ends
  dead_worker.py supervise SECONDS FOLDER COMMAND...   WatchdogSec= and Restart=always; says what it hears
"""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time

SEIZE, INTERRUPT, GETREGS, SETREGS, DETACH = 0x4206, 0x4207, 12, 13, 17
ANY_THREAD = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


class Registers(ctypes.Structure):
    """Of x86-64, as the kernel has them."""

    _fields_ = [(name, ctypes.c_ulonglong) for name in
                ("r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss "
                 "fs_base gs_base ds es fs gs").split()]


def ptrace(call, thread, data=None):
    if libc.ptrace(call, thread, None, data) < 0:
        raise OSError(ctypes.get_errno(), f"ptrace {call:#x} of thread {thread}")


def thread_of(pid, name):
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/comm") as comm:
            if comm.read().strip() == name:
                return int(task)
    raise SystemExit(f"process {pid} has no thread {name}")


def stop(pid, name):
    thread = thread_of(pid, name)
    ptrace(SEIZE, thread)
    ptrace(INTERRUPT, thread)
    os.waitpid(thread, ANY_THREAD)
    return thread


def address_of(pid, function):
    """Where a function of the program itself is in the process."""
    program = os.readlink(f"/proc/{pid}/exe")
    symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    at = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(function))
    with open(f"/proc/{pid}/maps") as maps:
        base = next(line for line in maps if line.rstrip().endswith(program))
    return int(base.split("-")[0], 16) + at


def panic(pid, name):
    """Has the thread look up element 7 of 3: it calls what compiled code calls for that."""
    function = address_of(pid, "9panicking18panic_bounds_check")
    thread = stop(pid, name)
    registers = Registers()
    ptrace(GETREGS, thread, ctypes.byref(registers))
    # Below what the thread has on its stack: the name of a file, a place in it, and no caller.
    stack = (registers.rsp - 1024) & ~15
    file = b"a_fault.rs\0"
    words = [0, stack + 64, len(file) - 1, 12 | 34 << 32]
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
        memory.seek(stack - 8)
        memory.write(b"".join(word.to_bytes(8, "little") for word in words))
        memory.seek(stack + 64)
        memory.write(file)
    registers.rip, registers.rsp, registers.orig_rax = function, stack - 8, 2**64 - 1
    registers.rdi, registers.rsi, registers.rdx = 7, 3, stack
    ptrace(SETREGS, thread, ctypes.byref(registers))
    ptrace(DETACH, thread)


def hold(pid, name):
    thread = stop(pid, name)
    print("held", flush=True)
    # Its end is ours to hear of, and who waits for the process waits for that.
    os.waitpid(thread, ANY_THREAD)


def supervise(seconds, folder, *command):
    notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notify.bind(f"{folder}/notify")
    notify.settimeout(0.1)
    path = {"NOTIFY_SOCKET": f"{folder}/notify", "WATCHDOG_USEC": str(int(float(seconds) * 1e6))}
    ends = []
    signal.signal(signal.SIGTERM, lambda *_: ends.append(True))
    while not ends:
        child = subprocess.Popen(command, env={**os.environ, **path})
        print("started", child.pid, flush=True)
        heard, is_ready = time.monotonic(), False
        while child.poll() is None:
            try:
                said = notify.recv(4096).decode()
                is_ready |= "READY=1" in said
                heard = time.monotonic() if "WATCHDOG=1" in said or "READY=1" in said else heard
            except TimeoutError:
                pass
            if ends:
                child.terminate()
                child.wait()
            elif is_ready and time.monotonic() - heard > float(seconds):
                print("says nothing", child.pid, flush=True)
                child.send_signal(signal.SIGABRT)
                child.wait()
        print("ended", child.pid, child.returncode, flush=True)
        time.sleep(0.1)


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    match what:
        case "panic" | "hold":
            {"panic": panic, "hold": hold}[what](int(rest[0]), rest[1])
        case "supervise":
            supervise(*rest)

"""Types at shells in pseudo terminals, and looks at what they complete. usage: completion.py FOLDER"""

import os
import pty
import re
import select
import sys
import time

FOLDER = sys.argv[1]
TAB = "\t"
PATIENCE = 20


class Terminal:
    """A program that believes it is watched."""

    def __init__(self, *command, **environment):
        self.seen = ""
        self.child, self.end = pty.fork()
        if self.child == 0:
            os.chdir(FOLDER)
            os.environ.update(TERM="xterm", HOME=FOLDER, XDG_STATE_HOME=FOLDER, **environment)
            os.execvp(command[0], command)

    def types(self, text):
        os.write(self.end, text.encode())

    def shows(self, pattern):
        """Waits until it does. What is in front of that is done with."""
        end = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.plain())):
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.end], [], [], left)[0]:
                raise SystemExit(f"never seen: {pattern}\nbut: {self.plain()[-2000:]!r}")
            try:
                self.seen += os.read(self.end, 65536).decode(errors="replace")
            except OSError:
                raise SystemExit(f"it ended before it showed: {pattern}\nbut: {self.plain()[-2000:]!r}")
            # fish asks who the terminal is, and waits.
            if "\x1b[c" in self.seen or "\x1b[0c" in self.seen:
                os.write(self.end, b"\x1b[?1;2c")
                self.seen = self.seen.replace("\x1b[c", "").replace("\x1b[0c", "")
        self.seen = self.plain()[found.end():]

    def plain(self):
        """What is seen, without colours and the cursor's ways."""
        return re.sub(r"\x1b(\[[0-9;?]*[a-zA-Z]|\][^\x07]*(\x07|\x1b\\)|[()][AB012]|[=>])|\x07", "", self.seen)

    def ends(self):
        os.close(self.end)
        os.waitpid(self.child, 0)


# What is typed, and what the line is then: `echo` in front shows it, and nothing is run by mistake.
LINES = [
    ("volley sh ver" + TAB, "volley sh version"),
    ("volley port set l" + TAB, "volley port set lan"),
    ("volley por se d" + TAB + "vr" + TAB + "r" + TAB, "volley por se dock vrf red"),
    ("volley route del 198" + TAB, "volley route del 198.51.100.0/24"),
    ("volley capture start --node ip4-look" + TAB + "--exit bl" + TAB, "volley capture start --node ip4-lookup --exit blackhole"),
    ("volley config check so" + TAB, "volley config check some-file.toml"),
]


def in_shell(name, *command, setup, **environment):
    terminal = Terminal(*command, **environment)
    terminal.types(setup + "; echo re''ady\r")
    terminal.shows("ready")
    for typed, line in LINES:
        # The start of the line comments it out once it is complete.
        terminal.types(typed)
        last = line.split(" ")[-1]
        terminal.shows(re.escape(last))
        terminal.types("\x01echo '[\x05]'\r")
        terminal.shows(re.escape(f"[{line} ]") + "|" + re.escape(f"[{line}]"))
    # Where there is no router, nothing is said, and above all no files.
    terminal.types("VOLLEY_SOCKET=/nowhere volley port set " + TAB if name != "fish" else "volley --socket /nowhere port set " + TAB)
    terminal.types("\x05x]'\x01echo '[\r")
    terminal.shows(r"\[.*port set x\]")
    terminal.ends()
    print(f"{name}: {len(LINES)} lines completed")


in_shell("bash", "bash", "--norc", "--noprofile", "-i", setup=f"PS1='> '; source {FOLDER}/completion.bash")
in_shell("zsh", "zsh", "-f", "-i", setup=f"PS1='> '; autoload -U compinit; compinit -u; source {FOLDER}/completion.zsh; bindkey -e")
in_shell("fish", "fish", "--no-config", "-i", setup=f"source {FOLDER}/completion.fish")

ours = Terminal("volley")
ours.shows("volley> ")
ours.types("sh por\r")
ours.shows("dock +memory")
ours.types("port set l" + TAB + "mt" + TAB + "1400\r")
ours.shows(r"~ port lan: mtu 1500 -> 1400")
ours.types("trace ?\r")
ours.shows(r"start +Trace the next packets")
# What stood before the question is still there.
ours.types("sto\r")
ours.shows("0 packets traced")
ours.types("sh n\r")
ours.shows("`n` may be neighbor-shares, neighbors, next-hops, nodes")
ours.types("exit\r")
ours.ends()
print("our own shell: words cut short, names, a question")

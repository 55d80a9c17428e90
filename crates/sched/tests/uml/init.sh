#!/bin/sh
# The first process of the user-mode kernel: plays the experiments, halts. Its command line names the folder to work in.
mount -t proc proc /proc
mount -t sysfs sys /sys
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
for word in $(cat /proc/cmdline); do
    case $word in sched_work=*) work=${word#sched_work=} ;; esac
done
/usr/bin/python3 "$work/player.py" "$work" >"$work/log" 2>&1
echo o >/proc/sysrq-trigger
sleep 10

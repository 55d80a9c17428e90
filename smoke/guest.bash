# A virtual machine with PCI network cards, which programs in it have for themselves through vfio and an IOMMU, as on
# real hardware. Without KVM the machine is emulated; the drivers do not know. Sourced, never run, after lib.sh.
for program in qemu-system-x86_64 cpio socat; do
    command -v $program >/dev/null || skip "$program is missing: make setup"
done
kernels=$("$root/scripts/guest-kernel" 2>"$work/kernel.log") || skip "there is no kernel for the guest: $(tail -n 1 "$work/kernel.log")"
guest=$work/guest
mkdir -p "$guest"/{proc,sys,dev,modules,bin,tmp,var/run}

# into_guest FILE…: copies files, and what they are linked with. Links stay links: a driver that stood
# under two names would be loaded twice.
into_guest() {
    local file real
    for file in $({ printf '%s\n' "$@"; ldd "$@" | grep -o '/[^ :]*'; } | sort -u); do
        real=$(realpath "$file")
        cp --parents "$real" "$guest"
        [ -e "$guest$file" ] || { mkdir -p "$guest${file%/*}" && ln -s "$real" "$guest$file"; }
    done
}

# guest_programs NAME…: ours without what only a debugger reads, the host's as they are.
guest_programs() {
    local name file
    for name in "$@"; do
        file=$work/$name
        if [ -x "$bin/$name" ]; then strip -o "$file" "$bin/$name"; else file=$(type -P "$name"); fi
        into_guest "$file"
        [ -e "$guest/bin/$name" ] || ln -s "$(realpath "$file")" "$guest/bin/$name"
    done
}

# guest_drivers NAME…: of DPDK. Its programs load all that are in the folder, those, too, that another program is linked
# with, and each needs what it is linked with.
guest_drivers() {
    local folder name
    folder=$(dirname "$(find /usr/lib -name librte_bus_pci.so -path '*dpdk*' | head -n 1)")
    into_guest $(printf "$folder/librte_%s.so\n" bus_pci bus_vdev mempool_ring "$@")
    into_guest $(cd "$guest" && printf '/%s\n' ".$folder"/*.so.*)
}

# guest_starts MIB HUGEPAGES CARD…: boots what was copied, its cards given as QEMU's options, in the router's namespace.
guest_starts() {
    local mib=$1 pages=$2
    shift 2
    guest_programs bash mount mkdir readlink insmod ls sleep stty
    find "$kernels/lib/modules" -name 'irqbypass.ko' -o -name 'vfio*.ko' | xargs cp -t "$guest/modules"
    cp "$root/smoke/guest/init" "$guest/init"
    (cd "$guest" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/guest.gz"
    mkfifo "$work/ask.in" "$work/ask.out"
    ip netns exec "$r" qemu-system-x86_64 -machine q35 -accel tcg,thread=multi -cpu max -smp 2 -m "$mib" \
        -nodefaults -no-reboot -display none -device intel-iommu,intremap=on,caching-mode=on \
        -kernel "$(compgen -G "$kernels/boot/vmlinuz-*" | tail -n 1)" -initrd "$work/guest.gz" \
        -append "console=ttyS0 intel_iommu=on hugepages=$pages quiet panic=-1" \
        -serial "file:$work/guest.log" -chardev "pipe,id=ask,path=$work/ask" -serial chardev:ask \
        -monitor "unix:$work/monitor,server,nowait" "$@" 2>"$work/machine.log" &
    daemons+=($!)
    exec 8<>"$work/ask.in" 9<>"$work/ask.out"
    until_true test -S "$work/monitor"
    guest_is_done
}

# in_guest COMMAND: prints what it prints, and ends as it ends.
in_guest() {
    echo "$1" >&8
    guest_is_done
}
guest_is_done() {
    local line
    # Emulated beside others it may take minutes to a program's first word.
    while read -r -t 300 line <&9; do
        if [[ $line =~ ^done\ [0-9]+$ ]]; then return "${line#done }"; fi
        echo "$line"
    done
    echo "the guest does not answer"
    return 1
}
monitor() { echo "$1" | timeout 5 socat - "unix-connect:$work/monitor" >/dev/null; }

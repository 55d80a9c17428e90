#!/usr/bin/env bash
# The page in a headless Chromium: what is seen, by keyboard, in light and dark, on a phone, with contrast and names.
. "$(dirname "$0")/lib.sh"
fail() { echo "$1"; exit 1; }
for program in chromium node; do command -v $program >/dev/null || cannot "there is no $program"; done
hosts
{
    two_ports af_packet
    printf '[port.p2.qos]\nkind = "fq_codel"\n[acl.web]\ndefault = "permit"\nrule = [{ action = "deny", protocol = "udp", destination_port = 99 }]\n'
    printf '[web]\nlisten = "127.0.0.1:18081"\nlab = "%s/results"\n' "$work"
    # What there is to draw beside them: a bridge of a VLAN and a tunnel with its own station, and ports wired together.
    printf '[port.p3]\nkind = "tap"\ndevice = "p3"\n[port.v10]\nkind = "vlan"\nparent = "p3"\nvlan = 10\n'
    printf '[port.vx]\nkind = "vxlan"\nvni = 42\nlocal = "10.0.2.1"\nremote = "192.0.2.9"\n[vrf.red]\n'
    printf '[port.bvi0]\nkind = "bvi"\nvrf = "red"\naddresses = ["10.0.7.1/24"]\n[bridge.br0]\nports = ["v10", "vx", "bvi0"]\n'
    printf '[port.x1]\nkind = "memory"\nup = false\n[port.x2]\nkind = "memory"\n[[xconnect]]\nports = ["x1", "x2"]\n'
} | sed '/\[port.p2\]/a acl_out = "web"' >"$work/router.toml"
# A campaign that runs, whose device has a name that no page must believe.
mkdir -p "$work/results/quick-1"
lab_stands() {
    jq --argjson now "$(date +%s)" '.began_unix_s = $now - 100 | .updated_unix_s = $now | .results += [.results[0]
        | .device = "<img src=x onerror=alert(1)>" | .pps = 1.25e6 | .high_pps = 1.3e6 | .limited_by = "device"]' \
        "$root/docs/example/progress.json" >"$work/results/quick-1/progress.json"
}
lab_stands
router router
until_true pings "$a" 10.0.2.2
printf 'x' | on "$a" socat - UDP-SENDTO:10.0.2.2:99
on "$a" ping -q -i 0.05 10.0.2.2 >/dev/null &
daemons+=($!)
on "$r" env HOME="$work" node "$root/smoke/page_browser.mjs" http://127.0.0.1:18081/ "${PICTURES:-$work}" \
    'in p1 ip src 10.0.1.2 dst 10.0.2.2 / udp dport 99' || fail "see above"
echo "ok $name"

//! What each action does to the packet whose way is worked out.

use super::*;
use crate::tunnel::ENDS;

impl Machine for Translation<'_> {
    fn has(&mut self, field: Field) -> bool {
        // The number of a tag that is not there is zero.
        field == Field::VlanVid || Translation::has(self, field)
    }

    fn read(&mut self, sub: Sub) -> u128 {
        if !self.has(sub.field) {
            return 0;
        }
        self.see(sub.field, sub.mask());
        (self.key.get(sub.field) & sub.mask()) >> sub.offset
    }

    fn write(&mut self, field: Field, value: u128, mask: u128) {
        if field != Field::VlanVid && !self.has(field) {
            return;
        }
        let has_tag = self.key.get(Field::VlanTci) & 0x1000 != 0;
        let (field, value, mask) = match field {
            // A tag is pushed and popped; its content alone is set. Bits of one that is not there
            // are seen by later tables, and are in the tag if there is one: as in Open vSwitch.
            Field::VlanTci | Field::VlanVid if !has_tag => {
                self.see(Field::VlanTci, 0x1000);
                let tci = self.key.get(Field::VlanTci) & !mask | value & mask;
                if tci & 0x1000 == 0 {
                    return self.set_silently(Field::VlanTci, tci, mask);
                }
                self.push_vlan(0x8100);
                (Field::VlanTci, tci, 0xefff)
            }
            Field::VlanTci if mask & 0x1000 != 0 && value & 0x1000 == 0 => {
                // No tag is none behind it either.
                (0..=self.tags.len()).for_each(|_| self.pop_vlan());
                return self.set_silently(field, value, mask);
            }
            // Of one octet, as Open vSwitch tells them.
            Field::ArpOp => (field, value & 0xff, mask | 0xff00),
            Field::VlanTci | Field::VlanVid => {
                // One without a tag would get one.
                self.see(Field::VlanTci, 0x1000);
                (field, value, mask & !0x1000)
            }
            _ => match field.padded() {
                Some((field, padding)) => (field, value >> padding, mask >> padding),
                None => (field, value, mask),
            },
        };
        if mask == 0 {
            return;
        }
        if field.needs() == openflow::Needs::Mpls && self.count_labels() == 0 {
            return self.make_label(field, value, mask);
        }
        self.set_silently(field, value, mask);
        if self.write_pushed_label(field, value, mask) {
            return;
        }
        if crate::edit::is_of_packet(field) && self.is_whole(field) {
            self.put(Step::Set(field, value & mask, mask));
        }
    }

    fn output(&mut self, number: PortNumber, max_len: u16) {
        match number {
            port::IN_PORT => self.send(self.in_port(), true),
            port::TABLE if self.is_told => {
                self.is_told = false;
                self.look_up(0, None);
                self.end_set();
            }
            port::TABLE | port::NONE => {}
            port::NORMAL => {
                let key = &self.key;
                let (to, tci) = (key.get(Field::EthDst), key.get(Field::VlanTci) as u16);
                self.note(|| What::Normal { to, tci });
                let asks = self.snapshot.ports.values().map(|port| port.asks).max();
                self.answer(asks.unwrap_or_default());
                self.put(Step::Normal);
            }
            port::FLOOD | port::ALL => {
                let all = Arc::clone(&self.snapshot.ports);
                let is_all = number == port::ALL;
                for (to, entry) in all.iter() {
                    if is_all || entry.floods {
                        self.send(*to, false);
                    }
                }
            }
            port::CONTROLLER => self.controller(max_len, 0, self.reason),
            _ => self.send(number, false),
        }
    }

    fn controller(&mut self, max_len: u16, controller: u16, reason: u8) {
        let mut metadata = Match::any();
        metadata.set(Field::InPort, self.key.get(Field::InPort), Field::InPort.ones());
        let beside = [Field::Metadata, Field::TunId, Field::PktMark].into_iter().chain(SAID);
        let registers = (0..16).filter_map(Field::register);
        for field in beside.chain(registers) {
            let value = self.key.get(field);
            if value != 0 {
                metadata.set(field, value, field.ones());
            }
            self.see(field, field.ones());
        }
        // These its port decides, or flows, or each packet.
        self.sees_own();
        for field in ENDS {
            let value = self.key.get(field);
            if value != 0 {
                metadata.set(field, value, field.ones());
            }
        }
        let (table, cookie) = (self.table, self.cookie);
        let told = Told::Packet { max_len, controller, reason, table, cookie, metadata };
        self.put(Step::Tell(Arc::new(told)));
    }

    fn group(&mut self, number: u32) {
        let Some(group) = self.snapshot.groups.get(&number).cloned() else { return };
        if self.is_deepest() {
            self.is_lost(false);
            return self.cut();
        }
        let ports = Arc::clone(&self.snapshot.ports);
        let is_alive = |it: &openflow::message::Bucket| {
            it.watch_port == port::NONE || ports.get(&it.watch_port).is_some_and(|it| it.is_live)
        };
        let chosen: Vec<usize> = match group.kind {
            GroupKind::All => (0..group.buckets.len()).collect(),
            GroupKind::Indirect => vec![0],
            GroupKind::FastFailover => {
                group.buckets.iter().position(is_alive).into_iter().collect()
            }
            GroupKind::Select => {
                let mut seen = Key::default();
                let hash = flow_hash(&self.key, &mut seen);
                self.see_all(&seen);
                group.select(hash, is_alive).into_iter().collect()
            }
        };
        self.counters.push(Arc::clone(&group.counters));
        (self.depth, self.led_back) = (self.depth + 1, self.led_back + 1);
        let (reason, level) = (std::mem::replace(&mut self.reason, reason::GROUP), self.level());
        let is_choice = matches!(group.kind, GroupKind::FastFailover | GroupKind::Select);
        if group.kind == GroupKind::FastFailover {
            let before = *chosen.first().unwrap_or(&group.buckets.len());
            for it in &group.buckets[..before] {
                let (id, port) = (it.id, it.watch_port);
                self.note(|| What::Note(format!("bucket {id}: not live due to port {port}")));
            }
        }
        if is_choice {
            let bucket = chosen.first().and_then(|at| group.buckets.get(*at)).map(|it| it.id);
            let told = bucket.map(|id| format!("using bucket {id}"));
            self.note(|| What::Note(told.unwrap_or_else(|| "no live bucket".to_owned())));
        }
        for at in chosen {
            let id = group.buckets[at].id;
            self.note(|| What::Bucket(id));
            self.counters.push(Arc::clone(&group.bucket_counters[at]));
            self.aside(|it| {
                // A bucket is an action set.
                it.set = Program::new();
                it.write_actions(&group.buckets[at].actions);
                let is_inside = std::mem::replace(&mut it.is_bucket, true);
                it.end_set();
                it.is_bucket = is_inside;
            });
            self.back(level);
        }
        (self.reason, self.depth) = (reason, self.depth - 1);
        self.led_back -= 1;
    }

    fn meter(&mut self, meter: u32) {
        self.put(Step::Meter(meter));
    }

    fn queue(&mut self, queue: Option<u32>) -> Option<u32> {
        if self.queue != queue {
            self.put(Step::Queue(queue));
        }
        std::mem::replace(&mut self.queue, queue)
    }

    fn dec_ttl(&mut self, controllers: &[u16]) -> bool {
        if !self.has(Field::IpTtl) {
            return true;
        }
        let ttl = self.read(Sub::whole(Field::IpTtl));
        if ttl > 1 {
            self.write(Field::IpTtl, ttl - 1, 0xff);
            return true;
        }
        let version = if self.key.get(Field::EthType) == 0x0800 { 4 } else { 6 };
        self.note(|| What::Warning(format!("IPv{version} decrement TTL exception")));
        for controller in controllers {
            self.controller(u16::MAX, *controller, reason::INVALID_TTL);
        }
        false
    }

    fn dec_mpls_ttl(&mut self) -> bool {
        self.dec_label_ttl()
    }

    fn push_vlan(&mut self, tpid: u16) {
        // A second tag would hide the first, whose bits then decide. What is in it is not said yet:
        // as Open vSwitch does it, nothing of the first is.
        self.see(Field::VlanTci, 0xffff);
        let had = self.key.get(Field::VlanTci);
        let tci = 0x1000;
        if had & 0x1000 != 0 {
            self.tags.push((kind_of(&self.key), had));
            self.see_all(&with_kind(u16::MAX));
        }
        self.put(Step::PushVlan(tpid, tci as u16));
        self.set_tag(tpid, tci);
    }

    fn pop_vlan(&mut self) {
        self.see(Field::VlanTci, 0x1000);
        if self.key.get(Field::VlanTci) & 0x1000 != 0 {
            self.put(Step::PopVlan);
            let (kind, behind) = self.tags.pop().unwrap_or((0, 0));
            self.set_tag(kind, behind);
        }
    }

    fn push_mpls(&mut self, ethertype: u16) {
        self.push_label(ethertype);
    }

    fn pop_mpls(&mut self, ethertype: u16) {
        self.pop_label(ethertype);
    }

    fn resubmit(&mut self, table: Option<u8>, as_port: Option<PortNumber>) {
        if self.is_deepest() {
            self.is_lost(false);
            return self.cut();
        }
        let (table, led_back) = (table.unwrap_or(self.table), self.led_back);
        // What leads on ends by itself.
        self.led_back += u32::from(table <= self.table);
        self.depth += 1;
        let next = self.next.take();
        self.look_up(table, as_port);
        (self.next, self.depth, self.led_back) = (next, self.depth - 1, led_back);
    }

    fn on_copy(&mut self, actions: &[Action]) {
        if self.is_deepest() {
            return self.cut();
        }
        self.depth += 1;
        let (mut exits, mut is_unread) = (false, false);
        self.aside(|it| {
            it.run(actions);
            // Who is to be read anew, too.
            exits = it.is_over || it.stopped.is_some();
            it.end_set();
            is_unread = it.is_unread;
        });
        // As Open vSwitch has it: who leaves from within leaves the whole.
        self.is_over |= exits;
        self.is_unread |= is_unread;
        self.depth -= 1;
    }

    fn learn(&mut self, learn: &Learn) {
        self.learn_from(learn);
    }

    fn track(&mut self, ct: &Ct) {
        self.track_as(ct);
    }

    fn untrack(&mut self) {
        for field in SAID {
            self.set_silently(field, 0, field.ones());
        }
    }

    fn sample(&mut self, sample: &Sample) {
        // It is of no use where nobody collects.
        if !self.snapshot.collectors.contains(&sample.set) {
            return;
        }
        let is_here = sample.port == port::NONE || sample.port == self.in_port();
        if !is_here && !self.snapshot.ports.contains_key(&sample.port) {
            let number = sample.port;
            return self.note(|| {
                What::Fault(format!("can't use unknown port {number} in flow sample action"))
            });
        }
        let port = if is_here { port::NONE } else { sample.port };
        self.put(Step::Sample(Sample { port, ..*sample }));
    }

    fn push(&mut self, sub: Sub) {
        let value = self.read(sub);
        if self.stack.len() < 64 {
            self.stack.push((value, sub.bits));
        }
    }

    fn pop(&mut self, sub: Sub) {
        if let Some((value, _)) = self.stack.pop() {
            self.write(sub.field, value << sub.offset & sub.mask(), sub.mask());
        }
    }

    fn write_actions(&mut self, actions: &[Action]) {
        for action in actions {
            let is_same = |had: &Action| match (had, action) {
                (Action::SetField(one), Action::SetField(other)) => one.field == other.field,
                (Action::Mpls(one), Action::Mpls(other)) => {
                    std::mem::discriminant(one) == std::mem::discriminant(other)
                }
                _ => std::mem::discriminant(had) == std::mem::discriminant(action),
            };
            self.set.retain(|had| !is_same(had));
            self.set.push(action.clone());
        }
    }

    fn clear_actions(&mut self) {
        self.set.clear();
    }

    fn goto_table(&mut self, table: u8) {
        self.next = Some(table);
    }

    fn end_timeouts(&mut self, idle: u16, hard: u16) {
        self.end_flow(idle, hard);
    }

    fn end_list(&mut self) {
        self.is_ended = true;
    }

    fn exit(&mut self) {
        self.is_over = true;
    }
}

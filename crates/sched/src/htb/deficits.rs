//! What leaves may still send in their turns: at each level that they may borrow from a turn of its
//! own.
//!
//! ```text
//!   of the lowest four levels: in the class, beside what else a visit touches         of those above: here, class by class
//! ```

/// Levels of most trees.
pub(super) const NEAR: usize = 4;

pub(super) struct DeepDeficits {
    levels: usize,
    bytes: Vec<i32>,
}

impl DeepDeficits {
    /// For so many classes in a tree of so many levels.
    pub(super) fn new(classes: usize, levels: usize) -> Self {
        let levels = levels.saturating_sub(NEAR);
        Self { levels, bytes: vec![0; classes * levels] }
    }

    /// That of a class at a level; `near` are the class's own.
    #[inline(always)]
    pub(super) fn of<'a>(
        &'a mut self,
        near: &'a mut [i32; NEAR],
        class: u32,
        level: usize,
    ) -> &'a mut i32 {
        if level < NEAR { &mut near[level] } else { self.deep(class, level - NEAR) }
    }

    #[cold]
    fn deep(&mut self, class: u32, level: usize) -> &mut i32 {
        &mut self.bytes[class as usize * self.levels + level]
    }
}

/// Takes off what was sent, and tells if the turn is over: then the next one's quantum is added.
/// Without a branch: nobody foresees whose quantum is used up.
#[inline(always)]
pub(super) fn spend(deficit: &mut i32, bytes: u32, quantum_bytes: i32) -> bool {
    let left = *deficit - bytes as i32;
    let is_over = left < 0;
    *deficit = left + (quantum_bytes & -i32::from(is_over));
    is_over
}

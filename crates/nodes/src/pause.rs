//! How long a short way for whole vectors is not tried after it was tried in vain: for one vector,
//! then for three, seven and so on, and for 255 at most.

/// See the module.
#[derive(Default)]
pub(crate) struct Pause {
    length: u8,
    left: u8,
}

impl Pause {
    /// Whether it is time to try. Asked once a vector.
    #[inline]
    pub(crate) fn is_over(&mut self) -> bool {
        let is_over = self.left == 0;
        self.left = self.left.saturating_sub(1);
        is_over
    }

    /// It was tried.
    #[inline]
    pub(crate) fn note(&mut self, is_of_use: bool) {
        self.length = if is_of_use { 0 } else { self.length.saturating_mul(2) | 1 };
        self.left = self.length;
    }
}

#[cfg(test)]
mod tests {
    use super::Pause;

    #[test]
    fn the_more_often_in_vain_the_longer_the_pause() {
        let mut pause = Pause::default();
        let mut tries = Vec::new();
        for vector in 0..1000 {
            if pause.is_over() {
                tries.push(vector);
                pause.note(false);
            }
        }
        assert_eq!(tries, [0, 2, 6, 14, 30, 62, 126, 254, 510, 766]);
        while !pause.is_over() {}
        pause.note(true);
        assert!(pause.is_over() && pause.is_over());
    }
}

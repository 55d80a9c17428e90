//! TEMP
use crate::layout::Layout;
/// A picture.
pub fn draw_svg<S>(layout: &Layout<S>) -> String {
    crate::draw_dot(layout)
}

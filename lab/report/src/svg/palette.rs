//! Colours and markers that stay apart in print, on a projector, and for colour-blind eyes.
//!
//! Okabe and Ito's eight, without the yellow that vanishes on white. A series has a marker of its
//! own too, so that nothing hangs on colour alone.

use super::canvas::Canvas;

const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#4d4d4d"];

/// The colour of the `index`-th series.
pub fn colour(index: usize) -> &'static str {
    COLOURS[index % COLOURS.len()]
}

/// The marker of the `index`-th series: circle, square, triangle, diamond; open ones after that.
pub fn marker(canvas: &mut Canvas, at: (f64, f64), index: usize) {
    let colour = colour(index);
    let style = if index < 4 {
        format!(r##"fill="{colour}" stroke="#fff" stroke-width="0.8""##)
    } else {
        format!(r##"fill="#fff" stroke="{colour}" stroke-width="1.5""##)
    };
    let (x, y) = at;
    match index % 4 {
        0 => canvas.circle(at, 3.6, &style),
        1 => canvas.rect((x - 3.2, y - 3.2), (6.4, 6.4), &style),
        2 => canvas.polygon(&[(x, y - 4.4), (x + 4.0, y + 3.0), (x - 4.0, y + 3.0)], &style),
        _ => {
            let corners = [(x, y - 4.6), (x + 4.2, y), (x, y + 4.6), (x - 4.2, y)];
            canvas.polygon(&corners, &style);
        }
    }
}

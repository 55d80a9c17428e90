//! What the pages of a dashboard look like: light and dark as the reader's screen has it, one
//! column on a telephone, no script and nothing fetched.

use crate::svg::canvas::escape;

/// Colours of devices, on white and on black: Okabe and Ito's, and the same lighter.
const COLOURS: [(&str, &str); 7] = [
    ("#0072b2", "#5ab4f0"),
    ("#d55e00", "#ff9a57"),
    ("#009e73", "#3dd2a4"),
    ("#b8578f", "#eb9fca"),
    ("#2b8fc4", "#9bd7ff"),
    ("#b97f00", "#ffc766"),
    ("#4d4d4d", "#bdbdbd"),
];

const STYLE: &str = "\
*{box-sizing:border-box}\
body{margin:0;background:var(--back);color:var(--text);font:15px/1.5 'Helvetica Neue',Helvetica,Arial,sans-serif;\
-webkit-text-size-adjust:100%}\
main{max-width:1120px;margin:0 auto;padding:20px 16px 56px}\
h1{font-size:24px;line-height:1.25;margin:4px 0}\
h2{font-size:18px;margin:32px 0 8px}\
p{margin:6px 0 10px}a{color:var(--link)}code{font:12.5px ui-monospace,Menlo,Consolas,monospace}\
.facts,figcaption small{color:var(--quiet);font-size:13px}\
.finding{font-size:17px;line-height:1.4;padding:12px 14px;border-left:4px solid var(--edge);background:var(--card);\
border-radius:0 6px 6px 0;margin:14px 0}\
.finding.worse{border-color:var(--worse)}.finding.better{border-color:var(--better)}\
.worse{color:var(--worse)}.better{color:var(--better)}.odd{color:var(--odd)}\
p.finding{color:var(--text)}\
.wide{overflow-x:auto;margin:8px 0}\
table{border-collapse:collapse;width:100%;font-size:13.5px}\
th{text-align:left;border-bottom:1.5px solid var(--edge);padding:5px 12px 5px 0;white-space:nowrap}\
td{border-bottom:1px solid var(--rule);padding:5px 12px 5px 0;vertical-align:top}\
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,330px),1fr));gap:14px}\
figure{margin:0;padding:10px 10px 6px;background:var(--card);border-radius:6px;min-width:0}\
figcaption{font-size:13.5px;line-height:1.35;margin-bottom:4px;overflow-wrap:anywhere}\
svg{display:block;width:100%;height:auto}\
svg text{font:11px 'Helvetica Neue',Helvetica,Arial,sans-serif;fill:var(--quiet)}\
svg text.worse{fill:var(--worse);font-weight:bold}svg text.better{fill:var(--better);font-weight:bold}\
.grid{stroke:var(--rule);stroke-width:1}.axis{stroke:var(--edge);stroke-width:1}\
line.worse{stroke:var(--worse)}line.better{stroke:var(--better)}.cut{stroke-width:1;stroke-dasharray:3 3}\
.thin{fill:none;stroke-width:1;opacity:.45}.level{stroke-width:2.5}.span{stroke-width:1;opacity:.45}\
.ring{fill:none;stroke:var(--odd);stroke-width:1.8}\
.key{display:inline-flex;align-items:center;gap:6px;margin:0 14px 4px 0;font-size:13.5px}\
.key svg{width:14px;height:14px}\
.list{list-style:none;padding:0;margin:8px 0}.list li{padding:8px 0;border-bottom:1px solid var(--rule);\
overflow-wrap:anywhere}\
\
summary{cursor:pointer}.list ul{margin:4px 0;padding-left:20px}.list ul li{padding:2px 0;border:0;font-size:14px}";

/// The whole style.
fn style() -> String {
    let colours = |dark: bool| -> String {
        let of = |(index, it): (usize, &(&str, &str))| {
            format!("--d{index}:{};", if dark { it.1 } else { it.0 })
        };
        COLOURS.iter().enumerate().map(of).collect()
    };
    let devices: String = (0..COLOURS.len())
        .map(|index| {
            format!(
                ".d{index}{{stroke:var(--d{index})}}.f{index}{{fill:var(--d{index});stroke:var(--card)}}"
            )
        })
        .collect();
    format!(
        ":root{{color-scheme:light dark;--back:#f4f4f1;--card:#fff;--text:#1d1d1d;--quiet:#5c5c5c;--rule:#e2e2de;\
         --edge:#8a8a86;--link:#0060a0;--worse:#b42318;--better:#067647;--odd:#9a5b00;{}}}\
         @media(prefers-color-scheme:dark){{:root{{--back:#121314;--card:#1d1f21;--text:#e8e8e6;--quiet:#a9a9a5;\
         --rule:#35383b;--edge:#75787b;--link:#7cc0ff;--worse:#ff8a7a;--better:#5fd39a;--odd:#ffc266;{}}}}}{STYLE}{devices}",
        colours(false),
        colours(true)
    )
}

/// How many colours there are; a device after them has that of an earlier one, and another marker.
pub(super) fn colour(device: usize) -> usize {
    device % COLOURS.len()
}

/// A page of this title.
pub(super) fn page(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        escape(title),
        style()
    )
}

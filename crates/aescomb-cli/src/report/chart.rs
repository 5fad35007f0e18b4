//! Charts, as inline SVG.
//!
//! Text and axes are drawn in colours that the page's style sheet replaces by those of
//! its light or dark form; so are the colours of series.

use maud::{Markup, PreEscaped, html};
use plotters::prelude::*;

/// Colours that stand for the page's: text, lines of the grid.
const INK: RGBColor = RGBColor(17, 17, 17);
const GRID: RGBColor = RGBColor(221, 221, 221);
/// Colours of series, told apart in light and dark; the style sheet does not change
/// them.
const SERIES: [RGBColor; 8] = [
    RGBColor(42, 120, 214),
    RGBColor(235, 104, 52),
    RGBColor(27, 160, 122),
    RGBColor(205, 140, 0),
    RGBColor(150, 90, 220),
    RGBColor(220, 60, 110),
    RGBColor(100, 116, 139),
    RGBColor(20, 160, 190),
];
/// The size that charts are drawn for; the page makes them smaller where it has to.
const WIDTH: u32 = 760;

/// A line of points, in the order of x.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

impl Series {
    /// Points whose y is there.
    pub(crate) fn new(
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, Option<f64>)>,
    ) -> Series {
        let points = points
            .into_iter()
            .filter_map(|(x, y)| Some((x, y.filter(|y| y.is_finite())?)))
            .collect();
        Series {
            name: name.into(),
            points,
        }
    }
}

/// What the axes say.
pub(crate) struct Axes<'a> {
    pub(crate) x: &'a str,
    pub(crate) y: &'a str,
    /// Each step to the right doubles x.
    pub(crate) doubling: bool,
    /// Each step up doubles y.
    pub(crate) y_doubling: bool,
}

/// Lines over x.
pub(crate) fn lines(axes: &Axes<'_>, series: &[Series]) -> Markup {
    let shown: Vec<&Series> = series.iter().filter(|one| !one.points.is_empty()).collect();
    let all = || shown.iter().flat_map(|one| &one.points);
    let log = |value: f64, doubling| if doubling { value.log2() } else { value };
    let (mut left, mut right) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for (x, y) in all() {
        (left, right) = (left.min(*x), right.max(*x));
        (low, high) = (low.min(*y), high.max(*y));
    }
    if !left.is_finite() {
        return PreEscaped(String::new());
    }
    let x =
        log(left, axes.doubling)..log(right, axes.doubling).max(log(left, axes.doubling) + 1e-9);
    let y = match axes.y_doubling {
        true => low.log2().floor()..high.log2().ceil().max(low.log2().floor() + 1.0),
        false => 0.0..1.08 * high,
    };
    let drawing = svg(380, |root| {
        let mut chart = ChartBuilder::on(root)
            .margin(12)
            .margin_right(24)
            .x_label_area_size(46)
            .y_label_area_size(64)
            .build_cartesian_2d(x.clone(), y.clone())
            .ok()?;
        let label =
            |value: f64, doubling: bool| number(if doubling { value.exp2() } else { value });
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .axis_style(GRID)
            .x_desc(axes.x)
            .y_desc(axes.y)
            .x_labels(match axes.doubling {
                true => (x.end - x.start).round() as usize + 1,
                false => 9,
            })
            .y_labels(match axes.y_doubling {
                true => (y.end - y.start).round() as usize + 1,
                false => 7,
            })
            .x_label_formatter(&|value| label(*value, axes.doubling))
            .y_label_formatter(&|value| label(*value, axes.y_doubling))
            .label_style(font(17))
            .axis_desc_style(font(18))
            .draw()
            .ok()?;
        for (i, one) in shown.iter().enumerate() {
            let (color, thick) = style(i);
            let points = || {
                one.points
                    .iter()
                    .map(|(x, y)| (log(*x, axes.doubling), log(*y, axes.y_doubling)))
            };
            let line = color.stroke_width(if thick { 3 } else { 1 });
            let mark = if thick { color.filled() } else { line };
            chart.draw_series(LineSeries::new(points(), line)).ok()?;
            chart
                .draw_series(points().map(|point| Circle::new(point, 3, mark)))
                .ok()?;
        }
        Some(())
    });
    let names: Vec<&str> = shown.iter().map(|one| &*one.name).collect();
    html! { (drawing) (legend(&names)) }
}

/// The colour of a series, and whether its line is thick: in the second round of
/// colours lines are thin and marks hollow.
fn style(series: usize) -> (RGBColor, bool) {
    (SERIES[series % SERIES.len()], series < SERIES.len())
}

/// What the colours of a chart stand for.
fn legend(names: &[&str]) -> Markup {
    html! { @if names.len() > 1 { ul class="legend" { @for (i, name) in names.iter().enumerate() {
        @let (RGBColor(r, g, b), thick) = style(i);
        @let color = format!("#{r:02x}{g:02x}{b:02x}");
        li { span class={ @if thick { "thick" } @else { "thin" } } style={ "--series:" (color) } {} (name) }
    } } } }
}

/// Bars to the right, one for each name in every group of them.
pub(crate) fn bars(names: &[&str], groups: &[(String, Vec<Option<f64>>)]) -> Markup {
    let values = groups.iter().flat_map(|group| group.1.iter().flatten());
    let most = values.copied().fold(0.0, f64::max);
    if most <= 0.0 {
        return PreEscaped(String::new());
    }
    const BAR: u32 = 18;
    let step = BAR * names.len() as u32 + 9;
    let top = 4;
    let height = top + step * groups.len() as u32 + 12;
    let left = 130_i32;
    let room = f64::from(WIDTH) - f64::from(left) - 90.0;
    let drawing = svg(height, |root| {
        for (g, (label, values)) in groups.iter().enumerate() {
            let y = (top + step * g as u32) as i32;
            let middle = y + (BAR as usize * names.len() / 2) as i32 - 8;
            root.draw(&Text::new(label.clone(), (4, middle), font(17)))
                .ok()?;
            for (i, value) in values.iter().enumerate() {
                let Some(value) = value else { continue };
                let y = y + (BAR as usize * i) as i32;
                let end = left + (value / most * room).max(1.0) as i32;
                let color = SERIES[i % SERIES.len()];
                root.draw(&Rectangle::new(
                    [(left, y), (end, y + BAR as i32 - 3)],
                    color.filled(),
                ))
                .ok()?;
                root.draw(&Text::new(number(*value), (end + 5, y), font(16)))
                    .ok()?;
            }
        }
        Some(())
    });
    html! { (drawing) (legend(names)) }
}

/// A field of cells, the darker the costlier; `rows` go down, `columns` right.
pub(crate) fn heat(
    x: &str,
    y: &str,
    columns: &[String],
    rows: &[String],
    value: impl Fn(usize, usize) -> Option<f64>,
) -> Markup {
    let cells: Vec<f64> = (0..rows.len())
        .flat_map(|r| (0..columns.len()).map(move |c| (r, c)))
        .filter_map(|(r, c)| value(r, c))
        .collect();
    let low = cells.iter().copied().fold(f64::INFINITY, f64::min);
    let high = cells.iter().copied().fold(0.0, f64::max);
    if cells.is_empty() {
        return PreEscaped(String::new());
    }
    const CELL: i32 = 26;
    let (left, top) = (70, 28);
    let wide = (WIDTH as i32 - left - 10) / columns.len().max(1) as i32;
    let height = (top + CELL * rows.len() as i32 + 48) as u32;
    svg(height, |root| {
        root.draw(&Text::new(y.to_owned(), (4, 4), font(17))).ok()?;
        for (r, label) in rows.iter().enumerate() {
            let at = top + CELL * r as i32;
            root.draw(&Text::new(label.clone(), (10, at + 5), font(17)))
                .ok()?;
            for c in 0..columns.len() {
                let Some(cpb) = value(r, c) else { continue };
                // In steps of equal ratio, as the figures of the paper's colours.
                let share = ((cpb / low).ln() / (high / low).ln().max(1e-9)).clamp(0.0, 1.0);
                let mix = |from: u8, to: u8| {
                    (f64::from(from) + share * (f64::from(to) - f64::from(from))) as u8
                };
                let color = RGBColor(mix(222, 12), mix(235, 60), mix(250, 120));
                let text = match share > 0.5 {
                    true => RGBColor(250, 250, 250),
                    false => RGBColor(16, 16, 20),
                };
                let from = left + wide * c as i32;
                root.draw(&Rectangle::new(
                    [(from, at), (from + wide - 2, at + CELL - 2)],
                    color.filled(),
                ))
                .ok()?;
                root.draw(&Text::new(
                    format!("{cpb:.2}"),
                    (from + wide / 2 - 14, at + 5),
                    ("sans-serif", 16).into_font().color(&text),
                ))
                .ok()?;
            }
        }
        let below = top + CELL * rows.len() as i32 + 4;
        for (c, label) in columns.iter().enumerate() {
            let from = left + wide * c as i32 + wide / 2 - 4 * label.len() as i32;
            root.draw(&Text::new(label.clone(), (from, below), font(17)))
                .ok()?;
        }
        root.draw(&Text::new(x.to_owned(), (left, below + 21), font(17)))
            .ok()?;
        Some(())
    })
}

/// What `draw` draws; nothing if it cannot.
fn svg(
    height: u32,
    draw: impl FnOnce(&DrawingArea<SVGBackend<'_>, plotters::coord::Shift>) -> Option<()>,
) -> Markup {
    let mut text = String::new();
    let drawn = {
        let root = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
        draw(&root).and_then(|()| root.present().ok())
    };
    PreEscaped(match drawn {
        Some(()) => text,
        None => String::new(),
    })
}

fn font(size: u32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&INK)
}

/// Three digits at most, and no more than it takes.
pub(crate) fn number(value: f64) -> String {
    let text = match value.abs() {
        a if a >= 99.95 => format!("{value:.0}"),
        a if a >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    };
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (value, text) in [
            (0.0, "0"),
            (0.254, "0.25"),
            (2.5, "2.5"),
            (16.0, "16"),
            (16.04, "16"),
            (123.4, "123"),
            (2048.0, "2048"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn charts_have_what_was_given() {
        let axes = Axes {
            x: "bytes",
            y: "cycles",
            doubling: true,
            y_doubling: false,
        };
        let one = Series::new("one", [(16.0, Some(2.0)), (32.0, None), (64.0, Some(1.0))]);
        assert_eq!(one.points.len(), 2);
        let chart = lines(&axes, &[one, Series::new("two", [(16.0, Some(3.0))])]).into_string();
        for text in ["<svg", "bytes", "cycles", "one", "two", "\n64\n", "</svg>"] {
            assert!(chart.contains(text), "{text} in {chart}");
        }
        let none = lines(&axes, &[Series::new("none", [(1.0, None)])]);
        assert_eq!(none.into_string(), "");
        let groups = [("gcm".to_owned(), vec![Some(1.5), None])];
        let chart = bars(&["here", "there"], &groups).into_string();
        for text in ["gcm", "1.5", "here", "there"] {
            assert!(chart.contains(text), "{text}");
        }
        let labels = |n: usize| (0..n).map(|i| format!("L{i}")).collect::<Vec<_>>();
        let chart = heat("x", "y", &labels(3), &labels(2), |r, c| {
            Some((r * 3 + c + 1) as f64)
        });
        assert_eq!(chart.into_string().matches("<rect").count(), 6);
    }
}

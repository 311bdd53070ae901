//! Where the boxes and lines of a picture are: a column per layer, and lanes between the boxes for lines that pass
//! a column.
//!
//! This is the layered drawing of Sugiyama: lines to a later column get a place in each column between, and the
//! places of a column are ordered by the mean of what they are connected with, a few times from left to right and
//! back, which leaves few crossings.

use std::collections::HashMap;

/// Width and height of a box.
pub const BOX: (usize, usize) = (176, 58);
/// Between columns, and between boxes.
const GAP: (usize, usize) = (56, 18);
/// The height that a lane takes.
const LANE: usize = 12;
/// Lanes of one picture at most. Beyond, lines pass under boxes.
const MAX_LANES: usize = 4_000;
/// How often the places are ordered, each time from left to right and back.
const SWEEPS: usize = 4;

/// A line between two boxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    pub from: usize,
    pub to: usize,
    pub is_fallback: bool,
}

/// A picture without its text.
pub struct Layout {
    pub width: usize,
    pub height: usize,
    /// The upper left corner of each box.
    pub boxes: Vec<(usize, usize)>,
    /// Each line, with the heights at which it passes the columns between its ends.
    pub lines: Vec<(Line, Vec<usize>)>,
}

/// A place in a column: a box, or the lane of lines that come from one box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Box(usize),
    Lane { from: usize, is_fallback: bool },
}

impl Place {
    fn height(self) -> usize {
        match self {
            Self::Box(_) => BOX.1,
            Self::Lane { .. } => LANE,
        }
    }
}

/// The layout of `levels.len()` boxes, each in the column of its level. Lines lead to later columns.
pub fn layout(levels: &[usize], lines: &[Line]) -> Layout {
    let count = levels.iter().max().map_or(0, |last| last + 1);
    let mut columns: Vec<Vec<Place>> = vec![Vec::new(); count];
    for (node, level) in levels.iter().enumerate() {
        columns[*level].push(Place::Box(node));
    }
    let lanes: usize = lines
        .iter()
        .map(|line| levels[line.to].saturating_sub(levels[line.from] + 1))
        .sum();
    let has_lanes = lanes <= MAX_LANES;
    let mut links = Links::default();
    for line in lines {
        let mut previous = Place::Box(line.from);
        let until = if has_lanes { levels[line.to] } else { 0 };
        let passed = columns.iter_mut().enumerate().take(until);
        for (column, places) in passed.skip(levels[line.from] + 1) {
            let lane = Place::Lane {
                from: line.from,
                is_fallback: line.is_fallback,
            };
            if links.add((column - 1, previous), (column, lane)) {
                places.push(lane);
            }
            previous = lane;
        }
        links.add(
            (levels[line.to] - 1, previous),
            (levels[line.to], Place::Box(line.to)),
        );
    }
    order(&mut columns, &links);
    placed(&columns, levels, lines)
}

/// What is connected with what, from column to column.
#[derive(Default)]
struct Links {
    before: HashMap<(usize, Place), Vec<(usize, Place)>>,
    after: HashMap<(usize, Place), Vec<(usize, Place)>>,
}

impl Links {
    /// Returns whether `to` had no link before.
    fn add(&mut self, from: (usize, Place), to: (usize, Place)) -> bool {
        let before = self.before.entry(to).or_default();
        let is_new = before.is_empty();
        if !before.contains(&from) {
            before.push(from);
            self.after.entry(from).or_default().push(to);
        }
        is_new
    }
}

fn order(columns: &mut [Vec<Place>], links: &Links) {
    for sweep in 0..2 * SWEEPS {
        let is_forward = sweep % 2 == 0;
        let links = match is_forward {
            true => &links.before,
            false => &links.after,
        };
        for step in 1..columns.len() {
            let column = match is_forward {
                true => step,
                false => columns.len() - 1 - step,
            };
            let beside = match is_forward {
                true => column - 1,
                false => column + 1,
            };
            // The middle of a place, as a part of its column, so that columns of different lengths compare.
            let length = columns[beside].len() as f64;
            let places: HashMap<Place, f64> = columns[beside]
                .iter()
                .enumerate()
                .map(|(index, place)| (*place, (index as f64 + 0.5) / length))
                .collect();
            let own = columns[column].len() as f64;
            let mut weighed: Vec<(f64, Place)> = columns[column]
                .iter()
                .enumerate()
                .map(|(index, place)| {
                    let linked = links.get(&(column, *place)).into_iter().flatten();
                    let known: Vec<f64> = linked
                        .filter_map(|(_, other)| places.get(other).copied())
                        .collect();
                    let mean = match known.len() {
                        0 => (index as f64 + 0.5) / own,
                        count => known.iter().sum::<f64>() / count as f64,
                    };
                    (mean, *place)
                })
                .collect();
            // Stable: what is connected alike keeps its order.
            weighed.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            columns[column] = weighed.into_iter().map(|(_, place)| place).collect();
        }
    }
}

fn placed(columns: &[Vec<Place>], levels: &[usize], lines: &[Line]) -> Layout {
    let tall = |column: &Vec<Place>| {
        let places: usize = column.iter().map(|place| place.height() + GAP.1).sum();
        places.saturating_sub(GAP.1)
    };
    let height = columns.iter().map(tall).max().unwrap_or(0);
    let mut boxes = vec![(0, 0); levels.len()];
    let mut middles: HashMap<(usize, Place), usize> = HashMap::new();
    for (index, column) in columns.iter().enumerate() {
        let mut y = (height - tall(column)) / 2;
        for place in column {
            middles.insert((index, *place), y + place.height() / 2);
            if let Place::Box(node) = place {
                boxes[*node] = (index * (BOX.0 + GAP.0), y);
            }
            y += place.height() + GAP.1;
        }
    }
    let lines = lines.iter().map(|line| {
        let lane = Place::Lane {
            from: line.from,
            is_fallback: line.is_fallback,
        };
        let between = levels[line.from] + 1..levels[line.to];
        let passes = between.filter_map(|column| middles.get(&(column, lane)).copied());
        (*line, passes.collect())
    });
    Layout {
        width: (columns.len() * (BOX.0 + GAP.0)).saturating_sub(GAP.0),
        height,
        lines: lines.collect(),
        boxes,
    }
}

/// The path of a line, in the words of SVG, moved by `offset`.
pub fn path(layout: &Layout, line: Line, passes: &[usize], offset: (usize, usize)) -> String {
    let step = BOX.0 + GAP.0;
    let (start, end) = (layout.boxes[line.from], layout.boxes[line.to]);
    let (mut x, mut y) = (start.0 + BOX.0 + offset.0, start.1 + BOX.1 / 2 + offset.1);
    let mut path = format!("M{x} {y}");
    let mut curve = |x1: usize, y1: usize, x2: usize, y2: usize| {
        let middle = usize::midpoint(x1, x2);
        path.push_str(&format!("C{middle} {y1} {middle} {y2} {x2} {y2}"));
    };
    for (column, pass) in passes.iter().enumerate() {
        let left = start.0 + (column + 1) * step + offset.0;
        let pass = pass + offset.1;
        curve(x, y, left, pass);
        curve(left, pass, left + BOX.0, pass);
        (x, y) = (left + BOX.0, pass);
    }
    curve(x, y, end.0 + offset.0, end.1 + BOX.1 / 2 + offset.1);
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pairs: &[(usize, usize)]) -> Vec<Line> {
        let line = |(from, to): &(usize, usize)| Line {
            from: *from,
            to: *to,
            is_fallback: false,
        };
        pairs.iter().map(line).collect()
    }

    #[test]
    fn no_line_passes_under_a_box() {
        // 0 → 1 → 2 → 3, and 0 → 3 past two columns with two boxes each.
        let levels = [0, 1, 2, 3, 1, 2];
        let layout = layout(
            &levels,
            &lines(&[(0, 1), (1, 2), (2, 3), (0, 3), (0, 4), (4, 5)]),
        );
        let (_, passes) = &layout.lines[3];
        assert_eq!(passes.len(), 2);
        for (column, y) in (1..).zip(passes) {
            for (node, level) in levels.iter().enumerate() {
                let (top, bottom) = (layout.boxes[node].1, layout.boxes[node].1 + BOX.1);
                assert!(*level != column || *y < top || *y > bottom, "{node} {y}");
            }
        }
    }

    #[test]
    fn boxes_are_ordered_like_those_before_them_and_columns_are_centred() {
        let levels = [0, 0, 0, 1, 1, 1, 2];
        let crossed = lines(&[(0, 5), (1, 4), (2, 3), (3, 6), (4, 6), (5, 6)]);
        let layout = layout(&levels, &crossed);
        let y = |node: usize| layout.boxes[node].1;
        assert_eq!([y(3), y(4), y(5)], [y(2), y(1), y(0)]);
        assert_eq!(y(6), y(4));
        assert_eq!(layout.height, 3 * BOX.1 + 2 * GAP.1);
    }

    #[test]
    fn a_dense_graph_is_laid_out_without_lanes() {
        let levels: Vec<usize> = (0..200).collect();
        let pairs: Vec<(usize, usize)> = (0..200)
            .flat_map(|from| (from + 1..200).map(move |to| (from, to)))
            .collect();
        let layout = layout(&levels, &lines(&pairs));
        assert_eq!(layout.height, BOX.1);
        assert!(layout.lines.iter().all(|(_, passes)| passes.is_empty()));
    }
}

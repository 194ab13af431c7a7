//! Which rows of the screen hold what, and how wide the columns of a table are.

use crate::store::view::ColumnHead;
use crate::tui::render::text;
use ratatui::layout::{Rect, Size};

/// The smallest terminal that the screens are made for.
pub const SMALLEST: Size = Size::new(60, 15);

/// Rows that a problem may take on a screen of this height.
pub const fn problem_rows(height: u16) -> usize {
    if height < 24 { 1 } else { 2 }
}

/// Rows of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Areas {
    /// Context, version, sources.
    pub header: u16,
    /// Tabs and marks.
    pub tabs: u16,
    /// What fails, and what to do next: no rows while nothing does.
    pub problem: Rect,
    /// Title rule of the main area.
    pub title: u16,
    /// Main area.
    pub main: Rect,
    /// The selected row in words: its rule and lines; only under tables, and only where there is room.
    pub preview: Option<Rect>,
    /// Keys, message or input.
    pub footer: u16,
}

impl Areas {
    /// The rows for this size and so many rows of problem; `None` if it is too small.
    pub fn of(size: Size, problem: u16, table: bool) -> Option<Self> {
        if size.width < SMALLEST.width || size.height < SMALLEST.height {
            return None;
        }
        let preview_height = match size.height {
            _ if !table => 0,
            0..24 => 0,
            24..40 => 5,
            40..55 => 9,
            _ => 13,
        };
        let title = 2 + problem;
        let footer = size.height - 1;
        let main_bottom = footer - preview_height;
        let main = Rect::new(0, title + 1, size.width, main_bottom - title - 1);
        Some(Self {
            header: 0,
            tabs: 1,
            problem: Rect::new(1, 2, size.width - 2, problem),
            title,
            main,
            preview: (preview_height > 0).then(|| Rect::new(0, main_bottom, size.width, preview_height)),
            footer,
        })
    }
}

/// A column on screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Index of the column.
    pub index: usize,
    /// Cells.
    pub width: u16,
}

/// Which columns are on screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// From left to right.
    pub columns: Vec<Placed>,
    /// Columns after the last one on screen, or left out for want of room.
    pub hidden: usize,
}

/// Cells between columns. Below this width they are worth more inside the columns.
pub const fn gap(width: u16) -> u16 {
    if width < 130 { 1 } else { 2 }
}

/// Cells in which a name of this column can still be told from its neighbours; `None` for other columns.
fn readable(head: &ColumnHead) -> Option<u16> {
    match head.id {
        "name" => Some(24),
        "namespace" | "node" => Some(16),
        _ => None,
    }
}

/// Columns that stay while the others scroll: up to and with the name.
pub fn pinned(heads: &[ColumnHead]) -> usize {
    heads
        .iter()
        .position(|head| head.id == "name")
        .map_or(1, |at| at + 1)
        .min(heads.len())
}

/// Places columns into `width` cells. Unscrolled, the columns of low priority give way; scrolled by `skipped`
/// columns, the pinned ones stay and the others follow in their order.
pub fn place(heads: &[ColumnHead], content: &[u16], width: u16, skipped: usize) -> Placement {
    let pinned = pinned(heads);
    let mut chosen: Vec<usize> = (0..heads.len())
        .filter(|index| *index < pinned || *index >= pinned + skipped)
        .collect();
    let least = |index: usize| least_width(&heads[index]);
    let needed = |chosen: &[usize]| -> usize {
        let gaps = chosen.len().saturating_sub(1) * usize::from(gap(width));
        chosen
            .iter()
            .map(|index| usize::from(least(*index)))
            .sum::<usize>()
            + gaps
    };
    let room = usize::from(width);
    while chosen.len() > 1 && needed(&chosen) > room {
        let leaves = if skipped == 0 {
            (1..chosen.len())
                .rev()
                .min_by_key(|at| heads[chosen[*at]].priority)
                .unwrap_or(chosen.len() - 1)
        } else {
            chosen.len() - 1
        };
        chosen.remove(leaves);
    }
    let hidden = heads.len() - skipped.min(heads.len() - pinned) - chosen.len();
    let seen = |index: usize| content.get(index).copied().unwrap_or(0);
    // Which columns there are does not depend on the rows in sight, or they would come and go while one scrolls;
    // but what a column does not need now goes to the others.
    let mut columns: Vec<Placed> = chosen
        .iter()
        .map(|index| Placed {
            index: *index,
            width: least(*index).min(seen(*index).max(title_width(&heads[*index]))),
        })
        .collect();
    let used: usize = columns.iter().map(|placed| usize::from(placed.width)).sum();
    let gaps = columns.len().saturating_sub(1) * usize::from(gap(width));
    let mut spare = room.saturating_sub(used + gaps);
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by_key(|at| {
        std::cmp::Reverse((columns[*at].index < pinned, heads[columns[*at].index].priority))
    });
    // The last names, those of nodes, would get what long names of Pods leave, which is nothing: so every name
    // becomes readable before one is shown whole.
    let readable = order
        .iter()
        .filter_map(|at| Some((*at, readable(&heads[chosen[*at]])?)));
    let whole = order.iter().map(|at| (*at, u16::MAX));
    for (at, most) in readable.chain(whole) {
        let placed = &mut columns[at];
        let head = &heads[placed.index];
        let wish = seen(placed.index).min(head.max_width.max(least_width(head)));
        let more = usize::from(wish.min(most).saturating_sub(placed.width)).min(spare);
        placed.width += u16::try_from(more).unwrap_or(0);
        spare -= more;
    }
    if let [only] = columns.as_mut_slice() {
        only.width = only.width.min(width);
    }
    Placement { columns, hidden }
}

/// The heading with its sort arrow.
fn title_width(head: &ColumnHead) -> u16 {
    let title = text::width(head.title) + usize::from(head.sorted.is_some());
    u16::try_from(title).unwrap_or(head.min_width)
}

/// The heading must fit as well.
fn least_width(head: &ColumnHead) -> u16 {
    head.min_width.max(title_width(head))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::view::{Align, Direction};
    use proptest::prelude::*;

    fn head(id: &'static str, min: u16, max: u16, priority: u8) -> ColumnHead {
        ColumnHead {
            id,
            title: "T",
            doc: "",
            align: Align::Left,
            min_width: min,
            max_width: max,
            priority,
            numeric: false,
            sorted: (id == "cpu").then_some(Direction::Ascending),
        }
    }

    fn heads() -> Vec<ColumnHead> {
        vec![
            head("namespace", 9, 20, 90),
            head("name", 12, 50, 100),
            head("state", 8, 18, 80),
            head("cpu", 6, 12, 60),
            head("boot", 5, 10, 10),
        ]
    }

    fn names(placement: &Placement) -> Vec<&'static str> {
        let heads = heads();
        placement
            .columns
            .iter()
            .map(|placed| heads[placed.index].id)
            .collect()
    }

    #[test]
    fn on_a_narrow_screen_the_least_important_columns_give_way() {
        let placement = place(&heads(), &[9, 30, 8, 6, 5], 40, 0);
        assert_eq!(names(&placement), ["namespace", "name", "state", "cpu"]);
        assert_eq!(placement.hidden, 1);
    }

    #[test]
    fn scrolled_sideways_the_name_stays() {
        let placement = place(&heads(), &[9, 30, 8, 6, 5], 40, 2);
        assert_eq!(names(&placement), ["namespace", "name", "boot"]);
        assert_eq!(placement.hidden, 0);
    }

    #[test]
    fn spare_room_goes_to_the_name_first() {
        let placement = place(&heads(), &[9, 30, 16, 6, 5], 60, 0);
        assert_eq!(placement.columns[1].width, 28);
        assert_eq!(placement.columns[2].width, 8);
    }

    #[test]
    fn long_names_of_pods_leave_room_for_the_names_of_nodes() {
        let heads = [
            head("namespace", 9, 24, 200),
            head("name", 20, 48, 255),
            head("state", 9, 26, 250),
            head("node", 10, 40, 160),
        ];
        let placement = place(&heads, &[13, 40, 22, 16], 68, 0);
        let widths: Vec<u16> = placement.columns.iter().map(|placed| placed.width).collect();
        assert_eq!(widths, [13, 27, 9, 16]);
    }

    #[test]
    fn a_small_screen_has_no_areas() {
        assert_eq!(Areas::of(Size::new(59, 15), 0, true), None);
        assert_eq!(Areas::of(Size::new(60, 14), 0, true), None);
    }

    proptest! {
        #[test]
        fn the_columns_fit(
            content in prop::collection::vec(0u16..80, 5), width in 20u16..240, skipped in 0usize..9,
        ) {
            let placement = place(&heads(), &content, width, skipped);
            let gaps = (placement.columns.len() - 1) * usize::from(gap(width));
            let used: usize = placement.columns.iter().map(|placed| usize::from(placed.width)).sum();
            prop_assert!(used + gaps <= usize::from(width));
        }

        #[test]
        fn areas_tile_the_screen(width in 60u16..300, height in 15u16..200, problem in 0u16..2, table: bool) {
            let areas = Areas::of(Size::new(width, height), problem, table).unwrap();
            let preview = areas.preview.map_or(0, |area| area.height);
            prop_assert_eq!(areas.title + 1 + areas.main.height + preview + 1, height);
            prop_assert!(areas.main.height >= 10);
        }
    }
}

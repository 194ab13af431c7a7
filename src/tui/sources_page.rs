//! How each source and each watch is, in full sentences: what the badges of the header have no room for.

use super::render::text;
use crate::domain::text::sanitise;
use crate::sources::event::{WatchState, Watched};
use crate::store::view::{HeaderView, Line, Role, Span};

/// The lines of the page.
pub fn lines(header: &HeaderView, watches: &[(Watched, &WatchState)], cells: usize) -> Vec<Line> {
    let mut lines = vec![vec![
        Span::new("  context ", Role::Muted),
        Span::new(header.context.clone(), Role::Text),
        Span::new("  server ", Role::Muted),
        Span::new(header.server.clone(), Role::Text),
    ]];
    for badge in &header.sources {
        lines.push(Line::new());
        lines.push(vec![
            Span::new(format!("{} {}", badge.glyph, badge.name), badge.role),
            Span::new(format!("  {}  ", badge.source.name()), Role::Muted),
            Span::new(badge.age.clone(), badge.role),
        ]);
        if let Some(problem) = &badge.problem {
            let problem = text::plain(format!("  {problem}"), Role::Text);
            lines.extend(text::wrap(&problem, cells));
        }
    }
    if !watches.is_empty() {
        lines.push(Line::new());
        lines.push(text::plain("watches of the API server", Role::Title));
    }
    for (watched, state) in watches {
        lines.extend(text::wrap(&watch(*watched, state), cells));
    }
    lines
}

fn watch(watched: Watched, state: &WatchState) -> Line {
    let (glyph, role, words) = match state {
        WatchState::Loading => ("◌", Role::Muted, "the first list is on its way".to_owned()),
        WatchState::Live => ("●", Role::Ok, "live".to_owned()),
        WatchState::Forbidden(problem) | WatchState::Failed(problem) => {
            let words = format!("{} → {}", sanitise(&problem.what), sanitise(&problem.next_step));
            ("✖", Role::Error, words)
        }
    };
    vec![
        Span::new(format!("  {glyph} {:<20}", watched.plural()), role),
        Span::new(words, Role::Text),
    ]
}

//! How each source is, in full sentences: what the badges of the header have no room for.

use super::render::text;
use crate::store::view::{HeaderView, Line, Role, Span};

/// The lines of the page.
pub fn lines(header: &HeaderView, cells: usize) -> Vec<Line> {
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
    lines
}

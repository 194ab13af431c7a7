//! The screens: event loop, panes, widgets, key bindings, themes.

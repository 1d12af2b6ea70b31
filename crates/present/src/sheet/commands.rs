//! The exact commands, to do it again.

use maud::{Markup, html};

use super::place::Place;
use crate::shell::as_typed;
use crate::summary::Grid;

pub(super) fn section(grid: &Grid<'_>, place: &Place) -> Markup {
    let commands = commands(grid);
    if commands.is_empty() && grid.study.command.is_empty() {
        return html! {};
    }
    place.section(
        "commands",
        "Do it again",
        html! {
            @if !grid.study.command.is_empty() {
                p { "All of it:" }
                pre.command tabindex="0" { code { (as_typed(&grid.study.command)) } }
            }
            @if !commands.is_empty() {
                p { "Each pattern alone:" }
                @for (name, command) in &commands {
                    p.command-name { (name) }
                    pre.command tabindex="0" { code { (command) } }
                }
            }
        },
    )
}

/// Command lines of the cells, each once; the study's own is not repeated.
fn commands(grid: &Grid<'_>) -> Vec<(String, String)> {
    let whole = as_typed(&grid.study.command);
    let mut commands: Vec<(String, String)> = Vec::new();
    for (line, target, cell) in grid.cells() {
        for repeat in &cell.repeats {
            let command = as_typed(&repeat.row.command);
            if repeat.row.command.is_empty() || command == whole || commands.iter().any(|(_, known)| *known == command)
            {
                continue;
            }
            let round = repeat.row.round;
            let rounds = if round > 0 { format!(", round {}", round + 1) } else { String::new() };
            commands.push((format!("{} · {}{rounds}", grid.targets[target], line.title), command));
        }
    }
    commands
}

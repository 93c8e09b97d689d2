//! `status`: what is loaded, and how its connections fare.

use super::Failure;
use shortflow_cc::Role;
use shortflow_linux::programs::{self, Connection, Pins};

#[derive(clap::Args)]
pub struct Args {}

pub fn run(_: Args) -> Result<(), Failure> {
    let Some(pins) = Pins::open()? else {
        println!("nothing is loaded");
        return Ok(());
    };
    let connections = programs::connections(&pins)?;
    let default = programs::default_here();
    for name in pins.loaded() {
        let mine: Vec<&Connection> =
            connections.iter().filter(|connection| connection.name == name).collect();
        let note = if name == default { "  (default of this network namespace)" } else { "" };
        println!("{name}{note}");
        println!("  parameters   {}", programs::loaded_text(&pins, &name)?);
        println!("  connections  {}", counted(&mine));
        if !mine.is_empty() {
            println!("  cwnd         {}", spread(mine.iter().map(|connection| connection.cwnd)));
            println!("  alpha        {}", spread(mine.iter().map(|connection| connection.alpha)));
        }
    }
    let cgroups = pins.names().iter().filter(|name| name.starts_with("setsockopt_")).count();
    if cgroups > 0 {
        println!("setsockopt: listens to the applications of {cgroups} cgroups");
    }
    for (port, role) in programs::ports(&pins)? {
        println!("port {port}: {}", super::class::word(role));
    }
    Ok(())
}

/// How many there are, and what is known of them beyond that.
fn counted(connections: &[&Connection]) -> String {
    let number = |which: &dyn Fn(&Connection) -> bool| connections.iter().filter(|one| which(one)).count();
    let known = [
        ("size", number(&|one| one.size.is_some())),
        ("deadline", number(&|one| one.deadline_ns.is_some())),
        ("class", number(&|one| one.role != Role::Unknown)),
    ];
    let known =
        known.iter().filter(|(_, count)| *count > 0).map(|(what, count)| format!("; {count} with a {what}"));
    format!("{}{}", connections.len(), known.collect::<String>())
}

/// Smallest, median and largest value; of an even number the median is the mean of the middle two.
fn spread(values: impl Iterator<Item = f64>) -> String {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
    let (first, last) = (sorted[0], sorted[sorted.len() - 1]);
    format!("min {first:.3}  median {:.3}  max {last:.3}", (low + high) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_and_even_numbers() {
        assert_eq!(spread([3.0, 1.0, 2.0].into_iter()), "min 1.000  median 2.000  max 3.000");
        assert_eq!(spread([4.0, 1.0, 2.0, 3.0].into_iter()), "min 1.000  median 2.500  max 4.000");
    }
}

//! [`Text`]: kinds of text.

use std::fmt;

/// Kinds of text; none may be empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    /// A line of visible characters about this subject.
    Line(&'static str),
    /// A name that may be part of a metric's name.
    Name,
    /// A port, named as one direction of a link.
    Port,
    /// A link, or one direction of it.
    Link,
    /// A tier of switches.
    Tier,
    /// A transport with parameters.
    Transport,
    /// Up to seven sizes in rising order.
    RisingSizes,
    /// Curves of RED by the rate of a link.
    RateCurves,
    /// Thresholds of flow control by priority.
    PriorityThresholds,
    /// A file of flows.
    FlowFile,
    /// A file of a distribution of sizes.
    SizeFile,
    /// A file of a network.
    NetworkFile,
    /// A file of a network's nodes.
    NodeFile,
}

impl Text {
    /// True if `text` has the form of this kind.
    pub fn fits(self, text: &str) -> bool {
        let part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        match self {
            Text::Name => text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(part),
            Text::Line(_) => !text.trim().is_empty() && !text.contains(is_invisible),
            _ => !text.trim().is_empty(),
        }
    }
}

/// True for characters that move the cursor or change the writing direction.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// The expected form, for errors.
impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Text::Line(about) => return write!(f, "a line of visible characters on {about}"),
            Text::Name => "a name of lower-case letters, digits, \"-\" and \"_\", such as \"short\"",
            Text::Port => "a link such as \"s0->s1\"",
            Text::Link => "a link such as \"leaf0-spine1\"",
            Text::Tier => "a tier of switches",
            Text::Transport => "a transport such as \"cubic\" or \"dctcp+g=0.09\"",
            Text::RisingSizes => "one to seven rising sizes such as \"10KB,100KB,1MB\"",
            Text::RateCurves => {
                "curves \"RATE MIN MAX PROBABILITY\" by rising rate, separated by \";\", such as \
                 \"25Gbps 100KB 400KB 0.2; 100Gbps 400KB 1600KB 0.2\""
            }
            Text::PriorityThresholds => {
                "thresholds \"PRIORITY XOFF [XON [HEADROOM [ALPHA]]]\" by rising priority, separated by \";\", such as \
                 \"3 40KB; 4 80KB auto 60KB\""
            }
            Text::FlowFile => "the name of a CSV file of flows",
            Text::SizeFile => "the name of a CSV file of lines bytes,cumulative",
            Text::NetworkFile => "the name of a .csv, .graphml or .xml file",
            Text::NodeFile => "the name of a .csv file",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_fit_for_metrics() {
        assert!(Text::Name.fits("short") && Text::Name.fits("web_search-2"));
        for wrong in ["", "Short", "2nd", "a b", "a,b"] {
            assert!(!Text::Name.fits(wrong), "{wrong:?}");
        }
    }
}
